import RepriseCore
import Testing

@testable import DeviceSDK

/// A model of what a user has subscribed to, and says of itself, beside the machine: on random sequences
/// of calls, answers, refusals, losses and time, broker and server have in the end just what calls were
/// told.
@Suite struct LinkOwnershipTests {
  private static func run(_ seed: UInt64) throws -> LinkModelWorld {
    var world = LinkModelWorld(try MessageLinkMachine(SampleLink.configuration()), seed: seed)
    world.call(.login(token: "t"))
    for _ in 0..<60 { world.step() }
    world.settle()
    return world
  }

  @Test(arguments: 0..<24)
  func brokerAndServerHaveWhatTheCallsWereTold(part: UInt64) throws {
    try expectSound((part * 100)..<(part * 100 + 100), Self.run)
  }

  @Test func theSequencesReachWhatTheyAreFor() throws {
    let events = [
      "subscribe 0", "subscribe -11019", "subscribe -11021", "subscribe -11027", "subscribe -11032",
      "subscribe -11038", "subscribe -11040", "unsubscribe 0", "states 0", "states -13001",
      "cancelled",
    ]
    try expectReached(events, 0..<300, Self.run)
  }
}

/// A link, a broker and a server that do one thing after the other, and what the user knows.
private struct LinkModelWorld: ModelWorld {
  private enum Asked {
    case subscription(String, LinkSubscribeFeatures)
    case unsubscription(String)
    case states(String, [String: String?], epoch: Int)
    case other
  }

  /// What the server knows of the user in a channel.
  private struct Served: Equatable {
    var features: Int
    var states: [String: String]
  }

  var machine: MessageLinkMachine
  var fuzz: FuzzState
  private(set) var seen: [String: Int] = [:]

  private var inbox: [ClientEvent] = []
  /// What the broker sends to the link.
  private var filters: Set<String> = []
  private var served: [String: Served] = [:]

  /// What the user knows to be subscribed to, and to have said.
  private var wanted: [String: LinkSubscribeFeatures] = [:]
  private var said: [String: [String: String]] = [:]
  /// The latest call that said it.
  private var last: [String: [String: UInt64]] = [:]
  /// How often a channel's states were taken away.
  private var epochs: [String: Int] = [:]
  private var asked: [CallID: Asked] = [:]

  init(_ machine: MessageLinkMachine, seed: UInt64) {
    self.machine = machine
    fuzz = FuzzState(seed: seed)
  }

  private static let channels = ["a", "b"]

  // MARK: The user

  mutating func note(_ id: CallID, _ result: Result<Void, LinkError>) {
    let code: Int
    switch result {
    case .success: code = 0
    case .failure(let error): code = error.code.rawValue
    }
    fuzz.story.append("  call \(id.rawValue): \(code)")
    switch asked[id] {
    case .subscription(let channel, let features):
      seen["subscribe \(code)", default: 0] += 1
      if code == 0 { wanted[channel] = features }
    case .unsubscription(let channel):
      seen["unsubscribe \(code)", default: 0] += 1
      // It ends the subscription when it is called, unless it is refused at once.
      if ![-10_002, -10_021, -11_002].contains(code) { forget(channel) }
      asked[id] = .other
    case .states(let channel, let changes, let epoch):
      seen["states \(code)", default: 0] += 1
      guard code == 0, epoch == epochs[channel, default: 0] else { return }
      // An older change that is acknowledged behind a newer one does not come back.
      for (key, value) in changes where last[channel]?[key].map({ $0 < id.rawValue }) ?? true {
        said[channel, default: [:]][key] = value
        last[channel, default: [:]][key] = id.rawValue
      }
      if said[channel]?.isEmpty == true { said[channel] = nil }
    case .other, nil: break
    }
  }

  private mutating func forget(_ channel: String) {
    (wanted[channel], said[channel], last[channel]) = (nil, nil, nil)
    epochs[channel, default: 0] += 1
  }

