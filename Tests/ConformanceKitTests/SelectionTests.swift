import Capture
import ConformanceKit
import Foundation
import RepriseCore
import TestSupport
import Testing
import Wire

/// What was chosen of a session accuses nobody whom the whole session does not.
@Suite("Sessions of which a part was chosen")
struct SelectionTests {
  /// A session, and what fails in it.
  private struct Whole {
    var name: String
    var events: [Event]
  }

  /// A way to choose.
  private struct Choice {
    var name: String
    var takes: (Int, Event) -> Bool
  }

  private static func recordings() throws -> [Whole] {
    try DamageTests.recordings.map { name in
      var list = EventList()
      _ = try SessionInput.read(
        PackageFolder.path("Recordings/\(name)"), into: &list)
      return Whole(name: name, events: list.events)
    }
  }

  private static func scripts() -> [Whole] {
    let all =
      TallyTests.all.map { ($0.testDescription, $0.script) }
      + SessionCase.all.map { ($0.testDescription, $0.script) }
    return all.map { name, write in
      var script = Script()
      write(&script)
      return Whole(name: name, events: script.events)
    }
  }

  /// The ways to choose of a session, some of them at places all over it, about as many as wanted.
  private static func choices(of events: [Event], places: Int) -> [Choice] {
    var result: [Choice] = Peer.allCases.map { peer in
      Choice(name: "only of the \(peer)") { _, event in event.context.sender == peer }
    }
    result.append(
      Choice(name: "packets") { _, event in
        if case .mqtt = event.body { return true }
        return false
      })
    for type in Set(events.map(kind)).sorted() {
      result.append(Choice(name: "only \(type)") { _, event in kind(event) == type })
      result.append(Choice(name: "no \(type)") { _, event in kind(event) != type })
    }
    let step = max(1, events.count / places)
    for place in stride(from: 0, to: events.count, by: step) {
      result.append(Choice(name: "from \(place) on") { number, _ in number >= place })
      result.append(Choice(name: "up to \(place)") { number, _ in number <= place })
      result.append(Choice(name: "without \(place)") { number, _ in number != place })
      var random = SplitMix64(seed: UInt64(place))
      let kept = events.map { _ in random.next() % 4 > 0 }
      result.append(Choice(name: "three of four, \(place)") { number, _ in kept[number] })
    }
    return result
  }

  private static func kind(_ event: Event) -> String {
    switch event.body {
    case .opened: "OPEN"
    case .closed: "CLOSE"
    case .attempted: "ATTEMPT"
    case .gap: "GAP"
    case .malformed: "MALFORMED"
    case .mqtt(let packet): "packet \((packet.bytes.first ?? 0) >> 4)"
    case .handshake: "handshake"
    case .http(let part): "\(part.name)"
    case .tls(let part): "\(part.name)"
    case .webSocket(let frame): "frame \(frame.header.opcode.name)"
    }
  }

  /// The lines of what was chosen, as `convert` and `inspect` write them.
  private static func lines(_ events: [Event], _ choice: Choice, file: String?) throws -> [UInt8] {
    var counter = SelectionCounter()
    var writer = EventJSONWriter(showsSecrets: true, file: file)
    var bytes: [UInt8] = []
    if file == nil {
      RecordingHeader(created: nil, source: .capture("a")).append(to: &bytes)
      bytes.append(0x0A)
    }
    for (number, event) in events.enumerated() {
      event.withView { view in
        guard choice.takes(number, event) else { return counter.leaveOut(view) }
        writer.leftOut = counter.take(view)
        writer.appendLines(view, to: &bytes)
        bytes.append(0x0A)
      }
    }
    return bytes
  }

  /// The clauses that fail, a SHOULD included.
  private static func violated(_ events: [[Event]], _ catalogue: Catalogue) throws -> Set<String> {
    let failed = try results(events, catalogue, findings: 1).filter { $0.verdict == .failed }
    return Set(failed.map(\.clause.id))
  }

