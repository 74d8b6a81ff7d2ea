import RepriseCore
import TestSupport
import Testing

@testable import DeviceSDK

/// Stream channels beside the message service.
extension LinkTests {
  @Test func joinsAndLeavesStreamChannels() async throws {
    try await run { link, _, streams in
      let room = try link.streamChannel("room")
      #expect(room.state == .idle)
      try await link.login()
      let events = link.stateEvents
      try await room.join(token: "r")
      #expect(room.state == .connected && link.state == .connected)
      try await room.setStates(["hand": "up"])
      try await room.removeStates(["hand"])
      try await room.renewToken("s")
      try await room.join()
      try await room.leave()
      #expect(room.state == .idle)
      guard case .disconnect = try streams.client("room").performed.last?.kind else {
        Issue.record("the link of the channel stays open")
        return
      }
      try await room.join()
      #expect(room.state == .connected)
      try await link.logout()
      #expect(room.state == .idle)
      var iterator = events.makeAsyncIterator()
      var told: [String] = []
      while told.count < 7, let event = await iterator.next() {
        told.append("\(event.service) \(event.current)")
      }
      #expect(
        told == [
          "stream connecting", "stream connected", "stream idle", "stream connecting",
          "stream connected", "message idle", "stream idle",
        ])
    }
  }

  @Test func needsTheMessageServiceToJoin() async throws {
    try await run { link, client, _ in
      let room = try link.streamChannel("room")
      var error = try await #require(throws: LinkError.self) { try await room.join() }
      #expect(error.code == .notLogin)
      try await link.login()
      client.feed(.closed(.lost("test")))
      await client.settle()
      error = try await #require(throws: LinkError.self) { try await room.join() }
      #expect(error.code == .channelNotConnected)
      error = try await #require(throws: LinkError.self) { try await room.leave() }
      #expect(error.code == .channelNotJoined)
      #expect(throws: LinkError.self) { try link.streamChannel("a/b") }
    }
  }

  @Test func failsToJoinWithoutAClient() async throws {
    try await run { link, _, _ in
      try await link.login()
      let none = try link.streamChannel("none")
      for _ in 1...12 {
        await #expect(throws: DataClientError.self) { try await none.join() }
      }
    }
    let client = ScriptedClient(responder: Self.server)
    try await withLink(on: client, configuration: SampleLink.configuration()) { link in
      try await link.login()
      let room = try link.streamChannel("room")
      let error = try await #require(throws: LinkError.self) { try await room.join() }
      #expect(error.code == .serviceNotSupported)
    }
  }

  @Test func failsStreamsWithTheMessageService() async throws {
    try await run { link, client, streams in
      try await link.login()
      let room = try link.streamChannel("room")
      try await room.join()
      client.feed(Self.tell("kick", ["reason": 27], SampleLink.base))
      await client.settle()
      try await streams.client("room").settle()
      #expect(link.state == .failed && room.state == .failed)
      try await link.login()
      try await room.join()
      #expect(room.state == .connected)
    }
  }

  @Test func leavesStreamsWhenTheScopeEnds() async throws {
    let streams = Streams()
    try await run(streams: streams) { link, _, _ in
      try await link.login()
      for name in ["a", "b"] { try await link.streamChannel(name).join() }
    }
    for name in ["a", "b"] {
      let last = try streams.client(name).performed.suffix(2)
      guard case .publish(let farewell) = last.first?.kind, case .disconnect = last.last?.kind
      else {
        Issue.record("\(name) was not left")
        return
      }
      #expect(farewell.topic == SampleLink.streamBase(name) + "/up/leave")
    }
  }

  @Test func throwsWhatBrokeTheWorldOfAStream() async throws {
    let broken = ScriptedClient { _, _ in throw DataClientError(.diverged, "stream") }
    let client = ScriptedClient(responder: Self.server)
    let error = await #expect(throws: DataClientError.self) {
      try await withLink(
        on: client, configuration: SampleLink.configuration(), streamClient: { _ in broken }
      ) { link in
        try await link.login()
        try? await link.streamChannel("room").join()
      }
    }
    #expect(error?.message == "stream")
  }

  @Test func tellsStreamsOfTheNetwork() async throws {
    try await run { link, client, streams in
      try await link.login()
      let room = try link.streamChannel("room")
      try await room.join()
      let stream = try streams.client("room")
      let before = stream.performed.count
      try await link.noteNetwork(.switched)
      await stream.settle()
      await client.settle()
      #expect(link.state == .connected && room.state == .connected)
      #expect(stream.performed.count > before)
    }
  }
}
