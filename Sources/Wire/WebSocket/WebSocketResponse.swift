/// The server's answer to an opening handshake (RFC 6455 section 4.2.2).
public struct WebSocketResponse: Sendable, Hashable {
  /// The response's head.
  public let head: HTTPHead
  /// The version of HTTP, such as `HTTP/1.1`.
  public let httpVersion: String
  /// The status code; 0 where the first line has none.
  public let status: Int
  /// The text behind the status code.
  public let reason: String
  /// The subprotocol that the server chose.
  public let subprotocol: String?
  /// The extensions that the server accepted.
  public let extensions: [WebSocketExtension]
  /// The rules that the response breaks, in the order of their places.
  public let faults: [WebSocketFault]

  /// Reads a response.
  /// - Parameters:
  ///   - head: The head, whose first line may be any.
  ///   - request: What it answers; nil leaves out what only the request decides.
  public init(_ head: HTTPHead, to request: WebSocketRequest?) {
    self.init(head) { check, accept, subprotocol, extensions in
      guard let request else { return }
      check.compare(accept, subprotocol, extensions, with: request)
    }
  }

  /// Reads a response whose faults beside its request are known.
  /// - Parameters:
  ///   - head: The head.
  ///   - context: The faults that only the request shows.
  public init(_ head: HTTPHead, context: [WebSocketFault]) {
    self.init(head) { check, _, _, _ in check.faults += context }
  }

  private init(
    _ head: HTTPHead,
    _ compare: (inout HandshakeCheck, String?, String?, [WebSocketExtension]) -> Void
  ) {
    self.head = head
    var check = HandshakeCheck(head)
    let parts = head.startLine.split(
      separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    httpVersion = parts.first.map(String.init) ?? ""
    status = parts.count > 1 ? Self.status(parts[1]) : 0
    reason = parts.count > 2 ? String(parts[2]) : ""
    if status < 100 || !httpVersion.hasPrefix("HTTP/") {
      check.note(.malformedStartLine, .startLine)
    }
    guard status == 101 else {
      subprotocol = nil
      extensions = []
      faults = check.sortedFaults
      return
    }
    check.expect("Upgrade", .upgrade, token: "websocket")
    check.expect("Connection", .connection, token: "upgrade")
    let accept = check.expectOne("Sec-WebSocket-Accept", .accept)
    let chosen = check.subprotocols(isOffer: false)
    if chosen.count > 1 { check.note(.invalidSubprotocol, .subprotocol) }
    check.expectAtMostOne("Sec-WebSocket-Protocol", .subprotocol)
    check.expectAtMostOne("Sec-WebSocket-Extensions", .extensions)
    subprotocol = chosen.first
    extensions = check.extensions(in: .response)
    compare(&check, accept, chosen.first, extensions)
    faults = check.sortedFaults
  }

  /// Creates the response that accepts a request.
  /// - Parameters:
  ///   - request: The request.
  ///   - subprotocol: The subprotocol to speak, which should be one of the offered ones.
  ///   - extensions: The value of `Sec-WebSocket-Extensions`; nil for none.
  public init(accepting request: WebSocketRequest, subprotocol: String?, extensions: String? = nil)
  {
    var fields = [
      HTTPHead.Field("Upgrade", "websocket"), HTTPHead.Field("Connection", "Upgrade"),
      HTTPHead.Field("Sec-WebSocket-Accept", WebSocketKey.accept(for: request.key ?? "")),
    ]
    if let subprotocol { fields.append(.init("Sec-WebSocket-Protocol", subprotocol)) }
    if let extensions { fields.append(.init("Sec-WebSocket-Extensions", extensions)) }
    self.init(
      HTTPHead(startLine: "HTTP/1.1 101 Switching Protocols", fields: fields), to: request)
  }

  /// Reads a status code, which is three digits (RFC 9112 section 4); 0 for anything else, a sign included.
  private static func status(_ text: some StringProtocol) -> Int {
    let isCode = text.utf8.count == 3 && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    return isCode ? Int(text) ?? 0 : 0
  }

  /// Whether the server accepts and speaks WebSocket from here on.
  public var accepts: Bool { status == 101 }

  /// Whether a client takes the connection for open: the server accepts, and neither answers another key nor
  /// speaks a subprotocol that was not offered, for which a client has to fail it (RFC 6455 section 4.1).
  ///
  /// Of a header that is not there nothing is concluded, as a recording may have left it out.
  public var opensConnection: Bool {
    accepts
      && !faults.contains { $0.code == .wrongAccept || $0.code == .subprotocolNotOffered }
  }

  /// The permessage-deflate that was agreed on.
  public var deflate: PermessageDeflate? {
    extensions.first { $0.name == PermessageDeflate.name }
      .map { PermessageDeflate.read($0.parameters, in: .response).deflate }
  }
}
