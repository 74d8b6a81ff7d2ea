import Foundation
import RepriseCore
import Testing

@testable import DeviceSDK

/// Topics in their short and full forms, as the cloud has them.
struct TopicVectors: Decodable {
  struct Case: Decodable, Sendable {
    let op: String
    let given: String
    let full: String?
    let short: String?
  }
  let productKey: String
  let deviceName: String
  let up: String
  let down: String
  let cases: [Case]

  static func read() throws -> TopicVectors {
    try JSONDecoder().decode(Self.self, from: ConformanceFile.data("topic-vectors.json"))
  }
}

@Suite struct ChannelTopicsTests {
  @Test func agreesWithEveryVector() throws {
    let vectors = try TopicVectors.read()
    #expect(vectors.cases.count >= 19)
    let topics = ChannelTopics(
      productKey: vectors.productKey, deviceName: vectors.deviceName)
    #expect(topics.up == vectors.up && topics.down == vectors.down)
    for vector in vectors.cases {
      let given = try ChannelTopic(vector.given)
      switch vector.op {
      case "publish": #expect(try topics.publishTopic(for: given).text == vector.full)
      case "subscribe": #expect(try topics.subscriptionFilter(for: given).text == vector.full)
      case "reply": #expect(try topics.replyTopic(for: given).text == vector.full)
      case "strip":
        switch topics.strip(try FullTopic(vector.given)) {
        case .short(let short): #expect(short.text == vector.short)
        case .full(let full): #expect(full.text == vector.short)
        }
      default: Issue.record("there is no operation \(vector.op)")
      }
    }
  }

  private let topics = ChannelTopics(productKey: "a1pk", deviceName: "dev1")

  @Test(arguments: ["", "/", "//", "a\0b", String(repeating: "x", count: 65_536)])
  func refusesTopicsThatNameNothing(given: String) {
    #expect(throws: ChannelError.self) { try ChannelTopic(given) }
  }

  /// The longest topics that the prefixes leave room for, and one byte more.
  @Test func refusesTopicsThatAreTooLongWhenTheyAreCompleted() throws {
    func topic(_ length: Int) throws -> ChannelTopic {
      try ChannelTopic("/" + String(repeating: "x", count: length - 1))
    }
    let (up, down) = (topics.up.utf8.count, topics.down.utf8.count)
    let longest = try topics.publishTopic(for: topic(65_535 - up))
    #expect(longest.text.utf8.count == 65_535)
    #expect(throws: ChannelError.self) { try topics.publishTopic(for: topic(65_536 - up)) }
    #expect(throws: Never.self) { try topics.subscriptionFilter(for: topic(65_535 - down)) }
    #expect(throws: ChannelError.self) {
      try topics.subscriptionFilter(for: topic(65_536 - down))
    }
    #expect(throws: Never.self) { try topics.replyTopic(for: topic(65_529 - down)) }
    #expect(throws: ChannelError.self) { try topics.replyTopic(for: topic(65_530 - down)) }
  }

  @Test(arguments: ["/a/#", "+", "/a/+/b", "/sys/a/#"])
  func refusesToPublishToWildcards(given: String) throws {
    let topic = try ChannelTopic(given)
    #expect(throws: ChannelError.self) { try topics.publishTopic(for: topic) }
    #expect(throws: ChannelError.self) { try topics.replyTopic(for: topic) }
    #expect(throws: Never.self) { try topics.subscriptionFilter(for: topic) }
  }

  @Test(arguments: ["/a#", "/#/a", "/a+", "/+a/b", "/##"])
  func refusesMisplacedWildcards(given: String) throws {
    let topic = try ChannelTopic(given)
    #expect(throws: ChannelError.self) { try topics.subscriptionFilter(for: topic) }
  }

  @Test func answersFullTopicsWhereTheyAreAnswered() throws {
    let own = try ChannelTopic("/sys/a1pk/dev1/app/up/a")
    #expect(try topics.replyTopic(for: own).text == "/sys/a1pk/dev1/app/down/a_reply")
    let gateway = try ChannelTopic("/sys/a1pk/dev1/thing/topo/add")
    #expect(
      try topics.replyTopic(for: gateway).text == "/sys/a1pk/dev1/thing/topo/add_reply")
  }

  @Test func judgesWhatIsFullAsItStands() throws {
    #expect(try ChannelTopic("/sys//a") == .full(FullTopic("/sys//a")))
    #expect(try ChannelTopic("//sys/a") == .full(FullTopic("/sys/a")))
    #expect(try ChannelTopic("/system") == .short(ShortTopic("system")))
  }

  @Test func leavesThePrefixItselfAlone() throws {
    let prefix = try FullTopic(topics.down)
    #expect(topics.strip(prefix) == .full(prefix))
  }

  @Test(arguments: [
    ("a/#", "a", true), ("a/#", "a/", true), ("a/#", "a/b/c", true), ("a/#", "ab", false),
    ("#", "a/b", true), ("#", "$SYS/x", false), ("+/x", "$SYS/x", false),
    ("$SYS/#", "$SYS/x", true),
    ("+", "/a", false), ("/+", "/a", true), ("+/+", "/a", true), ("a/+", "a/", true),
    ("a/+", "a", false), ("a/+/c", "a/b/c", true), ("a/+/c", "a/b/d", false), ("a", "a", true),
    ("a", "a/b", false), ("a/b", "a", false), ("/#", "/a", true), ("a/", "a", false),
    ("a//b", "a//b", true), ("客/+", "客/户", true),
  ])
  func matchesAsTheStandardSays(filter: String, topic: String, matches: Bool) throws {
    let filter = try #require(TopicFilter(filter))
    #expect(filter.matches(topic) == matches)
  }
}