  private static func results(
    _ events: [[Event]], _ catalogue: Catalogue, findings: Int
  ) throws -> [ClauseResult] {
    var judge = try ConformanceJudge(
      catalogue: catalogue,
      options: ConformanceOptions(
        specs: ["mqtt-3.1.1", "rfc6455"], isStrict: true, maximumFindings: findings))
    for events in events {
      judge.begin(file: "f")
      for event in events { event.withView { judge.consume($0) } }
      judge.endFile()
    }
    return judge.report(toolVersion: "1").results
  }

  private static func expectNoAccusation(of wholes: [Whole], places: Int) throws -> Int {
    let catalogue = try Catalogue.bundled()
    var accused: [String] = []
    var variants = 0
    for whole in wholes {
      let expected = try violated([whole.events], catalogue)
      let choices = choices(of: whole.events, places: places)
      let chosen = try choices.map { choice in
        let lines = try lines(whole.events, choice, file: nil)
        return try EventList(recording: lines).events
      }
      variants += choices.count
      // All at once, and one by one only where something is amiss.
      if try violated(chosen, catalogue).isSubset(of: expected) { continue }
      for (choice, events) in zip(choices, chosen) {
        let failed = try violated([events], catalogue).subtracting(expected).sorted()
        if !failed.isEmpty { accused.append("\(failed) by \(choice.name) of \(whole.name)") }
      }
    }
    #expect(accused == [])
    return variants
  }

  @Test("No clause fails on a part of a recording that the whole one keeps")
  func ofRecordings() throws {
    #expect(try Self.expectNoAccusation(of: Self.recordings(), places: 40) > 3_000)
  }

  @Test("No clause fails on a part of a session that the whole one keeps")
  func ofSessions() throws {
    #expect(try Self.expectNoAccusation(of: Self.scripts(), places: 40) > 10_000)
  }

  /// The clauses that something violates which rests on no other connection.
  private static func violatedAlone(_ events: [Event], _ catalogue: Catalogue) throws -> Set<String>
  {
    Set(
      try results([events], catalogue, findings: 1_000).filter { result in
        result.verdict == .failed
          && result.findings.contains { finding in
            finding.evidence.allSatisfy { $0.connection == finding.connection }
          }
      }
      .map(\.clause.id))
  }

  @Test("A connection that was chosen as a whole is judged as it is in its session")
  func wholeConnections() throws {
    let catalogue = try Catalogue.bundled()
    for whole in try Self.recordings() {
      let expected = try Self.violatedAlone(whole.events, catalogue)
      let connections = Set(whole.events.map(\.context.connection))
      let parts = connections.map { number in
        whole.events.filter { $0.context.connection == number }
      }
      #expect(try Self.violated(parts, catalogue) == expected, "\(whole.name)")
    }
  }

  @Test("What inspect prints of several files is judged as these files are")
  func severalFiles() throws {
    let catalogue = try Catalogue.bundled()
    let all = Choice(name: "all") { _, _ in true }
    let wholes = try Self.recordings()
    var bytes: [UInt8] = []
    for whole in wholes {
      let writer = EventJSONWriter(showsSecrets: true, file: whole.name)
      for event in whole.events {
        event.withView { writer.appendLines($0, to: &bytes) }
        bytes.append(0x0A)
      }
    }
    let read = try EventList(recording: bytes).events
    let expected = try Self.violated(wholes.map(\.events), catalogue)
    #expect(!expected.isEmpty)
    #expect(try Self.violated([read], catalogue) == expected)
    let connections = wholes.reduce(0) { $0 + Set($1.events.map(\.context.connection)).count }
    #expect(Set(read.map(\.context.connection)).count == connections)
    // Marked lines of a whole session leave at its end what is not over undecided, and no more.
    let marked = try wholes.map { whole in
      try EventList(recording: Self.lines(whole.events, all, file: whole.name)).events
    }
    #expect(try Self.violated(marked, catalogue).isSubset(of: expected))
  }
}
