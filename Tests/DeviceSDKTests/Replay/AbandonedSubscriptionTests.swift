import AppSessions
import RepriseCore
import SDKReplay
import Synchronization
import TestSupport
import Testing

@testable import DeviceSDK

/// Sessions of links in which the task of a subscription was cancelled while it was under way.
@Suite(.timeLimit(.minutes(20))) struct AbandonedSubscriptionTests {
  /// What a subscription waits for when it is cancelled.
  enum Wait: String, CaseIterable, Sendable {
    /// For the broker; without features there is nothing to wait for.
    case grant
    /// For the server.
    case reply
    /// For the list of users.
    case snapshot
    /// For the broker, while the channel is subscribed to with fewer features.
    case moreFeatures
    /// For the server, while the channel is subscribed to with fewer features.
    case replyToMore

    var isForMore: Bool { self == .moreFeatures || self == .replyToMore }

    /// How many packets bring the subscription to where it waits, and how many take it back.
    var counts: (begun: Int, takenBack: Int) {
      switch self {
      case .grant: (1, 2)
      case .reply, .snapshot, .replyToMore: (2, 2)
      case .moreFeatures: (1, 1)
      }
    }

    /// Whether an answer is kept back.
    func holds(_ event: ClientEvent, to action: ClientAction.Kind) -> Bool {
      switch (action, event) {
      case (.subscribe(let wishes), .subscribed):
        let isOfChannel = wishes.contains { $0.filter.hasSuffix("/presence") }
        return (self == .grant || self == .moreFeatures) && isOfChannel
      case (.publish(let request), .message(let answer)):
        guard request.topic.hasSuffix("/up/subscribe") else { return false }
        let features = JSONValue(parsing: request.payload)?["features"]?.integer
        let isForPresence = (features ?? 0) & LinkSubscribeFeatures.presence.rawValue != 0
        let isSnapshot = answer.topic.hasSuffix("/snapshot")
        return isForPresence
          && (self == .reply || self == .replyToMore || self == .snapshot && isSnapshot)
      default: return false
      }
    }
  }

  private static let both: LinkSubscribeFeatures = [.message, .presence]
  private static let configuration = {
    var configuration = LinkConfiguration(appID: "app", userID: "ann", sessionID: "7")
    // The scripted world has none.
    configuration.leavesWill = false
    return configuration
  }()

  /// Records a user who cancels a subscription, and goes on.
  private static func record(_ wait: Wait) async throws -> [UInt8] {
    let client = ScriptedClient { action, now in
      try LinkTests.server(action, now).filter { !wait.holds($0, to: action.kind) }
    }
    let recorder = try RecordingClient(
      client, to: MemorySink(), redaction: RedactionRules(hidesSecrets: false))
    try await withLink(on: recorder, configuration: configuration) { link in
      try await link.login(token: "t")
      if wait.isForMore { try await link.subscribe("hall", [.message]) }
      let count = client.performed.count
      let task = Task { try await link.subscribe("hall", both) }
      await client.waitForActions(count + wait.counts.begun)
      await client.settle()
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      await client.waitForActions(count + wait.counts.begun + wait.counts.takenBack)
      try await link.publish("hello", in: "yard")
      try await link.logout()
    }
    try recorder.finish()
    return recorder.sink.bytes
  }

  @Test(arguments: Wait.allCases)
  func goesThroughItsSessionAgain(wait: Wait) async throws {
    let events = try AppSession.events(try await Self.record(wait))
    let calls = Mutex<[String]>([])
    let outcome = try await SystemReplay<MessageLinkPlan>(events).run { observation in
      guard case .called(let call) = observation.content else { return }
      calls.withLock {
        $0.append([call.name, call.subject].compactMap(\.self).joined(separator: " "))
      }
    }
    #expect(outcome.divergence == nil, "\(outcome.divergence.map { "\($0)" } ?? "")")
    #expect(outcome.openCalls.isEmpty && outcome.ending == .idle)
    // Where the server has taken the user in, unsubscribing says the same.
    let end = wait == .snapshot ? "unsubscribe hall" : "abandon hall"
    let first = wait.isForMore ? ["subscribe hall"] : []
    #expect(
      calls.withLock { $0 }
        == ["login"] + first + ["subscribe hall", end, "publish yard", "logout"])
  }

  /// A near miss: an app that goes on waiting is not the one that was recorded.
  @Test func anAppThatDoesNotGiveUpDiverges() async throws {
    var options = ReplayOptions()
    options.patience = .limited(.seconds(1), by: ContinuousClock())
    let events = try AppSession.events(try await Self.record(.grant))
    let client = try ReplayClient(events, options: options)
    await #expect(throws: (any Error).self) {
      try await withLink(on: client, configuration: Self.configuration) { link in
        try await link.login(token: "t")
        try await link.subscribe("hall", Self.both)
      }
    }
    let divergence = try #require(client.divergence)
    #expect(divergence.expected?.contains("UNSUBSCRIBE") == true, "\(divergence)")
  }

  @Test func onlyASubscriptionThatIsUnderWayCanBeGivenUp() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["hall"])
    bench.call("a", .abandonSubscription("hall"))
    #expect(bench.take().last?.hasSuffix("a -11002") == true)
  }
}
