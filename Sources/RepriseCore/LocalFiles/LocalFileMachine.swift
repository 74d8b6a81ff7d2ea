/// A broker and a server that know a folder of answers by heart; a value without clock and tasks.
struct LocalFileMachine: Sendable {
  private struct Planned {
    let time: Timestamp
    let event: ClientEvent
  }

  private enum Link {
    case closed, connecting, open, leaving
  }

  private let book: AnswerBook
  private let capabilities: Capabilities
  private(set) var now: Timestamp
  /// What is going to happen, in order of time; of one time, in order of cause.
  private var planned: [Planned] = []
  private var link = Link.closed
  private var subscriptions: [String: QoS] = [:]
  private var isWoken = false

  init(_ book: AnswerBook, start: Timestamp) {
    self.book = book
    capabilities = book.capabilities
    now = start
  }

  // MARK: Events

  mutating func wake() { isWoken = true }

  /// Returns the next event; nil when nothing happens before somebody acts.
  mutating func next(before deadline: Timestamp?) -> ClientEvent? {
    if isWoken {
      isWoken = false
      return .woken
    }
    while let first = planned.first {
      if let deadline, deadline < first.time { break }
      planned.removeFirst()
      now = max(now, first.time)
      if let event = happen(first.event) { return event }
    }
    guard let deadline else { return nil }
    now = max(now, deadline)
    return .deadline
  }

  /// Lets a planned event happen, unless nobody is there for it any more.
  private mutating func happen(_ event: ClientEvent) -> ClientEvent? {
    switch event {
    case .connected: if link == .connecting { link = .open }
    case .closed: link = .closed
    case .message(let message):
      guard let granted = granted(message.topic) else { return nil }
      var message = message
      message.qos = min(message.qos, granted)
      return .message(message)
    case .subscribed, .unsubscribed, .published, .text, .binary, .response, .failed, .deadline,
      .woken, .ended:
      break
    }
    return event
  }

  /// The QoS that a message of a topic is delivered by; nil when nobody has subscribed to it.
  private func granted(_ topic: String) -> QoS? {
    subscriptions.filter { Subscription($0.key).matches(topic) }.values.max()
  }

  private mutating func plan(_ event: ClientEvent, after delay: Duration = .zero) {
    let time = now.advanced(by: delay)
    let index = planned.firstIndex { $0.time > time } ?? planned.endIndex
    planned.insert(Planned(time: time, event: event), at: index)
  }

  // MARK: Actions

  mutating func perform(_ action: ClientAction) throws(DataClientError) {
    try check(action.kind)
    switch action.kind {
    case .connect: try connect()
    case .disconnect:
      guard link == .open || link == .connecting else { throw notConnected(action) }
      link = .leaving
      // Nothing of a connection comes behind its end, but answers to requests need none.
      planned.removeAll { planned in
        if case .response = planned.event { false } else { true }
      }
      subscriptions.removeAll()
      plan(.closed(.byUser))
    case .subscribe(let subscriptions):
      guard link == .open else { throw notConnected(action) }
      try subscribe(action.id, subscriptions)
    case .unsubscribe(let filters):
      guard link == .open else { throw notConnected(action) }
      for filter in filters { subscriptions[filter] = nil }
      plan(.unsubscribed(action.id))
    case .publish(let message):
      guard link == .open else { throw notConnected(action) }
      try publish(action.id, message)
    case .send(let request): try send(action.id, request)
    case .sendText(let text): try send(Array(text.utf8), action)
    case .sendBinary(let bytes): try send(bytes, action)
    }
  }

  /// A folder refuses what a broker would, or has no file for.
  private func check(_ kind: ClientAction.Kind) throws(DataClientError) {
    if kind.needs.contains(.frames), !capabilities.contains(.frames) {
      throw DataClientError(
        .unsupported,
        "the folder has no messages without topics; write \(AnswerBook.messages), or send a request"
      )
    }
    if kind.needs.contains(.messages), !capabilities.contains(.messages) {
      throw DataClientError(
        .unsupported, "the folder has no messages with topics; write \(AnswerBook.topics)")
    }
    try kind.check(by: capabilities)
  }

