import RepriseCore
import TestSupport
import Testing

@testable import DeviceSDK

/// What an MQTT session asks for, and what it takes back.
@Suite struct MQTTSubscriptionTests {
  @Test func theLastWhoLeavesTakesItBack() throws {
    var bench = try MQTTBench.connected()
    bench.hold("f", by: 1, qos: .atMostOnce)
    #expect(bench.take() == ["2 SUBSCRIBE f:0"])
    // Another asks while that is under way: it is sent what is retained by a SUBSCRIBE of its own.
    bench.hold("f", by: 2, qos: .exactlyOnce)
    #expect(bench.take().isEmpty)
    bench.grant(2, .atMostOnce)
    #expect(bench.take() == ["call 2 done", "3 SUBSCRIBE f:2"])
    bench.grant(3, .exactlyOnce)
    bench.call(.release("f", 2))
    #expect(bench.take() == ["call 3 done", "call 4 done"])
    bench.call(.release("f", 1))
    #expect(bench.take() == ["4 UNSUBSCRIBE f", "call 5 done"])
    // Another comes before that is answered.
    bench.hold("f", by: 3)
    #expect(bench.take().isEmpty)
    bench.receive(.unsubscribed(.init(rawValue: 4)))
    #expect(bench.take() == ["5 SUBSCRIBE f:1"])
  }

  /// A filter is asked for as is enough for all who hold it: no-local (4) where all want it, retain-as-published (8) where
  /// one does; of what is retained (10, 20) what those want who ask now.
  @Test func optionsAreEnoughForAll() throws {
    var bench = try MQTTBench.connected()
    bench.hold("f", by: 1, options: .init(noLocal: true, retainHandling: .never))
    bench.grant(2, .atLeastOnce)
    bench.hold(
      "f", by: 2, options: .init(noLocal: true, retainAsPublished: true, retainHandling: .ifNew))
    bench.grant(3, .atLeastOnce)
    bench.hold("f", by: 3, options: .init(retainHandling: .never))
    bench.grant(4, .atLeastOnce)
    #expect(
      bench.take() == [
        "2 SUBSCRIBE f:1/24", "call 2 done", "3 SUBSCRIBE f:1/1c", "call 3 done",
        "4 SUBSCRIBE f:1/28", "call 4 done",
      ])
    // Two who ask while another SUBSCRIBE is under way ask together.
    bench.hold("g", by: 4, options: .init(retainHandling: .never))
    bench.hold("g", by: 5, options: .init(retainHandling: .never))
    bench.hold("g", by: 6, options: .init(retainHandling: .ifNew))
    bench.grant(5, .atLeastOnce)
    #expect(bench.take() == ["5 SUBSCRIBE g:1/20", "call 5 done", "6 SUBSCRIBE g:1/10"])
  }

  @Test func whoGivesUpLeavesNothingBehind() throws {
    var bench = try MQTTBench.connected()
    bench.hold("f", by: 1)
    bench.cancel(2)
    bench.grant(2, .atLeastOnce)
    #expect(bench.take() == ["2 SUBSCRIBE f:1", "3 UNSUBSCRIBE f"])
    bench.receive(.failed(.init(rawValue: 3), .refused(code: 0x87, reason: nil)))
    bench.hold("f", by: 2)
    bench.expire()
    #expect(bench.take() == ["4 SUBSCRIBE f:1", "call 3 timedOut"])
    #expect(
      bench.errors.last?.message
        == #"the server did not grant "f" in time; try again or wait longer"#)
    bench.grant(4, .atLeastOnce)
    #expect(bench.take() == ["5 UNSUBSCRIBE f"])
    bench.receive(.unsubscribed(.init(rawValue: 5)))
    #expect(bench.machine.filters.isEmpty && bench.machine.holds.isEmpty)
  }

  @Test func aRefusalIsForThoseWhoAsked() throws {
    var bench = try MQTTBench.connected()
    bench.hold("f", by: 1)
    bench.grant(2, nil)
    #expect(bench.take() == ["2 SUBSCRIBE f:1", "call 2 refused"])
    #expect(bench.machine.filters.isEmpty)
    bench.hold("f", by: 2)
    bench.grant(3, .atLeastOnce)
    bench.hold("f", by: 3, qos: .exactlyOnce)
    // What was granted before is not taken away by it.
    bench.grant(4, nil)
    #expect(
      bench.take() == ["3 SUBSCRIBE f:1", "call 3 done", "4 SUBSCRIBE f:2", "call 4 refused"])
    bench.call(.release("f", 2))
    #expect(bench.take() == ["5 UNSUBSCRIBE f", "call 5 done"])
  }

  @Test func aNewConnectionHasWhatTheOldOneHad() throws {
    var bench = try MQTTBench.connected()
    let names = (0..<10).map { "f\($0)" }
    for (index, name) in names.enumerated() {
      bench.hold(name, by: UInt64(index) + 1)
      bench.grant(UInt32(index) + 2, .atLeastOnce)
    }
    bench.call(.release("f3", 4))
    _ = bench.take()
    bench.lose()
    bench.expire()
    bench.receive(.connected(.init()))
    let wanted = names.filter { $0 != "f3" }.map { "\($0):1" }
    #expect(
      bench.take() == [
        "disconnected", "13 CONNECT c", "connecting",
        "14 SUBSCRIBE \(wanted.prefix(8).joined(separator: " "))", "15 SUBSCRIBE \(wanted[8])",
      ])
    bench.grant(15, .atLeastOnce)
    #expect(bench.take().isEmpty)
    bench.receive(
      .subscribed(.init(rawValue: 14), [nil] + Array(repeating: .atLeastOnce, count: 7)))
    #expect(bench.take() == ["end of f0 refused", "connected"])
  }

  @Test func aSessionThatIsKeptIsAskedForNothing() throws {
    var bench = try MQTTBench.connected { $0.cleanStart = false }
    bench.hold("f", by: 1)
    bench.grant(2, .atLeastOnce)
    bench.hold("g", by: 2)
    bench.hold("h", by: 3)
    bench.grant(4, .atLeastOnce)
    bench.call(.release("h", 3))
    _ = bench.take()
    bench.lose()
    bench.expire()
    bench.receive(.connected(.init(isSessionPresent: true)))
    // Of g nobody knows whether the server has it, and of h whether it has it still.
    #expect(
      bench.take() == ["disconnected", "6 CONNECT c", "connecting", "7 SUBSCRIBE g:1"])
    bench.grant(7, .atLeastOnce)
    #expect(bench.take() == ["call 3 done", "connected to its session", "8 UNSUBSCRIBE h"])
  }

  /// A server that keeps a session, and a machine with any calls, answers and losses: at the end the server has what is
  /// held, no more and no less.
  @Test(arguments: 0..<200 as Range<UInt64>)
  func whatIsHeldIsWhatTheServerHas(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let isKept = random.bool()
    var world = SubscriptionServer(
      bench: try MQTTBench.connected { $0.cleanStart = !isKept }, isKept: isKept)
    let filters = ["a", "b", "c"]
    for holder in 1...60 as ClosedRange<UInt64> {
      switch random.int(0...5) {
      case 0, 1: world.hold(random.pick(filters), by: holder)
      case 2, 3: world.releaseOne(&random)
      case 4: world.answer()
      default: world.cut()
      }
    }
    world.settle()
    #expect(world.has == Set(world.held.values), "seed \(seed)")
    #expect(world.bench.machine.waitsForNothing, "seed \(seed)")
    for holder in world.held.keys.sorted() { world.release(holder) }
    world.settle()
    #expect(world.has.isEmpty && world.bench.machine.filters.isEmpty, "seed \(seed)")
  }
}

