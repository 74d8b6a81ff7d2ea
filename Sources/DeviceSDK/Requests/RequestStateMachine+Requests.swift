import RepriseCore

/// Sending requests and completing them, each just once.
extension RequestStateMachine {
  mutating func request(_ request: OutgoingRequest, _ id: CallID) {
    if let mistake = request.mistake {
      return fail(id, RequestError(.client, mistake))
    }
    guard isOpen || mayQueue else { return fail(id, noConnection) }
    pending[id] = Pending(
      request: request, resendsLeft: request.resendCount,
      wasRefusedBeforeLogin: request.isLogin)
    tickets[request.ticket] = id
    deadlines.set(time.advanced(by: request.timeout), for: id)
    if isOpen { send(id) }
  }

  private var isOpen: Bool { keeper.link == .open }

  private var mayQueue: Bool {
    switch (configuration.whileConnecting, keeper.link) {
    case (.queue(let limit), .connecting), (.queue(let limit), .backingOff),
      (.queue(let limit), .closing(_, .some)):
      pending.count < limit
    case (.waitForTry, .connecting): true
    case (.fail, _), (.waitForTry, _), (.queue, _): false
    }
  }

  private mutating func send(_ call: CallID) {
    guard let request = pending[call]?.request else { return }
    let id = nextID()
    let action = perform(kind(of: request, id: id), for: call)
    callsByID[id] = call
    pending[call]?.phase = .sent(id: id, action)
    pending[call]?.wasSent = true
  }

  private func kind(of request: OutgoingRequest, id: Int) -> ClientAction.Kind {
    switch transport {
    case .frames:
      .sendText(configuration.format.text(of: request.content, id: id))
    case .requests: .send(request.message)
    }
  }

  /// Sends what waits for the connection, the oldest first.
  mutating func sendQueued() {
    for id in pending.keys.sorted() {
      if case .queued = pending[id]?.phase { send(id) }
    }
  }

  // MARK: Answers

  mutating func receive(_ text: String) {
    switch configuration.format.read(text) {
    case .push(let value):
      statistics.pushes += 1
      tell(.push(value.map { .json($0) } ?? .text(text)))
    case .answer(let id, let result):
      if let call = callsByID[id] { return settle(call, result) }
      switch memory[id] {
      case .answered: statistics.duplicateAnswers += 1
      case .givenUp: statistics.lateAnswers += 1
      case .heartbeat: break
      case nil:
        statistics.pushes += 1
        tell(.push(JSONValue(parsing: Array(text.utf8)).map { .json($0) } ?? .text(text)))
      }
    }
  }

  mutating func receive(_ response: ResponseMessage, to action: ClientAction.ID) {
    guard let call = actions.close(action), let request = pending[call]?.request
    else {
      statistics.lateAnswers += 1
      return
    }
    settle(call, configuration.format.read(response, of: request.content.service))
  }

  /// A request came to nothing after it was handed over.
  mutating func noteFailure(of action: ClientAction.ID, _ failure: ActionFailure) {
    guard let call = actions.close(action) else { return }
    giveUp(call, RequestError(Self.kind(of: failure), "\(failure)"))
  }

  private static func kind(of failure: ActionFailure) -> RequestError.Kind {
    switch failure {
    case .refused: .server
    case .unanswered(.timedOut, _): .timedOut
    case .unanswered(.noNetwork, _): .unreachable
    case .unanswered(.malformed, _): .invalidResponse
    case .unanswered: .serverConnection
    }
  }

  private mutating func settle(_ call: CallID, _ result: Result<RequestAnswer, RequestError>) {
    if case .failure(let error) = result, error.serverCode == RequestError.loginFirst, canLogIn,
      let request = pending[call], !request.wasRefusedBeforeLogin
    {
      return awaitLogin(call)
    }
    guard let request = pending[call] else { return }
    let parsed = result.flatMap { request.request.parser.applied(to: $0) }
    let numbered = numbered(parsed, request)
    switch numbered {
    case .success(let answer): complete(call, .answer(answer))
    case .failure(let error): fail(call, error, isAnswered: true)
    }
  }

