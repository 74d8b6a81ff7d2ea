/// One message of HTTP/1.1, a request or a response, taken out of its framing (RFC 9112).
///
/// The body is what its sender meant: chunks are joined, and what they were is not kept.
public struct HTTPMessage: Sendable, Hashable {
  /// What the first line says.
  public enum Start: Sendable, Hashable {
    /// A client asks for a resource.
    case request(method: String, target: String)
    /// The server answers by a status.
    case response(status: Int, reason: String)
  }

  /// The head.
  public let head: HTTPHead
  /// What the head's first line says.
  public let start: Start
  /// The version of HTTP, such as `HTTP/1.1`.
  public let httpVersion: String
  /// The body, as far as it is there, without a content coding that was undone.
  public var body: [UInt8]
  /// How many bytes of the body are not there.
  public var missing: Int
  /// Whether the body stands here without the content coding that it was sent with.
  public var isDecoded: Bool

  /// Reads a message from its head; nil when the first line is neither that of a request nor that of a response.
  /// - Parameters:
  ///   - head: The head.
  ///   - body: The body, as far as it is there.
  ///   - missing: How many bytes of the body are not there.
  ///   - isDecoded: Whether the body stands here without its content coding.
  public init?(_ head: HTTPHead, body: [UInt8] = [], missing: Int = 0, isDecoded: Bool = false) {
    guard let (start, version) = Self.read(head.startLine) else { return nil }
    (self.head, self.start, httpVersion) = (head, start, version)
    (self.body, self.missing, self.isDecoded) = (body, missing, isDecoded)
  }

  private static func read(_ line: String) -> (Start, String)? {
    let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard let first = parts.first, parts.count > 1 else { return nil }
    if first.hasPrefix("HTTP/") {
      let digits = parts[1].utf8
      guard digits.count == 3, digits.allSatisfy({ (0x30...0x39).contains($0) }),
        let status = Int(parts[1]), status >= 100
      else { return nil }
      let reason = parts.count > 2 ? String(parts[2]) : ""
      return (.response(status: status, reason: reason), String(first))
    }
    guard parts.count == 3, HTTPText.isToken(Array(first.utf8)), !parts[1].isEmpty,
      parts[2].hasPrefix("HTTP/"), !parts[2].contains(" ")
    else { return nil }
    return (.request(method: String(first), target: String(parts[1])), String(parts[2]))
  }

  /// How many bytes the body has, with those that are not there.
  public var length: Int { body.count + missing }

  /// The status of a response; nil for a request.
  public var status: Int? {
    guard case .response(let status, _) = start else { return nil }
    return status
  }

  /// Whether the message is a response that another one to the same request follows (RFC 9110 section 15.2).
  public var isInterim: Bool { status.map { (100..<200).contains($0) && $0 != 101 } ?? false }

  /// The content codings of the body, in lower case, in the order in which they were applied (RFC 9110 section 8.4).
  public var codings: [String] {
    head.list("Content-Encoding").map { $0.lowercased() }.filter { !$0.isEmpty && $0 != "identity" }
  }

  /// Whether the body stands here in a content coding, so that nobody can read what is in it.
  public var isCoded: Bool { !isDecoded && !codings.isEmpty }

  /// The first line that ``start`` and ``httpVersion`` give.
  package var startLine: String {
    switch start {
    case .request(let method, let target): "\(method) \(target) \(httpVersion)"
    case .response(let status, let reason): "\(httpVersion) \(status) \(reason)"
    }
  }

  /// The message with no more than the start of its body.
  package func start(of count: Int) -> HTTPMessage {
    guard body.count > count else { return self }
    var start = self
    start.missing += body.count - count
    start.body = Array(body[..<count])
    return start
  }
}
