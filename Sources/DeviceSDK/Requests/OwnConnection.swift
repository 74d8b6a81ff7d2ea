import Synchronization

/// A connection that nobody's scope holds: it runs from its first use until it is closed or let go.
///
/// Its task is the one that the SDK starts outside a scope, because the life of a provider that is made
/// with a client is that of an object. It never outlives its owner by more than a goodbye.
final class OwnConnection: Sendable {
  private enum Life {
    case unused
    case running(Task<Void, any Error>)
    case over
  }

  let connection: RequestConnection
  private let life = Mutex(Life.unused)
  private let end: AsyncStream<Never>
  private let ending: AsyncStream<Never>.Continuation

  init(_ connection: RequestConnection) {
    self.connection = connection
    (end, ending) = AsyncStream.makeStream()
  }

  /// The connection, which is opened if it never was, or was given up.
  /// - Throws: ``RequestError`` when it was closed.
  func opened() throws(RequestError) -> RequestConnection {
    let mayOpen = life.withLock { life in
      switch life {
      case .unused:
        life = .running(
          Task { [connection, end] in
            try await connection.run { for await _ in end {} }
          })
        connection.driver.submit(.open) { _ in }
        return true
      case .running: return true
      case .over: return false
      }
    }
    guard mayOpen else { throw RequestError(.serverConnection, "the connection was closed") }
    if connection.state == .gaveUp { connection.driver.submit(.open) { _ in } }
    return connection
  }

  /// Closes the connection in good order, for good, also when it never was opened.
  func close() async throws {
    let task = life.withLock { life -> Task<Void, any Error>? in
      defer { life = .over }
      return if case .running(let task) = life { task } else { nil }
    }
    ending.finish()
    try await task?.value
  }

  /// Says goodbye without waiting for an answer.
  func cancel() {
    ending.finish()
    life.withLock { life in
      if case .running(let task) = life { task.cancel() }
      life = .over
    }
  }
}
