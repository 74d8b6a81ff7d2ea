import Glibc
import LiveClient
import RepriseCore
import TestSupport
import Testing

/// What is refused or lost over WebSocket, and how that is told.
@Suite struct MQTTWebSocketFaultTests {
  typealias Version = MosquittoClient.Version

  @Test(arguments: Version.allCases) func tellsWhyItWasRefused(_ version: Version) async throws {
    let directory = Scratch()
    try directory.write("", to: "passwords")
    try await Child.run(["mosquitto_passwd", "-b", directory.file("passwords"), "me", "right"])
    let server = try await WebSocketBroker([
      "allow_anonymous false", "password_file \(directory.file("passwords"))",
    ])
    let client = try WebSocketUser(server, version: version)
    let code: UInt8 = version == .v5_0 ? 0x87 : 5
    for options in [
      ConnectOptions(), ConnectOptions(username: "me", password: Array("wrong".utf8)),
    ] {
      #expect(try await client.failure(options) == .refused(code: code))
    }
    try await client.connect(ConnectOptions(username: "me", password: Array("right".utf8)))
  }

  @Test func tellsWhatTheServerRefuses() async throws {
    let directory = Scratch()
    try directory.write("topic readwrite open/#\n", to: "acl")
    let server = try await WebSocketBroker(
      ["allow_anonymous true"], globals: ["acl_file \(directory.file("acl"))"])
    let client = try await WebSocketUser.connected(server, version: .v5_0)
    #expect(client.client.capabilities.contains(.refusals))
    for qos in [QoS.atLeastOnce, .exactlyOnce] {
      let id = try await client.perform(
        .publish(Message(topic: "closed", payload: [], qos: qos)))
      guard case .failed(id, .refused(code: 0x87, _)) = try await client.event() else {
        Issue.record("not refused")
        return
      }
    }
    try await client.publish("open/x", [])
  }

  @Test func tellsWhatTheServerLacks() async throws {
    let server = try await WebSocketBroker(webSocket: ["max_qos 1"])
    let client = try await WebSocketUser.connected(server, version: .v5_0)
    #expect(!client.client.capabilities.contains(.exactlyOnce))
    let message = Message(topic: "a", payload: [], qos: .exactlyOnce)
    #expect(await client.refusal(.publish(message)) == .unsupported)
    let id = try await client.perform(
      .subscribe([Subscription("a", qos: .atMostOnce), Subscription("b", qos: .exactlyOnce)]))
    #expect(try await client.event() == .subscribed(id, [.atMostOnce, .atLeastOnce]))
  }

  @Test func tellsOfALostServer() async throws {
    let server = try await WebSocketBroker()
    let client = try await WebSocketUser.connected(server)
    await server.broker.stop(SIGKILL)
    guard case .closed(.lost) = try await client.event() else {
      Issue.record("not closed")
      return
    }
    #expect(await client.refusal(.publish(Message(topic: "a", payload: []))) == .notConnected)
    guard case .unreached(let reason, _) = try await client.failure() else {
      Issue.record("not refused")
      return
    }
    #expect(reason.contains("127.0.0.1:\(server.port)"))
  }

  @Test func aServerOfAnotherKindIsLeft() async throws {
    // It speaks WebSocket, and echoes what it gets.
    let server = try await PythonServer()
    let client = WebSocketUser(try MQTTWebSocketClient(url: server.url("/echo")))
    guard case .lost(let reason) = try await client.failure() else {
      Issue.record("not left")
      return
    }
    #expect(reason.contains("did not answer CONNECT by CONNACK"))
  }

  @Test(
    arguments: [
      (.publish(Message(topic: "a/#", payload: [])), .invalidAction),
      (.publish(Message(topic: "", payload: [])), .invalidAction),
      (.subscribe([]), .invalidAction), (.subscribe([Subscription("a/b#")]), .invalidAction),
      (.unsubscribe(["a+"]), .invalidAction),
      (.connect(ConnectOptions(cleanStart: false)), .invalidAction),
      (.connect(ConnectOptions(password: [1])), .invalidAction),
      (.send(RequestMessage(path: "", method: "GET")), .unsupported), (.sendText(""), .unsupported),
      (.publish(Message(topic: "a", payload: [1])), .notConnected), (.disconnect, .notConnected),
    ] as [(ClientAction.Kind, DataClientError.Code)])
  func refusesActions(_ action: ClientAction.Kind, _ code: DataClientError.Code) async throws {
    let client = WebSocketUser(try MQTTWebSocketClient(url: "ws://127.0.0.1:1/"))
    #expect(await client.refusal(action) == code)
  }
}
