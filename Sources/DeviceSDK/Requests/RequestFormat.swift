public import RepriseCore

/// What requests look like on the wire, and how what a server says is read.
///
/// ``JSONRequestFormat`` is that of the model, with keys of the application's choice; an application whose server speaks
/// otherwise, be it no JSON at all, brings its own. It is asked by a machine that waits for nothing: it must return soon,
/// and the same for the same.
public protocol RequestFormat: Sendable {
  /// Returns the text message of a request.
  /// - Parameters:
  ///   - request: What is asked for.
  ///   - id: The number that the answer names again, from 1.
  /// - Returns: The text.
  func text(of request: RequestContent, id: Int) -> String

  /// Returns the text message of a heartbeat, whose answer nobody waits for.
  /// - Parameters:
  ///   - product: The product that asks.
  ///   - id: The number that the answer names again.
  /// - Returns: The text.
  func heartbeat(product: String, id: Int) -> String

  /// Reads a text message of the server.
  /// - Parameter text: The message.
  /// - Returns: What it is.
  func read(_ text: String) -> ServerText

  /// Reads an answer over HTTP, which names neither its service nor its number.
  /// - Parameters:
  ///   - response: The answer.
  ///   - service: What was asked for.
  /// - Returns: The answer, or the error that it is.
  func read(
    _ response: ResponseMessage, of service: String
  ) -> Result<RequestAnswer, RequestError>
}

/// What a request says.
public struct RequestContent: Sendable, Hashable {
  /// The product that asks.
  public var product: String
  /// The path of the service.
  public var service: String
  /// What is done with the service.
  public var method: RequestMethod
  /// The parameters, an object.
  public var parameters: JSONValue

  /// Creates what a request says.
  /// - Parameters:
  ///   - product: The product that asks.
  ///   - service: The path of the service.
  ///   - method: What is done with the service.
  ///   - parameters: The parameters, an object.
  public init(product: String, service: String, method: RequestMethod, parameters: JSONValue) {
    self.product = product
    self.service = service
    self.method = method
    self.parameters = parameters
  }
}

/// What a text message of the server is.
public enum ServerText: Sendable, Hashable {
  /// It answers the request of a number.
  case answer(id: Int, Result<RequestAnswer, RequestError>)
  /// It answers none: the server speaks on its own, in JSON or otherwise.
  case push(JSONValue?)
}
