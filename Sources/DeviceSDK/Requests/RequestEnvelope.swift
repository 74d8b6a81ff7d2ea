import DataClient

/// What requests and answers look like as text: JSON with the keys of the model.
enum RequestEnvelope {
  /// The service that heartbeats are for.
  static let heartbeatService = "system/heart-beat"

  /// What a message of the server is.
  enum Incoming: Sendable {
    /// It names a request.
    case answer(id: Int, Result<RequestAnswer, RequestError>)
    /// It names none: the server speaks on its own.
    case push(JSONValue?)
  }

  // MARK: Out

  /// Returns the text of a request.
  static func text(of request: OutgoingRequest, id: Int, legacy: Bool) -> String {
    let parameters = legacy ? LegacyPercentEncoding.encode(request.parameters) : request.parameters
    return text([
      JSONMember("content", .string(text(parameters.sortingKeys))),
      JSONMember("method", .string(request.method.rawValue)),
      JSONMember("product", .string(request.product)),
      JSONMember("service", .string(request.service)),
      JSONMember("uniqueId", .number(String(id))),
    ])
  }

  /// Returns the text of a heartbeat, which has no content.
  static func heartbeat(product: String, id: Int) -> String {
    text([
      JSONMember("method", .string(RequestMethod.post.rawValue)),
      JSONMember("product", .string(product)),
      JSONMember("service", .string(heartbeatService)),
      JSONMember("uniqueId", .number(String(id))),
    ])
  }

  private static func text(_ members: [JSONMember]) -> String { text(.object(members)) }

  private static func text(_ value: JSONValue) -> String {
    String(decoding: value.utf8, as: UTF8.self)
  }

  // MARK: In

  /// Reads a message of the server.
  static func read(_ text: String) -> Incoming {
    guard let value = JSONValue(parsing: Array(text.utf8)), case .object = value else {
      return .push(nil)
    }
    guard let id = value["uniqueId"]?.integer else { return .push(value) }
    return .answer(id: id, result(value))
  }

  private static func result(_ value: JSONValue) -> Result<RequestAnswer, RequestError> {
    guard let service = value["service"]?.text else {
      return .failure(RequestError(.invalidResponse, "the answer does not name its service"))
    }
    if let refusal = refusal(in: value, of: service) { return .failure(refusal) }
    guard let content = content(value["content"]) else {
      return .failure(
        RequestError(.invalidResponse, "the content of \(service) is no object of JSON"))
    }
    return .success(RequestAnswer(service: service, content: content))
  }

  /// The error of the server in an answer, which counts even if there is content, too.
  private static func refusal(in value: JSONValue, of service: String) -> RequestError? {
    guard let error = value["error"], let code = error["code"]?.integer else { return nil }
    return RequestError(
      .server, error["desc"]?.text ?? "the server refused \(service)", serverCode: code)
  }

  /// The content, which may be JSON or text that holds JSON.
  private static func content(_ value: JSONValue?) -> JSONValue? {
    let content = value?.text.map { JSONValue(parsing: Array($0.utf8)) } ?? value
    switch content {
    case .object, .array: return content
    case .null, .bool, .number, .string, nil: return nil
    }
  }

  /// Reads an answer that came without an envelope, as over HTTP.
  static func read(
    _ response: ResponseMessage, service: String
  ) -> Result<RequestAnswer, RequestError> {
    guard (200..<300).contains(response.status) else {
      return .failure(
        RequestError(
          .server, "\(service) was answered by status \(response.status)",
          serverCode: response.status))
    }
    let body = JSONValue(parsing: response.body)
    if let body, let refusal = refusal(in: body, of: service) { return .failure(refusal) }
    guard let content = content(body) else {
      return .failure(
        RequestError(.invalidResponse, "the answer of \(service) is no object of JSON"))
    }
    return .success(RequestAnswer(service: service, content: content))
  }
}
