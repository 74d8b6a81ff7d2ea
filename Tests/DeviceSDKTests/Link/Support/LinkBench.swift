import RepriseCore
import TestSupport

@testable import DeviceSDK

/// Drives a link's machine by hand in a world whose server does what the test says, and writes down
/// what comes out, with the seconds since the beginning.
struct LinkBench<Machine: StateMachine>: MachineBench
where Machine.Effect == LinkEffect, Machine.Failure == LinkError, Machine.Value == Void {
  /// What becomes of what the link sends.
  enum World {
    /// Broker and server answer at once.
    case well
    /// There is no network: connecting fails at once, and what was open is silent.
    case gone
    /// Nothing is answered, but a closed connection is closed.
    case silent
  }

  static var start: Timestamp { ScriptedClient.start }

  var machine: Machine
  var now = Self.start
  var world = World.well
  /// Members of the server's next answers to greetings, in place of code 0 alone.
  var greeting: JSONValue = ["code": 0]
  /// Members of the server's answers to other requests; nil answers none.
  var answer: JSONValue? = ["code": 0]
  var refusedFilters: Set<String> = []
  /// The code of CONNACK that refuses connections.
  var refusal: UInt8?
  var answersPings = true
  var closes = true

  var book = BenchBook()
  private(set) var events: [LinkStateEvent] = []
  private(set) var effects: [LinkEffect] = []
  private(set) var sent: [ClientAction] = []
  private(set) var pingTimes: [Double] = []
  private(set) var connectTimes: [Double] = []

  init(_ machine: Machine) { self.machine = machine }

  var seconds: Double { Double(now.nanoseconds(since: Self.start)) / 1_000_000_000 }

  /// Returns the changes of the state since the last time.
  mutating func takeEvents() -> [LinkStateEvent] {
    defer { events = [] }
    return events
  }

  mutating func forgetSent() { sent = [] }

  // MARK: Doing

  mutating func take(_ outputs: [MachineOutput<Machine.Value, Machine.Effect, Machine.Failure>]) {
    var actions: [ClientAction] = []
    for output in outputs {
      switch output {
      case .perform(let action): actions.append(action)
      case .complete(let id, let result):
        note("\(book.name(of: id) ?? "call") \(Self.text(result))")
      case .tell(let effect): note(effect)
      }
    }
    for action in actions { perform(action) }
  }

  /// Lets the clock jump, and tells the machine only then.
  mutating func jump(_ seconds: Double) {
    now = now.advanced(by: .nanoseconds(Int64(seconds * 1_000_000_000)))
    if let deadline = machine.deadline, deadline <= now { input(.received(.deadline)) }
  }

  /// The network goes, or the server does.
  mutating func lose() { receive(.closed(.lost("test"))) }

  // MARK: The world

  private mutating func perform(_ action: ClientAction) {
    sent.append(action)
    switch action.kind {
    case .connect:
      connectTimes.append(seconds)
      connect()
    case .disconnect: if closes { receive(.closed(.byUser)) }
    case .subscribe(let wanted):
      guard world == .well else { return }
      receive(
        .subscribed(action.id, wanted.map { refusedFilters.contains($0.filter) ? nil : $0.qos }))
    case .unsubscribe: if world == .well { receive(.unsubscribed(action.id)) }
    case .publish(let message):
      let verb = message.topic.split(separator: "/").last.map(String.init) ?? ""
      if verb == "ping" { pingTimes.append(seconds) }
      guard world == .well else { return }
      receive(.published(action.id))
      respond(to: message, verb)
    case .send, .sendText, .sendBinary: break
    }
  }

  private mutating func connect() {
    switch world {
    case .well: receive(refusal.map { .closed(.refused(code: $0)) } ?? .connected(.init()))
    case .gone: receive(.closed(.lost("no network")))
    case .silent: break
    }
  }

  private mutating func respond(to message: Message, _ verb: String) {
    let levels = message.topic.split(separator: "/")
    guard levels.dropLast().last == "up" else { return }
    let base = levels.dropLast(2).joined(separator: "/")
    if verb == "ping" {
      if answersPings {
        receive(.message(Message(topic: "\(base)/down/pong", payload: message.payload)))
      }
      return
    }
    guard let id = JSONValue(parsing: message.payload)?["id"] else { return }
    let isGreeting = verb == "login" || verb == "join"
    guard case .object(let members) = isGreeting ? greeting : answer else { return }
    tell("reply", .object([JSONMember("id", id)] + members), to: base)
    let request = JSONValue(parsing: message.payload)
    if verb == "subscribe", answer?["code"] == 0, (request?["features"]?.integer ?? 0) & 1 == 1,
      let channel = request?["channel"]
    {
      tell("snapshot", ["channel": channel, "type": 1, "users": []], to: base)
    }
  }

  /// The server says something to the link.
  mutating func tell(_ verb: String, _ payload: JSONValue, to base: String) {
    receive(.message(Message(topic: "\(base)/down/\(verb)", payload: payload.utf8)))
  }

  // MARK: Telling

  private mutating func note(_ line: String) { book.lines.append("+\(Self.text(seconds)) \(line)") }

  private mutating func note(_ effect: LinkEffect) {
    effects.append(effect)
    switch effect {
    case .changeState(let event):
      events.append(event)
      note(
        "\(event.current) \(event.operation) \(event.reason)\(event.isResumed ? " resumed" : "")")
    case .tellPresence(let event): note("presence \(event.kind) \(event.user?.userID ?? "-")")
    case .deliver(let message):
      let topic = message.topic.map { "/\($0)" } ?? ""
      note("message \(message.channel)\(topic) \(message.publisher)")
    case .tellTopics(let event): note(event.testLine)
    case .warnOfToken: note("token ends")
    }
  }

  private static func text(_ result: Result<Void, LinkError>) -> String {
    switch result {
    case .success: "ok"
    case .failure(let error): "\(error.code.rawValue)"
    }
  }

  static func text(_ seconds: Double) -> String {
    seconds == seconds.rounded() ? String(Int(seconds)) : String(seconds)
  }

  /// The requests that were sent with a verb, the oldest first.
  func requests(_ verb: String) -> [JSONValue] {
    sent.compactMap { action in
      guard case .publish(let message) = action.kind, message.topic.hasSuffix("/up/\(verb)") else {
        return nil
      }
      return JSONValue(parsing: message.payload)
    }
  }
}

