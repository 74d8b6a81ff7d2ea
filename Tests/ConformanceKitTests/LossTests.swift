import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

/// A capture that has less of a session than the whole one must accuse nobody whom that does not.
@Suite("Sessions that are not wholly captured")
struct LossTests {
  private typealias Session = GoldenTallies.Session

  private static let sessions = SessionTallyTests.sessions.sessions

  /// The clauses that any of some variants of a session violate, a SHOULD included.
  private static func violated(
    by variants: [SessionVariant], _ version: MQTTVersion, _ catalogue: Catalogue
  ) throws -> Set<String> {
    var judge = try ConformanceJudge(
      catalogue: catalogue,
      options: ConformanceOptions(
        specs: [version.spec, "rfc6455"], isStrict: true, maximumFindings: 1))
    for variant in variants { variant.consume(by: &judge, as: "f") }
    let results = judge.report(toolVersion: "1").results
    return Set(results.filter { $0.verdict == .failed }.map(\.clause.id))
  }

  /// What fails where less of some sessions is captured, and does not in the whole ones.
  static func accused(
    of sessions: [GoldenTallies.Session], atLeast count: Int, most: Int = .max
  ) throws -> [String] {
    let catalogue = try Catalogue.bundled()
    var accused: [String] = []
    var variants = 0
    for session in sessions {
      let whole = session.events
      var flawed: [(name: String, variant: SessionVariant)] = []
      // Of long sessions not each place is asked.
      for place in stride(from: 0, to: whole.count, by: 1 + whole.count / most) {
        for change in SessionChange.allCases where change.isLoss {
          guard place > 0 || change == .begun else { continue }
          guard let variant = SessionVariant(of: session, whole, change, at: place) else {
            continue
          }
          flawed.append(("\(place), where \(change.rawValue)", variant))
        }
      }
      variants += flawed.count
      accused += try Self.accused(flawed, session, catalogue)
    }
    #expect(variants >= count)
    return accused
  }

  @Test("No clause fails where bytes or the order are missing that the whole session keeps")
  func losses() throws {
    let accused = try Self.accused(of: Self.sessions, atLeast: 12_000, most: 10)
    #expect(Set(accused).subtracting(Self.unseen) == [])
  }

  @Test("No clause of 5.0 fails where bytes or the order are missing")
  func lossesOf5() throws {
    let sessions = SessionTallyTests.sessionsOf5.sessions
    let accused = try Self.accused(of: sessions, atLeast: 2_000, most: 6)
    #expect(accused == [])
  }

  /// What accuses somebody here, as the one thing that explains it is what is not captured.
  private static let unseen: Set<String> = {
    func accused(_ clauses: [String], _ place: Int, _ change: SessionChange, _ session: String)
      -> String
    {
      "\(clauses.map { "MQTT-" + $0 }) by \(place), where \(change.rawValue) in \(session)"
    }
    // What shows that a publisher is not in the capture.
    let published = "a message above its own QoS, which another one may have published"
    let will = "a will behind DISCONNECT where a message came from nobody"
    // What shows that the two ends have clocks of their own.
    let clocks = "an older connection that stays open by clocks that differ"
    let early = "MQTT-3.1.2-23: a packet whose time is before that of what it answers"
    // The answer to the first of two requests, in a capture that has the second answer in front of its request.
    let answers =
      "whole: an identifier is used again, and answered in front of the second SUBSCRIBE"
    // A copy more than were published, which shows that somebody else did too.
    let copies = "a message at a lower QoS than it was published with, one more than were published"
    let ofBoth = [("mqtt-3.1.1: ", "3.8.4-6", "3.1.4-2"), ("mqtt-5.0: ", "3.8.4-8", "3.1.4-3")]
      .flatMap {
        [
          accused([$0.1], 10, .cut, $0.0 + published), accused([$0.2], 3, .lost, $0.0 + clocks),
          accused(["3.1.2-10", "3.14.4-3"], 15, .lost, $0.0 + will),
          accused([$0.1], 12, .lost, $0.0 + copies),
        ]
      }
    // The connection that may have been the client's.
    let between =
      "mqtt-3.1.1: a session that is there where a connection of nobody is told late, at the time between both"
    // What shows that the server has connections that are not in the capture, which may have been the client's.
    let behind = "a session that is there behind one that was clean, "
    let stray = behind + "in which comes what nothing asked for"
    let again = behind + "in which the server sends again what it never sent"
    let others = behind + "at a server with clients that are not there"
    let ofPresence = [
      ("mqtt-3.1.1: ", ["3.1.2-6", "3.2.2-3"]), ("mqtt-5.0: ", ["3.1.2-6", "3.2.2-3", "4.1.0-2"]),
    ].flatMap { version, clauses in
      [
        (8, SessionChange.cut, stray), (8, .lost, stray), (8, .cut, others), (12, .cut, others),
        (12, .forgotten, others), (9, .cut, again),
      ]
      .map { accused(clauses, $0.0, $0.1, version + $0.2) }
    }
    let number =
      "mqtt-5.0: a session that is there behind one that expired, in which comes a number that was never given"
    let ownMessage =
      "mqtt-5.0: a client's own message though its filter is No Local, where a client publishes it at "
      + "another address, and is told late"
    // The sessions of others which show that connections are missing.
    let lacking = [
      (7, "a server's message that does not come again"),
      (6, "a client's messages that do not come again"),
      (12, "a client's messages that do not come again"),
    ].flatMap { place, session in
      [SessionChange.torn, .lost, .forgotten].map {
        accused(
          ["4.4.0-1"], place, $0,
          "mqtt-3.1.1: \(session), where two others have sessions of connections not captured")
      }
    }
    // The message that comes again.
    let postponed = [SessionChange.cut, .torn, .forgotten].map {
      accused(
        ["4.4.0-1"], 16, $0,
        "mqtt-3.1.1: a server's message that comes again on the connection after the next")
    }
    return Set(
      ofBoth + ofPresence + lacking + postponed + [
        accused(["3.1.2-23"], 3, .lost, early), accused(["3.8.4-1"], 4, .lost, answers),
        accused(["3.1.2-6", "3.2.2-3"], 9, .cut, between),
        accused(["3.8.3-3"], 9, .cut, ownMessage),
        accused(["3.1.2-6", "3.2.2-3", "4.1.0-2"], 9, .cut, number),
      ])
  }()

