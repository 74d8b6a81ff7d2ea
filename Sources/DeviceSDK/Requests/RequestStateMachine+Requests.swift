import DataClient

/// Sending requests and completing them, each just once.
extension RequestStateMachine {
  mutating func request(_ request: OutgoingRequest, _ id: CallID) {
    if let mistake = request.mistake {
      return outputs.append(.complete(id, .failure(RequestError(.client, mistake))))
    }
    let isOpen = if case .open = link { true } else { false }
    guard isOpen || mayQueue else {
      outputs.append(.complete(id, .failure(noConnection)))
      return
    }
    pending[id] = Pending(
      request: request, resendsLeft: request.resendCount,
      wasRefusedBeforeLogin: request.isLogin)
    tickets[request.ticket] = id
    deadlines.set(time.advanced(by: request.timeout), for: id)
    if isOpen { send(id) }
  }

  private var mayQueue: Bool {
    switch (configuration.whileConnecting, link) {
    case (.queue(let limit), .connecting), (.queue(let limit), .waiting),
      (.queue(let limit), .unreachable), (.queue(let limit), .closing(_, .some)):
      pending.count < limit
    case (.waitForTry, .connecting): true
    case (.fail, _), (.waitForTry, _), (.queue, _): false
    }
  }

  private mutating func send(_ call: CallID) {
    guard let request = pending[call]?.request else { return }
    let id = nextID()
    let action = perform(kind(of: request, id: id))
    callsByID[id] = call
    actions[action] = call
    pending[call]?.phase = .sent(id: id, action)
    pending[call]?.wasSent = true
  }

  private func kind(of request: OutgoingRequest, id: Int) -> ClientAction.Kind {
    switch transport {
    case .frames:
      .sendText(
        RequestEnvelope.text(
          of: request, id: id, legacy: configuration.usesLegacyPercentEncoding))
    case .requests:
      .send(
        RequestMessage(
          path: request.service, method: request.method.rawValue,
          parameters: request.formParameters))
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
    switch RequestEnvelope.read(text) {
    case .push(let value):
      statistics.pushes += 1
      tell(.push(value.map { .json($0) } ?? .text(text)))
    case .answer(let id, let result):
      if let call = callsByID[id] { return settle(call, result) }
      switch memory.fate(of: id) {
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
    guard let call = actions.removeValue(forKey: action), let request = pending[call]?.request
    else {
      statistics.lateAnswers += 1
      return
    }
    settle(call, RequestEnvelope.read(response, service: request.service))
  }

  /// A request came to nothing after it was handed over.
  mutating func noteFailure(of action: ClientAction.ID, _ failure: ActionFailure) {
    guard let call = actions.removeValue(forKey: action) else { return }
    fail(call, RequestError(Self.kind(of: failure), "\(failure)"))
  }

  private static func kind(of failure: ActionFailure) -> RequestError.Kind {
    switch failure {
    case .refused: .server
    case .unanswered(.timedOut, _): .timedOut
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
    forget(call, as: .answered)
    outputs.append(.complete(call, result.map { .answer($0) }))
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
    for id in pending.keys.sorted() {
      guard case .awaitingLogin = pending[id]?.phase else { continue }
      if let error {
        fail(id, error)
      } else if case .open = link {
        send(id)
      } else {
        pending[id]?.phase = .queued
      }
    }
  }

  // MARK: Completing

  mutating func fail(_ call: CallID, _ error: RequestError) {
    guard pending[call] != nil else { return }
    forget(call, as: .givenUp)
    outputs.append(.complete(call, .failure(error)))
  }

  /// Forgets a request that nobody waits for any more.
  mutating func forget(_ call: CallID) {
    opens.removeAll { $0 == call }
    closes.removeAll { $0 == call }
    forget(call, as: .givenUp)
  }

  private mutating func forget(_ call: CallID, as fate: AnswerMemory.Fate) {
    guard let request = pending.removeValue(forKey: call) else { return }
    tickets[request.request.ticket] = nil
    deadlines.set(nil, for: call)
    retire(request, as: fate)
  }

  /// The id of a request is over.
  private mutating func retire(_ request: Pending?, as fate: AnswerMemory.Fate) {
    guard case .sent(let id, let action) = request?.phase else { return }
    callsByID[id] = nil
    actions[action] = nil
    memory.note(id, fate)
  }

  /// The connection is lost: what may be sent again waits for the next one, the rest fails.
  mutating func failUnlessResent(_ error: RequestError) {
    callsByID = [:]
    actions = [:]
    for id in pending.keys.sorted() {
      // A login belongs to one connection: the next one may want another.
      let isLogin = pending[id]?.request.isLogin ?? false
      pending[id]?.wasRefusedBeforeLogin = isLogin
      switch pending[id]?.phase {
      case .queued:
        // The try that it waited for is over.
        if case .waitForTry = configuration.whileConnecting, pending[id]?.wasSent == false {
          fail(id, error)
        }
      case .awaitingLogin, nil: break
      case .sent:
        if let left = pending[id]?.resendsLeft, left > 0 {
          pending[id]?.resendsLeft = left - 1
          pending[id]?.phase = .queued
          statistics.resent += 1
        } else {
          fail(id, error)
        }
      }
    }
  }

  /// Nothing will be sent any more: whoever waits is told so.
  mutating func failAll(_ error: RequestError) {
    for id in pending.keys.sorted() { fail(id, error) }
    for id in opens { outputs.append(.complete(id, .failure(error))) }
    opens = []
    callsByID = [:]
    actions = [:]
    isLoggingIn = false
  }
}
