import RepriseCore

// Each obligation is tried on a bench of its own, whose client is not connected yet.
extension ConformanceBench {
  /// Tries an obligation.
  /// - Throws: ``Violation`` when the client does not keep it.
  func check(_ obligation: ClientObligation) async throws {
    switch obligation {
    case .tellsDeadlines: try await tellsDeadlines()
    case .wakes: try await wakes()
    case .tellsCancellation: try await tellsCancellation()
    case .losesNothingByCancellation: try await losesNothingByCancellation()
    case .needsAConnection: try await needsAConnection()
    case .refusesWhatItLacks: try await refusesWhatItLacks()
    case .refusesWhatCannotBe: try await refusesWhatCannotBe()
    case .answersConnect: try await answersConnect()
    case .answersSubscribe: try await answersSubscribe()
    case .answersUnsubscribe: try await answersUnsubscribe()
    case .answersPublish: try await answersPublish()
    case .deliversInOrder: try await deliversInOrder()
    case .retains: try await retains()
    case .answersRequests: try await answersRequests()
    case .takesFrames: try await takesFrames()
    case .closesOnce: try await closesOnce()
    case .connectsAgain: try await connectsAgain()
    }
  }

  // MARK: Time and waking

  private func tellsDeadlines() async throws {
    for duration in [Duration.milliseconds(20), .zero, .seconds(-1)] {
      let event = try await next(within: duration)
      guard event == .deadline else {
        throw Violation("\(event) came for a deadline in \(duration) of an idle client")
      }
    }
  }

  private func wakes() async throws {
    client.wake()
    try await expectWoken("the next call")
    // In a world of virtual time a call with a deadline would be over before it is woken.
    async let pending = client.next(before: nil)
    await Task.yield()
    client.wake()
    let event = try await pending
    guard event == .woken else {
      throw Violation("\(event) came, and a pending call was to be woken")
    }
    try await expectQuiet { $0 == .woken }
  }

  private func expectWoken(_ call: String) async throws {
    let event = try await next(within: .seconds(10))
    guard event == .woken else { throw Violation("\(event) came, and \(call) was to be woken") }
  }

  private func tellsCancellation() async throws {
    let reader = Task { try await self.client.next(before: nil) }
    reader.cancel()
    switch await reader.result {
    case .success(let event): throw Violation("it returned \(event) to a cancelled task")
    case .failure(is CancellationError): return
    case .failure(let error): throw Violation("it threw to a cancelled task: \(error)")
    }
  }

  private func losesNothingByCancellation() async throws {
    try await perform(.connect(ConnectOptions(clientID: name)))
    let reader = Task { try await self.client.next(before: nil) }
    reader.cancel()
    // It may have come before the cancellation; then it must not come again.
    if case .success(let event) = await reader.result {
      guard case .connected = event else { throw Violation("\(event) came, and no connected") }
      return try await expectQuiet { if case .connected = $0 { true } else { false } }
    }
    try await wait(for: "connected") { if case .connected = $0 { true } else { false } }
  }

  // MARK: Refusals

  private func needsAConnection() async throws {
    var actions: [ClientAction.Kind] = [.disconnect]
    if capabilities.contains(.messages) {
      actions += [
        .subscribe([Subscription("\(name)/a")]), .unsubscribe(["\(name)/a"]),
        .publish(message("a", [], qos: .atMostOnce)),
      ]
    }
    if capabilities.contains(.frames) { actions.append(.sendText("a")) }
    for action in actions { try await expectRefusal(.notConnected, "notConnected", of: action) }
    try await expectQuiet { _ in true }
  }

  private func refusesWhatItLacks() async throws {
    let options = ConnectOptions(clientID: name, will: message("will", [], qos: .atMostOnce))
    let connects = !capabilities.isDisjoint(with: [.messages, .frames])
    if !capabilities.contains(.will) {
      try await expectRefusal(.unsupported, "unsupported", of: .connect(options))
    }
    if connects { try await connect() }
    for (capability, action) in lackable where !capabilities.contains(capability) {
      try await expectRefusal(.unsupported, "unsupported", of: action)
    }
    try await expectQuiet(Self.isAnswer)
  }

  /// Whether an event answers an action that was handed over.
  private static func isAnswer(_ event: ClientEvent) -> Bool {
    switch event {
    case .subscribed, .unsubscribed, .published, .response, .failed: true
    default: false
    }
  }

  /// What takes a capability.
  private var lackable: [(Capabilities, ClientAction.Kind)] {
    let properties = MessageProperties(contentType: "text/plain")
    let described = Message(topic: "\(name)/a", payload: [], properties: properties)
    return [
      (.messages, .subscribe([Subscription("\(name)/a")])),
      (.messages, .publish(message("a", [], qos: .atMostOnce))),
      (.retain, .publish(message("a", [], qos: .atMostOnce, isRetained: true))),
      (.exactlyOnce, .publish(message("a", [], qos: .exactlyOnce))),
      (.properties, .publish(described)), (.requests, .send(request)), (.frames, .sendText("a")),
      (.frames, .sendBinary([0])),
    ]
  }

  private func refusesWhatCannotBe() async throws {
    try await connect()
    for topic in ["", "a/#", "a/+/b", "a\0b"] {
      let message = Message(topic: topic, payload: [])
      try await expectRefusal(.invalidAction, "invalidAction", of: .publish(message))
    }
    for filter in ["", "a#", "#/a", "a/b+", "a\0b"] {
      let action = ClientAction.Kind.subscribe([Subscription(filter)])
      try await expectRefusal(.invalidAction, "invalidAction", of: action)
    }
    try await expectRefusal(.invalidAction, "invalidAction", of: .subscribe([]))
    try await expectQuiet(Self.isAnswer)
  }