  mutating func note(_ effect: LinkEffect) {
    guard case .changeState(let event) = effect else { return }
    fuzz.story.append("  \(event.current) \(event.reason)")
    for lost in event.unrestored {
      seen["unrestored", default: 0] += 1
      fuzz.story.append("  unrestored \(lost.channel)")
      forget(lost.channel)
      // The broker goes on with its topics, of which nothing is delivered.
      filters = filters.filter { !$0.contains("/message/\(lost.channel)/") }
    }
  }

  private mutating func ask(_ what: Asked, _ call: MessageLinkMachine.Call) {
    let id = CallID(rawValue: fuzz.lastCall + 1)
    asked[id] = what
    fuzz.story.append("call \(id.rawValue): \(call)")
    self.call(call)
    guard case .unsubscription(let channel) = asked[id] else { return }
    forget(channel)
    asked[id] = .other
    seen["unsubscribe 0", default: 0] += 1
  }

  private mutating func callSomething() {
    let channel = Self.channels[number(Self.channels.count)]
    switch number(10) {
    case 0...3:
      let features: LinkSubscribeFeatures = [[.message], [.presence], [.message, .presence]][
        number(3)]
      ask(.subscription(channel, features), .subscribe(channel, features))
    case 4: ask(.unsubscription(channel), .unsubscribe(channel))
    case 5...8:
      let changes = ["k\(number(3))": number(4) == 0 ? nil : "v\(number(100))"]
      ask(
        .states(channel, changes, epoch: epochs[channel, default: 0]),
        .changeStates(channel, changes))
    default:
      let subscriptions = fuzz.open.sorted().filter {
        if case .subscription = asked[$0] { true } else { false }
      }
      guard let id = subscriptions.first else { return }
      fuzz.story.append("cancel \(id.rawValue)")
      seen["cancelled", default: 0] += 1
      fuzz.open.remove(id)
      input(.cancelled(id))
    }
  }

  // MARK: Broker and server

  /// The broker takes the oldest action, and the server what is in it.
  private mutating func serve(isFriendly: Bool) {
    guard let action = takeFirstAction() else { return }
    switch action.kind {
    case .connect:
      filters = []
      inbox.append(.connected(.init()))
    case .subscribe(let wanted):
      let granted = wanted.map { wish -> QoS? in
        let isRefused = !isFriendly && wish.filter.contains("/channel/") && number(8) == 0
        if isRefused { fuzz.story.append("  broker refuses \(wish.filter)") }
        return isRefused ? nil : wish.qos
      }
      for (wish, qos) in zip(wanted, granted) where qos != nil { filters.insert(wish.filter) }
      inbox.append(.subscribed(action.id, granted))
    case .unsubscribe(let filters):
      self.filters.subtract(filters)
      inbox.append(.unsubscribed(action.id))
    case .publish(let message):
      inbox.append(.published(action.id))
      serve(message, isFriendly)
    case .disconnect: lose(.byUser)
    case .send, .sendText, .sendBinary: break
    }
  }

  private mutating func serve(_ message: Message, _ isFriendly: Bool) {
    guard message.topic.hasPrefix("\(SampleLink.base)/up/"),
      let verb = message.topic.split(separator: "/").last
    else { return }
    guard verb != "ping" else { return say("pong", message.payload) }
    guard let request = JSONValue(parsing: message.payload) else { return }
    let isRefused = !isFriendly && number(6) == 0
    let channel = request["channel"]?.text ?? ""
    switch verb {
    case "login":
      var unrestored: [JSONValue] = []
      served = [:]
      for entry in request["restore"]?.elements ?? [] {
        let isLost = !isFriendly && number(6) == 0
        if isLost { unrestored += entry["channel"].map { [$0] } ?? [] } else { serve(entry) }
      }
      reply(to: request, 0, [JSONMember("unrestored", .array(unrestored))])
    case "subscribe":
      reply(to: request, isRefused ? -11_021 : 0)
      guard !isRefused else { return }
      serve(request)
      guard (request["features"]?.integer ?? 0) & 1 == 1, isFriendly || number(4) > 0 else {
        return
      }
      let list: JSONValue = ["channel": .string(channel), "type": 1, "users": []]
      say("snapshot", list.utf8)
    case "unsubscribe":
      served[channel] = nil
      reply(to: request, 0)
    case "state":
      let isThere = served[channel] != nil
      if isThere { served[channel]?.states = Self.states(request) }
      reply(to: request, isThere ? 0 : -11_002)
    default: break
    }
  }

