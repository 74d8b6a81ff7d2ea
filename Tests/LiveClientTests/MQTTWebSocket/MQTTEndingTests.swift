import RepriseCore
import Synchronization
import TestSupport
import Testing
import Wire

@testable import LiveClient

/// How a connection of MQTT over WebSocket ends, and that it does.
@Suite struct MQTTEndingTests {
  @Test(arguments: MosquittoClient.Version.allCases)
  func closesAlthoughTheFarewellIsNotWritten(_ version: MosquittoClient.Version) async throws {
    let server = FullServer()
    let frames = server.makeFrames()
    let client = MQTTWebSocketClient(frames, version: version)
    try await client.perform(.init(.init(rawValue: 1), .connect(ConnectOptions(clientID: "c"))))
    let accepted: [UInt8] = version == .v5_0 ? [0x20, 3, 0, 0, 0] : [0x20, 2, 0, 0]
    frames.feed(.binary(accepted))
    #expect(try await client.next(before: nil) == .connected(.init()))
    server.isFull = true
    try await client.perform(.init(.init(rawValue: 2), .disconnect))
    #expect(try await client.next(before: nil) == .closed(.byUser))
    #expect(try await client.next(before: nil) == .ended)
  }

  @Test func leavesABadServerAlthoughTheReasonIsNotWritten() async throws {
    let server = FullServer()
    let frames = server.makeFrames()
    let client = MQTTWebSocketClient(frames, version: .v5_0)
    try await client.perform(.init(.init(rawValue: 1), .connect(ConnectOptions(clientID: "c"))))
    frames.feed(.binary([0x20, 3, 0, 0, 0]))
    #expect(try await client.next(before: nil) == .connected(.init()))
    server.isFull = true
    frames.feed(.text("no MQTT"))
    guard case .closed(.lost(let reason)) = try await client.next(before: nil) else {
      Issue.record("not left")
      return
    }
    #expect(reason.contains("text where MQTT has binary frames"))
  }

  @Test func aRefusalIsToldWhateverFollowsIt() throws {
    var bench = MQTTMachineBench()
    try bench.perform(.connect(ConnectOptions()))
    bench.handle(.connected(.init()))
    bench.handle(.binary([0x20, 2, 0, 5, 0x30, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]))
    #expect(bench.closes == 1)
    bench.handle(.closed(.byUser))
    #expect(bench.told == [.closed(.refused(code: 5))])
  }

  @Test(arguments: [.text("no"), .binary([0x30, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])] as [ClientEvent])
  func aUserWhoLeavesIsToldSoWhateverTheServerSends(_ event: ClientEvent) throws {
    var bench = MQTTMachineBench(.v5_0)
    try bench.connect()
    try bench.perform(.disconnect)
    bench.handle(event)
    #expect(bench.sent.map(\.content) == [.disconnect(.init())] && bench.closes == 1)
    bench.handle(.closed(.byUser))
    #expect(bench.told == [.closed(.byUser)])
  }

  /// The server may have accepted what is given up, and keeps the will of whoever goes without a word.
  @Test func saysFarewellToAConnectionThatIsGivenUp() throws {
    var bench = MQTTMachineBench()
    try bench.perform(.connect(ConnectOptions()))
    bench.handle(.connected(.init()))
    try bench.perform(.disconnect)
    #expect(bench.sent.last?.content == .disconnect(.init()) && bench.closes == 1)
    // What answers the CONNECT comes too late.
    bench.handle(.binary([0x20, 2, 0, 0]))
    bench.handle(.closed(.byUser))
    #expect(bench.told == [.closed(.byUser)])
  }

