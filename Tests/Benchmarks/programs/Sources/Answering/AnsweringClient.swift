import RepriseCore
import Synchronization

/// A world in memory whose other side answers at once; time passes when nothing else happens.
///
/// It costs next to nothing, so that what is measured is the SDK.
public final class AnsweringClient: DataClient {
  private typealias Reader = CheckedContinuation<ClientEvent, Never>

  private struct State {
    var now = Timestamp(nanoseconds: 1_800_000_000_000_000_000)
    var events: [ClientEvent] = []
    var first = 0
    var isWoken = false
    var isHeld = false
    var reader: Reader?

    /// What there is for a reader; nil when it has to wait.
    mutating func take(before deadline: Timestamp?) -> ClientEvent? {
      if isWoken {
        isWoken = false
        return .woken
      }
      if first < events.count {
        defer { first += 1 }
        return events[first]
      }
      events.removeAll(keepingCapacity: true)
      first = 0
      guard let deadline, !isHeld else { return nil }
      now = max(now, deadline)
      return .deadline
    }
  }

  private let answer: @Sendable (Message) -> Message?
  private let state = Mutex(State())

  /// Creates a world.
  /// - Parameter answer: Makes the answer to a message, if there is one.
  public init(answer: @escaping @Sendable (Message) -> Message?) { self.answer = answer }

  /// Messages with wills, and no retained ones.
  public let capabilities: Capabilities = [.messages, .will, .push, .binary]
  /// The time, which jumps to deadlines.
  public var now: Timestamp { state.withLock { $0.now } }

  /// Does what is wanted, and has it answered at once.
  /// - Parameter action: What is wanted.
  /// - Throws: Nothing.
  public func perform(_ action: ClientAction) async throws {
    let events: [ClientEvent] =
      switch action.kind {
      case .connect: [.connected(.init())]
      case .subscribe(let wanted): [.subscribed(action.id, wanted.map { $0.qos })]
      case .unsubscribe: [.unsubscribed(action.id)]
      case .publish(let message):
        [.published(action.id)] + (answer(message).map { [.message($0)] } ?? [])
      case .disconnect: [.closed(.byUser)]
      case .send, .sendText, .sendBinary: []
      }
    let (reader, event) = state.withLock { state -> (Reader?, ClientEvent?) in
      state.events += events
      guard state.reader != nil else { return (nil, nil) }
      let event = state.take(before: nil)
      return (event == nil ? nil : state.reader.take(), event)
    }
    if let event { reader?.resume(returning: event) }
  }

  /// Returns the next event, or the deadline if there is none.
  /// - Parameter deadline: When to stop waiting.
  /// - Returns: The event.
  /// - Throws: Nothing.
  public func next(before deadline: Timestamp?) async throws -> ClientEvent {
    if let event = state.withLock({ $0.take(before: deadline) }) { return event }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let event = state.withLock { state -> ClientEvent? in
          let event = state.take(before: deadline)
          if event == nil { state.reader = continuation }
          return event
        }
        if let event { continuation.resume(returning: event) }
      }
    } onCancel: {
      wake()
    }
  }

  /// Makes a pending call of ``next(before:)``, or the next one, return `woken`.
  public func wake() {
    let reader = state.withLock { state in
      if state.reader == nil { state.isWoken = true }
      return state.reader.take()
    }
    reader?.resume(returning: .woken)
  }

  /// Lets no more time pass.
  public func holdTime() { state.withLock { $0.isHeld = true } }
}
