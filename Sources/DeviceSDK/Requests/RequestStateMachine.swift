package import RepriseCore

/// Requests and their connection as a value: what the client and the application do goes in, what is to be
/// done comes out.
///
///     idle → connecting → open → waiting → connecting …   gaveUp after too many tries, idle when closed
///
/// Over a transport that answers requests itself, such as HTTP, there is no connection to keep: it is
/// open as soon as it is asked for.
package struct RequestStateMachine: ConnectionOwner {
  /// What the application can ask for.
  package enum Call: Sendable {
    /// Open the connection, and keep it open; completed when it is.
    case open
    /// Close the connection; completed when it is.
    case close
    /// Send a request; completed by its answer.
    case request(OutgoingRequest)
    /// Take back the request with a ticket; it is completed as cancelled if it is still open.
    case takeBack(ticket: UInt64)
    /// Whether the network is there.
    case setReachable(Bool)
    /// The login that others wait for succeeded, or did not.
    case finishLogin(RequestError?)
  }

  /// What a call results in.
  package enum Value: Sendable, Hashable {
    /// It is done.
    case done
    /// It is done, and was answered.
    case answer(RequestAnswer)
  }

  /// What the application is told without having asked.
  package enum Effect: Sendable, Hashable {
    /// The connection's state is another.
    case changeState(RequestStateChange)
    /// The server spoke on its own.
    case push(ServerMessage)
    /// The server wants a login before it answers.
    case needsLogin
  }

  /// What the machine takes in.
  package typealias Input = MachineInput<Call>
  /// What the machine gives out.
  package typealias Output = MachineOutput<Value, Effect, RequestError>

  /// How requests travel.
  enum Transport {
    /// As text messages with an envelope.
    case frames
    /// As requests of the transport's own.
    case requests
  }

  /// A request that is not completed yet.
  struct Pending {
    enum Phase {
      /// It goes out when the connection is open.
      case queued
      /// It was sent with an id, by an action.
      case sent(id: Int, ClientAction.ID)
      /// It goes out when somebody is logged in.
      case awaitingLogin
    }

    let request: OutgoingRequest
    var phase = Phase.queued
    var resendsLeft: Int
    /// Whether it went out on some connection.
    var wasSent = false
    var wasRefusedBeforeLogin: Bool
  }

  /// What became of a number.
  enum Fate {
    case answered
    case givenUp
    /// It was a heartbeat's, whose answer nobody waits for.
    case heartbeat
  }

  static var done: Value { .done }

  let configuration: RequestConfiguration
  let transport: Transport
  /// Whether the application can log in when the server wants it.
  let canLogIn: Bool
  var time = Timestamp(nanoseconds: 0)
  var outputs: [Output] = []

  var keeper: ConnectionKeeper
  /// Whether the network is there, as the application says.
  var isReachable = true
  /// Whether the client found none when it tried last.
  var foundNoNetwork = false
  var nextHeartbeat: Timestamp?
  var isLoggingIn = false

  /// The requests that actions carry, to hear of those that were not handed over.
  var actions = ActionBook<CallID>()
  var pending: [CallID: Pending] = [:]
  var tickets: [UInt64: CallID] = [:]
  var callsByID: [Int: CallID] = [:]
  var deadlines = DeadlineQueue()
  var opens: [CallID] = []
  var closes: [CallID] = []
  var lastID = 0
  var memory = RecentFates<Int, Fate>()

  /// What was counted.
  package internal(set) var statistics = RequestStatistics()
  /// The connection's state.
  package internal(set) var state = RequestConnectionState.idle

  /// Creates a machine that is idle.
  /// - Parameters:
  ///   - configuration: How requests are sent.
  ///   - capabilities: What the client can do; `Capabilities.frames` are preferred.
  ///   - canLogIn: Whether the application answers ``Effect/needsLogin``.
  /// - Throws: ``RequestError`` of kind `client` when the configuration is wrong, or the client can do
  ///   neither.
  package init(
    _ configuration: RequestConfiguration, capabilities: Capabilities, canLogIn: Bool = false
  ) throws(RequestError) {
    try configuration.validate()
    if capabilities.contains(.frames) {
      transport = .frames
    } else if capabilities.contains(.requests) {
      transport = .requests
    } else {
      throw RequestError(
        .client, "the client carries neither messages without topics nor requests")
    }
    self.configuration = configuration
    self.canLogIn = canLogIn
    keeper = ConnectionKeeper(
      configuration.keeperRules, random: SeededGenerator(seed: configuration.jitterSeed ?? 0))
  }

  /// When the machine wants to be asked again if nothing happens before.
  package var deadline: Timestamp? {
    earlier(keeper.deadline, earlier(nextHeartbeat, deadlines.first))
  }

  /// Takes in one thing that happened.
  /// - Parameters:
  ///   - input: What happened.
  ///   - now: When.
  /// - Returns: What to do, in this order.
  package mutating func handle(_ input: Input, now: Timestamp) -> [Output] {
    take(input, now: now)
  }

  mutating func receive(_ event: ClientEvent) {
    switch event {
    case .connected: follow(keeper.noteConnected(time))
    case .closed(let reason): follow(keeper.noteClosed(reason, time))
    case .text(let text): receive(text)
    case .binary(let bytes):
      statistics.pushes += 1
      tell(.push(.binary(bytes)))
    case .response(let action, let response): receive(response, to: action)
    case .failed(let action, let failure): noteFailure(of: action, failure)
    case .deadline: expire()
    case .ended: follow(keeper.noteEnd())
    case .subscribed, .unsubscribed, .published, .message, .woken: break
    }
  }

  mutating func begin(_ call: Call, _ id: CallID) {
    switch call {
    case .open: open(id)
    case .close: close(id)
    case .request(let outgoing): request(outgoing, id)
    case .takeBack(let ticket):
      if let call = tickets[ticket] {
        giveUp(call, RequestError(.cancelled, "the request was taken back"))
      }
      complete(id)
    case .setReachable(let isReachable):
      setReachable(isReachable)
      complete(id)
    case .finishLogin(let error):
      finishLogin(error)
      complete(id)
    }
  }

  private mutating func expire() {
    while let id = deadlines.popExpired(at: time) {
      giveUp(id, RequestError(.timedOut, "no answer came in time"))
    }
    follow(keeper.expire(time))
    if let nextHeartbeat, nextHeartbeat <= time { beat() }
  }

  // MARK: Out

  mutating func report(_ state: RequestConnectionState, _ error: RequestError? = nil) {
    guard state != self.state else { return }
    self.state = state
    tell(.changeState(RequestStateChange(state: state, error: error, time: time)))
  }
}
