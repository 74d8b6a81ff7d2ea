public import RepriseCore
import Synchronization

/// The other side of an SDK's requests: answers as a server does, on any number of connections at once.
///
/// Each call of ``run(on:isOpen:drop:)`` serves one connection, or one after the other; logins and pushes are
/// those of a connection, while requests are counted on all of them together.
///
/// It lives in any client of messages without topics that stands on the server's side of a connection:
/// `connected` is a client that came, `text` what it sent. In process ``InProcessRequestServer`` is
/// that and the SDK's client at once.
public final class RequestSimulator: Sendable {
  private let script: RequestScript
  /// How many requests each rule of the script has seen, on all connections.
  private let counts = Mutex<[Int: Int]>([:])

  /// Creates a simulator.
  /// - Parameter script: How it behaves.
  public init(_ script: RequestScript = RequestScript()) { self.script = script }

  /// Answers until the client's world ends.
  /// - Parameters:
  ///   - client: The server's side of a connection, or of one after the other.
  ///   - isOpen: Whether a connection is open already.
  ///   - drop: Lets the connection break without a Close frame; nil closes it with one.
  /// - Throws: What the client throws, and `CancellationError`.
  public func run(
    on client: some DataClient, isOpen: Bool = false,
    drop: (@Sendable () async throws -> Void)? = nil
  ) async throws {
    var id: UInt32 = 0
    var machine = RequestServerMachine(script)
    var outputs = isOpen ? handle(.opened, &machine, client) : []
    while true {
      for output in outputs {
        id &+= 1
        do {
          if case .drop = output, let drop {
            try await drop()
          } else {
            let kind = Self.action(for: output)
            try await client.perform(ClientAction(ClientAction.ID(rawValue: id), kind))
          }
        } catch let error as DataClientError where error.code == .notConnected {
          // The connection ended meanwhile, and its event comes.
          continue
        }
      }
      let event = try await client.next(before: machine.deadline)
      guard let input = Self.input(of: event) else { return }
      outputs = handle(input, &machine, client)
    }
  }

  private func handle(
    _ input: RequestServerMachine.Input, _ machine: inout RequestServerMachine,
    _ client: some DataClient
  ) -> [RequestServerMachine.Output] {
    let now = client.now
    return counts.withLock { counts in
      machine.counts = counts
      defer { counts = machine.counts }
      return machine.handle(input, now: now)
    }
  }

  private static func action(for output: RequestServerMachine.Output) -> ClientAction.Kind {
    switch output {
    case .text(let text): .sendText(text)
    case .binary(let bytes): .sendBinary(bytes)
    case .close, .drop: .disconnect
    }
  }

  /// What an event is to the server; nil at the end.
  private static func input(of event: ClientEvent) -> RequestServerMachine.Input? {
    switch event {
    case .connected: .opened
    case .text(let text): .text(text)
    case .closed: .closed
    case .ended: nil
    case .deadline, .woken, .binary, .subscribed, .unsubscribed, .published, .message, .response,
      .failed:
      .timePassed
    }
  }
}