  // MARK: Connections

  private func answersConnect() async throws {
    try await connect()
    try await expectQuiet { event in
      switch event {
      case .connected, .closed, .ended: true
      default: false
      }
    }
  }

  private func closesOnce() async throws {
    try await connect()
    if capabilities.contains(.messages) { try await subscribe("a") }
    try await disconnect()
    try await expectQuiet { $0 != .woken }
    try await expectRefusal(.notConnected, "notConnected", of: .disconnect)
  }

  private func disconnect() async throws {
    try await perform(.disconnect)
    try await wait(for: "closed") { event in
      guard case .closed(let reason) = event else { return false }
      guard reason == .byUser else {
        throw Violation("the connection that the user closed was told as \(reason)")
      }
      return true
    }
  }

  private func connectsAgain() async throws {
    try await connect()
    try await disconnect()
    try await connect()
    try await expectQuiet { if case .closed = $0 { true } else { false } }
  }

  // MARK: Messages

  private func answersSubscribe() async throws {
    try await connect()
    let filters = [Subscription("\(name)/a", qos: .atMostOnce), Subscription("\(name)/+/b")]
    let id = try await perform(.subscribe(filters))
    try await wait(for: "subscribed") { event in
      guard case .subscribed(let answered, let grants) = event else { return false }
      guard answered == id, grants.count == filters.count else {
        throw Violation(
          "\(grants.count) grants came for action \(answered.rawValue), and not \(filters.count) for "
            + "\(id.rawValue)")
      }
      return true
    }
    try await expectQuiet { if case .subscribed = $0 { true } else { false } }
  }

  private func answersUnsubscribe() async throws {
    try await connect()
    try await subscribe("a")
    let id = try await perform(.unsubscribe(["\(name)/a"]))
    try await wait(for: "unsubscribed") { $0 == .unsubscribed(id) }
    try await perform(.publish(message("a", [1], qos: .atMostOnce)))
    try await expectQuiet { event in
      switch event {
      case .unsubscribed, .message: true
      default: false
      }
    }
  }

  private func answersPublish() async throws {
    try await connect()
    for qos in QoS.allCases where qos <= bestQoS {
      let id = try await perform(.publish(message("a", [1], qos: qos)))
      try await wait(for: "published at QoS \(qos.rawValue)") { $0 == .published(id) }
    }
    try await expectQuiet { if case .published = $0 { true } else { false } }
  }

  private func deliversInOrder() async throws {
    try await connect()
    let qos = bestQoS
    try await subscribe("#", qos: qos)
    let tail: [UInt8] = capabilities.contains(.binary) ? [0, 0xFF] : [0x7E]
    let sent = (0..<5).map { message("order/\($0 % 2)", [0x30 + UInt8($0)] + tail, qos: qos) }
    for message in sent { try await perform(.publish(message)) }
    var came: [Message] = []
    try await wait(for: "\(sent.count) messages") { event in
      guard case .message(let message) = event else { return false }
      // At QoS 1 a message may come again.
      if qos == .exactlyOnce || !came.contains(message) { came.append(message) }
      return came.count == sent.count
    }
    guard came.map(\.topic) == sent.map(\.topic), came.map(\.payload) == sent.map(\.payload) else {
      throw Violation(
        "what came is \(Self.text(came)), and what was sent \(Self.text(sent))")
    }
    guard qos == .exactlyOnce else { return }
    try await expectQuiet { if case .message = $0 { true } else { false } }
  }

  private static func text(_ messages: [Message]) -> String {
    messages.map { "\($0.topic) \($0.payload)" }.joined(separator: ", ")
  }

  private func retains() async throws {
    try await connect()
    let id = try await perform(
      .publish(message("kept", [0x31], qos: .atLeastOnce, isRetained: true)))
    try await wait(for: "published") { $0 == .published(id) }
    let filter = Subscription("\(name)/kept")
    try await perform(.subscribe([filter]))
    try await wait(for: "retained message") { event in
      guard case .message(let message) = event else { return false }
      guard message.isRetained, message.payload == [0x31] else {
        throw Violation("what was retained came as \(message)")
      }
      return true
    }
    // The server is left as it was.
    let emptied = try await perform(
      .publish(message("kept", [], qos: .atLeastOnce, isRetained: true)))
    try await wait(for: "published") { $0 == .published(emptied) }
  }

  // MARK: Requests and frames

  private func answersRequests() async throws {
    let connects = !capabilities.isDisjoint(with: [.messages, .frames])
    if connects { try await connect() }
    var open: Set<ClientAction.ID> = []
    for _ in 0..<2 { open.insert(try await perform(.send(request))) }
    let asked = open
    try await wait(for: "answer to each of 2 requests") { event in
      switch event {
      case .response(let id, _), .failed(let id, _):
        guard open.remove(id) != nil else {
          let name = asked.contains(id) ? "was answered twice" : "was never made"
          throw Violation("request \(id.rawValue) \(name)")
        }
        return open.isEmpty
      default: return false
      }
    }
    try await expectQuiet { event in
      switch event {
      case .response, .failed: true
      default: false
      }
    }
  }

  private func takesFrames() async throws {
    try await connect()
    try await perform(.sendText("{}"))
    if capabilities.contains(.binary) { try await perform(.sendBinary([0, 0xFF])) }
    try await expectQuiet(Self.isAnswer)
  }
}
