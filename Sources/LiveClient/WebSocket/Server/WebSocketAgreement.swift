import Wire

/// What a server and a client agreed on in the opening handshake (RFC 6455 section 4.2.2).
package struct WebSocketAgreement: Sendable {
  /// What the client asked for.
  let request: WebSocketRequest
  /// What the server answers.
  let response: WebSocketResponse

  /// The subprotocol that is spoken.
  var subprotocol: String? { response.subprotocol }
  /// The permessage-deflate that was agreed on.
  var deflate: PermessageDeflate? { response.deflate }

  /// Agrees to a request, as far as the options do.
  init(_ request: WebSocketRequest, _ options: WebSocketServerOptions) {
    self.request = request
    let answer = options.acceptsDeflate ? Self.answer(to: request) : nil
    response = WebSocketResponse(
      accepting: request,
      subprotocol: options.subprotocols.first { request.subprotocols.contains($0) },
      extensions: answer?.description)
  }

  /// The first offer of permessage-deflate that can be kept, answered (RFC 7692 section 7.1).
  private static func answer(to request: WebSocketRequest) -> WebSocketExtension? {
    for offer in request.extensions where offer.name == PermessageDeflate.name {
      let (deflate, isValid) = PermessageDeflate.read(offer.parameters, in: .offer)
      // An offer with a bad parameter is declined (section 7.1). So is one of 256 bytes for this
      // side's window, as zlib writes with 512.
      guard isValid, deflate.serverMaxWindowBits != 8 else { continue }
      var parameters: [WebSocketExtension.Parameter] = []
      if deflate.serverNoContextTakeover { parameters.append(.init("server_no_context_takeover")) }
      if deflate.clientNoContextTakeover { parameters.append(.init("client_no_context_takeover")) }
      if let bits = deflate.serverMaxWindowBits {
        parameters.append(.init("server_max_window_bits", "\(bits)"))
      }
      return WebSocketExtension(PermessageDeflate.name, parameters)
    }
    return nil
  }

  // MARK: - Refusals

  /// An HTTP response that is no upgrade.
  struct Refusal {
    let status: Int
    var fields: [HTTPHead.Field] = []
    let text: String
  }

  /// How to refuse a request that breaks a rule (RFC 6455 section 4.2.1); nil where none is broken.
  static func refusal(of request: WebSocketRequest) -> Refusal? {
    // A faulty offer of permessage-deflate is only not accepted.
    guard let fault = request.faults.first(where: { $0.code != .invalidParameter }) else {
      return nil
    }
    let faults = Set(request.faults.map(\.code))
    if faults.contains(.unsupportedVersion) {
      // Which versions are understood, so that the client can try again (section 4.4).
      return Refusal(
        status: 426, fields: [.init("Sec-WebSocket-Version", "13")], text: fault.code.message)
    }
    if faults.contains(.notGET) {
      return Refusal(status: 405, fields: [.init("Allow", "GET")], text: fault.code.message)
    }
    guard WebSocketRequest.isOne(request.head) else {
      return Refusal(
        status: 426, fields: [.init("Upgrade", "websocket")], text: "This is a WebSocket server.")
    }
    return Refusal(status: 400, text: fault.description)
  }

  /// The text behind a status (RFC 9110 section 15).
  static func phrase(_ status: Int) -> String {
    switch status {
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 408: "Request Timeout"
    case 426: "Upgrade Required"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 503: "Service Unavailable"
    default: "Refused"
    }
  }
}
