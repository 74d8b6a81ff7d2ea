/// The client's opening handshake: an HTTP request for an upgrade (RFC 6455 section 4.1).
public struct WebSocketRequest: Sendable, Hashable {
  /// The request's head.
  public let head: HTTPHead
  /// The method, which should be `GET`.
  public let method: String
  /// The request target.
  public let target: String
  /// The version of HTTP, such as `HTTP/1.1`.
  public let httpVersion: String
  /// The value of `Sec-WebSocket-Key`.
  public let key: String?
  /// The subprotocols that the client offers, the best first.
  public let subprotocols: [String]
  /// The extensions that the client offers.
  public let extensions: [WebSocketExtension]
  /// The rules that the request breaks, in the order of their places.
  public let faults: [WebSocketFault]

  /// Reads a request.
  /// - Parameter head: The head, whose first line may be any.
  public init(_ head: HTTPHead) {
    self.head = head
    var check = HandshakeCheck(head)
    let parts = head.startLine.split(separator: " ", omittingEmptySubsequences: false)
    method = parts.first.map(String.init) ?? ""
    target = parts.count > 1 ? String(parts[1]) : ""
    httpVersion = parts.count > 2 ? parts[2...].joined(separator: " ") : ""
    check.checkRequestLine(parts)
    check.expectOne("Host", .host)
    check.expect("Upgrade", .upgrade, token: "websocket")
    check.expect("Connection", .connection, token: "upgrade")
    key = check.expectOne("Sec-WebSocket-Key", .key)
    if let key, !WebSocketKey.isValid(key) { check.note(.invalidKey, .key) }
    let version = check.expectOne("Sec-WebSocket-Version", .version)
    if let version, version != "13" { check.note(.unsupportedVersion, .version) }
    subprotocols = check.subprotocols(isOffer: true)
    extensions = check.extensions(in: .offer)
    faults = check.sortedFaults
  }

  private init(withoutHeadOf request: WebSocketRequest) {
    head = HTTPHead([])
    method = ""
    target = ""
    httpVersion = ""
    key = request.key
    subprotocols = request.subprotocols
    extensions = request.extensions
    faults = []
  }

  /// What the answer is compared with, without the head, which may be long.
  package var withoutHead: WebSocketRequest { WebSocketRequest(withoutHeadOf: self) }

  /// About the memory that the offers take, in bytes.
  package var reserved: Int {
    subprotocols.reduce(extensions.reserved) { $0 + MemoryLayout<String>.stride + $1.reserved }
      + (key?.reserved ?? 0)
  }

  /// Creates a request.
  /// - Parameters:
  ///   - target: The request target, such as `/mqtt`.
  ///   - fields: The header lines; none is added.
  public init(target: String, fields: [HTTPHead.Field]) {
    self.init(HTTPHead(startLine: "GET \(target) HTTP/1.1", fields: fields))
  }

  /// Tells whether a head asks for an upgrade to WebSocket, be it in a faulty way.
  ///
  /// A proxy that does not know WebSocket takes Upgrade and Connection away (RFC 9110 section 7.6.1): what has neither
  /// asks for nothing any more, whatever else is left of it. Nor does another method than GET without a key.
  /// - Parameter head: The head of a request.
  /// - Returns: Whether it does.
  public static func isOne(_ head: HTTPHead) -> Bool {
    let isKeyed = !head.fields(named: "Sec-WebSocket-Key").isEmpty
    // Two keys of another name are those of a draft before it.
    guard isKeyed || head.fields(named: "Sec-WebSocket-Key1").isEmpty else { return false }
    if head.list("Upgrade", has: "websocket") { return isKeyed || !head.asksForElse }
    let mayUpgrade =
      !head.fields(named: "Upgrade").isEmpty || head.list("Connection", has: "upgrade")
    return mayUpgrade && isKeyed
  }

  /// The permessage-deflate that the client offers first.
  public var deflate: PermessageDeflate? {
    extensions.first { $0.name == PermessageDeflate.name }
      .map { PermessageDeflate.read($0.parameters, in: .offer).deflate }
  }
}

extension HTTPHead {
  /// Whether the method is one that HTTP has for something else, and which says so in full.
  fileprivate var asksForElse: Bool {
    ["HEAD ", "POST ", "PUT ", "DELETE ", "OPTIONS ", "TRACE ", "PATCH "].contains {
      startLine.hasPrefix($0)
    }
  }
}
