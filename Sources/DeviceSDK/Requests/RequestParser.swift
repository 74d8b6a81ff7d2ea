public import RepriseCore

/// Makes the content of an answer of what came.
///
/// Each target chooses its own: ``RequestTarget/parser``.
public struct RequestParser: Sendable {
  private enum Kind: Sendable {
    case json
    case custom(@Sendable ([UInt8]) throws -> JSONValue)
  }

  private let kind: Kind

  /// JSON, an object or an array; anything else is no answer.
  public static let json = RequestParser(kind: .json)

  /// Text as it came; bytes that are no UTF-8 are no answer.
  public static let text = RequestParser { bytes in
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw RequestError(.invalidResponse, "it is no UTF-8")
    }
    return .string(text)
  }

  private init(kind: Kind) { self.kind = kind }

  /// Creates a parser.
  /// - Parameter parse: Makes a value of the bytes of an answer's content; what it throws fails the request as
  ///   ``RequestError/Kind/invalidResponse``. It must return soon, and the same for the same.
  public init(_ parse: @escaping @Sendable ([UInt8]) throws -> JSONValue) { kind = .custom(parse) }

  /// Gives an answer the content that it is to have.
  func applied(to answer: RequestAnswer) -> Result<RequestAnswer, RequestError> {
    switch kind {
    case .json:
      switch answer.content {
      case .object, .array: return .success(answer)
      case .null, .bool, .number, .string:
        return .failure(
          RequestError(.invalidResponse, "the content of \(answer.service) is no object of JSON"))
      }
    case .custom(let parse):
      var answer = answer
      do { answer.content = try parse(answer.body) } catch {
        let reason = (error as? RequestError)?.message ?? "\(error)"
        return .failure(
          RequestError(
            .invalidResponse, "the content of \(answer.service) can't be read: \(reason)"))
      }
      return .success(answer)
    }
  }
}
