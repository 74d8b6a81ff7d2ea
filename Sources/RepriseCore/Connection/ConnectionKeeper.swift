/// Opens a connection and keeps it open, as a value: when to try, when to wait, when to give up.
///
/// It knows neither topics nor calls. The machine that owns it does what its steps say, and tells it what came
/// of them.
package struct ConnectionKeeper: Sendable {
  /// How patient it is.
  package struct Rules: Sendable {
    /// Nil waits as long as it takes, for a connection that somebody else opens.
    package var connectTimeout: Duration?
    /// How long the end of a connection is waited for.
    package var closeTimeout: Duration
    /// How long it waits before a next try.
    package var backOff: BackOff
    /// After how many tries in vain it gives up; nil goes on for ever.
    package var retryLimit: Int?
    /// Whether a refusal that another try would meet as well ends it.
    package var givesUpWhenRefused: Bool
    /// How many kicks within the window are taken for another user of the identity (``KickCounter``); nil leaves
    /// that to the owner of the connection.
    package var kickLimit: Int?
    package var kickWindow: Duration

    /// Creates rules.
    /// - Parameters:
    ///   - connectTimeout: How long CONNECT, and then what restores, may take; nil is as long as it takes.
    ///   - closeTimeout: How long the end of a connection is waited for.
    ///   - backOff: How long it waits before a next try.
    ///   - retryLimit: After how many tries in vain it gives up; nil goes on for ever.
    ///   - givesUpWhenRefused: Whether a refusal that another try would meet as well ends it.
    ///   - kickLimit: How many kicks within the window are too many; nil counts none.
    ///   - kickWindow: The window.
    package init(
      connectTimeout: Duration?, closeTimeout: Duration, backOff: BackOff, retryLimit: Int? = nil,
      givesUpWhenRefused: Bool = true, kickLimit: Int? = nil, kickWindow: Duration = .zero
    ) {
      self.connectTimeout = connectTimeout
      self.closeTimeout = closeTimeout
      self.backOff = backOff
      self.retryLimit = retryLimit
      self.givesUpWhenRefused = givesUpWhenRefused
      self.kickLimit = kickLimit
      self.kickWindow = kickWindow
    }
  }

  /// Why there is no connection.
  package enum Reason: Sendable, Hashable {
    case closed(ClientEvent.Closed)
    case refused(DataClientError)
    /// What restores came to nothing after it was handed over.
    case failed(ActionFailure)
    /// The cloud did not answer; the text says what.
    case timedOut(String)
    /// Another process uses the same identity, as it seems; with the end of the last connection.
    case oscillation(last: ClientEvent.Closed)
    case stopped
    case ended
  }

  /// What is to be done, in order.
  package enum Step: Sendable, Hashable {
    /// Send CONNECT.
    case connect
    /// The connection was accepted: send what it needs, and then call `noteRestored`.
    case restore
    /// The connection is of use.
    case opened
    /// Send DISCONNECT.
    case disconnect
    /// There is no connection any more, or it was not accepted.
    case down(Reason, isFinal: Bool)
    /// A stop that was asked for is done.
    case stopped
  }

  package enum Link: Sendable, Hashable {
    case idle
    /// Started before it is known who connects.
    case identifying
    case connecting(until: Timestamp?)
    case restoring(until: Timestamp?)
    case open
    case backingOff(until: Timestamp)
    /// DISCONNECT was sent; with a reason, a new connection follows.
    case closing(until: Timestamp, retryAfter: Reason?)
    case ended
  }

  private let rules: Rules
  /// Where the jitter comes from.
  package var random: SeededGenerator
  /// How many tries were in vain since the cloud last answered.
  package private(set) var failedAttempts = 0
  private var kicks: KickCounter
  package private(set) var link = Link.idle
  package private(set) var lostConnections: UInt64 = 0
  /// Whether there is a network, as far as the application knows; without one nothing is tried.
  private var isReachable = true

  package init(_ rules: Rules, random: SeededGenerator) {
    self.rules = rules
    kicks = KickCounter(limit: rules.kickLimit, window: rules.kickWindow)
    self.random = random
  }

  /// When it wants to be asked again.
  package var deadline: Timestamp? {
    switch link {
    case .connecting(let until), .restoring(let until): until
    case .backingOff(let until): isReachable ? until : nil
    case .closing(let until, _): until
    case .idle, .identifying, .open, .ended: nil
    }
  }

  /// Whether something can be sent.
  package var isUp: Bool {
    switch link {
    case .restoring, .open: true
    case .idle, .identifying, .connecting, .backingOff, .closing, .ended: false
    }
  }

  // MARK: What the application wants

  /// Connects, unless that is under way; nil when it can't, as a stop is not done yet, or nothing comes any more.
  ///
  /// As long as it is not known who connects, it waits for `noteIdentified`.
  package mutating func start(_ now: Timestamp, isIdentified: Bool = true) -> [Step]? {
    switch link {
    case .idle:
      failedAttempts = 0
      kicks.reset()
      if !isIdentified {
        link = .identifying
      } else if isReachable {
        return [connect(now)]
      } else {
        link = .backingOff(until: now)
      }
      return []
    case .identifying, .connecting, .restoring, .open, .backingOff, .closing(_, .some): return []
    case .closing, .ended: return nil
    }
  }

  /// It is known now who connects.
  package mutating func noteIdentified(_ now: Timestamp) -> [Step] {
    if case .identifying = link { [connect(now)] } else { [] }
  }

  package mutating func stop(_ now: Timestamp) -> [Step] {
    switch link {
    case .idle, .ended: return [.stopped]
    case .identifying, .backingOff:
      link = .idle
      return [.down(.stopped, isFinal: true), .stopped]
    case .connecting, .restoring, .open:
      link = .closing(until: now.advanced(by: rules.closeTimeout), retryAfter: nil)
      return [.down(.stopped, isFinal: true), .disconnect]
    case .closing(let until, .some):
      link = .closing(until: until, retryAfter: nil)
      return [.down(.stopped, isFinal: true)]
    case .closing: return []
    }
  }

  /// The network is there, and so the next try is made now; or it is gone, and none is made until it is back.
  package mutating func setReachable(_ isReachable: Bool, _ now: Timestamp) -> [Step] {
    self.isReachable = isReachable
    guard isReachable, case .backingOff = link else { return [] }
    failedAttempts = 0
    return [connect(now)]
  }

  private mutating func connect(_ now: Timestamp) -> Step {
    link = .connecting(until: rules.connectTimeout.map { now.advanced(by: $0) })
    return .connect
  }

  // MARK: What the client says

  package mutating func noteConnected(_ now: Timestamp) -> [Step] {
    guard case .connecting = link else { return [] }
    kicks.noteAccepted(now)
    link = .restoring(until: rules.connectTimeout.map { now.advanced(by: $0) })
    return [.restore]
  }

  package mutating func noteRestored() -> [Step] {
    guard case .restoring = link else { return [] }
    link = .open
    return [.opened]
  }

  /// The cloud answers: the next back-off starts anew.
  package mutating func noteSignOfLife() { failedAttempts = 0 }

  package mutating func noteClosed(_ reason: ClientEvent.Closed, _ now: Timestamp) -> [Step] {
    switch link {
    case .idle, .identifying, .backingOff, .ended: return []
    case .connecting: return [tryAgain(.closed(reason), isFinal: isFinal(reason), now)]
    case .restoring, .open:
      lostConnections += 1
      let oscillates = kicks.noteClosed(reason, now)
      let why: Reason = oscillates ? .oscillation(last: reason) : .closed(reason)
      return [tryAgain(why, isFinal: oscillates, now)]
    case .closing(_, let retry?): return [tryAgain(retry, isFinal: false, now)]
    case .closing: return [finishStop()]
    }
  }

  /// CONNECT, DISCONNECT or what restores was not handed over.
  package mutating func noteRefusal(_ error: DataClientError, _ now: Timestamp) -> [Step] {
    switch link {
    case .connecting:
      return [tryAgain(.refused(error), isFinal: isFinal(error), now)]
    case .restoring: return disconnect(.refused(error), now)
    case .closing(_, let retry?): return [tryAgain(retry, isFinal: false, now)]
    case .closing: return [finishStop()]
    case .idle, .identifying, .open, .backingOff, .ended: return []
    }
  }

  /// What restores came to nothing after it was handed over.
  package mutating func noteFailure(_ failure: ActionFailure, _ now: Timestamp) -> [Step] {
    if case .restoring = link { disconnect(.failed(failure), now) } else { [] }
  }

  package mutating func noteEnd() -> [Step] {
    guard link != .ended else { return [] }
    link = .ended
    return [.down(.ended, isFinal: true), .stopped]
  }

  package mutating func expire(_ now: Timestamp) -> [Step] {
    guard let deadline, deadline <= now else { return [] }
    switch link {
    case .backingOff: return [connect(now)]
    case .connecting: return disconnect(.timedOut("the connection was not accepted in time"), now)
    case .restoring: return disconnect(.timedOut("subscriptions were not granted in time"), now)
    case .closing(_, let retry?): return [tryAgain(retry, isFinal: false, now)]
    case .closing: return [finishStop()]
    case .idle, .identifying, .open, .ended: return []
    }
  }

  // MARK: Ways down

  private mutating func disconnect(_ reason: Reason, _ now: Timestamp) -> [Step] {
    link = .closing(until: now.advanced(by: rules.closeTimeout), retryAfter: reason)
    return [.disconnect]
  }

  private mutating func tryAgain(_ reason: Reason, isFinal: Bool, _ now: Timestamp) -> Step {
    let isFinal = isFinal || rules.retryLimit.map { failedAttempts >= $0 } ?? false
    if isFinal {
      link = .idle
    } else if !isReachable {
      link = .backingOff(until: now)
    } else {
      let delay = rules.backOff.delay(attempt: failedAttempts, random: &random)
      failedAttempts = min(failedAttempts + 1, 1_000)
      link = .backingOff(until: now.advanced(by: delay))
    }
    return .down(reason, isFinal: isFinal)
  }

  private mutating func finishStop() -> Step {
    link = .idle
    return .stopped
  }

  /// Tells whether trying again would be refused again.
  private func isFinal(_ reason: ClientEvent.Closed) -> Bool {
    if rules.givesUpWhenRefused, case .refused = reason { !reason.mayPass } else { false }
  }

  private func isFinal(_ error: DataClientError) -> Bool {
    rules.givesUpWhenRefused && (error.code == .unsupported || error.code == .invalidAction)
  }
}

extension [ConnectionKeeper.Step] {
  /// The same steps, with the word to the server before what the application is told.
  package var disconnectingFirst: Self {
    filter { $0 == .disconnect } + filter { $0 != .disconnect }
  }
}
