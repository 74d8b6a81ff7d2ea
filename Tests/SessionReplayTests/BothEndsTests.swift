import Capture
import Foundation
import RepriseCore
import SessionReplay
import Testing
import Wire

/// Both ends of a recorded connection, replayed to each other.
@Suite struct BothEndsTests {
  /// Captures with MQTT whose connections are whole.
  static let recordings = [
    "account-bind", "keep-alive-expired", "keep-alive-ping", "large-payload", "mqtt-over-websocket",
    "non-ascii-topics", "protocol-v31", "publisher-redelivery-v311", "qos-levels-v311",
    "qos-levels-v5", "rabbitmq-sessions-v311", "rabbitmq-topics-v311", "refused-connections",
    "request-response-v5", "retained-set-and-cleared", "session-expiry-v5",
    "session-resumption-v311", "session-taken-over", "subscription-options-v5",
    "wildcards-and-unsubscribe", "will-on-lost-connection", "wills-and-groups-v5",
  ]

  private static func script(_ name: String) throws -> SessionScript {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Recordings")
    var reader = ScriptReader(.init(), within: .init(), limit: 64 << 20)
    _ = try SessionInput.read(folder.appending(path: "\(name)/capture.pcap").path, into: &reader)
    return try reader.script()
  }

  @Test(
    "Each connection of each recording goes through", arguments: recordings, ReplayMatch.allCases)
  func goesThrough(name: String, match: ReplayMatch) throws {
    for connection in try Self.script(name).connections {
      let settings = ReplaySettings.matching(match)
      let now = Dialogue.time(0)
      var tempo = ReplayTempo(nil)
      var server = ReplayedEnd(connection, as: .server, settings, at: now)
      var client = ReplayedEnd(connection, as: .client, settings, at: now)
      var packets = 0
      var isMoving = true
      while isMoving {
        let there = try move(&client, to: &server, now, &tempo)
        let back = try move(&server, to: &client, now, &tempo)
        packets += there + back
        isMoving = there + back > 0
      }
      #expect(server.isDone && client.isDone, "connection \(connection.number)")
      let own = connection.steps.compactMap(\.packet).count {
        $0.type != .pingresp
      }
      #expect(packets >= own - 2 && packets > 1, "connection \(connection.number)")
    }
  }

  /// Hands all that one end has to say to the other one; returns how much that is.
  private func move(
    _ from: inout ReplayedEnd, to other: inout ReplayedEnd, _ now: Timestamp,
    _ tempo: inout ReplayTempo
  ) throws -> Int {
    var count = 0
    while true {
      switch from.next(at: now, by: &tempo, isFree: { _ in true }) {
      case .send(let packet, _):
        count += 1
        if case .diverged(let divergence) = other.take(packet, at: now, by: &tempo) {
          Issue.record("\(divergence)")
          return 0
        }
      case .end:
        count += 1
        if let divergence = other.takeEnd(at: now, by: &tempo) {
          Issue.record("\(divergence)")
          return 0
        }
      case .wait, .nothing: return count
      }
    }
  }
}
