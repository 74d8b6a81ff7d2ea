import DeviceSDK
import LiveClient
import RepriseCore
import Synchronization
import TestSupport
import Testing

/// Payloads that are large, or not what a channel expects, over a real broker and over its recording.
@Suite struct PayloadTests {
  /// What comes down by the cloud's hand, in this order.
  private static let oddities: [[UInt8]] = [
    [], [0xFF, 0x00, 0xC0], [UInt8]("<html>".utf8), [UInt8]("{".utf8), [UInt8]("null".utf8),
    [UInt8](repeating: 0x41, count: 4_194_304), [UInt8](#"{"id":7,"params":{"v":1}}"#.utf8),
  ]

  /// Hears everything.
  private final class Listener: ChannelDownstreamListener {
    let heard = Mutex<[[UInt8]]>([])
    func onDownstream(topic: String, message: ChannelMessage) {
      heard.withLock { $0.append(message.payload) }
    }
  }

  /// What one run of the application saw.
  private struct Transcript: Equatable {
    var messages: [[UInt8]] = []
    var errors: [String] = []
    var replies: [String] = []
  }

  /// The application: sends 4 MiB, hears what comes, and asks three times.
  private static func run(on client: any DataClient) async throws -> Transcript {
    var configuration = try LiveChannel.configuration()
    configuration.replySubscription = .unlessCovered
    let listener = Listener()
    let transcript = try await withChannel(on: client, configuration: configuration) { channel in
      var transcript = Transcript()
      channel.addDownStreamListener(uiSafety: false, listener: listener)
      let messages = channel.messages()
      try await channel.start()
      try await channel.subscribe("/mine")
      try await channel.publish("/large", bytes: [UInt8](repeating: 0x42, count: 4_194_304))
      var iterator = messages.makeAsyncIterator()
      for _ in oddities {
        guard let message = try await iterator.next() else { break }
        transcript.messages.append(message.payload)
        #expect(
          (message.json != nil)
            == (message.payload.last == UInt8(ascii: "}")
              || message.payload == Array("null".utf8)))
      }
      for path in ["/text", "/number"] {
        let reply = try await channel.invoke(path, ["a": 1])
        transcript.replies.append("\(path) \(reply.code)")
      }
      // Nothing of this is a reply, so the request is still open when it has come.
      try await withThrowingTaskGroup(of: ChannelReply.self) { group in
        group.addTask { try await channel.invoke("/nonsense", ["a": 1]) }
        for _ in nonsense {
          if let message = try await iterator.next() { transcript.messages.append(message.payload) }
        }
        group.cancelAll()
        do {
          for try await reply in group { transcript.replies.append("/nonsense \(reply.code)") }
        } catch { transcript.errors.append("/nonsense \(error)") }
      }
      return transcript
    }
    let isHeard = listener.heard.withLock { $0 } == transcript.messages
    #expect(isHeard)
    return transcript
  }

  /// What comes on a reply topic and is no reply.
  private static let nonsense: [[UInt8]] = [[], [0xFF], [UInt8]("no".utf8)]

  /// The cloud: takes the large message, sends the oddities, and answers with ids of either type.
  private static func answer(_ cloud: TestClient) async throws {
    func send(_ path: String, _ payload: [UInt8]) async throws {
      try await cloud.publish(LiveChannel.down + path, payload)
    }
    let large = try await cloud.message()
    let isWhole = large.payload == [UInt8](repeating: 0x42, count: 4_194_304)
    #expect(isWhole)
    for payload in oddities { try await send("/odd", payload) }
    for id in ["\"1\"", "2"] {
      let request = try await cloud.message()
      let path = String(request.topic.dropFirst(LiveChannel.up.count))
      try await send(path + "_reply", [UInt8](#"{"id":\#(id),"code":200}"#.utf8))
    }
    _ = try await cloud.message()
    for payload in nonsense { try await send("/nonsense_reply", payload) }
  }

  @Test(.timeLimit(.minutes(5)), arguments: MosquittoClient.Version.allCases)
  func everyPayloadPassesLiveAndReplayed(_ version: MosquittoClient.Version) async throws {
    let broker = try await Broker()
    let cloud = try await TestClient.connected(broker, version: version)
    try await cloud.subscribe(LiveChannel.up + "/#", qos: .atLeastOnce)
    let recorder = try RecordingClient(
      MosquittoClient(url: broker.url, version: version), to: MemorySink())
    async let answered: Void = Self.answer(cloud)
    let live = try await Self.run(on: recorder)
    try await answered
    try recorder.finish()
    // Megabytes are compared, and not shown.
    let isComplete = live.messages == Self.oddities + Self.nonsense
    #expect(isComplete)
    #expect(live.replies == ["/text 200", "/number 200"])
    #expect(live.errors == ["/nonsense CancellationError()"])
    let replay = try ReplayClient(
      EventList(recording: recorder.sink.bytes).events,
      options: ReplayOptions(timerTolerance: .seconds(1)))
    let isSame = try await Self.run(on: replay) == live
    #expect(isSame)
  }
}
