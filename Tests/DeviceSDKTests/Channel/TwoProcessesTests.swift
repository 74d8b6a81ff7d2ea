import RepriseCore
import Synchronization
import TestSupport
import Testing

@testable import DeviceSDK

@Suite struct TwoProcessesTests {
  @Test func givesUpWhenTwoProcessesKickEachOther() async throws {
    let broker = KickingBroker()
    let configuration = try SampleChannel.configuration()
    let (first, second) = broker.makeClients()
    try await withChannel(on: first, configuration: configuration) { one in
      try await withChannel(on: second, configuration: configuration) { two in
        try await one.start()
        try await two.start()
        for _ in 0..<120 {
          await first.advance(by: .seconds(1))
          await second.advance(by: .seconds(1))
        }
        await first.settle()
        #expect(
          [one.state, two.state].sorted { $0.rawValue < $1.rawValue } == [
            .connected, .disconnected,
          ])
      }
    }
    #expect(broker.connects < 10)
  }
}

/// A broker with one session for an identity: who connects drops whoever was connected.
private final class KickingBroker: Sendable {
  private struct State {
    var connects = 0
    var clients: [ScriptedClient] = []
    var connected: Int?
  }

  private let state = Mutex(State())

  var connects: Int { state.withLock { $0.connects } }

  /// Returns the worlds of two processes.
  func makeClients() -> (ScriptedClient, ScriptedClient) {
    let first = ScriptedClient { [self] in try answer($0, $1, to: 0) }
    let second = ScriptedClient { [self] in try answer($0, $1, to: 1) }
    state.withLock { $0.clients = [first, second] }
    return (first, second)
  }

  private func answer(
    _ action: ClientAction, _ now: Timestamp, to index: Int
  ) throws -> [ClientEvent] {
    guard case .connect = action.kind else { return try SampleChannel.cloud(action, now) }
    let kicked = state.withLock { state -> ScriptedClient? in
      state.connects += 1
      defer { state.connected = index }
      return state.connected.flatMap { $0 == index ? nil : state.clients[$0] }
    }
    kicked?.feed(.closed(.byServer(code: nil, "another connected")))
    return try SampleChannel.cloud(action, now)
  }
}
