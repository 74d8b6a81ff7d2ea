public import Wire

/// What a connection speaks, by the names that `inspect` prints.
public enum WireProtocol: Sendable, Hashable {
  /// MQTT of the version that the CONNECT named.
  case mqtt(MQTTVersion)
  /// MQTT whose CONNECT was not captured; packets are laid out by the version that evidence favours.
  case mqttInferred(MQTTVersion)
  /// MQTT of which nothing has told the version so far; packets are laid out by 3.1.1.
  case mqttUndetermined
  /// WebSocket: the handshake, the frames, and the connection that they are on.
  case webSocket
  /// HTTP/1.1: requests and their answers.
  case http
  /// TLS itself, whatever it carries.
  case tls

  /// The name in `inspect` and in recordings; without a CONNECT it names no version.
  public var name: StaticString {
    switch self {
    case .mqtt(.v3_1): "mqtt-3.1"
    case .mqtt(.v3_1_1): "mqtt-3.1.1"
    case .mqtt(.v5_0): "mqtt-5.0"
    case .mqttInferred, .mqttUndetermined: "mqtt"
    case .webSocket: "websocket"
    case .http: "http"
    case .tls: "tls"
    }
  }

  /// The version of MQTT by which packets are decoded; nil where there are none.
  public var version: MQTTVersion? {
    switch self {
    case .mqtt(let version), .mqttInferred(let version): version
    case .mqttUndetermined: .v3_1_1
    case .webSocket, .http, .tls: nil
    }
  }

  /// Whether the version is known from a CONNECT or by the user's word, if there is one.
  public var isCertain: Bool {
    switch self {
    case .mqtt, .webSocket, .http, .tls: true
    case .mqttInferred, .mqttUndetermined: false
    }
  }
}
