import RepriseCore
import Testing
import Wire

@testable import Capture

/// What proxies put in front of connections.
@Suite struct ProxyHeaderTests {
  private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]

  private static func line(_ text: String) -> [UInt8] { Array("PROXY \(text)\r\n".utf8) }

  /// Headers, and the clients that they name.
  private static let headers: [(name: String, bytes: [UInt8], client: String?)] = [
    ("1, IPv4", line("TCP4 192.0.2.7 198.51.100.1 56324 1883"), "192.0.2.7:56324"),
    ("1, IPv6", line("TCP6 2001:db8::7 2001:db8::1 56324 1883"), "[2001:db8::7]:56324"),
    ("1, unknown", line("UNKNOWN"), nil),
    ("1, unknown with addresses", line("UNKNOWN ffff::1 ffff::2 1 2"), nil),
    (
      "2, IPv4",
      signature + [0x21, 0x11, 0, 12, 192, 0, 2, 7, 198, 51, 100, 1, 0xDC, 4, 7, 0x5B],
      "192.0.2.7:56324"
    ),
    (
      "2, IPv6 and more",
      signature + [0x21, 0x21, 0, 39, 0x20, 1, 0xD, 0xB8] + .init(repeating: 0, count: 11) + [7]
        + [0x20, 1, 0xD, 0xB8] + .init(repeating: 0, count: 12) + [0xDC, 4, 7, 0x5B, 4, 0, 0],
      "[2001:db8::7]:56324"
    ),
    ("2, of the proxy itself", signature + [0x20, 0, 0, 0], nil),
    ("2, of a local socket", signature + [0x21, 0x31, 0, 3, 1, 2, 3], nil),
  ]

  @Test("MQTT is what it is behind a PROXY header", arguments: headers.indices, [true, false])
  func mqtt(_ index: Int, isApart: Bool) {
    let (name, header, client) = Self.headers[index]
    let session = Session.all(.v5_0)
    var dialogue = Dialogue()
    dialogue.open()
    if isApart { dialogue.send(.client, header) }
    for (place, turn) in session.turns.enumerated() {
      dialogue.send(turn.sender, place == 0 && !isApart ? header + turn.bytes : turn.bytes)
    }
    dialogue.close()
    let tap = Tap(dialogue)
    let named = client.map { ", which names the client \($0)" } ?? ""
    #expect(tap.openings.map(\.evidence) == ["behind a PROXY header" + named], "\(name)")
    for peer in Peer.allCases { #expect(tap.packets(peer) == session.packets(peer), "\(name)") }
    #expect(tap.gaps == [] && tap.malformations == [] && tap.closings == [.fin])
    #expect(tap.events.allSatisfy { $0.context.wire == .mqtt(.v5_0) })
  }

  private static func size(_ bytes: [UInt8]) -> Int? { ProxyHeader(bytes.span.bytes)?.size }

  @Test("WebSocket is what it is behind a PROXY header")
  func webSocket() {
    let request = WebSocketDialogue.request(subprotocol: "mqtt")
    var dialogue = Dialogue(serverPort: 80)
    dialogue.open()
    dialogue.send(.client, Self.headers[0].bytes + request)
    dialogue.send(.server, WebSocketDialogue.response(subprotocol: "mqtt"))
    dialogue.close()
    let tap = Tap(dialogue)
    #expect(
      tap.openings.map(\.evidence) == [
        "behind a PROXY header, which names the client 192.0.2.7:56324"
      ])
    #expect(tap.events.allSatisfy { $0.context.wire == .webSocket })
  }

  @Test(
    "What only looks like a PROXY header is none",
    arguments: [
      line("TCP4 192.0.2.7 198.51.100.1 56324"), line("TCP4 token=a 198.51.100.1 56324 1883"),
      line("TCP4 192.0.2.7 198.51.100.1 65536 1883"), line("HTTP"),
      Array("PROXY TCP4 1 2 3 4\n".utf8),
      Array("PROXY ".utf8) + .init(repeating: 0x20, count: 100) + [13, 10],
      signature + [0x11, 0x11, 0, 0], signature + [0x21, 0x11, 0xFF, 0xFF],
      signature.dropLast() + [11, 0x20, 0, 0, 0],
    ])
  func others(_ bytes: [UInt8]) {
    #expect(Self.size(bytes) == nil)
    #expect(Self.size(bytes + [0x10]) == nil)
    var dialogue = Dialogue(serverPort: 9_999)
    dialogue.open()
    dialogue.send(.client, bytes + Session.all(.v5_0).turns[0].bytes)
    dialogue.close()
    #expect(Tap(dialogue).openings.isEmpty)
  }

  @Test("A header that is not all there is none", arguments: headers.indices)
  func cut(_ index: Int) {
    let header = Self.headers[index].bytes
    #expect(Self.size(header) == header.count)
    for count in 0..<header.count {
      #expect(Self.size(Array(header[..<count])) == nil, "\(count)")
    }
  }
}
