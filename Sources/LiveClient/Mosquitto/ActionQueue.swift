import RepriseCore
import Synchronization

/// What the user of a ``MosquittoClient`` asked for and its thread has not done yet: the sending
/// half.
///
/// It also knows whether there is a connection, so that what needs one fails at once when there is
/// none.
final class ActionQueue: Sendable {
  /// An action that needs a connection, checked.
  enum Action: Sendable {
    case publish(ClientAction.ID, Message)
    case subscribe(ClientAction.ID, [Subscription])
    case unsubscribe(ClientAction.ID, [String])
    case disconnect

    /// Checks the action against what the server said of itself.
    fileprivate func check(by limits: ServerLimits) throws(DataClientError) {
      switch self {
      case .publish(_, let message): try limits.check(message)
      case .subscribe(_, let subscriptions):
        try limits.check(filters: subscriptions.lazy.map(\.filter))
      case .unsubscribe(_, let filters): try limits.check(filters: filters)
      case .disconnect: return
      }
    }
  }

  /// What the thread has to look at before all else.
  struct Orders: Sendable {
    /// Whether the client is gone.
    var isStopped: Bool
    /// The connection that is wanted; another one is to be dropped.
    var attempt: UInt64
    /// How to open it, when that is still to be done.
    var options: ConnectOptions?
    /// When to close it without the good order.
    var closingDeadline: Timestamp?
  }

  fileprivate enum Phase { case idle, connecting, connected, closing }

  fileprivate struct State {
    var phase = Phase.idle
    var orders = Orders(isStopped: false, attempt: 0)
    var isBlocked = false
    var options = ConnectOptions()
    var limits = ServerLimits()
    var actions = Fifo<Action>()
    /// The messages that are not published yet, here and in the library.
    var load = Load()
  }

  private let limit: Load
  private let state = Mutex(State())

  /// Creates an empty queue.
  /// - Parameter limit: How much may be unanswered before messages are refused.
  init(limit: Load) { self.limit = limit }

  /// What the server can't do, as far as it said so.
  var missing: Capabilities { state.withLock { $0.limits.missing } }

  // MARK: - The user

  /// Asks for a connection.
  /// - Parameter options: How to open it, checked.
  /// - Throws: ``DataClientError`` when there is one.
  func connect(_ options: ConnectOptions) throws(DataClientError) {
    let isIdle = state.withLock { state in
      guard state.phase == .idle else { return false }
      if options.cleanStart || options.clientID != state.options.clientID {
        state.removeActions { _ in true }
      }
      state.phase = .connecting
      state.options = options
      state.limits = ServerLimits()
      state.orders.attempt += 1
      state.orders.options = options
      return true
    }
    guard isIdle else {
      throw DataClientError(.invalidAction, "there is a connection, or one is being opened")
    }
  }

  /// Adds an action.
  /// - Parameter action: The action, checked.
  /// - Throws: ``DataClientError`` when there is no connection, the server can't do it, or too much
  ///   waits.
  func add(_ action: Action) throws(DataClientError) {
    let failure = state.withLock { [limit] state -> DataClientError? in
      guard state.phase == .connected else {
        return DataClientError(.notConnected, "there is no connection")
      }
      do throws(DataClientError) { try action.check(by: state.limits) } catch { return error }
      if case .publish(_, let message) = action {
        guard state.load.count < limit.count, state.load.bytes < limit.bytes else {
          return DataClientError(
            .transport,
            "\(state.load.count) messages of \(state.load.bytes) bytes wait to be published")
        }
        state.load.add(message)
      }
      state.actions.append(action)
      return nil
    }
    if let failure { throw failure }
  }

