/// Why a request has no answer.
public struct RequestError: Error, Sendable, Hashable {
  /// The kinds of error; the raw values are the codes that applications of the model know.
  public enum Kind: Int, Sendable, Hashable, CaseIterable {
    /// No answer came in time.
    case timedOut = -11
    /// The network is not there.
    case unreachable = -12
    /// There is no connection to the server, or it was lost.
    case serverConnection = -13
    /// The answer can't be read.
    case invalidResponse = -14
    /// The caller took the request back.
    case cancelled = -15
    /// The server refused the request; ``RequestError/serverCode`` says why.
    case server = -1
    /// The service refused the request; ``RequestError/businessCode`` says why.
    case business = -2
    /// The request itself is wrong and was not sent.
    case client = -3
  }

  /// The kind of error.
  public var kind: Kind
  /// What is wrong, for people.
  public var message: String
  /// The server's code: 1 bad request, 2 busy, 3 internal, 4 login first; there may be others.
  public var serverCode: Int?
  /// The service's code, other than `0000`.
  public var businessCode: String?
  /// The number that the request went out with on its connection; nil when it was not sent, and over HTTP.
  public var id: Int?

  /// Creates an error.
  /// - Parameters:
  ///   - kind: The kind of error.
  ///   - message: What is wrong, for people.
  ///   - serverCode: The server's code.
  ///   - businessCode: The service's code.
  public init(
    _ kind: Kind, _ message: String, serverCode: Int? = nil, businessCode: String? = nil
  ) {
    self.kind = kind
    self.message = message
    self.serverCode = serverCode
    self.businessCode = businessCode
  }

  /// What a server answers to whom it does not know yet.
  static let loginFirst = 4
}

extension RequestError: CustomStringConvertible {
  /// The code and the message.
  public var description: String {
    let code = serverCode.map(String.init) ?? businessCode
    let number = id.map { " (request \($0))" } ?? ""
    return "\(kind.rawValue)\(code.map { "/\($0)" } ?? ""): \(message)\(number)"
  }
}
