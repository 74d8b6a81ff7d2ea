import CloudSimulator
import RepriseCore
import TestSupport
import Testing

@testable import DeviceSDK

/// Many tasks that call everything at once, and give up at any moment, beside a cloud that misbehaves.
@Suite struct ChannelStressTests {
  private static let script = """
    {
      "tokens": {"stale": {"code": 2043}},
      "replies": [
        {"topic": "/a", "request": [3, 7], "faults": ["no-reply"]},
        {"topic": "/a", "request": [2, 9], "after": 12},
        {"topic": "/b", "request": [2, 5, 11], "faults": ["drop-connection"]},
        {"topic": "/b", "request": [4, 8], "faults": ["duplicate", "numeric-id"]},
        {"topic": "/account/bind", "request": [2, 3], "code": 2152}
      ],
      "pushes": [{"properties": {"A": 1}, "every": 0.5, "times": 200}]
    }
    """

  @Test(.timeLimit(.minutes(20)), arguments: 0..<8 as Range<UInt64>)
  func everyCallEndsAndNothingStays(seed: UInt64) async throws {
    let broker = InProcessBroker()
    let cloud = SimulatedCloud(
      try CloudScript(parsing: Array(Self.script.utf8)), broker: broker)
    let (client, cloudClient) = (broker.client(named: "app"), broker.client(named: "cloud"))
    var configuration = try SampleChannel.configuration()
    configuration.kickLimit = 4
    configuration.releasesReplyTopics = seed % 2 == 0
    configuration.replySubscription = seed % 3 == 0 ? .unlessCovered : .always
    configuration.startTimeout = .seconds(20)
    let (changes, open, ends) = try await beside {
      try await cloud.run(on: cloudClient)
    } _: {
      try await withChannel(on: client, configuration: configuration) { channel in
        let changes = channel.stateChanges
        try await channel.start()
        let ends = await withTaskGroup(of: Int.self) { workers in
          for worker in 0..<6 as Range<UInt64> {
            workers.addTask { await Self.work(channel, seed: seed &* 31 &+ worker) }
          }
          return await workers.reduce(0, +)
        }
        try await channel.stop()
        let open = channel.driver.read { machine in
          machine.calls.count + machine.replies.count
            + machine.dependents.count + machine.heldBack.count + machine.actions.count
        }
        return (changes, open, ends)
      }
    }
    var states: [ChannelState] = []
    for await change in changes { states.append(change.state) }
    #expect(ends == 240)
    #expect(open == 0)
    #expect(!zip(states, states.dropFirst()).contains { $0 == $1 })
    #expect(states.last == .disconnected)
  }

  /// Makes 40 calls, one after the other.
  /// - Returns: How many came back.
  private static func work(_ channel: Channel, seed: UInt64) async -> Int {
    var random = SeededGenerator(seed: seed)
    var ends = 0
    for _ in 0..<40 {
      await call(channel, &random)
      ends += 1
    }
    return ends
  }

  /// Calls something, and gives up after a while that may be shorter than the answer takes.
  private static func call(_ channel: Channel, _ random: inout SeededGenerator) async {
    let (kind, patience) = (random.next() % 12, random.next() % 60)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await perform(kind, channel) }
      if patience < 30 {
        for _ in 0..<patience { await Task.yield() }
        group.cancelAll()
      }
    }
  }

  private static func perform(_ kind: UInt64, _ channel: Channel) async throws {
    switch kind {
    case 0: try await channel.stop()
    case 1, 2: try await channel.start()
    case 3, 4: _ = try await channel.invoke("/a")
    case 5, 6: _ = try await channel.invoke("/b", timeout: .seconds(3))
    case 7: try await channel.publish("/c")
    case 8: try await channel.subscribe("/a_reply")
    case 9: try await channel.unsubscribe("/a_reply")
    case 10: try await channel.bind(token: "good")
    default: try await channel.unbind()
    }
  }
}
