import RepriseCore
import TestSupport
import Testing
import Wire

@testable import ConformanceKit

@Suite("Subscriptions")
struct SubscriptionListTests {
  /// What is known of a topic.
  fileprivate enum Match { case subscribed, unsubscribed, none }

  /// What a topic is to all filters, each tried by itself.
  private struct Plain {
    var standings: [String: SubscriptionList.Standing] = [:]

    fileprivate func match(_ topic: String) -> Match {
      let bytes = Array(topic.utf8)
      let met = standings.filter { filter, standing in
        let filter = Array(filter.utf8)
        let inner = MQTTTopicFilter.withoutShare(filter.span.bytes)
        return standing != .refused && MQTTTopicFilter.matches(inner, topic: bytes.span.bytes)
      }
      if met.values.contains(where: { $0 != .removed }) { return .subscribed }
      return met.isEmpty ? .none : .unsubscribed
    }
  }

  private static func request(
    _ filter: String, _ list: inout SubscriptionList
  ) -> SubscriptionList.Reference? {
    list.request(Array(filter.utf8).span.bytes)
  }

  private static func match(
    _ topic: String, _ list: inout SubscriptionList
  ) -> Match {
    var matching = Matching()
    list.forEachMatch(of: Array(topic.utf8).span.bytes) { matching.add($0) }
    if matching.count > 0 { return .subscribed }
    return matching.removed == nil ? .none : .unsubscribed
  }

  private static func text(_ levels: [String], _ random: inout SplitMix64) -> String {
    (0..<random.int(1...5)).map { _ in random.pick(levels) }.joined(separator: "/")
  }

  @Test("A topic matches as if each filter were tried by itself", arguments: 1...40)
  func matchesAsEachAlone(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    var list = SubscriptionList()
    var plain = Plain()
    // Misplaced wildcards are filters of clients as well.
    let levels =
      ["a", "b", "", "$SYS", "+", "+", "#", "abc"] + (seed % 4 == 0 ? ["a#", "+b"] : [])
    var outcomes: [Match: Int] = [:]
    for _ in 0..<60 {
      let filter = Self.text(levels, &random)
      let reference = try #require(Self.request(filter, &list))
      switch random.int(0...5) {
      case 0:
        // What was granted before stands.
        list.settle(reference, code: 0x80, at: .start)
        if plain.standings[filter] != .granted { plain.standings[filter] = .refused }
      case 1...3:
        list.remove(reference, at: .start)
        plain.standings[filter] = .removed
      default:
        list.settle(reference, code: 0, at: .start)
        plain.standings[filter] = .granted
      }
      let topic = Self.text(["a", "b", "", "$SYS", "abc", "a+"], &random)
      let match = Self.match(topic, &list)
      #expect(match == plain.match(topic), "\(topic) of \(plain.standings)")
      outcomes[match, default: 0] += 1
    }
    #expect(!list.isOverfull && !list.tree.isEmpty)
    #expect(outcomes.count == 3)
  }

  @Test("The wildcards of a subscription do not stand for what begins with $", arguments: [8, 100])
  func serverTopics(others: Int) {
    var list = SubscriptionList()
    for index in 0..<others { _ = Self.request("x/\(index)/+", &list) }
    for filter in ["#", "+/a", "+/b/#", "$SYS/+/c"] { _ = Self.request(filter, &list) }
    #expect(Self.match("$SYS/a", &list) == .none)
    #expect(Self.match("$SYS/b/c", &list) == .subscribed)
    #expect(Self.match("$SYS/b", &list) == .none)
    #expect(Self.match("b", &list) == .subscribed)
  }

  /// How many nodes a topic meets beside so many filters that it does not match.
  private static func steps(_ topic: String, _ filters: [String], others: Int) -> Int {
    var list = SubscriptionList()
    for index in 0..<others { _ = request("+/other\(index)/#", &list) }
    for filter in filters { _ = request(filter, &list) }
    #expect(match(topic, &list) == (filters.isEmpty ? .none : .subscribed))
    #expect(!list.isOverfull && !list.tree.isEmpty)
    return list.tree.steps
  }

  @Test("Filters that a topic does not match cost it nothing", arguments: [[], ["+/+/c/+"]])
  func stepsOfOthers(filters: [String]) {
    let few = Self.steps("a/b/c/d", filters, others: 20)
    #expect(few == (filters.isEmpty ? 2 : 5))
    #expect(Self.steps("a/b/c/d", filters, others: 4_000) == few)
  }

  @Test(
    "A topic for which filters were made to branch is given up, and what it matches is not known",
    arguments: [(10, false), (12, true)])
  func branching(depth: Int, isGivenUp: Bool) {
    var list = SubscriptionList()
    for number in 0..<(1 << depth) {
      let levels = (0..<depth).map { number >> $0 & 1 == 0 ? "a" : "+" }
      _ = Self.request((levels + ["x", "+"]).joined(separator: "/"), &list)
    }
    let start = Array(repeating: "a", count: depth)
    #expect(Self.match((start + ["y", "b"]).joined(separator: "/"), &list) == .none)
    #expect(list.isOverfull == isGivenUp)
    #expect((1_000...TopicTree.maximumSteps).contains(list.tree.steps))
  }

  @Test("Filters with misplaced wildcards are kept up to a number")
  func misplaced() {
    var list = SubscriptionList()
    for index in 0..<SubscriptionList.maximumTried {
      #expect(Self.request("a\(index)#", &list) != nil)
    }
    #expect(Self.match("a63xyz", &list) == .subscribed)
    #expect(Self.request("b#", &list) == nil && list.isOverfull)
    #expect(Self.request("b/#", &list) != nil)
    #expect(Self.match("b", &list) == .subscribed)
  }
}

extension Moment {
  /// Some moment, where it does not matter which.
  fileprivate static let start = Moment(time: Timestamp(nanoseconds: 0), frame: 1)
}
