import Testing
import Wire
import WireDeflate

/// The opening handshake of RFC 6455 section 1.3, and everything that can be wrong with one.
@Suite struct WebSocketHandshakeTests {
  /// The request of the RFC, to be changed by a test.
  static let request = [
    "GET /chat HTTP/1.1", "Host: server.example.com", "Upgrade: websocket", "Connection: Upgrade",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Origin: http://example.com",
    "Sec-WebSocket-Protocol: chat, superchat", "Sec-WebSocket-Version: 13",
  ]

  static let response = [
    "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "Sec-WebSocket-Protocol: chat",
  ]

  static func head(_ lines: [String]) -> HTTPHead {
    HTTPHead(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
  }

  /// The lines with those that begin like one of the new ones replaced, and the others added.
  static func changed(_ lines: [String], _ changes: [String]) -> [String] {
    var result = lines
    for change in changes {
      let name = change.prefix { $0 != ":" }
      if change.hasPrefix("GET") || change.hasPrefix("HTTP/") || !change.contains(":") {
        result[0] = change
      } else if change.hasPrefix("+") {
        result.append(String(change.dropFirst()))
      } else {
        result.removeAll { $0.hasPrefix(name + ":") }
        if change.count > name.count + 1 { result.append(change) }
      }
    }
    return result
  }

  @Test func readsTheHandshakeOfTheRFC() {
    let request = WebSocketRequest(Self.head(Self.request))
    #expect(request.faults.isEmpty)
    #expect(
      request.method == "GET" && request.target == "/chat" && request.httpVersion == "HTTP/1.1")
    #expect(
      request.key == "dGhlIHNhbXBsZSBub25jZQ==" && request.subprotocols == ["chat", "superchat"])
    #expect(request.extensions.isEmpty && request.deflate == nil)
    #expect(WebSocketKey.accept(for: request.key ?? "") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    #expect(WebSocketKey.encoded(Array("the sample nonce".utf8)) == request.key)
    let response = WebSocketResponse(Self.head(Self.response), to: request)
    #expect(response.faults.isEmpty && response.accepts)
    #expect(response.subprotocol == "chat" && response.reason == "Switching Protocols")
  }

  /// A head of 64 KiB can be full of extensions: not a benchmark, it holds what would be slower than linear.
  @Test(.timeLimit(.minutes(20)), arguments: ["a", "permessage-deflate"], [true, false])
  func comparesManyExtensions(_ name: String, isOffered: Bool) {
    let list = Array(repeating: name, count: 60_000 / (name.utf8.count + 1)).joined(separator: ",")
    let offer = isOffered ? list : String(list.replacing(name, with: "b").prefix(60_000))
    let others = (0..<500).map { "X-\($0): y" }
    let request = WebSocketRequest(
      Self.head(Self.request + ["Sec-WebSocket-Extensions: \(offer)"]))
    let response = WebSocketResponse(
      Self.head(Self.response + others + ["Sec-WebSocket-Extensions: \(list)"]), to: request)
    let refused = response.faults.count { $0.code == .extensionNotOffered }
    #expect(refused == (isOffered ? 0 : response.extensions.count))
    #expect(response.extensions.count > 3_000)
  }

  @Test func makesWhatItReads() {
    let request = WebSocketRequest(
      target: "/mqtt",
      fields: [
        .init("Host", "a"), .init("Upgrade", "websocket"), .init("Connection", "Upgrade"),
        .init("Sec-WebSocket-Key", WebSocketKey.encoded([UInt8](0..<16))),
        .init("Sec-WebSocket-Version", "13"), .init("Sec-WebSocket-Protocol", "mqtt"),
        .init("Sec-WebSocket-Extensions", "permessage-deflate; client_max_window_bits"),
      ])
    #expect(request.faults.isEmpty && WebSocketRequest.isOne(request.head))
    // Two keys of other names are of a draft that is no RFC 6455.
    let draft = HTTPHead(
      startLine: "GET / HTTP/1.1",
      fields: [
        .init("Upgrade", "WebSocket"), .init("Connection", "Upgrade"),
        .init("Sec-WebSocket-Key1", "4 @1  46546xW%0l 1 5"),
        .init("Sec-WebSocket-Key2", "12998 5 Y3 1  .P00"),
      ])
    #expect(!WebSocketRequest.isOne(draft))
    let response = WebSocketResponse(
      accepting: request, subprotocol: "mqtt",
      extensions: "permessage-deflate; client_max_window_bits=10; server_no_context_takeover")
    #expect(response.faults.isEmpty && response.subprotocol == "mqtt")
    #expect(response.deflate?.clientMaxWindowBits == 10)
    #expect(response.deflate?.agreement(for: .server) == .agreed(keepsContext: false))
    #expect(response.deflate?.agreement(for: .client) == .agreed(keepsContext: true))
    #expect(WebSocketResponse(response.head, context: []) == response)
  }

  /// Changes to the request, and what is wrong then.
  static let requestFaults: [([String], [WebSocketFault.Code], WebSocketField)] = [
    (["GET /chat"], [.malformedStartLine], .startLine),
    (["GET  /chat HTTP/1.1"], [.malformedStartLine], .startLine),
    (["GET /chat HTTP/1.1 "], [.malformedStartLine], .startLine),
    (["GET  HTTP/1.1"], [.malformedStartLine], .startLine),
    (["GET /chat HTTP/x.1"], [.malformedStartLine], .startLine),
    (["POST /chat HTTP/1.1"], [.notGET], .startLine),
    (["get /chat HTTP/1.1"], [.notGET], .startLine),
    (["GET /chat HTTP/1.0"], [.oldHTTPVersion], .startLine),
    (["GET /chat#top HTTP/1.1"], [.fragmentInTarget], .startLine),
    (["Host:"], [.missingHeader], .host), (["Upgrade:"], [.missingHeader], .upgrade),
    (["Upgrade: h2c"], [.missingHeader], .upgrade),
    (["Connection: keep-alive"], [.missingHeader], .connection),
    (["Sec-WebSocket-Key:"], [.missingHeader], .key),
    (["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ"], [.invalidKey], .key),
    (["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZTE="], [.invalidKey], .key),
    (["Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAA=="], [.invalidKey], .key),
    (["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j!Q=="], [.invalidKey], .key),
    (["+Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="], [.repeatedHeader], .key),
    (["Sec-WebSocket-Version:"], [.missingHeader], .version),
    (["Sec-WebSocket-Version: 8"], [.unsupportedVersion], .version),
    (["+Sec-WebSocket-Version: 13"], [.repeatedHeader], .version),
    (["Sec-WebSocket-Protocol: ,"], [.invalidSubprotocol], .subprotocol),
    (["Sec-WebSocket-Protocol: a, b c"], [.invalidSubprotocol], .subprotocol),
    (["+Sec-WebSocket-Protocol: chat"], [.invalidSubprotocol], .subprotocol),
    (["Sec-WebSocket-Extensions: a;"], [.malformedExtensions], .extensions),
    (["Sec-WebSocket-Extensions: permessage-deflate; x"], [.invalidParameter], .extensions),
    (["+bad line: x"], [.malformedHeader], .header),
  ]

  @Test(arguments: requestFaults.indices) func tellsEveryFaultOfARequest(_ index: Int) {
    let (changes, codes, field) = Self.requestFaults[index]
    let request = WebSocketRequest(Self.head(Self.changed(Self.request, changes)))
    #expect(request.faults.map(\.code) == codes, "\(changes)")
    #expect(request.faults.map(\.field) == codes.map { _ in field }, "\(changes)")
  }

  @Test(arguments: [
    ["Upgrade: WebSocket"], ["Upgrade: h2c, websocket"], ["Connection: keep-alive, UPGRADE"],
    ["GET http://server.example.com/chat?a=b HTTP/1.1"], ["GET /chat HTTP/1.2"],
    ["Sec-WebSocket-Protocol:"], ["+Sec-WebSocket-Protocol: third"],
    ["Sec-WebSocket-Extensions: x-a; b=\"c\", permessage-deflate; client_max_window_bits"],
  ])
  func takesWhatARequestMaySay(_ changes: [String]) {
    let request = WebSocketRequest(Self.head(Self.changed(Self.request, changes)))
    #expect(request.faults.isEmpty, "\(request.faults)")
  }

  /// Changes to the response, and what is wrong then.
  static let responseFaults: [([String], [WebSocketFault.Code], WebSocketField)] = [
    (["HTTP/1.1"], [.malformedStartLine], .startLine),
    (["HTTP/1.1 1o1 x"], [.malformedStartLine], .startLine),
    (["HTTP/1.1 -10 x"], [.malformedStartLine], .startLine),
    (["Upgrade:"], [.missingHeader], .upgrade), (["Connection:"], [.missingHeader], .connection),
    (["Sec-WebSocket-Accept:"], [.missingHeader], .accept),
    (["Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA="], [.wrongAccept], .accept),
    (["+Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="], [.repeatedHeader], .accept),
    (["Sec-WebSocket-Protocol: mqtt"], [.subprotocolNotOffered], .subprotocol),
    (["Sec-WebSocket-Protocol: "], [.invalidSubprotocol], .subprotocol),
    (["Sec-WebSocket-Protocol: chat, superchat"], [.invalidSubprotocol], .subprotocol),
    (["Sec-WebSocket-Extensions: x-webkit-deflate-frame"], [.extensionNotOffered], .extensions),
    (["Sec-WebSocket-Extensions: permessage-deflate"], [.extensionNotOffered], .extensions),
  ]

  @Test(arguments: responseFaults.indices) func tellsEveryFaultOfAResponse(_ index: Int) {
    let (changes, codes, field) = Self.responseFaults[index]
    let head = Self.head(Self.changed(Self.response, changes))
    let request = WebSocketRequest(Self.head(Self.request))
    let response = WebSocketResponse(head, to: request)
    #expect(response.faults.map(\.code) == codes, "\(changes)")
    #expect(response.faults.map(\.field) == codes.map { _ in field }, "\(changes)")
    // What only the request shows is kept apart, and put back.
    let alone = WebSocketResponse(head, to: nil)
    #expect(alone.faults == response.faults.filter { !$0.code.needsContext })
    let context = response.faults.filter(\.code.needsContext)
    #expect(WebSocketResponse(head, context: context) == response)
  }

  @Test(arguments: [
    ("101", 101), ("099", 99), ("-01", 0), ("+99", 0), ("10", 0), ("1010", 0), ("1o1", 0), ("", 0),
  ])
  func readsAStatusOfThreeDigits(text: String, status: Int) {
    let head = HTTPHead(Array("HTTP/1.1 \(text) x\r\n\r\n".utf8))
    #expect(WebSocketResponse(head, to: nil).status == status)
  }

  @Test(arguments: ["HTTP/1.1 401 Unauthorized", "HTTP/1.1 426 Upgrade Required", "HTTP/1.0 200"])
  func asksNothingOfARefusal(_ line: String) {
    let response = WebSocketResponse(Self.head([line, "Upgrade: websocket"]), to: nil)
    #expect(response.faults.isEmpty && !response.accepts && response.status >= 200)
  }

  /// The codes that the tables of requests and responses have.
  static var tested: [WebSocketFault.Code] {
    requestFaults.flatMap(\.1) + responseFaults.flatMap(\.1)
  }
}
