import RepriseCore
import Synchronization
import TestSupport
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

extension DriverTests {
  /// A client that takes its time when it has performed a PUBLISH.
  private static func slow(
    _ base: ScriptedClient, pause: @escaping @Sendable () async -> Void
  ) -> AnyClient {
    AnyClient(base) { action, client in
      try await client.perform(action)
      if case .publish = action.kind { await pause() }
    }
  }

  /// A caller that hands actions over does so for all, but not for as long as others have any.
  @Test func letsACallerGoHoweverMuchOthersDo() async throws {
    let base = ScriptedClient(responder: SampleChannel.cloud)
    let client = Self.slow(base) {
      for _ in 0..<1_000 where !base.isSettled { await Task.yield() }
    }
    try await withChannel(on: client, configuration: SampleChannel.configuration()) { channel in
      try await channel.start()
      await base.settle()
      let echo = Echo(channel, limit: 500)
      channel.addDownStreamListener(uiSafety: false, listener: echo)
      try await channel.publish("/a")
      #expect(echo.count < 500)
      echo.stop()
    }
  }

  /// The answer came in time, though whoever performed the request still was at it when the world ended.
  @Test(.timeLimit(.minutes(20))) func completesWhatCameBeforeTheEnd() async throws {
    let gate = Gate()
    let base = ScriptedClient(responder: SampleChannel.cloud)
    let pauses = Counter()
    let client = Self.slow(base) {
      pauses.count()
      await gate.pass()
    }
    try await withChannel(on: client, configuration: SampleChannel.configuration()) { channel in
      gate.open()
      try await channel.start()
      await base.settle()
      gate.close()
      let before = pauses.value
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await channel.publish("/a") }
        while pauses.value == before { await Task.yield() }
        await base.settle()
        base.feed(.ended)
        while !channel.driver.isOver { await Task.yield() }
        // Time for the loop to fail what it takes for open.
        for _ in 0..<1_000 { await Task.yield() }
        gate.open()
        try await group.waitForAll()
      }
    }
  }

  /// Messages wait in the client, which knows what to do, and not without bound in the channel.
  @Test func readsNoFurtherThanItTells() async throws {
    let gate = Gate()
    let base = ScriptedClient { action, now in
      guard case .publish = action.kind else { return try SampleChannel.cloud(action, now) }
      return Array(repeating: SampleChannel.message("/a", [:]), count: 50_000)
    }
    let client = Self.slow(base) { await gate.pass() }
    var configuration = try SampleChannel.configuration()
    configuration.publishQoS = .atMostOnce
    let messages = try await withChannel(on: client, configuration: configuration) { channel in
      gate.open()
      try await channel.start()
      await base.settle()
      gate.close()
      await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await channel.publish("/a") }
        while channel.statistics.messages < 50_000, !channel.driver.isHeldUp { await Task.yield() }
        #expect(base.unread > 40_000)
        gate.open()
        while base.unread > 0 { await Task.yield() }
        group.cancelAll()
        try? await group.waitForAll()
      }
      await base.settle()
      return channel.statistics.messages
    }
    #expect(messages == 50_000)
  }
}

extension DriverTests {
  /// The state when a caller is at the queue, and there is more in it.
  private func attended() throws -> Driver<ChannelStateMachine>.State {
    var state = Driver<ChannelStateMachine>.State(
      machine: try ChannelStateMachine(SampleChannel.configuration()))
    state.enter(.called(CallID(rawValue: 1), .start), now: ScriptedClient.start)
    _ = state.takeAttendance()
    state.enter(.called(CallID(rawValue: 2), .stop), now: ScriptedClient.start)
    state.awaitedDeadline = state.machine.deadline
    return state
  }

  @Test func wakesTheLoopForWhatIsLeftToIt() throws {
    var state = try attended()
    #expect(!state.mustWakeLoop)
    let more = state.takeQueue(goesOn: false).outputs
    #expect(more == nil && state.mustWakeLoop)
    let rest = state.takeAttendance()
    #expect(rest?.isEmpty == false && !state.mustWakeLoop)
  }

  @Test func leavesNothingToALoopThatHasEnded() throws {
    var state = try attended()
    state.failure = CancellationError()
    let rest = state.takeQueue(goesOn: false).outputs
    #expect(rest?.isEmpty == false && state.isAttended)
    let more = state.takeQueue(goesOn: false).outputs
    #expect(more == nil && !state.isAttended)
  }
}

/// Publishes whenever it hears something, up to a limit.
private final class Echo: ChannelDownstreamListener {
  private let channel: Channel
  private let left: Mutex<Int>
  private let limit: Int

  init(_ channel: Channel, limit: Int) {
    self.channel = channel
    self.limit = limit
    left = Mutex(limit)
  }

  var count: Int { limit - left.withLock { $0 } }
  func stop() { left.withLock { $0 = 0 } }

  func onDownstream(topic: String, message: ChannelMessage) {
    let mayGoOn = left.withLock { left in
      guard left > 0 else { return false }
      left -= 1
      return true
    }
    if mayGoOn { channel.publish("/a", params: [:]) { _ in } }
  }
}

/// Lets tasks pass while it is open.
private final class Gate: Sendable {
  private let isOpen = Mutex(false)
  func open() { isOpen.withLock { $0 = true } }
  func close() { isOpen.withLock { $0 = false } }
  func pass() async { while !isOpen.withLock({ $0 }) { await Task.yield() } }
}

/// Counts, whoever does it.
private final class Counter: Sendable {
  private let number = Mutex(0)
  var value: Int { number.withLock { $0 } }
  func count() { number.withLock { $0 += 1 } }
}
