import CloudSimulator
import LiveClient
import RepriseCore
import Synchronization
import Wire

/// A server of requests that is simulated, on a real WebSocket, until it is interrupted.
final class SimulatedRequestServer: Sendable {
  private let options: RequestServerOptions
  private let simulator: RequestSimulator
  private let lines: ServerLines
  private let console: Console
  /// The connections that are open, by their numbers.
  private let open = Mutex<[Int: ServedConnection]>([:])

  /// How long clients have to answer the server's last word.
  private static let patience = Duration.seconds(5)

  /// Creates a server that does not listen yet.
  /// - Parameters:
  ///   - options: Where it listens.
  ///   - script: How it behaves.
  ///   - lines: What shows the dialogues.
  ///   - console: How to tell the user that it listens.
  init(
    _ options: RequestServerOptions, _ script: RequestScript, shownBy lines: EventLines,
    _ console: Console
  ) {
    self.options = options
    self.console = console
    simulator = RequestSimulator(script)
    self.lines = ServerLines(
      server: options.url.description, lines, script.envelope, console)
  }

  /// Listens, and serves every client until the command is interrupted.
  /// - Throws: ``Interrupted``, ``OutputError``, and `DataClientError` when nothing can be listened on.
  func run() async throws {
    if options.server.tls != nil { console.noteKeyLog() }
    try await withWebSocketServer(options.server, deciding: { self.decision(on: $0) }) { server in
      console.note(options.url.description, "listening; Ctrl-C ends it")
      do {
        try await Interruption.cancel { try await self.serve(server) }
      } catch let interrupted as Interrupted {
        await showEnds()
        throw interrupted
      }
    }
  }

  private func decision(on request: WebSocketRequest) -> WebSocketDecision {
    let decision = options.decision(on: request)
    if case .refuse(let status, _, _) = decision {
      console.note(
        options.url.description,
        "a client that asks for \(request.path) is refused with the status \(status)")
    }
    return decision
  }

  private func serve(_ server: WebSocketServer) async throws {
    let (failures, failing) = AsyncThrowingStream<Void, any Error>.makeStream()
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      group.addTask { for try await _ in failures {} }
      group.addTask {
        await server.serve { connection in
          do {
            try await self.attend(to: connection)
          } catch let error where !(error is CancellationError) {
            // What no client can help ends the command: lines that can't be written.
            failing.finish(throwing: error)
          }
        }
      }
      try await group.next()
    }
    try Task.checkCancellation()
    throw DataClientError(.transport, "\(options.url): the server has ended by itself")
  }

  /// Answers on a connection to its end; one that a signal cuts short stays among the open ones.
  private func attend(to connection: WebSocketServerConnection) async throws {
    let served = try ServedConnection(connection, shownBy: lines)
    open.withLock { $0[served.number] = served }
    try await simulator.run(on: served, isOpen: true, drop: { try served.drop() })
    open.withLock { $0[served.number] = nil }
  }

  /// Shows how the connections end that the server closes because the command does.
  private func showEnds() async {
    let rest = open.withLock { $0.values.sorted { $0.number < $1.number } }
    let start = ContinuousClock.now
    for served in rest {
      let left = Self.patience - start.duration(to: .now)
      let deadline = served.now.advanced(by: max(.zero, left))
      // That lines can't be written is told to nobody any more.
      while let event = try? await served.next(before: deadline) {
        if event == .ended || event == .deadline { break }
      }
    }
  }
}