  /// Asks for the end of the connection.
  /// - Parameter deadline: How long to try to keep the good order.
  /// - Returns: Whether the connection was not open yet, and is given up at once.
  /// - Throws: ``DataClientError`` when there is none.
  func disconnect(by deadline: Timestamp) throws(DataClientError) -> Bool {
    let isGivenUp = state.withLock { state -> Bool? in
      switch state.phase {
      case .idle, .closing: return nil
      case .connecting:
        state.phase = .idle
        state.orders.attempt += 1
        state.orders.options = nil
        return true
      case .connected:
        state.phase = .closing
        state.orders.closingDeadline = deadline
        state.actions.append(.disconnect)
        return false
      }
    }
    guard let isGivenUp else {
      throw DataClientError(.notConnected, "there is no connection")
    }
    return isGivenUp
  }

  /// Tells the thread to end.
  /// - Returns: Whether it is where it can't hear that.
  func stop() -> Bool {
    state.withLock { state in
      state.orders.isStopped = true
      return state.isBlocked
    }
  }

  // MARK: - The thread

  /// What to look at first; the options are handed out once.
  func takeOrders() -> Orders {
    state.withLock { state in
      let orders = state.orders
      state.orders.options = nil
      return orders
    }
  }

  /// Says whether the thread is about to do what can take long.
  /// - Returns: Whether it may: once the client is gone somebody may wait for the end of the thread.
  @discardableResult func setBlocked(_ isBlocked: Bool) -> Bool {
    state.withLock { state in
      state.isBlocked = isBlocked && !state.orders.isStopped
      return !state.orders.isStopped
    }
  }

  /// Takes the next action, unless it has to wait for answers to those before it.
  ///
  /// A message above QoS 0 waits for a quota, and a DISCONNECT until all that went before is
  /// settled.
  func take(hasQuota: Bool, isSettled: Bool) -> Action? {
    state.withLock { state in
      switch state.actions.first {
      case .publish(_, let message) where message.qos > .atMostOnce && !hasQuota: nil
      case .disconnect where !isSettled: nil
      default: state.actions.popFirst()
      }
    }
  }

  /// Notes that messages are published, or lost.
  func release(_ load: Load) { state.withLock { $0.load.subtract(load) } }

  /// Notes that a connection is open; false when nobody wants it any more.
  func opened(_ attempt: UInt64, limits: ServerLimits) -> Bool {
    state.withLock { state in
      guard state.orders.attempt == attempt, state.phase == .connecting else { return false }
      state.phase = .connected
      state.limits = limits
      return true
    }
  }

  /// Notes that a connection is over; false when nobody asks for it any more.
  ///
  /// What waits above QoS 0 belongs to the session; without one it is over too.
  func closed(_ attempt: UInt64) -> Bool {
    state.withLock { state in
      guard state.orders.attempt == attempt, state.phase != .idle else { return false }
      state.phase = .idle
      state.orders.closingDeadline = nil
      let hasSession = !state.options.cleanStart
      state.removeActions { action in
        guard hasSession, case .publish(_, let message) = action else { return true }
        return message.qos == .atMostOnce
      }
      return true
    }
  }
}

extension ActionQueue.State {
  fileprivate mutating func removeActions(where isUnwanted: (ActionQueue.Action) -> Bool) {
    var removed = Load()
    actions.removeAll { action in
      guard isUnwanted(action) else { return false }
      if case .publish(_, let message) = action { removed.add(message) }
      return true
    }
    load.subtract(removed)
  }
}

/// How many messages there are, and how many bytes they hold.
struct Load: Sendable, Hashable {
  /// The messages.
  var count = 0
  /// The bytes.
  var bytes = 0

  /// Adds a message.
  mutating func add(_ message: Message) {
    count += 1
    bytes += message.weight
  }

  /// Adds another load.
  mutating func add(_ other: Load) {
    count += other.count
    bytes += other.bytes
  }

  /// Takes another load off.
  mutating func subtract(_ other: Load) {
    count -= other.count
    bytes -= other.bytes
  }
}

extension Message {
  /// About how many bytes of memory the message holds.
  var weight: Int {
    let count = 128 + topic.utf8.count + payload.count
    return hasProperties ? count + 128 + properties.byteCount : count
  }
}
