package import DeviceSDK
package import RepriseCore

/// What the people and the code of a recorded application did on a connection for requests.
///
/// The handshake is there because the application opened the connection, a message because it sent a request. New tries
/// after a loss and heartbeats are the connection's own work.
package struct RequestPlan: ReplayPlan {
  /// How the connection has to behave.
  package let configuration: RequestConfiguration
  /// What was taken for granted.
  package let notes: [String]
  /// Which values differ from run to run.
  package let roles: ReplayRoles
  /// How late a timer of the recorded connection was at most.
  package let timerSlack: Duration
  private let session: RecordedFrames

  /// Makes a plan of a session whose messages are those of the model.
  /// - Parameter dialogue: What the connection and its server said to each other.
  /// - Throws: `DataClientError` when it is no session of requests.
  package init(_ dialogue: ReplayDialogue) throws(DataClientError) {
    try self.init(dialogue, in: RequestEnvelope())
  }

  /// Makes a plan of a session.
  /// - Parameters:
  ///   - dialogue: What the connection and its server said to each other.
  ///   - envelope: What the parts of their messages are called.
  /// - Throws: `DataClientError` when it is no session of requests.
  package init(
    _ dialogue: ReplayDialogue, in envelope: RequestEnvelope
  ) throws(DataClientError) {
    let session = RecordedFrames(dialogue, in: envelope)
    try Self.check(session)
    var configuration = RequestConfiguration()
    configuration.format = JSONRequestFormat(envelope)
    configuration.heartbeatInterval = nil
    configuration.jitterSeed = 0
    session.patience.apply(
      connect: &configuration.connectTimeout, close: &configuration.closeTimeout)
    if let pause = session.shortestPause {
      configuration.reconnect = BackOff(first: pause, longest: pause, jitterPercent: 0)
    }
    var (notes, roles, slack) = ([String](), ReplayRoles.requests(envelope), Duration.zero)
    switch session.heartbeats {
    case .none: break
    case .ofConnection(let interval, let late):
      configuration.heartbeatInterval = interval
      slack = late
    case .ofApplication:
      // A request has parameters, be it none; a heartbeat is without.
      roles.optionalPaths.insert(envelope.content)
      notes.append(
        "the heartbeats do not come as a connection sends them, and are taken for the application's"
      )
    }
    if let product = Self.heartbeatProduct(session) { configuration.product = product }
    self.configuration = configuration
    self.notes = notes
    self.roles = roles
    self.session = session
    timerSlack = slack
  }

  private static func check(_ session: RecordedFrames) throws(DataClientError) {
    let texts = session.actions.compactMap { action -> String? in
      if case .sendText(let text) = action.kind { text } else { nil }
    }
    guard let first = texts.first, texts.allSatisfy({ session.request($0) == nil }) else { return }
    throw DataClientError(
      .unsupported,
      "the session is one of WebSocket, but not of requests: these are objects of JSON with a "
        + "\(session.envelope.service) and a \(session.envelope.id), and the first text is "
        + keys(of: first))
  }

  /// Tells what a text is by its keys.
  private static func keys(of text: String) -> String {
    guard case .object(let members) = JSONValue(parsing: Array(text.utf8)) else { return "none" }
    let keys = members.prefix(8).map(\.key) + (members.count > 8 ? ["…"] : [])
    return keys.isEmpty ? "empty" : "one with \(keys.joined(separator: ", "))"
  }

  private static func heartbeatProduct(_ session: RecordedFrames) -> String? {
    for action in session.actions {
      guard case .sendText(let text) = action.kind, let request = session.request(text),
        request.isHeartbeat
      else { continue }
      return request.product
    }
    return nil
  }

  /// Whose session it is.
  package var subject: String { "requests" }
  /// Whether the session ends while its last connection is open.
  package var breaksOff: Bool { session.breaksOff }

  /// Heartbeats are the work of a timer.
  package func isOfTimer(_ action: ClientAction.Kind) -> Bool {
    guard case .sendText(let text) = action else { return false }
    return session.request(text)?.isHeartbeat == true
  }

  // MARK: The machine

  /// Makes the connection, which is idle.
  package func makeMachine(_ capabilities: Capabilities) throws -> RequestStateMachine {
    try RequestStateMachine(configuration, capabilities: capabilities)
  }

  /// Closes the connection.
  package var goodbye: RequestStateMachine.Call { .close }

  /// Takes events until the end.
  package static func loop(_ driver: Driver<RequestStateMachine>) async throws {
    try await driver.loop()
  }

  // MARK: Calls

  /// Returns what the application called when its client did something that the connection does not do by itself.
  package func calls(
    for ordinal: Int, on machine: RequestStateMachine, _ ending: RequestConnectionState
  ) -> [RequestStateMachine.Call] {
    guard session.actions.indices.contains(ordinal) else { return [] }
    switch session.actions[ordinal].kind {
    case .connect:
      // Before its time, a connection that waits is tried again because the network is back.
      guard machine.state == .waiting else { return [.open] }
      return [.setReachable(false), .setReachable(true)]
    case .disconnect: return [.close]
    case .sendText(let text):
      guard let request = session.request(text) else { return [] }
      let target = RecordedTarget(request)
      return [.request(OutgoingRequest(target, configuration, ticket: UInt64(ordinal)))]
    case .sendBinary, .send, .publish, .subscribe, .unsubscribe: return []
    }
  }

  /// Returns a call in words.
  package func words(for call: RequestStateMachine.Call) -> ReplayedCall.Words? {
    switch call {
    case .open: .init("open")
    case .close: .init("close")
    case .request(let request):
      .init("request", request.content.service, request.content.parameters)
    case .takeBack: .init("cancel")
    case .setReachable(let isReachable):
      .init("network", nil, .string(isReachable ? "regained" : "lost"))
    case .finishLogin: .init("login")
    }
  }

  /// Returns why no call brings an action about.
  package func reason(against action: ClientAction.Kind?) -> String {
    switch action {
    case .sendText:
      "the connection sends nothing but requests, which have a \(session.envelope.service) and a "
        + session.envelope.id
    case .sendBinary: "the connection sends no bytes, only requests as text"
    default: "the connection has no call for it"
    }
  }

  // MARK: What is told

  /// A connection that was never opened.
  package static var start: RequestConnectionState { .idle }

  /// Notes the state.
  package static func note(
    _ effect: RequestStateMachine.Effect, in ending: inout RequestConnectionState
  ) {
    if case .changeState(let change) = effect { ending = change.state }
  }
}

/// What a recorded request asked for.
private struct RecordedTarget: RequestTarget {
  let product: String?
  let service: String
  let method: RequestMethod
  let parameters: JSONValue

  init(_ request: RecordedRequest) {
    product = request.product
    service = request.service
    method = request.method ?? .post
    parameters = request.parameters ?? [:]
  }
}