  /// A server that knows MQTT 3.1.1 alone answers in its own form (3.1.1 section 3.1.2.2).
  @Test(arguments: [1, 5] as [UInt8]) func aServerMayKnowNoVersion5(_ code: UInt8) throws {
    var bench = MQTTMachineBench(.v5_0)
    try bench.perform(.connect(ConnectOptions()))
    bench.handle(.connected(.init()))
    bench.handle(.binary([0x20, 2, 0, code]))
    #expect(bench.closes == 1)
    bench.handle(.closed(.byUser))
    if code == 1 {
      #expect(bench.told == [.closed(.refused(code: 0x84))])
    } else {
      guard case .closed(.lost) = bench.told.last else {
        Issue.record("\(bench.told)")
        return
      }
    }
  }

  @Test func aTopicAliasThatNobodyAllowedIsTheEnd() throws {
    var bench = MQTTMachineBench(.v5_0)
    try bench.connect()
    let alias = [MQTTProperty(.topicAlias, .integer(1))]
    try bench.receive(.publish(.init(topic: "", payload: [], properties: alias)))
    #expect(bench.closes == 1 && bench.told.isEmpty, "\(bench.told)")
  }

  @Test func aServerMayTakeSmallPacketsOnly() throws {
    var bench = MQTTMachineBench(.v5_0)
    try bench.connect(ConnectOptions(), [MQTTProperty(.maximumPacketSize, .integer(100))])
    let long = String(repeating: "a", count: 100)
    for action: ClientAction.Kind in [
      .subscribe([Subscription(long)]), .unsubscribe(["b", long]),
      .publish(Message(topic: "t", payload: Array(long.utf8))),
    ] {
      let error = #expect(throws: DataClientError.self) { try bench.perform(action) }
      #expect(error?.code == .invalidAction)
    }
    #expect(bench.sent.isEmpty)
  }

  @Test func losesNothingByCancellation() async throws {
    let frames = FullServer().makeFrames()
    let client = MQTTWebSocketClient(frames)
    try await client.perform(.init(.init(rawValue: 1), .connect(ConnectOptions(clientID: "c"))))
    frames.feed(.binary([0x20, 2, 0, 0, 0x30, 4, 0, 1, 0x61, 1]))
    #expect(try await client.next(before: nil) == .connected(.init()))
    await withTaskGroup(of: Void.self) { group in
      group.cancelAll()
      group.addTask {
        await #expect(throws: CancellationError.self) { try await client.next(before: nil) }
      }
    }
    #expect(
      try await client.next(before: nil) == .message(Message(topic: "a", payload: [1])))
  }

  /// What came in one frame came at one time.
  @Test func theTimeStandsStillWhileEventsWait() async throws {
    let frames = FullServer().makeFrames()
    let client = MQTTWebSocketClient(frames)
    try await client.perform(.init(.init(rawValue: 1), .connect(ConnectOptions(clientID: "c"))))
    let message: [UInt8] = [0x30, 4, 0, 1, 0x61, 1]
    frames.feed(.binary([0x20, 2, 0, 0] + message + message))
    #expect(try await client.next(before: nil) == .connected(.init()))
    let time = client.now
    frames.pass(.seconds(1))
    #expect(client.now == time)
    for _ in 0..<2 {
      #expect(try await client.next(before: nil) == .message(Message(topic: "a", payload: [1])))
    }
    #expect(try await client.next(before: nil) == .ended)
    #expect(client.now == time.advanced(by: .seconds(1)))
  }
}

/// A server that reads nothing any more once ``isFull`` is set, and the connection to it.
private final class FullServer: Sendable {
  private let fullness = Mutex(false)

  /// Whether no message can be written.
  var isFull: Bool {
    get { fullness.withLock { $0 } }
    set { fullness.withLock { $0 = newValue } }
  }

  /// Makes the connection.
  func makeFrames() -> ScriptedClient {
    ScriptedClient(capabilities: [.frames, .push, .binary], end: .over) { action, _ in
      switch action.kind {
      case .connect: return [.connected(.init())]
      case .disconnect: return [.closed(.byUser)]
      case .sendBinary where self.isFull: throw DataClientError(.transport, "too much waits")
      default: return []
      }
    }
  }
}
