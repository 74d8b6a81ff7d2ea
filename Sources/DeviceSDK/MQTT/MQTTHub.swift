import RepriseCore
import Synchronization

/// Hands messages to those whose filters match, and knows when somebody does not come after.
package final class MQTTHub: Sendable {
  /// Where the messages for one holder of a filter wait.
  struct Listener: Sendable {
    /// The filter as the server has it.
    let name: String
    let filter: TopicFilter
    let mailbox: Mailbox<Message>
    /// From how many messages on the connection is read no further.
    let limit: Int
    /// How many wait.
    var count = 0
  }

  private struct State {
    var listeners: [MQTTStateMachine.Holder: Listener] = [:]
    var last = MQTTStateMachine.ownHolder
    /// Those who have as many messages as they want.
    var full: Set<MQTTStateMachine.Holder> = []
    /// Why messages ended.
    var errors: [MQTTStateMachine.Holder: MQTTError] = [:]
    var dropped: UInt64 = 0
    var isFinished = false
    var end: MQTTError?
  }

  private let state = Mutex(State())
  /// The changes of the connection's state.
  let states = Broadcast<MQTTStateChange>()
  /// What reads no further while somebody has as many messages as it wants.
  private let client: HeldUpClient
  private let log: SystemLog

  /// Creates a hub that nobody listens to.
  /// - Parameters:
  ///   - client: What is told that there is room again.
  ///   - log: Where changes of the connection are told.
  package init(client: HeldUpClient, log: SystemLog = .none) {
    self.client = client
    self.log = log
  }

  /// Whether somebody has as many messages as it wants.
  package var isFull: Bool { state.withLock { !$0.full.isEmpty } }

  /// How many messages were dropped.
  var dropped: UInt64 { state.withLock(\.dropped) }

  /// What may come before the answer that somebody waits for is kept up to so many times the limit.
  private static let patience = 16

  /// Begins to keep messages for a holder of a filter.
  /// - Returns: The holder, and where its messages come to.
  func listen(
    to name: String, _ filter: TopicFilter, limit: Int
  ) -> (MQTTStateMachine.Holder, Mailbox<Message>) {
    let limit = max(1, limit)
    let (most, overflow) = limit.multipliedReportingOverflow(by: Self.patience)
    let mailbox = Mailbox<Message>(limit: overflow ? limit : most)
    return state.withLock { state in
      state.last += 1
      state.listeners[state.last] = Listener(
        name: name, filter: filter, mailbox: mailbox, limit: limit)
      if state.isFinished { mailbox.finish() }
      return (state.last, mailbox)
    }
  }

  /// A holder listens no longer.
  func leave(_ holder: MQTTStateMachine.Holder) {
    let hasRoom = state.withLock { state in
      state.listeners[holder]?.mailbox.finish()
      state.listeners[holder] = nil
      state.errors[holder] = nil
      return state.full.remove(holder) != nil && state.full.isEmpty
    }
    if hasRoom { client.goOn() }
  }

  /// A holder has taken messages.
  func noteTaken(_ count: Int, by holder: MQTTStateMachine.Holder) {
    let hasRoom = state.withLock { state in
      guard var listener = state.listeners[holder] else { return false }
      listener.count -= count
      state.listeners[holder] = listener
      guard listener.count < listener.limit else { return false }
      return state.full.remove(holder) != nil && state.full.isEmpty
    }
    if hasRoom { client.goOn() }
  }

  /// Why a holder's messages have ended; nil when the session has.
  func error(of holder: MQTTStateMachine.Holder) -> MQTTError? {
    state.withLock { $0.errors[holder] ?? $0.end }
  }

  /// Whether there are no more messages, as nobody wants any.
  var isOver: Bool { state.withLock { $0.isFinished && $0.end == nil } }

  /// Tells the application.
  package func take(_ effect: MQTTStateMachine.Effect) {
    switch effect {
    case .deliver(let message): deliver(message)
    case .changeState(let change):
      states.send(change)
      note(change)
      if change.isFinal { end(change.error) }
    case .end(let filter, let error):
      log(.warning, .subscription, "no more messages of \(filter): \(error.message)")
      end(filter, error)
    }
  }

  private func note(_ change: MQTTStateChange) {
    let reason = change.error.map { ": \($0.message)" } ?? ""
    let level: DeviceLog.Level =
      change.error == nil ? .info : change.isFinal ? .error : .warning
    log(level, .connection, at: change.time, "\(change.state)\(reason)")
  }

  private func deliver(_ message: Message) {
    let topic = message.topic.utf8Span
    state.withLock { state in
      for (holder, listener) in state.listeners where listener.filter.matches(topic.span) {
        guard listener.mailbox.put(message) else {
          state.dropped &+= 1
          continue
        }
        let count = listener.count + 1
        state.listeners[holder]?.count = count
        if count >= listener.limit { state.full.insert(holder) }
      }
    }
  }

  private func end(_ filter: String, _ error: MQTTError) {
    state.withLock { state in
      for (holder, listener) in state.listeners where listener.name == filter {
        state.errors[holder] = error
        listener.mailbox.finish()
      }
    }
  }

  /// Ends all sequences; nothing more will be told.
  package func finish() {
    end(nil)
    states.finish()
  }

  /// There will be no more messages.
  private func end(_ error: MQTTError?) {
    state.withLock { state in
      if !state.isFinished { state.end = error }
      state.isFinished = true
      for listener in state.listeners.values { listener.mailbox.finish() }
    }
  }
}
