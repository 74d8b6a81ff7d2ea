import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

/// What comes of all sessions where one thing about each is otherwise, in numbers: they notice what no session was
/// written for.
///
///     2.3.1-2 kept 120 violated 34 sessionResumed 4 by 01ab    what a clause came to in all of a kind of them
///
/// The last word is made of the frames, connections and times of the first places that were found.
@Suite("Variants of sessions and all that comes of them")
struct VariantTallyTests {
  private typealias Session = GoldenTallies.Session

  /// Sessions that are of one sort.
  private struct Sort {
    let name: String
    let version: MQTTVersion
    let sessions: [Session]
  }

  private static let sorts = [
    Sort(
      name: "one connection of MQTT 3.1.1 or WebSocket", version: .v3_1_1,
      sessions: SessionTallyTests.sessions.sessions),
    Sort(
      name: "one connection of MQTT 5.0", version: .v5_0,
      sessions: SessionTallyTests.sessionsOf5.sessions),
    Sort(
      name: "several connections of MQTT 3.1.1", version: .v3_1_1,
      sessions: shared.filter { $0.version == .v3_1_1 }),
    Sort(
      name: "several connections of MQTT 5.0", version: .v5_0,
      sessions: shared.filter { $0.version == .v5_0 }),
    Sort(
      name: "conversations of MQTT 3.1.1", version: .v3_1_1,
      sessions: ConformingBrokerTests.sessions(of: .v3_1_1, 1...12)),
    Sort(
      name: "conversations of MQTT 5.0", version: .v5_0,
      sessions: ConformingBrokerTests.sessions(of: .v5_0, 1...12)),
  ]

  private static let shared = SessionTallyTests.sharedSessions.sessions

  private static let golden = GoldenFile("VariantTallies.txt")
  /// Of longer sessions each variant takes long, and shows no more.
  private static let mostEvents = 100
  /// The places of so many findings are looked at, of each clause and kind of variants.
  private static let mostFindings = 20

  /// The places of a session that are changed: one, which is another one for each change, and the same whatever other
  /// sessions there are.
  private static func places(
    _ events: [Event], _ session: String, _ change: SessionChange
  ) -> [Int] {
    if change.isOfAll { return [0] }
    // Few events are of that kind.
    if change.isOfOpeningOrEnd { return Array(events.indices) }
    let candidates = events.indices.filter { $0 > 0 && change.isOf(events[$0]) }
    guard !candidates.isEmpty else { return [] }
    let number = number(of: session + change.rawValue)
    return [candidates[Int(number % UInt64(candidates.count))]]
  }

  /// A number that tells a text from others.
  private static func number(of text: String) -> UInt64 {
    text.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) }
  }

  /// How often a session is changed in several things at once.
  private static let mostDraws: UInt64 = 2

  /// The variants of a session that are of a kind.
  private static func forEachVariant(
    of session: Session, _ kind: SessionChange.Kind, _ body: (SessionVariant) -> Void
  ) {
    let whole = session.events
    guard whole.count <= mostEvents else { return }
    if kind == .several {
      for draw in 0..<mostDraws {
        let seed = number(of: session.name) &+ draw
        if let variant = SessionVariant(of: session, whole, changes: 3, by: seed) { body(variant) }
      }
    }
    for change in SessionChange.allCases where change.kind == kind {
      for place in places(whole, session.name, change) {
        if let variant = SessionVariant(of: session, whole, change, at: place) { body(variant) }
      }
    }
  }

  private static func tally(_ kind: SessionChange.Kind, _ sort: Sort) throws -> [String] {
    var judge = try ConformanceJudge(
      catalogue: .bundled(),
      options: ConformanceOptions(
        specs: [sort.version.spec, "rfc6455"], isStrict: true, maximumFindings: mostFindings))
    var count = 0
    for session in sort.sessions {
      forEachVariant(of: session, kind) { variant in
        variant.consume(by: &judge, as: session.name)
        count += 1
      }
    }
    return ["\(count) variants"] + judge.report(toolVersion: "1").results.compactMap(line)
  }

  /// What a clause came to; nil where nothing is about it.
  private static func line(_ result: ClauseResult) -> String? {
    guard result.satisfied + result.violated + result.undecided > 0 else { return nil }
    var words = [SessionTally.short(result)]
    if result.satisfied > 0 { words.append("kept \(result.satisfied)") }
    if result.violated > 0 { words.append("violated \(result.violated)") }
    words += result.reasons.map { "\($0.reason) \($0.count)" }
    if result.violated + result.undecided > 0 { words.append("by \(places(of: result))") }
    return words.joined(separator: " ")
  }

  /// What tells the places of a clause from others.
  private static func places(of result: ClauseResult) -> String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    func add(_ number: Int) {
      hash = (hash ^ UInt64(truncatingIfNeeded: number)) &* 0x100_0000_01B3
    }
    for finding in result.findings {
      add(finding.frame)
      add(finding.connection)
      for evidence in finding.evidence {
        add(evidence.frame)
        add(evidence.connection)
      }
    }
    for place in result.places {
      add(place.frame)
      add(place.connection)
      add(Int(place.time.nanoseconds))
    }
    let digits = String((hash ^ hash >> 32) & 0xFFFF, radix: 16)
    return String(repeating: "0", count: 4 - digits.utf8.count) + digits
  }

  /// What comes of each sort, one by one.
  private static var blocks: some Sequence<(name: String, lines: [String])> {
    sorts.lazy.flatMap { sort in
      SessionChange.Kind.allCases.lazy.map { kind in
        let name = "\(sort.name), where \(kind.rawValue)"
        return (name, (try? tally(kind, sort)) ?? ["no catalogue"])
      }
    }
  }

  private static var names: Set<String> {
    Set(
      sorts.flatMap { sort in
        SessionChange.Kind.allCases.map { "\(sort.name), where \($0.rawValue)" }
      })
  }

  @Test("What comes of them is as it was read")
  func tallies() throws {
    if GoldenFile.isWritten { return try Self.golden.write(Self.blocks) }
    // One says enough, and each takes a second.
    Self.golden.check(Self.blocks, most: 2)
    #expect(Self.names == Self.golden.names)
  }
}