  @Test("No clause of several connections fails where bytes or the order are missing")
  func lossesOfSeveral() throws {
    let sessions = SessionTallyTests.sharedSessions.sessions
    let accused = try Self.accused(of: sessions, atLeast: 8_000, most: 6)
    #expect(Set(accused).subtracting(Self.unseen) == [])
  }

  /// What is not known of one connection may explain what a server does on another one.
  @Test(
    "No server fails for a message of which less is known",
    arguments: [
      // Its publisher was given up, and published it again: which of the two was delivered is not known.
      (SessionChange.forgotten, "a message that was published twice, at two QoS", "3.8.4-6"),
      // The copy that is as it should be is hidden.
      (.rebuilt, "a live message in front of the retained one that is the same", "3.3.1-9"),
    ])
  func doubts(change: SessionChange, name: String, clause: String) throws {
    let sessions = SessionTallyTests.sharedSessions.sessions
    let session = try #require(sessions.first { $0.name == "mqtt-3.1.1: " + name })
    let variant = try #require(SessionVariant(of: session, session.events, change, at: 9))
    var judge = try SessionTally.freshJudge(of: .v3_1_1)
    variant.consume(by: &judge, as: "f")
    let results = judge.report(toolVersion: "1").results
    let result = try #require(results.first { $0.clause.id == "MQTT-" + clause })
    #expect(result.violated == 0)
    #expect(result.reasons.map(\.reason) == [change == .forgotten ? .ambiguousMessage : .hidden])
  }

  /// What fails in variants of a session that does not in the whole one.
  private static func accused(
    _ flawed: [(name: String, variant: SessionVariant)], _ session: Session, _ catalogue: Catalogue
  ) throws -> [String] {
    // All at once, and only where something is amiss one by one.
    let all = try violated(by: flawed.map(\.variant), session.version, catalogue)
    if all.isEmpty { return [] }
    let expected = try violated(
      by: [SessionVariant(session.events)], session.version, catalogue)
    if all.isSubset(of: expected) { return [] }
    return try flawed.compactMap { name, variant in
      let failed = try violated(by: [variant], session.version, catalogue)
        .subtracting(expected).sorted()
      return failed.isEmpty ? nil : "\(failed) by \(name) in \(session.name)"
    }
  }

  @Test("No clause fails where the directions were captured by two clocks")
  func clocks() throws {
    let catalogue = try Catalogue.bundled()
    var accused: [String] = []
    for session in Self.sessions {
      let whole = session.events
      var flawed: [(name: String, variant: SessionVariant)] = []
      for peer in Peer.allCases {
        for seconds in [-3_600, -40, 40, 3_600] as [Int64] {
          let events = whole.map { $0.moved(by: seconds, if: peer) }
          flawed.append(("\(peer) by \(seconds) s", SessionVariant(events)))
        }
      }
      accused += try Self.accused(flawed, session, catalogue)
    }
    #expect(accused == [])
  }
}
