import RepriseCore
import TestSupport
import Testing

@testable import CloudSimulator

@Suite struct InProcessRequestServerTests {
  private static let request = #"{"content":"{}","service":"s","uniqueId":1}"#
  private static let answer =
    #"{"content":"{}","method":"POST","product":"","service":"s","uniqueId":1}"#

  private func server(_ script: String = "{}") throws -> InProcessRequestServer {
    InProcessRequestServer(try RequestScript(parsing: Array(script.utf8)))
  }

  private func perform(
    _ kind: ClientAction.Kind, on client: some DataClient
  ) async throws {
    try await client.perform(ClientAction(ClientAction.ID(rawValue: 1), kind))
  }

  @Test func answersInVirtualTime() async throws {
    let server = try server(#"{"answers":[{"after":3600}]}"#)
    let start = server.now
    try await perform(.connect(ConnectOptions()), on: server)
    #expect(try await server.next(before: nil) == .connected(.init()))
    try await perform(.sendText(Self.request), on: server)
    let early = start.advanced(by: .seconds(60))
    #expect(try await server.next(before: early) == .deadline && server.now == early)
    #expect(try await server.next(before: nil) == .text(Self.answer))
    #expect(server.now == start.advanced(by: .seconds(3_600)))
    try await perform(.disconnect, on: server)
    #expect(try await server.next(before: nil) == .closed(.byUser))
    server.end()
    #expect(try await server.next(before: nil) == .ended)
  }

  @Test func hasOneConnection() async throws {
    let server = try server()
    await #expect(throws: DataClientError.self) {
      try await perform(.sendText(Self.request), on: server)
    }
    try await perform(.connect(ConnectOptions()), on: server)
    await #expect(throws: DataClientError.self) {
      try await perform(.connect(ConnectOptions()), on: server)
    }
    await #expect(throws: DataClientError.self) {
      try await perform(.subscribe([]), on: server)
    }
    server.drop()
    #expect(try await server.next(before: nil) == .connected(.init()))
    guard case .closed(.lost) = try await server.next(before: nil) else {
      Issue.record("the connection is not lost")
      return
    }
    try await perform(.connect(ConnectOptions()), on: server)
    #expect(try await server.next(before: nil) == .connected(.init()))
  }

  @Test func wakesAndIsCancelled() async throws {
    let server = try server()
    server.wake()
    #expect(try await server.next(before: nil) == .woken)
    await withThrowingTaskGroup(of: ClientEvent.self) { group in
      group.addTask { try await server.next(before: nil) }
      group.cancelAll()
      await #expect(throws: CancellationError.self) { _ = try await group.next() }
    }
  }

  /// The server's side of a connection, whose client says what a test tells.
  private static func makeLine() -> ScriptedClient {
    ScriptedClient(capabilities: [.frames, .push, .binary], end: .over)
  }

  /// The simulator on the server's side of a connection gives the same answers.
  @Test func servesAnyConnection() async throws {
    let (line, simulator) = (Self.makeLine(), RequestSimulator())
    let request = ClientEvent.text(Self.request)
    line.feed(request, .closed(.byUser), .connected(.init()), request)
    try await simulator.run(on: line, isOpen: true)
    #expect(line.performed.map(\.kind) == [.sendText(Self.answer), .sendText(Self.answer)])
  }

  @Test func countsRequestsOnAllConnectionsAndLogsInOnEach() async throws {
    let script = #"{"login":"in","answers":[{"service":"s","request":2,"faults":["no-answer"]}]}"#
    let simulator = RequestSimulator(try RequestScript(parsing: Array(script.utf8)))
    let lines = [Self.makeLine(), Self.makeLine()]
    for line in lines {
      line.feed(.text(Self.request))
      line.feed(.text(Self.request.replacing(#""s""#, with: #""in""#)))
      line.feed(.text(Self.request))
      try await simulator.run(on: line, isOpen: true)
    }
    let texts = lines.map { line in
      line.performed.map { action in
        guard case .sendText(let text) = action.kind else { return "\(action)" }
        return text.contains(#""code":4"#) ? "refused" : text.contains(#""in""#) ? "in" : "s"
      }
    }
    #expect(texts == [["refused", "in", "s"], ["refused", "in"]])
  }

  @Test func breaksAConnectionInTheWayThatItIsTold() async throws {
    let script = try RequestScript(parsing: Array(#"{"answers":[{"faults":["drop"]}]}"#.utf8))
    let line = Self.makeLine()
    for _ in 0..<2 { line.feed(.connected(.init()), .text(Self.request)) }
    try await confirmation(expectedCount: 2) { dropped in
      try await RequestSimulator(script).run(on: line) {
        dropped()
        line.feed(.closed(.lost("dropped")))
      }
    }
    #expect(line.performed.isEmpty)
    line.feed(.connected(.init()), .text(Self.request))
    try await RequestSimulator(script).run(on: line)
    #expect(line.performed.map(\.kind) == [.disconnect])
  }
}
