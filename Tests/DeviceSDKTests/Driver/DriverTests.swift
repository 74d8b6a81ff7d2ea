import DataClient
import Synchronization
import Testing

@testable import DeviceSDK

@Suite struct DriverTests {
  @Test(arguments: 0..<10)
  func endsEveryCallWhateverIsCancelledAndLost(seed: UInt64) async throws {
    let client = ScriptedClient(responder: SampleChannel.cloud)
    var configuration = try SampleChannel.configuration()
    configuration.reconnect = BackOff(first: .zero, longest: .zero)
    configuration.kickLimit = 1_000
    let ends = Counter()
    try await withChannel(on: client, configuration: configuration) { channel in
      try await channel.start()
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<150 {
          group.addTask {
            await withTaskGroup(of: Void.self) { inner in
              inner.addTask {
                _ = try? await channel.invoke("/a/\(number % 5)")
                ends.count()
              }
              if (UInt64(number) &+ seed) % 3 == 0 { inner.cancelAll() }
            }
          }
          if number % 40 == 39 { client.feed(.closed(.lost("test"))) }
        }
      }
    }
    #expect(ends.value == 150)
  }

  @Test func tellsTheClientOfANewDeadline() async throws {
    let client = ScriptedClient { action, now in
      if case .publish = action.kind { return [] }
      return try SampleChannel.cloud(action, now)
    }
    try await withChannel(on: client, configuration: SampleChannel.configuration()) { channel in
      try await channel.start()
      await client.settle()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await channel.publish("/a") }
        try #require(await client.waitForDeadline())
        await client.advance(by: .seconds(10))
        let error = await #expect(throws: ChannelError.self) { try await group.waitForAll() }
        #expect(error?.kind == .network)
      }
    }
  }

  @Test func performsActionsInTheOrderOfTheMachine() async throws {
    let client = ScriptedClient(responder: SampleChannel.cloud)
    try await withChannel(on: client, configuration: SampleChannel.configuration()) { channel in
      try await channel.start()
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<100 { group.addTask { try? await channel.publish("/a") } }
      }
    }
    let ids = client.performed.compactMap { action -> Int? in
      guard case .publish(let message) = action.kind else { return nil }
      return ChannelEnvelope(parsing: message.payload).flatMap { Int($0.id) }
    }
    #expect(ids == Array(1...100))
    let actions = client.performed.map(\.id.rawValue)
    #expect(actions == actions.sorted())
  }
}

/// Counts, whoever does it.
private final class Counter: Sendable {
  private let number = Mutex(0)
  var value: Int { number.withLock { $0 } }
  func count() { number.withLock { $0 += 1 } }
}
