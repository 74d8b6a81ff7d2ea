import DataClient
import Synchronization
import Testing
import Wire

@testable import LiveClient

/// How a connection of MQTT over WebSocket ends, and that it does.
@Suite struct MQTTEndingTests {
  @Test(arguments: MosquittoClient.Version.allCases)
  func closesAlthoughTheFarewellIsNotWritten(_ version: MosquittoClient.Version) async throws {
    let frames = FullFrames()
    let client = MQTTWebSocketClient(frames, version: version)
    try await client.perform(.init(.init(rawValue: 1), .connect(ConnectOptions(clientID: "c"))))
    let accepted: [UInt8] = version == .v5_0 ? [0x20, 3, 0, 0, 0] : [0x20, 2, 0, 0]
    frames.bring(.binary(accepted))
    #expect(try await client.next(before: nil) == .connected(.init()))
    frames.isFull = true
    try await client.perform(.init(.init(rawValue: 2), .disconnect))
    #expect(try await client.next(before: nil) == .closed(.byUser))
    #expect(try await client.next(before: nil) == .ended)
  }

  @Test func leavesABadServerAlthoughTheReasonIsNotWritten() async throws {
    let frames = FullFrames()
    let client = MQTTWebSocketClient(frames, version: .v5_0)
    try await client.perform(.init(.init(rawValue: 1), .connect(ConnectOptions(clientID: "c"))))
    frames.bring(.binary([0x20, 3, 0, 0, 0]))
    #expect(try await client.next(before: nil) == .connected(.init()))
    frames.isFull = true
    frames.bring(.text("no MQTT"))
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
}

/// A connection whose server reads nothing any more once ``isFull`` is set.
private final class FullFrames: DataClient {
  private let state = Mutex<(events: [ClientEvent], isFull: Bool)>(([], false))

  let capabilities: Capabilities = [.frames, .push, .binary]
  let now = Timestamp(nanoseconds: 0)

  /// Whether no message can be written.
  var isFull: Bool {
    get { state.withLock { $0.isFull } }
    set { state.withLock { $0.isFull = newValue } }
  }

  /// Has an event come.
  func bring(_ event: ClientEvent) { state.withLock { $0.events.append(event) } }

  func perform(_ action: ClientAction) async throws {
    switch action.kind {
    case .connect: bring(.connected(.init()))
    case .disconnect: bring(.closed(.byUser))
    case .sendBinary where isFull: throw DataClientError(.transport, "too much waits")
    default: break
    }
  }

  func next(before deadline: Timestamp?) async throws -> ClientEvent {
    state.withLock { $0.events.isEmpty ? .ended : $0.events.removeFirst() }
  }

  func wake() {}
}
