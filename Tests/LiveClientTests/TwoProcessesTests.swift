import DeviceSDK
import LiveClient
import Testing

/// Two channels with one identity on one broker, which drops whoever is there when the other comes.
@Suite struct LiveTwoProcessesTests {
  @Test(.timeLimit(.minutes(5)), arguments: MosquittoClient.Version.allCases)
  func oneOfTwoGivesUpAndSaysWhatToDo(_ version: MosquittoClient.Version) async throws {
    let broker = try await Broker()
    let configuration = try LiveChannel.configuration()
    func client() throws -> MosquittoClient {
      try MosquittoClient(url: broker.url, version: version)
    }
    try await withChannel(on: client(), configuration: configuration) { one in
      try await withChannel(on: client(), configuration: configuration) { two in
        let changes = [one.stateChanges, two.stateChanges]
        try await one.start()
        try await two.start()
        let error = try #require(await Self.lastError(changes))
        #expect(error.kind == .gateway)
        for part in [
          "another process seems to use the same identity", "stop it",
          "an identity of its own", "start again",
        ] {
          #expect(error.message.contains(part), "\(error.message)")
        }
        // The other one is left in peace.
        let (gone, left) = one.state == .disconnected ? (one, two) : (two, one)
        await Self.connects(left)
        #expect(left.state == .connected)
        try await left.publish("/a")
        let refusal = await #expect(throws: ChannelError.self) { try await gone.publish("/a") }
        #expect(refusal?.kind == .network)
        #expect(gone.statistics.lostConnections == UInt64(configuration.kickLimit))
        // They drop each other by turns. On a busy machine a loss may be no kick: by a reset, or beyond the window.
        #expect(left.statistics.lostConnections <= gone.statistics.lostConnections)
        // Stopped, the other one makes room.
        try await left.stop()
        try await gone.start()
        try await gone.publish("/a")
      }
    }
  }

  /// Waits until a channel is connected.
  private static func connects(_ channel: Channel) async {
    // Changes from here on are heard, so that none comes between the look and the waiting.
    let changes = channel.stateChanges
    guard channel.state != .connected else { return }
    for await change in changes where change.state == .connected { return }
  }

  /// The error of the first change that is final.
  private static func lastError(
    _ channels: [BroadcastSequence<ChannelStateChange>]
  ) async -> ChannelError? {
    await withTaskGroup(of: ChannelError?.self) { group in
      for changes in channels {
        group.addTask {
          for await change in changes where change.isFinal { return change.error }
          return nil
        }
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
  }
}
