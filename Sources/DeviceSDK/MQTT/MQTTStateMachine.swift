package import RepriseCore

/// An ordinary MQTT client as a value: its connection, what it has asked for, and what was not answered yet.
///
/// What is asked for while the connection is being opened waits for it. A message of QoS 1 whose connection was lost
/// before it was acknowledged is sent again (MQTT 3.1.1 section 4.3.2 lets it come twice); one of QoS 0 or 2, and a
/// request, fails then, unless the server has kept the session (section 4.4).
package struct MQTTStateMachine: ConnectionOwner {
  /// Names one who holds a subscription.
  package typealias Holder = UInt64
  package typealias Failure = MQTTError

  /// What a holder wants of a subscription.
  package struct Wish: Sendable {
    var qos: QoS
    var options = SubscriptionOptions()
  }

  /// What the application can ask for.
  package enum Call: Sendable {
    /// Connect, and stay connected.
    case start
    /// Close the connection.
    case stop
    /// Say whether there is a network.
    case setReachable(Bool)
    /// Send a message; done when its QoS says so.
    case publish(Message, timeout: Duration?)
    /// Send a message with a response topic, and wait for its answer.
    case request(Message, timeout: Duration?)
    /// Ask for messages for a holder; done when the server has granted it.
    case hold(String, Wish, Holder)
    /// The holder wants them no longer.
    case release(String, Holder)
  }

  /// What a call results in.
  package enum Value: Sendable {
    /// It is done.
    case done
    /// The answer to a request.
    case reply(Message)
  }

  /// What the application is told without having asked.
  package enum Effect: Sendable {
    /// A message came that answers nothing.
    case deliver(Message)
    /// The connection's state has changed.
    case changeState(MQTTStateChange)
    /// The server does not grant a filter any more.
    case end(String, MQTTError)
  }

  typealias Output = MachineOutput<Value, Effect, MQTTError>

  /// What an action was for.
  enum Purpose: Sendable, Hashable {
    case connection
    case message(CallID)
    case subscribe([String])
    case unsubscribe(String)
  }

  static var done: Value { .done }

  let configuration: MQTTConfiguration
  var keeper: ConnectionKeeper
  var time = Timestamp(nanoseconds: 0)
  var outputs: [Output] = []
  var actions = ActionBook<Purpose>()
  var deadlines = DeadlineQueue()

  /// Calls that wait until the connection is open, or closed.
  var starts: [CallID] = []
  var stops: [CallID] = []
  /// Messages and requests that are not done.
  var messages: [CallID: OpenMessage] = [:]
  /// Those that wait for a connection, the oldest first.
  var queue: [CallID] = []
  /// The requests by what their answers carry.
  var requests: [[UInt8]: CallID] = [:]
  /// How many requests there were.
  var requestCount: UInt32 = 0
  /// Where the names of requests begin, so that what a former run asked for answers nothing of this one.
  var firstRequest: Timestamp?

  var filters: [String: HeldFilter] = [:]
  var filterCount: UInt64 = 0
  /// Calls that wait for a grant, with what they hold.
  var holds: [CallID: (filter: String, holder: Holder)] = [:]
  /// The SUBSCRIBEs that a new connection waits for.
  var restoring: Set<ClientAction.ID> = []
  var isSessionPresent = false
  /// What the server said when it accepted the last connection.
  var server = ServerProperties()

  /// What the application was told last.
  package internal(set) var state = MQTTStateChange.State.disconnected
  /// Why there is no connection.
  var lastReason: MQTTError?

  /// Creates a machine that is disconnected.
  /// - Throws: ``MQTTError`` of kind `invalid` when the configuration is wrong.
  package init(_ configuration: MQTTConfiguration) throws(MQTTError) {
    try configuration.validate()
    self.configuration = configuration
    keeper = ConnectionKeeper(
      configuration.keeperRules,
      random: SeededGenerator(named: configuration.clientID, seed: configuration.jitterSeed))
  }

  /// When the machine wants to be asked again if nothing happens before.
  package var deadline: Timestamp? {
    switch (keeper.deadline, deadlines.first) {
    case (let one?, let other?): min(one, other)
    case (let one, let other): one ?? other
    }
  }

  /// Whether nothing waits for the server, so that what it sends may wait as well.
  package var waitsForNothing: Bool {
    keeper.link == .open && actions.isEmpty && messages.isEmpty && deadline == nil
  }

  /// Takes in one thing that happened.
  package mutating func handle(
    _ input: MachineInput<Call>, now: Timestamp
  ) -> [MachineOutput<Value, Effect, MQTTError>] {
    take(input, now: now)
  }

  mutating func begin(_ call: Call, _ id: CallID) {
    switch call {
    case .start: start(id)
    case .stop: stop(id)
    case .setReachable(let isReachable):
      follow(keeper.setReachable(isReachable, time))
      complete(id)
    case .publish(let message, let timeout): publish(message, within: timeout, id)
    case .request(let message, let timeout): request(message, within: timeout, id)
    case .hold(let filter, let wish, let holder): hold(filter, wish, holder, id)
    case .release(let filter, let holder):
      release(filter, holder)
      complete(id)
    }
  }

  mutating func receive(_ event: ClientEvent) {
    switch event {
    case .subscribed, .unsubscribed, .published, .message: keeper.noteSignOfLife()
    default: break
    }
    switch event {
    case .connected(let connected): noteConnected(connected)
    case .closed(let reason): noteClosed(reason)
    case .subscribed(let action, let granted): noteGranted(action, granted)
    case .unsubscribed(let action): noteTakenBack(action)
    case .published(let action): notePublished(action)
    case .message(let message): receive(message)
    case .failed(let action, let failure): noteFailure(of: action, MQTTError(failure))
    case .deadline: expire()
    case .ended: follow(keeper.noteEnd())
    case .text, .binary, .response, .woken: break
    }
  }

  /// The client did not take an action: nothing was sent.
  mutating func noteRefusal(of action: ClientAction.ID, _ error: DataClientError) {
    if actions[action] == .connection {
      actions[action] = nil
      follow(keeper.noteRefusal(error, time))
    } else {
      noteFailure(of: action, MQTTError(error))
    }
  }

  private mutating func noteFailure(of action: ClientAction.ID, _ error: MQTTError) {
    switch actions.close(action) {
    case .message(let id): noteUnsent(id, error)
    case .subscribe(let filters):
      for filter in filters { refuse(filter, action, error) }
      noteRestored(action)
    case .unsubscribe(let filter): noteLeft(filter)
    case .connection, nil: break
    }
  }

  private mutating func expire() {
    while let id = deadlines.popExpired(at: time) { expire(id) }
    follow(keeper.expire(time))
  }

  private mutating func expire(_ id: CallID) {
    let hold = holds[id]
    fail(id, lateness(of: id))
    if let hold { leave(hold.filter, hold.holder) }
  }

  /// What did not happen in time.
  private func lateness(of id: CallID) -> MQTTError {
    guard state != .disconnected, state != .connecting else {
      return MQTTError(.notConnected, "there was no connection in time" + because(lastReason))
    }
    if let open = messages[id] {
      let limit = open.timeout.map { " within \($0)" } ?? ""
      let topic = "\"\(open.message.topic)\""
      return MQTTError(
        .timedOut,
        open.correlation == nil
          ? "the server did not acknowledge the message on \(topic)\(limit); try again or wait longer"
          : "nobody answered the request on \(topic)\(limit); see that its responder is there and subscribed"
      )
    }
    let what = holds[id].map { "grant \"\($0.filter)\"" } ?? "answer"
    return MQTTError(.timedOut, "the server did not \(what) in time; try again or wait longer")
  }

  mutating func cancel(_ id: CallID) {
    let hold = holds[id]
    close(id, isAnswered: false)
    if let hold { leave(hold.filter, hold.holder) }
  }

  private func because(_ error: MQTTError?) -> String { error.map { ": \($0.message)" } ?? "" }

  // MARK: Ending

  mutating func setDeadline(_ timeout: Duration?, for id: CallID) {
    if let timeout { deadlines.set(time.advanced(by: timeout), for: id) }
  }

  /// A call is over; what it has sent may still be answered.
  mutating func close(_ id: CallID, isAnswered: Bool) {
    deadlines.set(nil, for: id)
    if let message = messages.removeValue(forKey: id) {
      if let correlation = message.correlation { requests[correlation] = nil }
      if message.action == nil { queue.removeAll { $0 == id } }
      return
    }
    if let hold = holds.removeValue(forKey: id) {
      filters[hold.filter]?.waiting.removeAll { $0 == id }
      return
    }
    starts.removeAll { $0 == id }
    stops.removeAll { $0 == id }
  }
}
