public import RepriseCore
import Synchronization

/// A client that takes every action, and tells what a test has made it tell; then its world is over.
///
/// It never waits, so that there is nothing to wake and no deadline passes.
public final class ToldClient: DataClient {
  /// Says what an action leads to, or refuses it.
  public typealias Responder = @Sendable (ClientAction.Kind) throws -> [ClientEvent]

  private struct State {
    var now: Timestamp
    var events: ArraySlice<ClientEvent>
    var performed: [ClientAction.Kind] = []
  }

  private let state: Mutex<State>
  private let pace: Duration
  private let failure: DataClientError?
  private let responder: Responder
  /// What it says that it can do.
  public let capabilities: Capabilities

  /// Creates a client.
  /// - Parameters:
  ///   - events: What it tells.
  ///   - capabilities: What it says that it can do.
  ///   - start: The time at which its world begins.
  ///   - pace: How much time passes before each event.
  ///   - failure: What breaks its world when all is told; nil lets it end.
  ///   - responder: What each action leads to.
  public init(
    _ events: [ClientEvent] = [], _ capabilities: Capabilities,
    start: Timestamp = Timestamp(nanoseconds: 0), pace: Duration = .zero,
    failure: DataClientError? = nil, responder: @escaping Responder = { _ in [] }
  ) {
    state = Mutex(State(now: start, events: events[...]))
    self.capabilities = capabilities
    self.pace = pace
    self.failure = failure
    self.responder = responder
  }

  /// The time in its world.
  public var now: Timestamp { state.withLock { $0.now } }

  /// What was done, in order.
  public var performed: [ClientAction.Kind] { state.withLock { $0.performed } }

  /// Has something come.
  /// - Parameter event: What it tells after all else.
  public func tell(_ event: ClientEvent) { state.withLock { $0.events.append(event) } }

  /// Has time pass.
  /// - Parameter duration: How much.
  public func pass(_ duration: Duration) {
    state.withLock { $0.now = $0.now.advanced(by: duration) }
  }

  /// Takes an action.
  /// - Parameter action: What to do.
  /// - Throws: What the responder throws.
  public func perform(_ action: ClientAction) async throws {
    let events = try responder(action.kind)
    state.withLock { state in
      state.performed.append(action.kind)
      state.events += events
    }
  }

  /// Returns the next event; the end of its world when all were told.
  /// - Parameter deadline: Is not looked at.
  /// - Returns: The event.
  /// - Throws: The failure, when all were told.
  public func next(before deadline: Timestamp?) async throws -> ClientEvent {
    let event = state.withLock { state -> ClientEvent? in
      guard let event = state.events.popFirst() else { return nil }
      state.now = state.now.advanced(by: pace)
      return event
    }
    if let event { return event }
    if let failure { throw failure }
    return .ended
  }

  /// Does nothing: nobody waits.
  public func wake() {}
}
