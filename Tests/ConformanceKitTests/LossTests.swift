import DataClient
import Testing

@testable import ConformanceKit

/// A capture that has less of a session than the whole one must accuse nobody whom that does not.
@Suite("Sessions that are not wholly captured")
struct LossTests {
  /// What may be amiss at a place of a session.
  enum Flaw: CaseIterable {
    case clientGap, serverGap, orderUncertain
  }

  private struct Session {
    var name: String
    var script: @Sendable (inout Script) -> Void

    var events: [Event] {
      var script = Script()
      self.script(&script)
      return script.events
    }

    /// The events with a flaw in front of the event at a place, or at it.
    func events(_ whole: [Event], with flaw: Flaw, at place: Int) -> [Event] {
      var script = Script()
      switch flaw {
      case .clientGap: script.loss = (place, .client)
      case .serverGap: script.loss = (place, .server)
      case .orderUncertain:
        var events = whole
        events[place].context.isOrderUncertain = true
        return events
      }
      self.script(&script)
      return script.events
    }
  }

  private static let sessions: [Session] =
    TallyTests.all.map { Session(name: $0.testDescription, script: $0.script) }
    + SessionCase.all.map { Session(name: $0.testDescription, script: $0.script) }

  /// The clauses that any of some sessions violate, a SHOULD included.
  private static func violated(
    by sessions: [[Event]], _ catalogue: Catalogue
  ) throws -> Set<String> {
    var judge = try ConformanceJudge(
      catalogue: catalogue,
      options: ConformanceOptions(
        specs: ["mqtt-3.1.1", "rfc6455"], isStrict: true, maximumFindings: 1))
    for events in sessions {
      judge.begin(file: "f")
      for event in events { event.withView { judge.consume($0) } }
      judge.endFile()
    }
    let results = judge.report(toolVersion: "1").results
    return Set(results.filter { $0.verdict == .failed }.map(\.clause.id))
  }

  @Test("No clause fails where bytes or the order are missing that the whole session keeps")
  func losses() throws {
    let catalogue = try Catalogue.bundled()
    var accused: [String] = []
    var variants = 0
    for session in Self.sessions {
      let whole = session.events
      var flawed: [(name: String, events: [Event])] = []
      for place in whole.indices.dropFirst() {
        for flaw in Flaw.allCases {
          flawed.append(("\(flaw) at \(place)", session.events(whole, with: flaw, at: place)))
        }
      }
      variants += flawed.count
      // All at once, and only where something is amiss one by one.
      let all = try Self.violated(by: flawed.map(\.events), catalogue)
      if all.isEmpty { continue }
      let expected = try Self.violated(by: [whole], catalogue)
      if all.isSubset(of: expected) { continue }
      for (name, events) in flawed {
        let failed = try Self.violated(by: [events], catalogue).subtracting(expected).sorted()
        if !failed.isEmpty { accused.append("\(failed) by \(name) in \(session.name)") }
      }
    }
    #expect(accused == [])
    #expect(variants > 5_000)
  }
}
