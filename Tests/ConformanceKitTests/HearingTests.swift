import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

/// How a reason is told where more is known of the connection.
struct HearingCase: Sendable, CustomTestStringConvertible {
  let testDescription: String
  var mode = Hearing.Mode.judged
  var givingUp: UndecidedReason?
  var givenUp: UndecidedReason?
  var isOrderUncertain = false
  var hasLoss = false
  /// What becomes of a gap of the client, and of a reason that no loss explains.
  let gap: UndecidedReason
  let other: UndecidedReason

  init(
    _ name: String, gap: UndecidedReason, other: UndecidedReason,
    _ change: (inout HearingCase) -> Void = { _ in }
  ) {
    testDescription = name
    self.gap = gap
    self.other = other
    change(&self)
  }

  static let all = [
    HearingCase("nothing is known", gap: .clientGap, other: .tooMany),
    HearingCase("the order is not known", gap: .orderUncertain, other: .tooMany) {
      $0.isOrderUncertain = true
    },
    HearingCase("the order is not known, and bytes are missing", gap: .clientGap, other: .tooMany) {
      ($0.isOrderUncertain, $0.hasLoss) = (true, true)
    },
    HearingCase("bytes are missing", gap: .clientGap, other: .tooMany) { $0.hasLoss = true },
    HearingCase("it was given up before", gap: .forgotten, other: .tooMany) {
      ($0.givenUp, $0.isOrderUncertain) = (.forgotten, true)
    },
    HearingCase("it is given up now", gap: .leftOut, other: .leftOut) {
      ($0.givingUp, $0.givenUp) = (.leftOut, .forgotten)
    },
    HearingCase("its version is inferred", gap: .inferredVersion, other: .inferredVersion) {
      ($0.mode, $0.givingUp, $0.givenUp) = (.inferred, .leftOut, .forgotten)
    },
    HearingCase("its client retold it", gap: .retold, other: .retold) {
      ($0.mode, $0.givingUp) = (.retold, .leftOut)
    },
  ]
}

@Suite("How an event is judged")
struct HearingTests {
  @Test("What is known of a connection becomes the reason", arguments: HearingCase.all)
  func reasons(_ known: HearingCase) {
    var state = ConnectionState(number: 7)
    state.givenUp = known.givenUp
    state.isOrderUncertain = known.isOrderUncertain
    state.hasLoss = known.hasLoss
    let context = EventContext(
      time: Timestamp(nanoseconds: 5), frame: 3, connection: 7, sender: .client,
      wire: .mqtt(.v3_1_1))
    let hearing = Hearing(context, known.mode, &state, of: .client, givingUp: known.givingUp)
    #expect(hearing.reason(for: .clientGap) == known.gap)
    #expect(hearing.reason(for: .tooMany) == known.other)
    let judged = hearing.judged(.judged)
    #expect(judged.mode.doubt == nil)
    #expect(judged.reason(for: .tooMany) == known.givingUp ?? .tooMany)
    #expect(judged.connection == 7 && judged.moment.frame == 3)
  }

  /// The clauses that a session leaves undecided, with their reasons.
  private func reasons(_ events: [Event]) throws -> [Int: Set<String>] {
    let report = try judge(events)
    var reasons: [Int: Set<String>] = [:]
    for place in report.results.flatMap(\.places) {
      reasons[place.connection, default: []].insert(place.reason)
    }
    return reasons
  }

  @Test("What holds of one connection is said of no other")
  func neighbours() throws {
    var doubtful = Script(connection: 1)
    doubtful.start()
    doubtful.ping()
    doubtful.ping()
    doubtful.doubtOrder()
    doubtful.endCapture()
    var lossy = Script(connection: 2)
    lossy.start()
    lossy.ping()
    lossy.gap(.server)
    lossy.endCapture()
    var inferred = Script(connection: 3)
    inferred.wire = .mqttInferred(.v3_1_1)
    inferred.open(isFromStart: false)
    inferred.ping()
    inferred.endCapture()
    let scripts = [doubtful, lossy, inferred]
    let alone = try scripts.map { try reasons($0.events) }
    var mixed: [Event] = []
    for place in 0..<(scripts.map(\.events.count).max() ?? 0) {
      for script in scripts where place < script.events.count { mixed.append(script.events[place]) }
    }
    let together = try reasons(mixed)
    #expect(together.keys.sorted() == [1, 2, 3])
    for (script, reasons) in zip(scripts, alone) {
      #expect(reasons.keys.sorted() == [script.connection])
      #expect(together[script.connection] == reasons[script.connection])
    }
    #expect(together[1]?.contains(UndecidedReason.orderUncertain.text) == true)
    #expect(together[2]?.contains(UndecidedReason.serverGap.text) == true)
    #expect(together[2]?.contains(UndecidedReason.orderUncertain.text) == false)
    #expect(together[3] == [UndecidedReason.inferredVersion.text])
  }

  @Test("A judge that is copied goes its own way, also where something unusual is known")
  func copies() throws {
    var script = Script()
    script.start()
    script.client(hex: "80 06 0001 0001 61 00")
    let common = script.events.count
    var accepted = script
    accepted.suback(1, 0)
    accepted.finish()
    var refused = script
    refused.close(.server)
    var first = try ConformanceJudge(catalogue: .bundled())
    first.begin(file: "a")
    for event in script.events { event.withView { first.consume($0) } }
    var second = first
    for event in accepted.events.dropFirst(common) { event.withView { first.consume($0) } }
    for event in refused.events.dropFirst(common) { event.withView { second.consume($0) } }
    let results = [first, second].map { judge in
      judge.report(toolVersion: "").results.first { $0.clause.id == "MQTT-3.8.1-1" }
    }
    #expect(results.map { $0?.violated } == [2, 1])
    #expect(results.map { $0?.satisfied } == [0, 1])
  }
}
