/// What the parts of a request and of its answer are called, where both are objects of JSON.
///
/// An application may choose the names, and everything that reads its messages has to be told them: the SDK, a simulated
/// server, a replay. The names are those of the model unless they are changed.
public struct RequestEnvelope: Sendable, Hashable {
  /// The key of the number that an answer names again.
  public var id = "uniqueId"
  /// The key of the service.
  public var service = "service"
  /// The key of the method.
  public var method = "method"
  /// The key of the product.
  public var product = "product"
  /// The key of the parameters, and of an answer's content.
  public var content = "content"
  /// The key of the server's error.
  public var error = "error"
  /// The key of the error's code, in the error.
  public var errorCode = "code"
  /// The key of the error's text, in the error.
  public var errorMessage = "desc"
  /// The service that heartbeats are for.
  public var heartbeat = "system/heart-beat"
  /// Whether content stands in a message as text that holds JSON, or as JSON.
  public var writesContentAsText = true

  /// Creates the envelope of the model.
  public init() {}

  /// A part whose key another part has already.
  package struct Clash: Sendable, Hashable {
    /// The part, by its name here: `service`.
    package let part: String
    /// What is wrong with its key, for people.
    package let message: String
  }

  /// The first part that can't be told from another one; nil when there is none.
  ///
  /// An error may have the key of the content, as an answer has only one of both.
  package var clash: Clash? {
    let request = [
      ("id", id), ("service", service), ("method", method), ("product", product),
    ]
    return Self.clash(in: request + [("content", content)])
      ?? Self.clash(in: request + [("error", error)])
      ?? Self.clash(in: [("errorCode", errorCode), ("errorMessage", errorMessage)])
  }

  private static func clash(in parts: [(name: String, key: String)]) -> Clash? {
    for (index, part) in parts.enumerated() {
      guard let other = parts[..<index].first(where: { $0.key == part.key }) else { continue }
      return Clash(
        part: part.name,
        message:
          "is \(JSONValue.string(part.key)), as \(other.name) is; each needs a key of its own")
    }
    return nil
  }
}