  /// A result with the number that its request went out with.
  private func numbered(
    _ result: Result<RequestAnswer, RequestError>, _ request: Pending
  ) -> Result<RequestAnswer, RequestError> {
    guard let id = number(of: request) else { return result }
    switch result {
    case .success(var answer):
      answer.id = id
      return .success(answer)
    case .failure(var error):
      error.id = id
      return .failure(error)
    }
  }

  /// The number that a request went out with last; nil over HTTP, whose requests have none.
  private func number(of request: Pending) -> Int? {
    guard transport == .frames, case .sent(let id, _) = request.phase else { return nil }
    return id
  }

  /// The number of the request with a ticket; nil when it has none, or is completed.
  func number(ofTicket ticket: UInt64) -> Int? {
    tickets[ticket].flatMap { pending[$0] }.flatMap { number(of: $0) }
  }

  // MARK: Logging in

  private mutating func awaitLogin(_ call: CallID) {
    retire(pending[call], as: .answered)
    pending[call]?.phase = .awaitingLogin
    pending[call]?.wasRefusedBeforeLogin = true
    guard !isLoggingIn else { return }
    isLoggingIn = true
    tell(.needsLogin)
  }

  mutating func finishLogin(_ error: RequestError?) {
    isLoggingIn = false
    var error = error
    // Its number is the login's, not that of those who waited for it.
    error?.id = nil
    for id in pending.keys.sorted() {
      guard case .awaitingLogin = pending[id]?.phase else { continue }
      if let error {
        giveUp(id, error)
      } else if isOpen {
        send(id)
      } else {
        pending[id]?.phase = .queued
      }
    }
  }

  // MARK: Completing

  /// Fails a request, with the number that it went out with.
  mutating func giveUp(_ call: CallID, _ error: RequestError) {
    guard let request = pending[call] else { return }
    var error = error
    error.id = error.id ?? number(of: request)
    fail(call, error)
  }

  mutating func close(_ call: CallID, isAnswered: Bool) {
    guard let request = pending.removeValue(forKey: call) else {
      opens.removeAll { $0 == call }
      return closes.removeAll { $0 == call }
    }
    tickets[request.request.ticket] = nil
    deadlines.set(nil, for: call)
    retire(request, as: isAnswered ? .answered : .givenUp)
  }

  /// The id of a request is over.
  private mutating func retire(_ request: Pending?, as fate: Fate) {
    guard case .sent(let id, let action) = request?.phase else { return }
    callsByID[id] = nil
    actions[action] = nil
    memory.note(id, fate)
  }

  /// The connection is lost: what may be sent again waits for the next one, the rest fails.
  mutating func failUnlessResent(_ error: RequestError) {
    callsByID = [:]
    actions.purposes = [:]
    for id in pending.keys.sorted() {
      // A login belongs to one connection: the next one may want another.
      let isLogin = pending[id]?.request.isLogin ?? false
      pending[id]?.wasRefusedBeforeLogin = isLogin
      switch pending[id]?.phase {
      case .queued:
        // The try that it waited for is over.
        if case .waitForTry = configuration.whileConnecting, pending[id]?.wasSent == false {
          giveUp(id, error)
        }
      case .awaitingLogin, nil: break
      case .sent:
        if let left = pending[id]?.resendsLeft, left > 0 {
          pending[id]?.resendsLeft = left - 1
          pending[id]?.phase = .queued
          statistics.resent += 1
        } else {
          giveUp(id, error)
        }
      }
    }
  }

  /// Nothing will be sent any more: whoever waits is told so.
  mutating func failAll(_ error: RequestError) {
    for id in pending.keys.sorted() { giveUp(id, error) }
    for id in opens { fail(id, error) }
    callsByID = [:]
    actions.purposes = [:]
    isLoggingIn = false
  }
}
