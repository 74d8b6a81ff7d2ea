import RepriseCore
import Synchronization

/// The port of a server, once its thread listens.
final class ServerStart: Sendable {
  private enum State {
    case nothing
    case waiting(CheckedContinuation<UInt16, any Error>)
    case known(Result<UInt16, DataClientError>)
  }

  private let state = Mutex(State.nothing)

  /// Waits for the port, which takes no longer than a system call.
  /// - Throws: `DataClientError` that says why there is none.
  func port() async throws -> UInt16 {
    try await withCheckedThrowingContinuation { continuation in
      let known = state.withLock { state -> Result<UInt16, DataClientError>? in
        if case .known(let result) = state { return result }
        state = .waiting(continuation)
        return nil
      }
      if let known { continuation.resume(with: known.mapError { $0 }) }
    }
  }

  /// Tells the port, once.
  func tell(_ result: Result<UInt16, DataClientError>) {
    let waiting = state.withLock { state -> CheckedContinuation<UInt16, any Error>? in
      defer { state = .known(result) }
      if case .waiting(let continuation) = state { return continuation }
      return nil
    }
    waiting?.resume(with: result.mapError { $0 })
  }
}
