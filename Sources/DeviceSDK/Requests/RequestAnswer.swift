public import RepriseCore

/// What a service answered.
public struct RequestAnswer: Sendable, Hashable {
  /// The path of the service.
  public var service: String
  /// The content: an object or an array, unless the target's parser makes something else of it.
  public var content: JSONValue
  /// The number that the request went out with on its connection; nil over HTTP, and of sample data.
  public var id: Int?
  /// The content as it came, where it came as text or bytes.
  private var came: [UInt8]?

  /// Creates an answer.
  /// - Parameters:
  ///   - service: The path of the service.
  ///   - content: The content.
  ///   - body: The bytes of the content as it came; nil when it came as JSON.
  ///   - id: The number of the request.
  public init(service: String, content: JSONValue, body: [UInt8]? = nil, id: Int? = nil) {
    self.service = service
    self.content = content
    self.id = id
    came = body
  }

  /// The bytes of the content: as it came, or as JSON.
  public var body: [UInt8] { came ?? content.utf8 }
}
