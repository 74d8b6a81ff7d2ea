public import DataClient

/// What a service answered.
public struct RequestAnswer: Sendable, Hashable {
  /// The path of the service.
  public var service: String
  /// The content, an object or an array.
  public var content: JSONValue

  /// Creates an answer.
  /// - Parameters:
  ///   - service: The path of the service.
  ///   - content: The content.
  public init(service: String, content: JSONValue) {
    self.service = service
    self.content = content
  }
}
