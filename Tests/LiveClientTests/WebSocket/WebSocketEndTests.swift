import RepriseCore
import Synchronization
import Testing

@testable import LiveClient

/// That a client's connections end, whatever the server does.
@Suite(.timeLimit(.minutes(5))) struct WebSocketEndTests {
  @Test func leavesAServerThatDoesNotRead() async throws {
    // Open until the test is over, and nothing more is read of it.
    let held = Mutex<Socket?>(nil)
    defer { withExtendedLifetime(held) {} }
    let server = try ScriptedServer { socket in
      guard let key = socket.readUpgrade() else { return }
      held.withLock { $0 = socket }
      socket.acceptUpgrade(key)
    }
    var setup = try WebSocketSetup(
      url: WebSocketURL("ws://127.0.0.1:\(server.port)/"),
      options: WebSocketOptions(offersDeflate: false), tls: TLSOptions())
    setup.closing = WebSocketSetup.ClosingTime(seconds: 1, rate: .max)
    let client = try WebSocketClient(setup, limits: WebSocketClient.Limits())
    #expect(try await client.after(.connect(ConnectOptions())) == .connected(.init()))
    // More than the buffers of a connection take.
    let flood = [UInt8](repeating: 7, count: 32 << 20)
    for _ in 0..<2 { try await client.perform(.init(.init(rawValue: 1), .sendBinary(flood))) }
    #expect(try await client.after(.disconnect) == .closed(.byUser))
    // The client can be used again.
    try await client.perform(.init(.init(rawValue: 2), .connect(ConnectOptions())))
  }

  @Test(
    arguments: [
      (0, 5), (65_535, 5), (65_536, 6), (64 << 20, 1_029), (Int.max, Int32.max),
    ] as [(Int, Int32)])
  func givesAServerTimeForWhatWaits(_ bytes: Int, _ seconds: Int32) {
    #expect(WebSocketSetup.ClosingTime().seconds(behind: bytes) == seconds)
  }

  @Test func beginsNothingThatBlocksOnceTheClientIsGone() {
    let orders = WebSocketOrders(messages: 1, bytes: 1)
    #expect(orders.setBlocked(true))
    #expect(orders.stop())
    let others = WebSocketOrders(messages: 1, bytes: 1)
    #expect(!others.stop())
    // The thread is joined from here on.
    #expect(!others.setBlocked(true))
    let actions = ActionQueue(limit: Load(count: 1, bytes: 1))
    #expect(actions.setBlocked(true))
    actions.setBlocked(false)
    #expect(!actions.stop() && !actions.setBlocked(true))
  }

  @Test func refusesEverythingOnceTheThreadHasEnded() throws {
    let orders = WebSocketOrders(messages: 1, bytes: 1)
    try orders.connect()
    let attempt = try #require(orders.fail())
    #expect(orders.closed(attempt) == false)
    for action in [{ try orders.connect() }, { try orders.send(.init([1], isText: false)) }] {
      let error = #expect(throws: DataClientError.self, performing: action)
      #expect(error?.code == .transport)
    }
    #expect(orders.fail() == nil)
  }
}
