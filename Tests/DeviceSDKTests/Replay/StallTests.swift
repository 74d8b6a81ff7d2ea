import AppSessions
import CloudSimulator
import RepriseCore
import Testing

@testable import DeviceSDK

/// Apps that wait for what the session does not have: whatever the way, the wait ends.
@Suite(.timeLimit(.minutes(20))) struct StallTests {
  /// An app that hears of a lamp twice, asks in vain, and goes on later.
  private static func events() async throws -> ReplayEvents {
    let script = CloudScript(replies: [.init(topic: "/silent", faults: [.noReply])])
    return try AppSession.events(
      try await AppSession.record(script) { app in
        try await app.connectAndHearTwice()
        _ = try? await app.channel.invoke("/silent")
        try await app.wait(until: 20)
        _ = try await app.channel.invoke("/after")
      })
  }

  /// Short enough for a test; what is told does not depend on it.
  private static let patience = ReplayPatience.limited(.seconds(1), by: ContinuousClock())

  private static func configuration() throws -> ChannelConfiguration {
    var configuration = try SampleChannel.configuration()
    // Longer than the recorded app waited.
    configuration.callTimeout = .seconds(60)
    return configuration
  }

  enum Wait: CaseIterable {
    case message, childsMessage, reply, handler

    /// What is due while the app waits.
    var due: String { self == .message || self == .childsMessage ? "/silent" : "/after" }

    func callAsFunction(_ channel: Channel) async throws {
      switch self {
      case .message: for try await _ in channel.messages().prefix(3) {}
      case .childsMessage:
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { for try await _ in channel.messages().prefix(3) {} }
          try await group.waitForAll()
        }
      case .reply: _ = try await channel.invoke("/silent")
      case .handler:
        let error = await withCheckedContinuation { done in
          channel.invokeWithTopic("/silent", opts: nil, params: [:]) {
            done.resume(returning: $0.error)
          }
        }
        if let error { throw error }
      }
    }
  }

  @Test(arguments: Wait.allCases) func aStallIsTold(wait: Wait) async throws {
    let client = try ReplayClient(
      try await Self.events(), options: ReplayOptions(roles: .channel, patience: Self.patience))
    let error = await #expect(throws: DataClientError.self) {
      try await withChannel(on: client, configuration: Self.configuration()) { channel in
        try await channel.start()
        try await wait(channel)
      }
    }
    #expect(error?.code == .diverged)
    let divergence = try #require(client.divergence)
    #expect(divergence.kind == .missingAction)
    #expect(divergence.expected?.contains(wait.due) == true, "\(divergence)")
    #expect(divergence.actual?.contains("waits for something else") == true)
  }

  /// What is behind the session's end does not come either, and no action is due.
  @Test func theEndIsTold() async throws {
    let recording = try await AppSession.record { app in
      try await app.connect()
      _ = try await app.channel.invoke("/light/get")
    }
    // Cut before the answer.
    let lines = recording.split(separator: UInt8(ascii: "\n"))
    let request = try #require(
      lines.lastIndex { String(decoding: $0, as: UTF8.self).contains("/up/light/get") })
    let cut = Array(lines[...request].joined(separator: [UInt8(ascii: "\n")]))
    let client = try ReplayClient(
      AppSession.events(cut), options: ReplayOptions(roles: .channel, patience: .unlimited))
    let error = await #expect(throws: ChannelError.self) {
      try await withChannel(on: client, configuration: Self.configuration()) { channel in
        try await channel.start()
        _ = try await channel.invoke("/light/get")
      }
    }
    #expect(error?.message.contains("no more events") == true)
  }

  /// A deadline before the action that is due passes as ever.
  @Test func deadlinesStillPass() async throws {
    let client = try ReplayClient(
      try await Self.events(), options: ReplayOptions(roles: .channel, patience: .unlimited))
    try await withChannel(on: client, configuration: Self.configuration()) { channel in
      try await channel.start()
      for try await _ in channel.messages().prefix(2) {}
      let error = await #expect(throws: ChannelError.self) {
        try await channel.invoke("/silent", timeout: .seconds(10))
      }
      #expect(error?.kind == .network)
      _ = try await channel.invoke("/after")
    }
    try client.finish()
  }

  /// An app on a shared session waits in one system for what the other one has to do.
  @Test func aStallOfASharedSessionIsTold() async throws {
    let client = try ReplayClient(
      try await Self.events(), options: ReplayOptions(roles: .channel, patience: Self.patience))
    let session = SharedSession(on: client)
    let rider = session.client(.rider)
    let error = await #expect(throws: DataClientError.self) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { while try await rider.next(before: nil) != .ended {} }
        defer { group.cancelAll() }
        try await withChannel(on: session, configuration: Self.configuration()) { channel in
          try await channel.start()
          for try await _ in channel.messages().prefix(3) {}
        }
      }
    }
    #expect(error?.code == .diverged)
    #expect(client.divergence?.kind == .missingAction)
  }
}
