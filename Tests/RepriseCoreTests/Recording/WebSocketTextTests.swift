import RepriseCore
import Testing
import Wire

/// Lines about WebSocket, for people.
@Suite struct WebSocketTextTests {
  /// What stands behind the direction.
  private func line(_ body: Event.Body, sender: Peer = .client, secrets: Bool = false) -> String {
    var writer = EventTextWriter(showsSecrets: secrets)
    var buffer: [UInt8] = []
    Sample.webSocket(body, sender: sender).withView { writer.append($0, to: &buffer) }
    let text = String(decoding: buffer, as: UTF8.self)
    return String(text.split(separator: "\n").last?.dropFirst(31) ?? "")
  }

  private func line(_ frame: WebSocketFrame) -> String { line(.webSocket(frame), sender: .server) }

  @Test func showsFrames() {
    #expect(line(WebSocketFrame(.text, Array("Hello".utf8))) == "TEXT        5 B  \"Hello\"")
    #expect(
      line(WebSocketFrame(.text, Array("a\nb".utf8), isFinal: false))
        == "TEXT        to be continued  3 B  \"a\\nb\"")
    #expect(line(WebSocketFrame(.continuation, [0xFF])) == "CONTINUATION 1 B  0xff")
    #expect(line(WebSocketFrame(.ping, [])) == "PING        0 B")
    #expect(
      line(WebSocketFrame(.close, [3, 232] + Array("bye".utf8)))
        == "CLOSE       5 B  code 1000  \"bye\"")
    #expect(
      line(WebSocketFrame(.init(rawValue: 3), [1]))
        == "RESERVED    opcode 3  1 B  0x01  ! the opcode is reserved (opcode, byte 0)")
    #expect(
      line(.webSocket(WebSocketFrame(.ping, [])), sender: .client)
        == "PING        0 B  ! the client's frame is not masked (masked, byte 1)")
  }

  @Test func showsCompressionCargoAndWhatIsMissing() {
    var frame = WebSocketFrame(.text, [1, 2, 3], reservedBits: 4)
    frame.inflated = Array("Hello".utf8)
    #expect(line(frame) == "TEXT        3 B  inflated 5 B  \"Hello\"")
    frame.inflated = nil
    for (reason, text) in [
      (WebSocketCompression.Reason.contextLost, "it refers to bytes that are not in the capture"),
      (.damaged, "its bytes are damaged"), (.tooLarge, "the message is too large"),
    ] {
      frame.keptCompressed = reason
      #expect(line(frame) == "TEXT        3 B  compressed, not inflated: \(text)  ***")
    }
    var carrier = WebSocketFrame(.binary, Array("password".utf8))
    for cargo in [WebSocketCargo.mqtt, .mqttConcealed] {
      carrier.cargo = cargo
      #expect(line(carrier) == "BINARY      8 B  mqtt")
    }
    var cut = WebSocketFrame(.text, Array("Hello".utf8))
    cut.payload.removeLast(2)
    #expect(line(cut) == "TEXT        5 B  \"Hel\"  ! 2 bytes missing")
  }

  @Test func showsHandshakes() {
    let request = Sample.request(
      target: "/ws?token=geheim&a=b",
      [.init("Sec-WebSocket-Extensions", "permessage-deflate; client_max_window_bits")])
    #expect(
      line(.handshake(.request(request)))
        == "UPGRADE     GET  /ws?token=***&a=b  host a  subprotocols mqtt  "
        + "extensions permessage-deflate; client_max_window_bits")
    #expect(line(.handshake(.request(request)), secrets: true).contains("token=geheim"))
    let response = WebSocketResponse(
      accepting: request, subprotocol: "mqtt", extensions: "permessage-deflate")
    #expect(
      line(.handshake(.response(response)))
        == "UPGRADED    101  subprotocol mqtt  extensions permessage-deflate")
    let refusal = HTTPHead(startLine: "HTTP/1.1 401 Unauthorized\u{1B}", fields: [])
    #expect(
      line(.handshake(.response(WebSocketResponse(refusal, to: nil))))
        == "REFUSED     401  Unauthorized\\u{1b}")
    let faulty = WebSocketRequest(target: "/", fields: [])
    #expect(
      line(.handshake(.request(faulty))).contains(
        "! the header is missing or does not say what it must (host, byte 0)"))
  }

  @Test func showsAnOpeningWithItsEvidence() {
    let opening = ConnectionOpening(
      client: "a", server: "b", isFromStart: false, firstFrame: 1, firstTime: Sample.time,
      evidence: "no handshake")
    #expect(
      line(.opened(opening))
        == "OPEN        a → b  websocket  begun before the capture  (no handshake)")
  }

  @Test(arguments: 0...255) func letsNoControlCharacterThrough(byte: Int) {
    let raw = [UInt8(truncatingIfNeeded: byte), 0xC2, 0x85, 0xE2, 0x80, 0xAE]
    let text = String(decoding: raw, as: UTF8.self)
    let heads = [
      HTTPHead(
        Array("GET /".utf8) + raw + Array(" HTTP/1.1\r\nHost: ".utf8) + raw + [13, 10, 13, 10]),
      HTTPHead(Array("HTTP/1.1 404 ".utf8) + raw + [13, 10, 13, 10]),
    ]
    let bodies: [Event.Body] = [
      .webSocket(WebSocketFrame(.text, raw)), .webSocket(WebSocketFrame(.close, [3, 232] + raw)),
      .handshake(.request(WebSocketRequest(heads[0]))),
      .handshake(.response(WebSocketResponse(heads[1], to: nil))),
      .handshake(.response(Sample.response(subprotocol: text, extensions: text))),
    ]
    for body in bodies {
      let unsafe = line(body).unicodeScalars.filter { scalar in
        scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) || scalar.value == 0x202E
      }
      #expect(unsafe.isEmpty, "\(line(body).debugDescription)")
    }
  }
}