/// The configuration that tests use.
enum SampleLink {
  static let base = "link/app/message/alice/s1"

  static func configuration(
    _ change: (inout LinkConfiguration) -> Void = { _ in }
  ) -> LinkConfiguration {
    var configuration = LinkConfiguration(appID: "app", userID: "alice", sessionID: "s1")
    change(&configuration)
    return configuration
  }

  static func streamBase(_ channel: String) -> String { "link/app/stream/alice/s1/\(channel)" }
}

extension LinkBench<MessageLinkMachine> {
  init(_ change: (inout LinkConfiguration) -> Void = { _ in }) throws {
    self.init(try MessageLinkMachine(SampleLink.configuration(change)))
  }

  /// A bench whose link is connected at the beginning.
  static func connected(
    channels: [String] = [], _ change: (inout LinkConfiguration) -> Void = { _ in }
  ) throws -> Self {
    var bench = try LinkBench(change)
    bench.call("login", .login(token: "t"))
    for channel in channels { bench.call(channel, .subscribe(channel, [.presence, .message])) }
    _ = (bench.take(), bench.takeEvents())
    return bench
  }

  mutating func kick(_ reason: LinkReason) {
    tell("kick", ["reason": .number("\(reason.rawValue)")], to: SampleLink.base)
  }
}

extension LinkBench<StreamLinkMachine> {
  init(stream: String, _ change: (inout LinkConfiguration) -> Void = { _ in }) throws {
    self.init(try StreamLinkMachine(stream, SampleLink.configuration(change)))
  }

  /// A bench whose channel is joined at the beginning.
  static func joined(_ change: (inout LinkConfiguration) -> Void = { _ in }) throws -> Self {
    var bench = try LinkBench(stream: "room", change)
    bench.call("join", .join(token: "t", .presence))
    _ = (bench.take(), bench.takeEvents())
    return bench
  }

  mutating func kick(_ reason: LinkReason) {
    tell("kick", ["reason": .number("\(reason.rawValue)")], to: SampleLink.streamBase("room"))
  }
}

extension LinkTopicEvent {
  /// The event as tests write it.
  var testLine: String {
    let topics = topics.map { topic in
      " \(topic.name)(\(topic.publishers.map { "\($0.userID):\($0.meta)" }.joined(separator: ",")))"
    }
    return "topics \(kind)" + topics.joined()
  }
}

/// What a test did not find.
struct Wrong: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