/// A server that answers when it is told to, beside the machine whose packets it gets.
private struct SubscriptionServer {
  var bench: MQTTBench
  let isKept: Bool
  /// What the server has.
  var has: Set<String> = []
  /// What is held, by whom.
  var held: [UInt64: String] = [:]
  /// What was sent and not looked at.
  private var sent: [String] = []

  init(bench: MQTTBench, isKept: Bool) {
    self.bench = bench
    self.isKept = isKept
  }

  mutating func hold(_ filter: String, by holder: UInt64) {
    held[holder] = filter
    bench.hold(filter, by: holder)
    collect()
  }

  mutating func releaseOne(_ random: inout SplitMix64) {
    guard !held.isEmpty else { return }
    release(random.pick(held.keys.sorted()))
  }

  mutating func release(_ holder: UInt64) {
    guard let filter = held.removeValue(forKey: holder) else { return }
    bench.call(.release(filter, holder))
    collect()
  }

  private mutating func collect() {
    sent += bench.take().filter { $0.contains("SUBSCRIBE ") || $0.contains("CONNECT") }
  }

  /// Takes the oldest packet, and answers it.
  mutating func answer() {
    guard !sent.isEmpty else { return }
    let words = sent.removeFirst().split(separator: " ")
    guard let id = UInt32(words[0]).map(ClientAction.ID.init(rawValue:)) else { return }
    let filters = words.dropFirst(2).map { String($0.prefix { $0 != ":" }) }
    switch words[1] {
    case "CONNECT": bench.receive(.connected(.init(isSessionPresent: isKept)))
    case "SUBSCRIBE":
      has.formUnion(filters)
      bench.receive(.subscribed(id, filters.map { _ in .atLeastOnce }))
    default:
      has.subtract(filters)
      bench.receive(.unsubscribed(id))
    }
    collect()
  }

  /// Loses the connection; what was sent last may have come, or not.
  mutating func cut() {
    guard case .connected = bench.machine.state else { return }
    let arrived = sent.count / 2
    for packet in sent.prefix(arrived) {
      let words = packet.split(separator: " ")
      let filters = words.dropFirst(2).map { String($0.prefix { $0 != ":" }) }
      if words[1] == "SUBSCRIBE" { has.formUnion(filters) } else { has.subtract(filters) }
    }
    sent = []
    if !isKept { has = [] }
    bench.lose()
    bench.expire()
    collect()
  }

  mutating func settle() {
    while !sent.isEmpty { answer() }
  }
}
