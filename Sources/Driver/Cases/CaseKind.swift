/// What is driven by a case, and with it what its steps may be.
package enum CaseKind: String, Sendable, Hashable, CaseIterable {
  /// A broker, by clients of the case.
  case broker
  /// A client of MQTT, for which the case is the broker.
  case client
  /// A server of WebSocket, for which the case is the client, or a client, for which it is the server.
  case webSocket = "websocket"

  /// The actions that steps may have.
  var actions: [CaseStep.Action] {
    switch self {
    case .broker:
      [
        .connect, .open, .subscribe, .unsubscribe, .publish, .send, .bytes, .await, .fence, .hold,
        .disconnect, .finish, .reset, .wait,
      ]
    case .client:
      [
        .accept, .open, .publish, .send, .bytes, .await, .hold, .release, .disconnect, .finish,
        .reset, .wait,
      ]
    case .webSocket:
      [
        .open, .connect, .accept, .frame, .message, .bytes, .await, .fence, .hold, .close, .finish,
        .reset, .wait,
      ]
    }
  }

  /// What a case may need of what it drives.
  var abilities: [CaseAbility] {
    switch self {
    case .broker:
      [
        .retain, .qos1, .qos2, .wildcards, .shared, .identifiers, .aliases, .sessions,
        .noQoS2, .noRetain, .noWildcards, .noShared, .noIdentifiers, .packetLimit,
        .authentication, .alone,
      ]
    case .client: [.publishes, .subscribes, .qos1, .qos2, .sessions, .authentication]
    case .webSocket: [.deflate]
    }
  }

  /// Whether MQTT is spoken, in one of its versions.
  var speaksMQTT: Bool { self != .webSocket }

  /// Whether a step says which of several clients does it.
  var hasClients: Bool { self == .broker }
}
