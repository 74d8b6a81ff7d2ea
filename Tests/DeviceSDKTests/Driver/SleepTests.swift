import CloudSimulator
import RepriseCore
import TestSupport
import Testing

@testable import DeviceSDK

/// Applications that wait in the time of their client's world.
@Suite(.timeLimit(.minutes(5))) struct SleepTests {
  /// A system of the SDK.
  struct Subject: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var capabilities: Capabilities = [.messages, .push, .binary]
    /// Runs a body on the system.
    let run: @Sendable (ScriptedClient, (any WorldTime) async throws -> Void) async throws -> Void
  }

  static let subjects = [
    Subject(testDescription: "channel") { client, body in
      try await withChannel(on: client, configuration: SampleChannel.configuration(), body)
    },
    Subject(testDescription: "gateway") { client, body in
      let configuration = GatewayConfiguration(.own(try SampleChannel.identity()))
      try await withGateway(on: client, configuration: configuration, body)
    },
    Subject(testDescription: "link") { client, body in
      let configuration = LinkConfiguration(appID: "app", userID: "alice")
      try await withLink(on: client, configuration: configuration, body)
    },
    Subject(testDescription: "MQTT session") { client, body in
      try await withSession(on: client, configuration: MQTTConfiguration(clientID: "c"), body)
    },
    Subject(testDescription: "requests", capabilities: [.frames]) { client, body in
      try await withRequests(on: client, body)
    },
  ]

  private static func run(
    _ subject: Subject, _ body: (ScriptedClient, any WorldTime) async throws -> Void
  ) async throws {
    let client = ScriptedClient(
      capabilities: subject.capabilities, responder: SampleChannel.cloud)
    try await subject.run(client) { system in try await body(client, system) }
  }

  @Test(arguments: subjects) func wakesInTheOrderOfMomentsAndNotBefore(
    _ subject: Subject
  ) async throws {
    try await Self.run(subject) { client, system in
      let start = system.now
      #expect(start == client.now)
      let (woken, wake) = AsyncStream<Int>.makeStream()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for hours in [3, 1, 2] {
          group.addTask {
            try await system.sleep(until: start.advanced(by: .seconds(3_600 * hours)))
            wake.yield(hours)
          }
        }
        var hours = woken.makeAsyncIterator()
        for hour in 1...3 {
          let moment = start.advanced(by: .seconds(3_600 * hour))
          try #require(await client.waitForDeadline(moment))
          await client.advance(by: .seconds(3_599))
          try #require(await client.waitForDeadline(moment))
          await client.advance(by: .seconds(1))
          #expect(await hours.next() == hour)
        }
        try await group.waitForAll()
      }
      #expect(system.now == start.advanced(by: .seconds(3 * 3_600)))
    }
  }

  @Test func doesNotWaitForWhatHasPassed() async throws {
    try await Self.run(Self.subjects[1]) { client, system in
      try await system.sleep(until: client.now)
      try await system.sleep(for: .seconds(-1))
      try await system.sleep(for: .zero)
    }
  }

  @Test func oneThatIsCancelledWakesNobodyElse() async throws {
    try await Self.run(Self.subjects[1]) { client, system in
      let start = client.now
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await system.sleep(for: .seconds(60)) }
        try #require(await client.waitForDeadline(start.advanced(by: .seconds(60))))
        let early = Task { try await system.sleep(for: .seconds(30)) }
        try #require(await client.waitForDeadline(start.advanced(by: .seconds(30))))
        early.cancel()
        await #expect(throws: CancellationError.self) { try await early.value }
        await client.advance(by: .seconds(30))
        try #require(await client.waitForDeadline(start.advanced(by: .seconds(60))))
        await client.advance(by: .seconds(30))
        try await group.waitForAll()
      }
      let cancelled = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await system.sleep(for: .seconds(1))
      }
      await #expect(throws: CancellationError.self) { try await cancelled.value }
    }
  }

  @Test(arguments: subjects) func theEndOfTheWorldIsAnError(_ subject: Subject) async throws {
    try await Self.run(subject) { client, system in
      let sleeper = Task { try await system.sleep(for: .seconds(1)) }
      try #require(await client.waitForDeadline(client.now.advanced(by: .seconds(1))))
      client.feed(.ended)
      let error = await #expect(throws: DataClientError.self) { try await sleeper.value }
      #expect(error?.code == .notConnected)
      let late = await #expect(throws: DataClientError.self) {
        try await system.sleep(for: .seconds(1))
      }
      #expect(late?.code == .notConnected)
    }
  }

  @Test func theEndOfTheScopeCancels() async throws {
    var sleeper: Task<Void, any Error>?
    try await Self.run(Self.subjects[1]) { client, system in
      sleeper = Task { try await system.sleep(for: .seconds(1)) }
      try #require(await client.waitForDeadline(client.now.advanced(by: .seconds(1))))
    }
    await #expect(throws: CancellationError.self) { try await sleeper?.value }
  }

  /// A meter that posts each hour of a day.
  private static func meter(
    on client: some DataClient
  ) async throws -> (posts: Int, seconds: Int64) {
    let configuration = GatewayConfiguration(.own(try SampleChannel.identity()))
    return try await withGateway(on: client, configuration: configuration) { gateway in
      try await gateway.start()
      let start = gateway.now
      var posts = 0
      for hour in 1...24 {
        try await gateway.sleep(until: start.advanced(by: .seconds(3_600 * hour)))
        try await gateway.upload(Array("\(hour)".utf8), to: "/meter/hour")
        posts += 1
      }
      return (posts, gateway.now.nanoseconds(since: start) / 1_000_000_000)
    }
  }

  @Test func aRecordedDayIsReplayedInItsOwnTime() async throws {
    let recorder = try RecordingClient(InProcessBroker().client(named: "meter"), to: MemorySink())
    let recorded = try await Self.meter(on: recorder)
    #expect(recorded == (24, 24 * 3_600))
    try recorder.finish()
    var events = ReplayEvents()
    var stream = RecordingStream()
    let recording = recorder.sink.bytes
    try stream.consume(recording.span.bytes, into: &events)
    try stream.finish(into: &events)
    let replay = try ReplayClient(events)
    #expect(try await Self.meter(on: replay) == recorded)
    try replay.finish()
  }
}
