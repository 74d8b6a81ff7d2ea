import LiveClient
import RepriseCore

/// A client of what a URL leads to.
enum BrokerClient: DataClient {
  /// MQTT over TCP or TLS.
  case tcp(MosquittoClient)
  /// MQTT over WebSocket.
  case webSocket(MQTTWebSocketClient<WebSocketClient>)
  /// WebSocket with messages of its own.
  case frames(WebSocketClient)

  private var client: any DataClient {
    switch self {
    case .tcp(let client): client
    case .webSocket(let client): client
    case .frames(let client): client
    }
  }

  var capabilities: Capabilities { client.capabilities }
  var now: Timestamp { client.now }

  func perform(_ action: ClientAction) async throws { try await client.perform(action) }

  func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try await client.next(before: deadline)
  }

  func wake() { client.wake() }
}