  private mutating func send(
    _ payload: [UInt8], _ action: ClientAction
  ) throws(DataClientError) {
    guard link == .open else { throw notConnected(action) }
    let answers = try book.frames?.answers(to: payload) ?? []
    for (answer, delay) in try fill(answers, from: payload) {
      plan(answer, after: delay)
    }
  }

  private func fill(
    _ templates: [AnswerTemplate], from payload: [UInt8]
  ) throws(DataClientError) -> [(ClientEvent, Duration)] {
    let source = AnswerTemplate.Source(Message(topic: "", payload: payload), now: now)
    var answers: [(ClientEvent, Duration)] = []
    for template in templates { answers.append((try template.frame(for: source), template.delay)) }
    return answers
  }

  private func notConnected(_ action: ClientAction) -> DataClientError {
    DataClientError(
      .notConnected, "\(action.kind.name) needs a connection; wait for the connected event first")
  }

  private mutating func connect() throws(DataClientError) {
    guard link == .closed else {
      throw DataClientError(
        .invalidAction, "there is a connection already; wait for its closed event first")
    }
    let greeting = try fill(book.frames?.greeting ?? [], from: [])
    link = .connecting
    if let code = book.refusal {
      plan(.closed(.refused(code: code)), after: book.connectDelay)
    } else {
      plan(.connected(.init(isSessionPresent: book.isSessionPresent)), after: book.connectDelay)
      for (event, delay) in greeting { plan(event, after: book.connectDelay + delay) }
    }
  }

  private mutating func subscribe(
    _ id: ClientAction.ID, _ wanted: [Subscription]
  ) throws(DataClientError) {
    var granted: [QoS?] = []
    var messages: [(Message, Duration)] = []
    for subscription in wanted {
      let rules = book.subscribing.filter { rule in
        rule.filter == subscription.filter || Subscription(rule.filter).matches(subscription.filter)
      }
      if rules.contains(where: \.isRefused) {
        granted.append(nil)
        continue
      }
      let qos = rules.reduce(subscription.qos) { min($0, $1.qos) }
      granted.append(qos)
      subscriptions[subscription.filter] = qos
      let source = AnswerTemplate.Source(
        Message(topic: subscription.filter, payload: []), now: now)
      for template in rules.flatMap(\.messages) {
        messages.append((try template.message(for: source), template.delay))
      }
    }
    plan(.subscribed(id, granted))
    for (message, delay) in messages { plan(.message(message), after: delay) }
  }

  private mutating func publish(
    _ id: ClientAction.ID, _ message: Message
  ) throws(DataClientError) {
    let rules = book.publishing.filter { Subscription($0.filter).matches(message.topic) }
    guard !rules.isEmpty else {
      let known = book.publishing.map(\.filter)
      let near = NearestName.find(message.topic, in: known).map { "; the nearest is \"\($0)\"" }
      throw DataClientError(
        .noAnswer,
        "\(AnswerBook.topics) has no answer to the topic \"\(message.topic)\"\(near ?? ""); add "
          + "{\"topic\":\"\(message.topic)\",\"answers\":[]} to its key publish")
    }
    let refusal = rules.lazy.compactMap(\.refusal).first
    if let refusal, message.qos > .atMostOnce {
      return plan(.failed(id, .refused(code: refusal, reason: nil)))
    }
    let source = AnswerTemplate.Source(message, now: now)
    var answers: [(Message, Duration)] = []
    for template in rules.flatMap(\.answers) {
      answers.append((try template.message(for: source), template.delay))
    }
    plan(.published(id))
    for (answer, delay) in answers { plan(.message(answer), after: delay) }
  }

  private mutating func send(
    _ id: ClientAction.ID, _ request: RequestMessage
  ) throws(DataClientError) {
    guard let response = book.response(to: request) else {
      let path = AnswerBook.normalized(request.path)
      let near = NearestName.find(path, in: book.responses.keys.sorted())
      let hint = near.map { "; the nearest path is \"\($0)\"" } ?? ""
      let file = path.isEmpty ? "response.json" : "\(path)/response.json"
      throw DataClientError(
        .noAnswer,
        "the folder has no answer to \(request.method) \(request.path)\(hint); write \(file)")
    }
    plan(.response(id, response.message), after: response.delay)
  }
}
