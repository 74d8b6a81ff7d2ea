import RepriseCore

/// What the actions of a channel and of a gateway are both for.
protocol CloudPurpose: Sendable {
  /// The SUBSCRIBE that begins a sweep of retained messages.
  static func sweep(_ call: CallID) -> Self
  /// The UNSUBSCRIBE that marks its end, with the filter that it was for.
  static func sweepEnd(_ call: CallID, _ filter: String) -> Self
  /// An UNSUBSCRIBE that is for no call.
  static var takingBack: Self { get }
  /// The DISCONNECT.
  static var disconnect: Self { get }
}

/// What the applications of a channel and of a gateway are both told.
protocol CloudEffect: Sendable {
  /// An entry of the log.
  static func log(_ entry: DeviceLog.Entry) -> Self
}

/// The machine of a device's connection to its cloud, a channel's or a gateway's: what the two have in common beside
/// their calls.
protocol DeviceMachine: ConnectionOwner, CallKeeper
where Failure == DeviceError<ErrorKind>, Purpose: CloudPurpose, Effect: CloudEffect {
  associatedtype ErrorKind: DeviceErrorKind

  /// Which of the SDK's systems it is.
  static var system: DeviceLog.System { get }
  /// The result of a search for retained messages.
  static func topics(_ topics: [String]) -> Value

  /// Where entries of its log go.
  var deviceLog: DeviceLog { get }
  /// Why there is no connection; nil where there is one, or none was lost.
  var lastLoss: Failure? { get }
  /// The packets about subscriptions that are under way.
  var order: SubscriptionOrder { get set }
  /// What is being found out of retained messages.
  var sweeps: [CallID: RetainedSweep] { get set }
  /// The topic whose UNSUBSCRIBE marks the end of a sweep.
  var endOfSweep: String { get }

  /// Whether the cloud has granted a filter, which something relies on.
  func isGranted(_ filter: String) -> Bool
  /// Whether the application gets the messages of a topic without a sweep.
  func isHeard(_ topic: String) -> Bool
}

// MARK: The connection

extension DeviceMachine {
  mutating func log(
    _ level: DeviceLog.Level, _ module: DeviceLog.Module, _ message: @autoclosure () -> String
  ) {
    guard deviceLog.takes(level, module) else { return }
    tell(
      .log(
        DeviceLog.Entry(
          time: time, system: Self.system, level: level, module: module, message: message())))
  }

  /// What a start fails with whose time is over.
  var lateStart: Failure {
    let reason = lastLoss.map { ": \($0.message)" } ?? ""
    return Failure(
      .network, "the \(Self.subject) was not connected in time\(reason)", underlying: lastLoss)
  }

  mutating func disconnect() {
    forgetActions()
    perform(.disconnect, for: .disconnect)
  }

  /// Nothing that was sent on the connection is answered any more.
  mutating func forgetActions() {
    actions.purposes = [:]
    order = SubscriptionOrder()
  }
}

// MARK: Retained messages

extension DeviceMachine {
  /// Begins to find out where the cloud has retained messages.
  mutating func sweep(_ filter: TopicFilter, _ id: CallID) {
    sweeps[id] = RetainedSweep(filter)
    let filters = [filter.text, endOfSweep].map { Subscription($0, qos: .atMostOnce) }
    perform(.subscribe(filters), for: .sweep(id))
    perform(.unsubscribe([endOfSweep]), for: .sweepEnd(id, filter.text))
  }

  /// Ends a sweep, as all that is retained was told of; what the application has, or has asked for, stays.
  mutating func noteSwept(_ id: CallID, _ filter: String) {
    if let sweep = sweeps[id] { complete(id, Self.topics(sweep.topics)) }
    let isHeld =
      isGranted(filter) || order.isUnderWay(filter)
      || sweeps.values.contains { $0.filter.text == filter }
    if !isHeld { perform(.unsubscribe([filter]), for: .takingBack) }
  }

  /// Tells whether a message came for a sweep and nobody else.
  mutating func takeRetained(_ message: Message) -> Bool {
    var isWanted = false
    for id in sweeps.keys where sweeps[id]?.take(message) == true { isWanted = true }
    return isWanted && !isHeard(message.topic)
  }
}

// MARK: Errors

extension DeviceMachine {
  /// What the application calls it.
  private static var subject: String { system.rawValue }

  static var notConnected: Failure { Failure(.network, "the \(subject) is not connected") }

  static var endOfWorld: Failure { Failure(.network, "there are no more events") }

  static var refusedSubscription: Failure {
    Failure(.gateway, "the cloud does not grant the subscription", cloudCode: 0x80)
  }

  static func error(for reason: ConnectionKeeper.Reason) -> Failure {
    switch reason {
    case .closed(let closed): error(for: closed)
    case .refused(let error): Self.error(for: error)
    case .failed(let failure): error(for: failure)
    case .timedOut(let text): Failure(.network, text)
    case .oscillation(let last): oscillation(error(for: last))
    case .stopped: Failure(.network, "the \(subject) was stopped")
    case .ended: endOfWorld
    }
  }

  /// What is told when connections do not last.
  private static func oscillation(_ last: Failure) -> Failure {
    Failure(
      .gateway,
      "the connection is taken over again and again; another process seems to use the same identity: stop "
        + "it, or give one of the two an identity of its own, and start again (\(last.message))",
      underlying: last)
  }

  private static func error(for reason: ClientEvent.Closed) -> Failure {
    switch reason {
    case .byUser: Failure(.network, "\(reason)")
    case .byServer(_, let text), .lost(let text), .unreached(let text, _):
      Failure(.network, "the connection was lost: \(text)")
    case .refused(let code):
      Failure(reason.refusesIdentity ? .login : .gateway, "\(reason)", cloudCode: Int(code))
    }
  }

  static func error(for failure: ActionFailure) -> Failure {
    Failure(
      failure.code == nil ? .network : .gateway, "\(failure)",
      cloudCode: failure.code.map(Int.init), underlying: failure)
  }

  static func error(for error: DataClientError) -> Failure { Failure(error) }

  /// Returns what ended a call, as an error of its own kind.
  static func error(for error: any Error) -> Failure {
    switch error {
    case let error as Failure: error
    case let error as DataClientError: Self.error(for: error)
    case let error as ChannelError: Failure(.client, error.message, underlying: error)
    default: Failure(.network, "the \(subject) was closed", underlying: error)
    }
  }
}
