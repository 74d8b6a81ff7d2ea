import TestSupport
import Testing
import Wire

/// MQTT 3.1.1 section 4.7 with its examples, and the shared subscriptions of 5.0 section 4.8.2.
@Suite struct TopicFilterTests {
  private static func check(_ filter: String) -> MQTTTopicFilter.Misplaced {
    MQTTTopicFilter.misplacedWildcards(in: Array(filter.utf8).span.bytes)
  }

  private static func matches(_ filter: String, _ topic: String) -> Bool {
    let filter = Array(filter.utf8)
    return MQTTTopicFilter.matches(filter.span.bytes, topic: Array(topic.utf8).span.bytes)
  }

  private static func withoutShare(_ filter: String) -> String {
    let bytes = Array(filter.utf8)
    return String(copying: MQTTTopicFilter.withoutShare(bytes.span.bytes))
  }

  @Test(arguments: [
    "#", "+", "/", "//", "sport/tennis/#", "sport/#", "+/tennis/#", "sport/+/player1", "+/+", "/+",
    "sport/+", "/finance", "a/+/+/#", "$SYS/#", "sport/tennis/player1", "/#", "+/", "Ω/+/ß/#",
    "a b/c d", "",
  ]) func takesWildcardsThatFillTheirLevel(_ filter: String) {
    #expect(Self.check(filter).isEmpty)
  }

  @Test(arguments: [
    ("sport/tennis#", MQTTTopicFilter.Misplaced(multiLevel: 12)),
    ("sport/tennis/#/ranking", .init(multiLevel: 13)), ("##", .init(multiLevel: 0)),
    ("#/", .init(multiLevel: 0)), ("a/#b", .init(multiLevel: 2)),
    ("sport+", .init(singleLevel: 5)), ("++", .init(singleLevel: 0)),
    ("+a", .init(singleLevel: 0)), ("a/b+/c", .init(singleLevel: 3)),
    ("+#", .init(multiLevel: 1, singleLevel: 0)), ("+/#+", .init(multiLevel: 2, singleLevel: 3)),
    ("a/+#", .init(multiLevel: 3, singleLevel: 2)),
  ]) func refusesOthers(_ filter: String, _ expected: MQTTTopicFilter.Misplaced) {
    #expect(Self.check(filter) == expected)
  }

  @Test(arguments: [
    // Section 4.7.1.2.
    ("sport/tennis/player1/#", "sport/tennis/player1"),
    ("sport/tennis/player1/#", "sport/tennis/player1/ranking"),
    ("sport/tennis/player1/#", "sport/tennis/player1/score/wimbledon"),
    ("sport/#", "sport"), ("#", "sport/tennis"), ("#", "/"), ("#", "a"), ("a/#", "a/"),
    // Section 4.7.1.3.
    ("sport/tennis/+", "sport/tennis/player1"), ("sport/tennis/+", "sport/tennis/player2"),
    ("sport/+", "sport/"), ("+/+", "/finance"), ("/+", "/finance"), ("+", "finance"),
    ("+/tennis/#", "sport/tennis"), ("+/tennis/#", "sport/tennis/a/b"),
    ("sport/+/player1", "sport/tennis/player1"), ("sport/+/player1", "sport//player1"),
    // Section 4.7.2.
    ("$SYS/#", "$SYS/"), ("$SYS/#", "$SYS"), ("$SYS/monitor/+", "$SYS/monitor/Clients"),
    ("a/+", "a/$b"), ("a/#", "a/$SYS"),
    // Section 4.7.3: empty levels, spaces, and every other character stand for themselves.
    ("/", "/"), ("//", "//"), ("+/+/+", "//"), ("a//b", "a//b"), ("a/+/b", "a//b"),
    ("Accounts payable", "Accounts payable"), ("Ω/+", "Ω/ß"), ("+/#", "a"), ("+/+/#", "a/b"),
    ("+/b/#", "/b"),
  ]) func matches(_ filter: String, topic: String) {
    #expect(Self.matches(filter, topic))
  }

  @Test(arguments: [
    ("sport/tennis/+", "sport/tennis/player1/ranking"), ("sport/+", "sport"), ("+", "/finance"),
    ("#", "$SYS/monitor/Clients"), ("+/monitor/Clients", "$SYS/monitor/Clients"),
    ("+", "$SYS"), ("#", "$"), ("+/#", "$SYS/a"),
    ("ACCOUNTS", "Accounts"), ("/finance", "finance"), ("finance", "/finance"),
    ("sport/#", "sports"), ("sport/#", "spor"), ("a/#", "b"), ("a/#", "ab/c"), ("a/+", "a/b/c"),
    ("a/+", "a"), ("a", "a/"), ("a/", "a"), ("a/b", "a"), ("a", "a/b"), ("+/+", "a"),
    ("/+", "a/b"), ("a//b", "a/b"), ("a/+/b", "a/b"), ("$SYS/#", "$SY"), ("a/b/#", "a"),
    ("Accounts payable", "Accounts  payable"), ("+/+/#", "a"), ("/#", "a"),
  ]) func doesNotMatch(_ filter: String, topic: String) {
    #expect(!Self.matches(filter, topic))
  }

  @Test(arguments: [
    ("$share/group/a/b", "a/b"), ("$share/g/#", "#"), ("$share/g//a", "/a"), ("$share/g/", ""),
    ("a/b", "a/b"), ("$share", "$share"), ("$share/", "$share/"), ("$share/g", "$share/g"),
    ("$SYS/share/x", "$SYS/share/x"), ("$shared/g/a", "$shared/g/a"), ("$SHARE/g/a", "$SHARE/g/a"),
  ]) func takesTheFilterOutOfAShare(_ filter: String, _ expected: String) {
    #expect(Self.withoutShare(filter) == expected)
  }

  /// The rules of section 4.7 by levels, apart from the sources: slow and plain.
  private static func reference(_ filter: String, _ topic: String) -> Bool {
    let filters = filter.split(separator: "/", omittingEmptySubsequences: false)
    let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
    if topic.hasPrefix("$"), filters[0] == "+" || filters[0] == "#" { return false }
    for (index, level) in filters.enumerated() {
      if level == "#" { return levels.count >= index }
      guard index < levels.count, level == "+" || level == levels[index] else { return false }
    }
    return filters.count == levels.count
  }

  @Test func agreesWithThePlainRulesOnRandomTopics() {
    var random = SplitMix64(seed: 3)
    for _ in 0..<20_000 {
      let levels = (0...random.int(0...4)).map { _ in random.pick(["a", "b", "", "$c"]) }
      let topic = levels.joined(separator: "/")
      var filters = levels.map { random.int(0...3) == 0 ? "+" : $0 }
      if random.bool() { filters = Array(filters.prefix(random.int(0...filters.count))) + ["#"] }
      if random.int(0...3) == 0 { filters[0] = random.pick(["a", "", "+"]) }
      let filter = filters.joined(separator: "/")
      guard !topic.isEmpty, Self.check(filter).isEmpty else { continue }
      #expect(Self.matches(filter, topic) == Self.reference(filter, topic), "\(filter) \(topic)")
    }
  }
}
