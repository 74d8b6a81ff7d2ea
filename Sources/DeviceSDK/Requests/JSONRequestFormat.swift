public import RepriseCore

/// The format of the model: objects of JSON, with keys of the application's choice.
///
/// What reads the messages too is told these keys by ``envelope``: a simulated server by
/// `RequestScript(envelope: format.envelope)`, a replay by `ReplayRoles.requests(format.envelope)`.
public struct JSONRequestFormat: RequestFormat, Hashable {
  /// The key of the number that an answer names again.
  public var idKey: String
  /// The key of the service.
  public var serviceKey: String
  /// The key of the method.
  public var methodKey: String
  /// The key of the product.
  public var productKey: String
  /// The key of the parameters, and of an answer's content.
  public var contentKey: String
  /// The key of the server's error.
  public var errorKey: String
  /// The key of the error's code.
  public var errorCodeKey: String
  /// The key of the error's text.
  public var errorMessageKey: String
  /// The service that heartbeats are for.
  public var heartbeatService: String
  /// Whether parameters stand in a request as text that holds JSON, or as JSON.
  public var writesContentAsText: Bool
  /// Whether top-level strings are percent-encoded as the first clients of the model did.
  public var usesLegacyPercentEncoding = false

  /// Creates the format of an envelope.
  /// - Parameter envelope: What the parts of messages are called.
  public init(_ envelope: RequestEnvelope = RequestEnvelope()) {
    idKey = envelope.id
    serviceKey = envelope.service
    methodKey = envelope.method
    productKey = envelope.product
    contentKey = envelope.content
    errorKey = envelope.error
    errorCodeKey = envelope.errorCode
    errorMessageKey = envelope.errorMessage
    heartbeatService = envelope.heartbeat
    writesContentAsText = envelope.writesContentAsText
  }

  /// What the parts of messages are called, for what reads them besides the SDK.
  public var envelope: RequestEnvelope {
    var envelope = RequestEnvelope()
    envelope.id = idKey
    envelope.service = serviceKey
    envelope.method = methodKey
    envelope.product = productKey
    envelope.content = contentKey
    envelope.error = errorKey
    envelope.errorCode = errorCodeKey
    envelope.errorMessage = errorMessageKey
    envelope.heartbeat = heartbeatService
    envelope.writesContentAsText = writesContentAsText
    return envelope
  }

  // MARK: Out

  /// Returns the text of a request.
  public func text(of request: RequestContent, id: Int) -> String {
    let parameters =
      usesLegacyPercentEncoding
      ? LegacyPercentEncoding.encode(request.parameters) : request.parameters
    let content = parameters.sortingKeys
    return text(
      request.service, request.method, request.product, id,
      [JSONMember(contentKey, writesContentAsText ? .string("\(content)") : content)])
  }

  /// Returns the text of a heartbeat, which has no content.
  public func heartbeat(product: String, id: Int) -> String {
    text(heartbeatService, .post, product, id, [])
  }

  private func text(
    _ service: String, _ method: RequestMethod, _ product: String, _ id: Int,
    _ content: [JSONMember]
  ) -> String {
    let members =
      content + [
        JSONMember(methodKey, .string(method.rawValue)), JSONMember(productKey, .string(product)),
        JSONMember(serviceKey, .string(service)), JSONMember(idKey, .number(String(id))),
      ]
    return "\(JSONValue.object(members))"
  }

  // MARK: In

  /// Reads a message of the server.
  public func read(_ text: String) -> ServerText {
    guard let value = JSONValue(parsing: Array(text.utf8)), case .object = value else {
      return .push(nil)
    }
    guard let id = value[idKey]?.integer else { return .push(value) }
    return .answer(id: id, result(value))
  }

  private func result(_ value: JSONValue) -> Result<RequestAnswer, RequestError> {
    guard let service = value[serviceKey]?.text else {
      return .failure(RequestError(.invalidResponse, "the answer does not name its service"))
    }
    if let refusal = refusal(in: value, of: service) { return .failure(refusal) }
    guard let text = value[contentKey]?.text else {
      return .success(RequestAnswer(service: service, content: value[contentKey] ?? .null))
    }
    // The content may be text that holds JSON; what holds none is for the target's parser.
    let body = Array(text.utf8)
    return .success(
      RequestAnswer(service: service, content: JSONValue(parsing: body) ?? .null, body: body))
  }

  /// The error of the server in an answer, which counts even if there is content, too.
  private func refusal(in value: JSONValue, of service: String) -> RequestError? {
    guard let error = value[errorKey], let code = error[errorCodeKey]?.integer else { return nil }
    return RequestError(
      .server, error[errorMessageKey]?.text ?? "the server refused \(service)", serverCode: code)
  }

  /// Reads an answer that came without an envelope, as over HTTP.
  public func read(
    _ response: ResponseMessage, of service: String
  ) -> Result<RequestAnswer, RequestError> {
    guard (200..<300).contains(response.status) else {
      return .failure(
        RequestError(
          .server, "\(service) was answered by status \(response.status)",
          serverCode: response.status))
    }
    let body = JSONValue(parsing: response.body)
    if let body, let refusal = refusal(in: body, of: service) { return .failure(refusal) }
    return .success(
      RequestAnswer(service: service, content: body ?? .null, body: response.body))
  }
}
