import RepriseCore
import Synchronization

/// A client that takes every action, and tells what it was made to tell: one event a second.
final class TellingClient: DataClient {
  private struct State {
    var now = SessionBuilder.time(0)
    var events: ArraySlice<ClientEvent>
    var actions: [ClientAction] = []
  }

  private let state: Mutex<State>
  let capabilities: Capabilities

  init(
    _ events: [ClientEvent],
    _ capabilities: Capabilities = [.messages, .retain, .will, .exactlyOnce, .push, .binary]
  ) {
    state = Mutex(State(events: events[...]))
    self.capabilities = capabilities
  }

  var now: Timestamp { state.withLock { $0.now } }

  func perform(_ action: ClientAction) async throws { state.withLock { $0.actions.append(action) } }

  func next(before deadline: Timestamp?) async throws -> ClientEvent {
    state.withLock { state in
      guard let event = state.events.popFirst() else { return .ended }
      state.now = state.now.advanced(by: .seconds(1))
      return event
    }
  }

  func wake() {}
}
