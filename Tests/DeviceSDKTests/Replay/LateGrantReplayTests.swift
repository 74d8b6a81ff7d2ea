import RepriseCore
import SDKReplay
import TestSupport
import Testing

@testable import DeviceSDK

/// Sessions in which a subscription was granted when nobody waited for it any more.
@Suite struct LateGrantReplayTests {
  enum End: CaseIterable {
    case cancelled, late
  }

  /// Records an app whose subscription comes to nothing and is granted then, and taken back or left as other
  /// clients do.
  private static func record(_ end: End, isTakenBack: Bool) async throws -> [UInt8] {
    let client = ScriptedClient { action, now in
      if case .subscribe(let wishes) = action.kind, wishes.first?.filter.hasSuffix("/a") == true {
        return []
      }
      return try SampleChannel.cloud(action, now)
    }
    let recorder = try RecordingClient(
      client, to: MemorySink(), redaction: RedactionRules(hidesSecrets: false))
    var configuration = try SampleChannel.configuration()
    configuration.takesBackLateGrants = isTakenBack
    try await withChannel(on: recorder, configuration: configuration) { channel in
      try await channel.start()
      // The channel subscribes to everything by itself.
      await client.waitForActions(2)
      let task = Task { try await channel.subscribe("/a") }
      await client.waitForActions(3)
      await client.settle()
      if end == .cancelled { task.cancel() } else { await client.advance(by: .seconds(12)) }
      await #expect(throws: (any Error).self) { try await task.value }
      let action = try #require(client.performed.last?.id)
      client.feed(.subscribed(action, [.atLeastOnce]))
      await client.settle()
      if isTakenBack { await client.waitForActions(4) }
      try await channel.publish("/b", [:])
    }
    try recorder.finish()
    return recorder.sink.bytes
  }

  @Test(arguments: End.allCases, [true, false])
  func goesThroughItsSessionAgain(end: End, isTakenBack: Bool) async throws {
    let run = try await ReplayRun(try await Self.record(end, isTakenBack: isTakenBack))
    #expect(run.outcome.divergence == nil, "\(run.outcome.divergence.map { "\($0)" } ?? "")")
    let calls = run.lines.filter { $0.hasSuffix("subscribe /a") }
    #expect(calls == ["subscribe /a"] + (isTakenBack ? ["unsubscribe /a"] : []))
  }
}
