import Glibc
import LiveClient
import RepriseCore

/// A mosquitto that takes MQTT over WebSocket beside MQTT over TCP.
struct WebSocketBroker {
  let broker: Broker
  let port: UInt16

  /// Starts it, and waits until it listens on both ports.
  init(
    _ settings: [String] = ["allow_anonymous true"], globals: [String] = [],
    webSocket: [String] = []
  ) async throws {
    port = try Socket.freePort()
    broker = try await Broker(
      settings + ["listener \(port) 127.0.0.1", "protocol websockets"] + webSocket,
      globals: globals)
    guard try Socket.answers(port) else {
      throw Child.Failure(description: "nobody speaks WebSocket on port \(port)")
    }
  }

  var url: String { "ws://127.0.0.1:\(port)/mqtt" }
}

typealias WebSocketUser = TestUser<MQTTWebSocketClient<WebSocketClient>>

extension TestUser<MQTTWebSocketClient<WebSocketClient>> {
  /// A client that is connected.
  static func connected(
    _ broker: WebSocketBroker, version: MosquittoClient.Version = .v3_1_1,
    limits: MosquittoClient.Limits = MosquittoClient.Limits(),
    _ options: ConnectOptions = ConnectOptions()
  ) async throws -> WebSocketUser {
    let user = try WebSocketUser(broker, version: version, limits: limits)
    try await user.connect(options)
    return user
  }

  convenience init(
    _ broker: WebSocketBroker, version: MosquittoClient.Version = .v3_1_1,
    limits: MosquittoClient.Limits = MosquittoClient.Limits()
  ) throws {
    self.init(
      try MQTTWebSocketClient(url: broker.url, version: version, limits: limits),
      broker: broker.broker)
  }
}
