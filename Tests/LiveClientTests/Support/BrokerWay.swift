import LiveClient
import RepriseCore
import TestSupport
import Testing

/// A way to a broker, over TCP or over WebSocket, by one version of MQTT.
struct BrokerWay: Sendable, CustomTestStringConvertible {
  let isWebSocket: Bool
  let version: MosquittoClient.Version

  static let all = [false, true].flatMap { isWebSocket in
    MosquittoClient.Version.allCases.map { BrokerWay(isWebSocket: isWebSocket, version: $0) }
  }

  var testDescription: String { "\(version) over \(isWebSocket ? "WebSocket" : "TCP")" }

  /// A client that goes this way.
  func client(_ broker: WebSocketBroker) throws -> TestUser<AnyClient> {
    let client: any DataClient =
      isWebSocket
      ? try MQTTWebSocketClient(url: broker.url, version: version)
      : try MosquittoClient(url: broker.broker.url, version: version)
    return TestUser(AnyClient(client), broker: broker.broker)
  }

  /// A client that is connected.
  func connected(
    _ broker: WebSocketBroker, _ options: ConnectOptions = ConnectOptions()
  ) async throws -> TestUser<AnyClient> {
    let client = try client(broker)
    try await client.connect(options)
    return client
  }
}