  private mutating func serve(_ entry: JSONValue) {
    guard let channel = entry["channel"]?.text else { return }
    served[channel] = Served(
      features: entry["features"]?.integer ?? 0, states: Self.states(entry))
  }

  private static func states(_ request: JSONValue) -> [String: String] {
    guard case .object(let members)? = request["states"] else { return [:] }
    return members.reduce(into: [:]) { $0[$1.key] = $1.value.text }
  }

  private mutating func reply(to request: JSONValue, _ code: Int, _ more: [JSONMember] = []) {
    let members = [
      JSONMember("id", request["id"] ?? "0"), JSONMember("code", .number("\(code)")),
    ]
    say("reply", JSONValue.object(members + more).utf8)
  }

  private mutating func say(_ verb: String, _ payload: [UInt8]) {
    inbox.append(.message(Message(topic: "\(SampleLink.base)/down/\(verb)", payload: payload)))
  }

  private mutating func lose(_ reason: ClientEvent.Closed) {
    (inbox, filters) = ([], [])
    close(reason)
  }

  // MARK: Steps

  mutating func step() {
    switch number(100) {
    case 0..<35: callSomething()
    case 35..<65: serve(isFriendly: false)
    case 65..<92: hear()
    case 92..<98:
      pause(1 + number(4))
    case 98: pause(12)
    default:
      fuzz.story.append("lose")
      lose(.lost("model"))
    }
  }

  /// Lets time pass; not before states are answered, of which nobody could say what became of them.
  private mutating func pause(_ seconds: Int) {
    let isChanging = fuzz.open.contains { if case .states = asked[$0] { true } else { false } }
    if isChanging { drain() }
    fuzz.story.append("wait \(seconds)")
    wait(seconds)
  }

  private mutating func drain() {
    while !fuzz.actions.isEmpty || !inbox.isEmpty {
      while !fuzz.actions.isEmpty { serve(isFriendly: true) }
      hear()
    }
  }

  private mutating func hear() {
    guard !inbox.isEmpty else { return }
    let event = inbox.removeFirst()
    fuzz.story.append("hear \(Self.text(event))")
    input(.received(event))
  }

  private static func text(_ event: ClientEvent) -> String {
    guard case .message(let message) = event else { return "\(event)" }
    let verb = message.topic.split(separator: "/").last ?? ""
    return "\(verb) \(String(decoding: message.payload, as: UTF8.self))"
  }

  /// Lets everybody do what there is to do, with good will, until nobody waits.
  mutating func settle() {
    fuzz.story.append("settle")
    for _ in 0..<90 {
      drain()
      if machine.state == .connected, fuzz.open.isEmpty { return }
      wait(1)
    }
  }

  /// What is not as the user was told.
  var problems: [String] {
    var problems = fuzz.problems
    func expect<Value: Equatable>(_ what: String, _ actual: Value, _ expected: Value) {
      if actual != expected { problems.append("\(what) is \(actual), not \(expected)") }
    }
    expect("the state", machine.state, .connected)
    expect("the number of open calls", fuzz.open.count, 0)
    expect("what the machine has", machine.channels, wanted)
    expect("what it keeps of states", machine.states.channels, said)
    expect(
      "what the server has", served,
      wanted.reduce(into: [:]) {
        $0[$1.key] = Served(features: $1.value.rawValue, states: said[$1.key] ?? [:])
      })
    let topics = wanted.flatMap { machine.filters(of: $0, $1).map(\.filter) }
    expect("what the broker sends", filters.filter { $0.contains("/channel/") }, Set(topics))
    return problems
  }
}
