import RepriseCore
import Testing

@testable import ConformanceKit

/// A capture that has less of a session than the whole one must accuse nobody whom that does not.
@Suite("Sessions that are not wholly captured")
struct LossTests {
  /// What may be amiss at a place of a session.
  enum Flaw: CaseIterable {
    case clientGap, serverGap, orderUncertain
    /// What was known of the connection is given up.
    case forgotten
  }

  /// Events, and where what was known of their connection is given up.
  private struct Variant {
    var name: String
    var events: [Event]
    var forgottenAt: Int?
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
      case .forgotten: return whole
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
    by sessions: [Variant], _ catalogue: Catalogue
  ) throws -> Set<String> {
    var judge = try ConformanceJudge(
      catalogue: catalogue,
      options: ConformanceOptions(
        specs: ["mqtt-3.1.1", "rfc6455"], isStrict: true, maximumFindings: 1))
    for session in sessions {
      judge.begin(file: "f")
      for (place, event) in session.events.enumerated() {
        if session.forgottenAt == place { judge.forget(event.context.connection, event.context) }
        event.withView { judge.consume($0) }
      }
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
      var flawed: [Variant] = []
      for place in whole.indices.dropFirst() {
        for flaw in Flaw.allCases {
          flawed.append(
            Variant(
              name: "\(flaw) at \(place)", events: session.events(whole, with: flaw, at: place),
              forgottenAt: flaw == .forgotten ? place : nil))
        }
      }
      variants += flawed.count
      // All at once, and only where something is amiss one by one.
      accused += try Self.accused(flawed, in: whole, session.name, catalogue)
    }
    #expect(accused == [])
    #expect(variants > 7_000)
  }

  /// What fails in variants of a session that does not in the whole one.
  private static func accused(
    _ flawed: [Variant], in whole: [Event], _ name: String, _ catalogue: Catalogue
  ) throws -> [String] {
    let all = try violated(by: flawed, catalogue)
    if all.isEmpty { return [] }
    let expected = try violated(by: [Variant(name: name, events: whole)], catalogue)
    if all.isSubset(of: expected) { return [] }
    return try flawed.compactMap { variant in
      let failed = try violated(by: [variant], catalogue).subtracting(expected).sorted()
      return failed.isEmpty ? nil : "\(failed) by \(variant.name) in \(name)"
    }
  }

  /// What other clocks make of a session is another that may have been: here the answer was late anyway.
  private static let alike: Set<String> = {
    let late = "the silence in front of a late CONNACK is not the client's"
    return Set(
      ["client by 40 s", "server by -40 s"].map { "[\"MQTT-3.1.2-23\"] by \($0) in \(late)" })
  }()

  /// An event as it is when the clock of a peer is ahead: the end of a connection has the times of both, where the
  /// other one's FIN was captured.
  private static func moved(_ event: Event, by seconds: Int64, if peer: Peer) -> Event {
    var event = event
    let isOfPeer = event.context.sender == peer
    guard case .closed(var closing) = event.body, closing.how != .endOfCapture else {
      if isOfPeer { event.context.time.nanoseconds += seconds * 1_000_000_000 }
      return event
    }
    let isOfBoth = closing.how == .fin && closing.isAnswered
    if isOfPeer != isOfBoth { event.context.time.nanoseconds += seconds * 1_000_000_000 }
    if isOfPeer { closing.firstTime.nanoseconds += seconds * 1_000_000_000 }
    event.body = .closed(closing)
    return event
  }

  @Test("No clause fails where the directions were captured by two clocks")
  func clocks() throws {
    let catalogue = try Catalogue.bundled()
    var accused: [String] = []
    for session in Self.sessions {
      let whole = session.events
      var flawed: [Variant] = []
      for peer in Peer.allCases {
        for seconds in [-3_600, -40, 40, 3_600] as [Int64] {
          flawed.append(
            Variant(
              name: "\(peer) by \(seconds) s",
              events: whole.map { Self.moved($0, by: seconds, if: peer) }))
        }
      }
      accused += try Self.accused(flawed, in: whole, session.name, catalogue)
    }
    #expect(Set(accused) == Self.alike)
  }
}
