import RepriseCore
import Synchronization

/// The server's side of a connection, whose client says what a test tells.
final class ServerSide: DataClient {
  private struct State {
    var events: [ClientEvent] = []
    var performed: [ClientAction.Kind] = []
  }

  private let state = Mutex(State())

  var capabilities: Capabilities { [.frames, .push, .binary] }
  var now: Timestamp { Timestamp(nanoseconds: 0) }

  /// What was done.
  var performed: [ClientAction.Kind] { state.withLock { $0.performed } }

  /// Has something come from the client.
  func tell(_ event: ClientEvent) { state.withLock { $0.events.append(event) } }

  func perform(_ action: ClientAction) async throws {
    state.withLock { $0.performed.append(action.kind) }
  }

  /// The next event; there are no more when all were told.
  func next(before deadline: Timestamp?) async throws -> ClientEvent {
    state.withLock { $0.events.isEmpty ? .ended : $0.events.removeFirst() }
  }

  func wake() {}
}
