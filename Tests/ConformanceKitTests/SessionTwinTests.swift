import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

/// Sessions made of others, of which it is known what their tallies have to do with those of the others.
@Suite("Twins of sessions")
struct SessionTwinTests {
  /// A violation, as what is the same in a session and in its twin.
  private struct Accusation: Hashable, CustomStringConvertible {
    var clause: String
    var frame: Int

    var description: String { "\(clause) @\(frame)" }
  }

  /// What each of some sessions violates.
  private static func accusations(
    _ sessions: [[Event]], _ catalogue: Catalogue
  ) throws -> [Set<Accusation>] {
    var judge = try ConformanceJudge(
      catalogue: catalogue,
      options: ConformanceOptions(
        specs: ["mqtt-3.1.1", "rfc6455"], isStrict: true, maximumFindings: 100_000))
    for (index, events) in sessions.enumerated() {
      judge.begin(file: "\(index)")
      for event in events { event.withView { judge.consume($0) } }
      judge.endFile()
    }
    var accusations = [Set<Accusation>](repeating: [], count: sessions.count)
    for result in judge.report(toolVersion: "1").results {
      for finding in result.findings {
        guard let index = Int(finding.file) else { continue }
        accusations[index].insert(Accusation(clause: result.clause.id, frame: finding.frame))
      }
    }
    return accusations
  }

  /// Expects that no twin is accused of anything that the session itself is not.
  private func expectWeaker(
    atLeast count: Int, except known: Set<String> = [],
    _ twins: ([Event]) -> [(name: String, events: [Event])]
  ) throws {
    let catalogue = try Catalogue.bundled()
    var accused: [String] = []
    var met = 0
    var weakened = 0
    for session in SessionTallyTests.sessions.sessions {
      var script = Script()
      session.script(&script)
      let twins = twins(script.events)
      let all = try Self.accusations([script.events] + twins.map(\.events), catalogue)
      for (twin, accusations) in zip(twins, all.dropFirst()) {
        met += 1
        if accusations.count < all[0].count { weakened += 1 }
        let new = accusations.subtracting(all[0])
        if !new.isEmpty, !known.contains(session.name) {
          accused.append("\(new) by \(twin.name) in \(session.name)")
        }
      }
    }
    #expect(accused == [])
    #expect(met >= count)
    // Otherwise it would not be known that anything is compared.
    #expect(weakened > 0)
  }

  @Test("A capture that ends earlier accuses nobody of more")
  func cut() throws {
    try expectWeaker(atLeast: 2_500) { whole in
      whole.indices.dropFirst().map { ("the end at \($0)", whole.cut(at: $0)) }
    }
  }

  @Test("A capture that begins within the connection accuses nobody of more")
  func begun() throws {
    try expectWeaker(atLeast: 500) { whole in
      guard case .opened(var opening) = whole[0].body, opening.isFromStart else { return [] }
      opening.isFromStart = false
      var events = whole
      events[0].body = .opened(opening)
      return [("a start that is not captured", events)]
    }
  }

  @Test("A session that is resumed accuses nobody of more")
  func resumed() throws {
    try expectWeaker(atLeast: 300) { whole in
      var isClean = false
      let events = whole.map { event in
        guard case .mqtt(let packet) = event.body else { return event }
        var bytes = packet.bytes
        if bytes.starts(with: [0x10]), bytes.count > 14, bytes[9] & 0b10 != 0, bytes[13] > 0 {
          isClean = true
          bytes[9] &= ~0b10
        }
        if bytes.starts(with: [0x20, 2]), bytes.count == 4, bytes[3] == 0 { bytes[2] |= 1 }
        var event = event
        event.body = .mqtt(PacketBytes(bytes))
        return event
      }
      return isClean ? [("the session of an earlier connection", events)] : []
    }
  }

  @Test("What goes on in a thousandth of the time accuses nobody of more")
  func quick() throws {
    // What the other side took too long for, which is why an end may close without a word, it does in time then.
    let causes: Set = [
      "whole: the server closes on a client that is silent for too long",
      "RFC6455-5.5.2-1: the answerer goes on for more than 30 s",
    ]
    try expectWeaker(atLeast: 700, except: causes) { whole in
      let start = whole[0].context.time.nanoseconds
      func early(_ time: Timestamp) -> Timestamp {
        Timestamp(nanoseconds: start + (time.nanoseconds - start) / 1_000)
      }
      let events = whole.map { event in
        var event = event
        event.context.time = early(event.context.time)
        if case .closed(var closing) = event.body {
          closing.firstTime = early(closing.firstTime)
          event.body = .closed(closing)
        }
        return event
      }
      return [("haste", events)]
    }
  }

  /// The counts of all clauses.
  private static func counts(_ events: [Event]) throws -> [String: [Int]] {
    let options = ConformanceOptions(specs: ["mqtt-3.1.1", "rfc6455"], isStrict: true)
    let results = try judge(events, options: options).results
    return Dictionary(
      uniqueKeysWithValues: results.map {
        ($0.clause.id, [$0.violated, $0.satisfied, $0.undecided])
      })
  }

  @Test("A neighbour in the same capture changes no count, and has none changed")
  func neighbours() throws {
    var neighbour = Script(connection: 99)
    // Of another server: at the same one it would be the same client.
    neighbour.open(server: "10.0.0.3:1883")
    neighbour.client(.connect(.init(clientID: "c", keepAlive: 0)))
    neighbour.server(.connack(.init()))
    neighbour.subscribe(1, "b")
    neighbour.suback(1, 2)
    neighbour.publish(.client, "b", qos: 2, id: 1)
    neighbour.acknowledge(.server, .pubrec, 1)
    neighbour.publish(.server, "c", qos: 1, id: 1)
    neighbour.client(hex: "C1 00")
    neighbour.wait(60)
    neighbour.ping()
    neighbour.close(.server)
    let others = try Self.counts(neighbour.events)
    for session in SessionTallyTests.sessions.sessions {
      var script = Script()
      session.script(&script)
      let alone = try Self.counts(script.events)
      var mixed: [Event] = []
      for place in 0..<max(script.events.count, neighbour.events.count) {
        if place < neighbour.events.count { mixed.append(neighbour.events[place]) }
        if place < script.events.count { mixed.append(script.events[place]) }
      }
      let together = try Self.counts(mixed)
      let wrong = together.filter { id, counts in
        counts != zip(alone[id] ?? [], others[id] ?? []).map { $0 + $1 }
      }
      #expect(wrong == [:], "\(session.name)")
    }
  }
}
