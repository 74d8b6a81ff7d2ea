import Gates
import RepriseCore
import Testing

@testable import LiveClient

/// Where brokers are said to be.
@Suite struct BrokerURLTests {
  @Test(
    arguments: [
      ("mqtt://host", "host", 1883, nil, nil), ("MQTTS://host/", "host", 8883, nil, nil),
      ("mqtt://[::1]:99", "::1", 99, nil, nil), ("mqtt://u@h:1", "h", 1, "u", nil),
      ("mqtt://u:p@w@h", "h", 1883, "u", "p@w"), ("mqtt://a%40b:%25:@h", "h", 1883, "a@b", "%:"),
      ("mqtt://u:@h", "h", 1883, "u", ""),
    ] as [(String, String, UInt16, String?, String?)])
  func reads(
    _ text: String, _ host: String, _ port: UInt16, _ username: String?, _ password: String?
  ) throws {
    let url = try BrokerURL(text)
    #expect(url.host == host)
    #expect(url.port == port)
    #expect(url.username == username)
    #expect(url.password == password.map { [UInt8]($0.utf8) })
    #expect(url.isSecure == text.lowercased().hasPrefix("mqtts"))
  }

  @Test(
    arguments: [
      ("ws://h", 80, "/", "ws://h:80/"),
      ("wss://u:p@h/mqtt?t=1", 443, "/mqtt?t=1", "wss://h:443/mqtt"),
      ("ws://[::1]:9?q", 9, "/?q", "ws://[::1]:9/"),
    ] as [(String, UInt16, String, String)])
  func readsWebSockets(_ text: String, _ port: UInt16, _ path: String, _ shown: String) throws {
    let url = try BrokerURL(text)
    #expect(url.port == port && url.path == path && "\(url)" == shown)
    #expect(url.username == (text.contains("@") ? "u" : nil))
    #expect(url.address.hasSuffix(path) && !url.address.contains("@"))
    #expect(throws: DataClientError.self) { try MosquittoClient(url: text) }
    #expect(throws: DataClientError.self) { try BrokerGate(broker: text) }
  }

  @Test(arguments: [
    "ws://", "ws://h/#f", "ws://h/a b", "ws://h/\r\nX: y", "wss://u:secret@h/?q=\u{7F}", "", "host",
    "http://host", "mqtt://", "mqtt://:1883", "mqtt://host:",
    "mqtt://host:0",
    "mqtt://host:65536", "mqtt://host:x", "mqtt://host/path", "mqtt://host?q", "mqtt://[::1",
    "mqtt://[::1]x", "mqtt://u%4:secret@h", "mqtt://u%+4:secret@h", "mqtt://u:secret%-1@h",
    "mqtt://host:+1",
    "mqtt://%FF:secret@h", "mqtt://u:secret%zz@h", "mqtt://a b",
    "mqtt://h\u{0}", "mqtt://[]:1",
  ])
  func refuses(_ text: String) throws {
    let error = #expect(throws: DataClientError.self) { try BrokerURL(text) }
    #expect(error?.code == .unreadable)
    #expect(error?.message.contains("secret") == false)
  }

  @Test func aClientOverTCPNamesTheOneOverWebSocket() throws {
    let error = #expect(throws: DataClientError.self) {
      try MosquittoClient(url: "ws://u:secret@h/mqtt")
    }
    #expect(
      error?.message
        == "the broker's URL is one of WebSocket, where mqtt:// or mqtts:// is needed; "
        + "MQTTWebSocketClient takes ws:// and wss://")
  }
}
