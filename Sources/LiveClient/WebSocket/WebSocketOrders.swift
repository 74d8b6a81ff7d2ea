import CWebSockets
import RepriseCore
import Synchronization

/// What a ``WebSocketClient`` wants of its thread: the sending half of the client.
final class WebSocketOrders: Sendable {
  /// A message with room in front of it for the library.
  struct Outgoing: Sendable {
    /// The bytes, behind `websocket_prefix_size` bytes that mean nothing.
    let bytes: [UInt8]
    let isText: Bool

    /// Makes room in front of a payload.
    init(_ payload: some Collection<UInt8>, isText: Bool) {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(Self.prefix + payload.count)
      bytes.append(contentsOf: repeatElement(0, count: Self.prefix))
      bytes.append(contentsOf: payload)
      self.bytes = bytes
      self.isText = isText
    }

    /// The length of the room.
    static var prefix: Int { websocket_prefix_size }
  }

  /// What to look at before the library gets its turn.
  struct Orders {
    /// Whether the client is gone.
    var isStopped = false
    /// The number of the connection that is wanted; another one is left.
    var attempt: UInt64 = 0
    /// Whether to open it now.
    var opens = false
    /// Whether something is to be written, or the connection is to be closed.
    var writes = false
    /// How many bytes are to be written before the connection is closed; nil when it is not to be closed.
    var closesBehind: Int?
  }

  private enum Phase { case idle, connecting, open, closing }

  private struct State {
    var phase = Phase.idle
    var attempt: UInt64 = 0
    var opens = false
    var messages = Fifo<Outgoing>()
    var bytes = 0
    var isStopped = false
    var isBlocked = false
    /// Whether the thread has ended by itself.
    var hasFailed = false
    var waker: ContextWaker?
  }

  private static let failed = DataClientError(
    .transport, "libwebsockets failed, and this client can't be used any more; make another one")

  private let state = Mutex(State())
  private let limit: (messages: Int, bytes: Int)

  /// Creates an empty queue.
  /// - Parameters:
  ///   - messages: How many messages may wait to be written.
  ///   - bytes: How many bytes they may hold.
  init(messages: Int, bytes: Int) { limit = (messages, bytes) }

  // MARK: - The client

  /// Asks for a connection.
  /// - Throws: ``DataClientError`` when there is one.
  func connect() throws(DataClientError) {
    let failure = state.withLock { state -> DataClientError? in
      guard !state.hasFailed else { return Self.failed }
      guard state.phase == .idle else {
        return DataClientError(.invalidAction, "there is a connection already; disconnect first")
      }
      state.phase = .connecting
      state.attempt += 1
      state.opens = true
      return nil
    }
    if let failure { throw failure }
    wake()
  }

  /// Adds a message.
  /// - Throws: ``DataClientError`` when there is no connection, or too much waits.
  func send(_ message: Outgoing) throws(DataClientError) {
    let failure = state.withLock { [limit] state -> DataClientError? in
      guard !state.hasFailed else { return Self.failed }
      guard state.phase == .open else {
        return DataClientError(.notConnected, "there is no connection")
      }
      guard state.messages.count < limit.messages, state.bytes < limit.bytes else {
        return DataClientError(
          .transport,
          "\(state.messages.count) messages of \(state.bytes) bytes wait to be written")
      }
      state.messages.append(message)
      state.bytes += message.bytes.count
      return nil
    }
    if let failure { throw failure }
    wake()
  }

  /// Asks for the end of the connection, behind what waits to be written.
  /// - Returns: Whether the connection was not open yet, and is given up at once.
  /// - Throws: ``DataClientError`` when there is none.
  func disconnect() throws(DataClientError) -> Bool {
    let isGivenUp = state.withLock { state -> Bool? in
      switch state.phase {
      case .idle, .closing: return nil
      case .connecting:
        state.phase = .idle
        state.attempt += 1
        state.opens = false
        return true
      case .open:
        state.phase = .closing
        return false
      }
    }
    guard let isGivenUp else { throw DataClientError(.notConnected, "there is no connection") }
    wake()
    return isGivenUp
  }

  /// Tells the thread to end.
  /// - Returns: Whether it is where it can't hear that.
  func stop() -> Bool {
    let isBlocked = state.withLock { state in
      state.isStopped = true
      return state.isBlocked
    }
    wake()
    return isBlocked
  }

  /// Gets the thread out of the library.
  func wake() {
    // Under the lock, so that the context can't go meanwhile.
    state.withLock { $0.waker?.wake() }
  }

  // MARK: - The thread

  /// Says which context is to be woken; nil before it is destroyed.
  func serve(_ context: OpaquePointer?) {
    state.withLock { $0.waker = context.map(ContextWaker.init) }
  }

  /// What to look at first; a wish to connect is handed out once.
  func take() -> Orders {
    state.withLock { state in
      defer { state.opens = false }
      return Orders(
        isStopped: state.isStopped, attempt: state.attempt, opens: state.opens,
        writes: !state.messages.isEmpty || state.phase == .closing,
        closesBehind: state.phase == .closing ? state.bytes : nil)
    }
  }

  /// Says whether the thread is about to do what can take long.
  /// - Returns: Whether it may: once the client is gone somebody may wait for the end of the thread.
  @discardableResult func setBlocked(_ isBlocked: Bool) -> Bool {
    state.withLock { state in
      state.isBlocked = isBlocked && !state.isStopped
      return !state.isStopped
    }
  }

  /// Notes that the thread ends although the client is there.
  /// - Returns: The connection that was asked for and is not begun, if there is one; it is over.
  func fail() -> UInt64? {
    state.withLock { state in
      state.hasFailed = true
      guard state.opens else { return nil }
      state.opens = false
      return state.attempt
    }
  }

  /// Takes the message that is written next.
  func takeMessage() -> Outgoing? {
    state.withLock { state in
      guard let message = state.messages.popFirst() else { return nil }
      state.bytes -= message.bytes.count
      return message
    }
  }

  /// Whether the connection is to be closed once all is written.
  var isClosing: Bool { state.withLock { $0.phase == .closing && $0.messages.isEmpty } }

  /// Notes that a connection is open; false when nobody wants it any more.
  func opened(_ attempt: UInt64) -> Bool {
    state.withLock { state in
      guard state.attempt == attempt, state.phase == .connecting else { return false }
      state.phase = .open
      return true
    }
  }

  /// Notes that a connection is over.
  /// - Returns: Whether the client closed it; nil when nobody asks for it any more.
  func closed(_ attempt: UInt64) -> Bool? {
    state.withLock { state in
      guard state.attempt == attempt, state.phase != .idle else { return nil }
      let isByUser = state.phase == .closing
      state.phase = .idle
      state.messages.removeAll { _ in true }
      state.bytes = 0
      return isByUser
    }
  }
}
