import LiveClient
import RepriseCore
import TestSupport
import Testing

/// A recording of a live session that breaks off, at every byte.
@Suite struct CutRecordingTests {
  @Test(arguments: MosquittoClient.Version.allCases)
  func isReplayedToTheCut(_ version: MosquittoClient.Version) async throws {
    let broker = try await Broker()
    let recorder = try RecordingClient(
      MosquittoClient(url: broker.url, version: version), to: MemorySink())
    let (live, failure) = await ShortRun.run(on: recorder)
    #expect(live.count == 4 && failure == nil)
    let bytes = recorder.sink.bytes
    let header = try #require(bytes.firstIndex(of: 0x0A))
    for end in (header + 1)..<bytes.count {
      let part = Array(bytes[...end])
      let list = try EventList(recording: part)
      // A line without its end is one all the same if nothing else is missing.
      let isWhole = bytes[end] == 0x0A || bytes[end + 1] == 0x0A
      let lines = part.split(separator: 0x0A)
      #expect(list.notes.count == (isWhole ? 0 : 1))
      #expect(list.notes.allSatisfy { $0.contains("ends inside line \(lines.count)") })
      try await replay(list.events, lines.dropLast(isWhole ? 0 : 1), live)
    }
  }

  /// Replays whole lines: all that was answered in them is told, and then that there is no more.
  private func replay(
    _ events: [Event], _ lines: some Collection<ArraySlice<UInt8>>, _ live: [ClientEvent]
  ) async throws {
    let text = String(decoding: lines.joined(), as: UTF8.self)
    let answered = ["CONNACK", "SUBACK", "PUBACK", "DISCONNECT"].prefix {
      text.contains("\"type\":\"\($0)\"")
    }
    guard let client = try? ReplayClient(events) else {
      let error = #expect(throws: DataClientError.self) { try ReplayClient(events) }
      #expect(error?.code == .unreadable && answered.isEmpty)
      return
    }
    let (replayed, failure) = await ShortRun.run(on: client)
    #expect(replayed.filter { $0 != .ended } == Array(live.prefix(answered.count)))
    guard answered.count < live.count else { return }
    // A reader is told that there is no more, and an actor that the session is too short.
    switch failure?.code {
    case .diverged?: #expect(failure?.message.contains("record a longer session") == true)
    case .notConnected?, nil: #expect(replayed.contains(.ended))
    case let other?: Issue.record("\(other)")
    }
  }
}

/// A user of few steps, the same on every client.
private enum ShortRun {
  static let kinds: [ClientAction.Kind] = [
    .connect(ConnectOptions(clientID: "c")), .subscribe([Subscription("a")]),
    .publish(Message(topic: "b", payload: [1], qos: .atLeastOnce)), .disconnect,
  ]

  /// What happens, one event for each step, and what broke it off.
  static func run(on client: any DataClient) async -> ([ClientEvent], DataClientError?) {
    var events: [ClientEvent] = []
    do {
      for (number, kind) in kinds.enumerated() {
        try await client.perform(ClientAction(.init(rawValue: UInt32(number)), kind))
        events.append(try await client.next(before: nil))
      }
    } catch { return (events, error as? DataClientError) }
    return (events, nil)
  }
}
