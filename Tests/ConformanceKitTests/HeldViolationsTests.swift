import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

/// What waits for the end of a file, and what speaks against it then.
@Suite("Violations that wait for the end of a file")
struct HeldViolationsTests {
  private func time(_ seconds: Int64) -> Timestamp {
    Timestamp(nanoseconds: seconds * 1_000_000_000)
  }

  private static let late = ConnectionClosing(
    how: .fin, firstFrame: 9, firstTime: Timestamp(nanoseconds: 0), isLate: true)

  /// What comes of a violation on a connection that follows another one between the 10th and the 20th second.
  private func doubt(
    _ rule: MQTTRule = .absentSessionIsTold, evidence: [Int] = [], on connection: Int = 2,
    silence: Int64? = nil, then: (inout HeldViolations) -> Void = { _ in },
    _ change: (inout HeldViolations) -> Void = { _ in }
  ) throws -> UndecidedReason? {
    var held = HeldViolations()
    held.follow(2, from: time(10), to: time(20))
    change(&held)
    let context = EventContext(
      time: time(20), frame: 5, connection: connection, sender: .server, wire: .mqtt(.v3_1_1))
    let event = Event(context, .mqtt(PacketBytes([0x20, 2, 1, 0])))
    var state = ConnectionState(number: connection)
    let hearing = Hearing(context, .judged, &state, of: .server)
    let index = rule.index(in: .v3_1_1)
    let text = FindingText(
      "m", expected: "e", actual: "a",
      evidence: evidence.map { Finding.Evidence(frame: 1, connection: $0, role: "r") },
      silence: silence)
    let isKept = event.withView { view in
      held.waits(index, view, .v3_1_1) && held.add(index, view, hearing, of: nil, text)
    }
    try #require(isKept)
    then(&held)
    let ends = held.end()
    #expect(ends.count == 1 && held.end().isEmpty)
    return ends.first?.doubt
  }

  @Test("A stretch that is unseen counts where it lies between both connections")
  func stretches() throws {
    #expect(try doubt { _ in } == nil)
    for (from, to, counts) in [
      (5, 9, false), (5, 10, true), (5, 30, true), (12, 13, true), (19, 30, true), (20, 30, false),
      (21, 30, false),
    ] as [(Int64, Int64, Bool)] {
      let reason = try doubt { $0.noteUnseen(from: time(from), to: time(to)) }
      #expect(reason == (counts ? .connectionsUnseen : nil), "\(from) to \(to)")
    }
    let several = try doubt {
      for (from, to) in [(30, 40), (1, 3), (2, 4), (22, 23)] as [(Int64, Int64)] {
        $0.noteUnseen(from: time(from), to: time(to))
      }
    }
    #expect(several == nil)
  }

  @Test("Late is what arrived so on its own connection, or on one that it rests on")
  func late() throws {
    #expect(try doubt { $0.note(Self.late, of: 3) } == nil)
    #expect(try doubt { $0.note(Self.late, of: 2) } == .arrivedLate)
    #expect(try doubt(evidence: [1, 3]) { $0.note(Self.late, of: 3) } == .arrivedLate)
    #expect(try doubt(.keepAlive, on: 7) { $0.note(Self.late, of: 7) } == .arrivedLate)
    #expect(try doubt(.keepAlive, on: 7) { $0.noteUnseen(from: time(0), to: time(99)) } == nil)
  }

  @Test(
    "The clock of a capture may have been set on its own connection, on one that it rests on, or on any"
  )
  func clocks() throws {
    #expect(try doubt { $0.noteSet(3) } == nil)
    #expect(try doubt { $0.noteSet(2) } == .clockMayBeSet)
    #expect(try doubt(evidence: [1, 3]) { $0.noteSet(3) } == .clockMayBeSet)
    #expect(try doubt { $0.noteAnySet() } == .clockMayBeSet)
  }

  @Test("Where clocks were merged no time counts, nor what stands on two connections")
  func mergedClocks() throws {
    let merged = ConnectionClosing(
      how: .fin, firstFrame: 9, firstTime: time(0), isOfMergedClocks: true)
    #expect(
      try doubt(.olderConnectionEnds, on: 7, then: { $0.note(merged, of: 3) }) == .arrivedLate)
    #expect(try doubt(.topicMatchesFilter, then: { $0.note(merged, of: 3) }) == nil)
    #expect(try doubt(.topicMatchesFilter, evidence: [2], then: { $0.note(merged, of: 3) }) == nil)
    let other = try doubt(.topicMatchesFilter, evidence: [1], then: { $0.note(merged, of: 3) })
    #expect(other == .arrivedLate)
  }

  /// What was captured away from a client shows that it was silent by what it acknowledged meanwhile.
  @Test("A silence stands where it is shown")
  func silences() throws {
    for (known, on, reason) in [
      (nil, 7, nil), (59, 7, .silenceNotShown), (60, 7, nil), (0, 7, .silenceNotShown),
      (0, 8, .endOfCapture),
    ] as [(Int64?, Int, UndecidedReason?)] {
      let closing = ConnectionClosing(
        how: .fin, firstFrame: 9, firstTime: time(90), clientSilence: known)
      let doubt = try doubt(.keepAlive, on: 7, silence: 60, then: { $0.note(closing, of: on) })
      #expect(doubt == reason, "\(String(describing: known)) on \(on)")
    }
    let closing = ConnectionClosing(
      how: .fin, firstFrame: 9, firstTime: time(90), clientSilence: 0)
    #expect(try doubt(.keepAlive, on: 7, then: { $0.note(closing, of: 7) }) == nil)
  }

  /// That is said by the end of a connection alone, which a recording may lack.
  @Test("A silence stands only where the end of its connection is told", arguments: [true, false])
  func untoldEnd(_ isTold: Bool) throws {
    let clause = "mqtt-3.1.1/MQTT-3.1.2-23"
    var options = ConformanceOptions(clauses: [clause])
    options.hasOwnMessages = true
    let report = try judge(options: options) {
      $0.start(keepAlive: 10)
      $0.wait(40)
      $0.answerPing()
      if isTold { $0.endCapture() }
    }
    let result = try #require(report.results.first)
    #expect((result.violated, result.undecided) == (isTold ? (1, 0) : (0, 1)))
  }

  /// Where there was no room to know it, nobody is accused.
  @Test("Beyond what is kept nothing stands")
  func limits() throws {
    func fill(_ body: @escaping (inout HeldViolations, Int) -> Void) -> (inout HeldViolations) ->
      Void
    {
      { held in for index in 100..<65_700 { body(&held, index) } }
    }
    let follow = fill { $0.follow($1, from: self.time(1), to: self.time(2)) }
    #expect(try doubt(on: 9, follow) == .tooMany)
    #expect(try doubt(on: 2, follow) == nil)
    #expect(try doubt(.keepAlive, on: 9, fill { $0.note(Self.late, of: $1) }) == .tooMany)
    let unseen = fill { $0.noteUnseen(from: self.time(Int64($1)), to: self.time(Int64($1))) }
    #expect(try doubt(.absentSessionIsTold, unseen) == nil)
  }
}
