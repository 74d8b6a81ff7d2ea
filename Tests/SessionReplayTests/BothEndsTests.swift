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

  /// What comes from outside may be anything; the same is drawn each time.
  @Test(
    "Whatever the other end sends is told, and ends nothing else", arguments: recordings,
    Peer.allCases)
  func takesAnything(name: String, own: Peer) throws {
    var random = SeededGenerator(seed: UInt64(name.utf8.count))
    for connection in try Self.script(name).connections {
      guard case .mqtt(let version) = connection.language else {
        Issue.record("connection \(connection.number) is none of MQTT")
        continue
      }
      let now = Dialogue.time(0)
      let packets = connection.steps.compactMap(\.packet).filter { $0.bytes.count < 4_096 }
      for _ in 0..<12 {
        var tempo = ReplayTempo(1)
        var end = ReplayedEnd(connection, as: own, .matching(.json), at: now)
        for packet in packets.prefix(20) {
          var bytes = packet.bytes
          for _ in 0..<(random.next() % 3) {
            let place = Int(random.next() % UInt64(bytes.count))
            bytes[place] = UInt8(truncatingIfNeeded: random.next())
          }
          if random.next() % 8 == 0 { bytes.removeLast(Int(random.next() % UInt64(bytes.count))) }
          guard let one = try? ReplayPacket(bytes, version) else { continue }
          _ = end.take(.packet(one), at: now, by: &tempo)
          _ = end.next(at: now.advanced(by: .seconds(9)), by: &tempo) { _ in true }
        }
        _ = end.deadline(by: tempo)
        _ = end.givingUp("sends nothing more")
        _ = end.takeEnd(at: now, by: &tempo)
        #expect(end.firstOpen == nil || !end.isDone)
      }
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
