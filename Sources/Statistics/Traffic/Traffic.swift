package import RepriseCore
import Wire

/// How much was sent.
package struct Traffic: Sendable, Hashable {
  /// How many messages: control packets, frames of WebSocket that carry none, requests and answers.
  package var messages = 0
  /// Their bytes, with headers of their protocol and without those of TCP and TLS, as far as they were captured.
  package var bytes = 0
  /// Of these, the bytes of what applications sent: payloads of PUBLISH, frames and bodies, without compression.
  var payload = 0

  /// Adds what another one has.
  mutating func add(_ other: Traffic) {
    messages.addSaturating(other.messages)
    bytes.addSaturating(other.bytes)
    payload.addSaturating(other.payload)
  }

  /// The sum of two.
  static func + (lhs: Traffic, rhs: Traffic) -> Traffic {
    var sum = lhs
    sum.add(rhs)
    return sum
  }
}

/// One value for each of the two ends of connections.
package struct BothPeers<Value: Sendable>: Sendable {
  /// That of the client.
  package var client: Value
  /// That of the server.
  package var server: Value

  /// Creates two equal values.
  package init(_ value: Value) { (client, server) = (value, value) }

  /// The value of one end.
  package subscript(peer: Peer) -> Value {
    get { peer == .client ? client : server }
    _modify {
      if peer == .client { yield &client } else { yield &server }
    }
  }
}

extension BothPeers: Equatable where Value: Equatable {}
extension BothPeers: Hashable where Value: Hashable {}

extension MQTTPacketView {
  /// How many bytes of payload a PUBLISH was sent with: those that a snapshot length cut off it are its last.
  var sentPayload: Int { payload.byteCount > 0 ? payload.byteCount + missing : 0 }
}

extension EventView {
  /// What the event adds to the traffic by itself, whatever it is carried in; its one message is it.
  var traffic: Traffic {
    switch body {
    case .mqtt(let packet):
      Traffic(
        messages: 1, bytes: packet.bytes.byteCount + packet.missing,
        payload: packet.sentPayload)
    case .webSocket(let frame):
      Traffic(
        messages: 1, bytes: frame.header.size + frame.payload.byteCount,
        payload: frame.opcode.isControl ? 0 : frame.data.byteCount)
    case .handshake(let handshake): Traffic(messages: 1, bytes: handshake.head.bytes.count)
    case .http(let part):
      part.message.map { message in
        Traffic(
          messages: 1, bytes: message.head.bytes.count + message.body.count,
          payload: message.body.count)
      } ?? Traffic(messages: 1)
    case .opened, .closed, .attempted, .gap, .malformed, .tls: Traffic(messages: 1)
    }
  }

  /// What the event adds to the traffic of its connection: bytes count where they are on the connection itself, and a
  /// frame that carries control packets is no message besides these.
  var ownTraffic: Traffic {
    var traffic = traffic
    switch body {
    case .webSocket(let frame) where frame.cargo == .mqtt || frame.cargo == .mqttConcealed:
      traffic.messages = 0
      traffic.payload = 0
    case .mqtt where context.over != nil: traffic.bytes = 0
    case .opened, .closed, .attempted, .gap, .malformed, .tls: traffic = Traffic()
    case .http(.unanswered): traffic = Traffic()
    default: break
    }
    return traffic
  }
}
