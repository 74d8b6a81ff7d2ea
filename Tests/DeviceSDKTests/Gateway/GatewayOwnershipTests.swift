import RepriseCore
import Testing

@testable import DeviceSDK

/// A model of who has subscribed to what, and of who is online, beside the machine: on random sequences of
/// calls, answers, refusals and losses, the cloud has in the end what it was to have, and every reply comes.
@Suite struct GatewayOwnershipTests {
  private static func run(_ seed: UInt64) throws -> GatewayModelWorld {
    var configuration = try GatewayBench.configuration()
    configuration.subscribesToCommands = seed % 2 == 0
    configuration.limits.online = seed % 3 == 0 ? 2 : 1_500
    configuration.limits.concurrentLogins = seed % 5 == 0 ? 1 : 50
    var world = GatewayModelWorld(try GatewayStateMachine(configuration), seed: seed)
    world.call(.start)
    for _ in 0..<90 { try world.step() }
    try world.settle()
    return world
  }

  @Test(arguments: 0..<25)
  func theCloudHasWhatItIsToHave(part: UInt64) throws {
    try expectSound((part * 80)..<(part * 80 + 80), Self.run)
  }

  @Test func theSequencesReachWhatTheyAreFor() throws {
    let events = [
      "subscribed for a line", "subscribed for the gateway", "refused", "unsubscribed", "closed",
      "closed while logging in", "online", "offline", "lost", "kicked", "replied", "no room",
      "cancelled", "subscription cancelled", "slowed down", "departed",
    ]
    try expectReached(events, 0..<300, Self.run)
  }
}

/// A gateway, a broker and a cloud that do one thing after the other, and what the application knows.
private struct GatewayModelWorld: ModelWorld {
  private enum Asked {
    case subscription(GatewayOwner, String, epoch: Int)
    case unsubscription
    case request
    case closing(Subdevice)
    case other
  }

  private struct Wish: Hashable {
    let owner: GatewayOwner
    let filter: String
  }

  var machine: GatewayStateMachine
  var fuzz: FuzzState
  private(set) var seen: [String: Int] = [:]

  private var inbox: [ClientEvent] = []
  private var opening: [ConnectionID] = []
  private var lastConnection: UInt64 = 0
  /// What the broker sends to the gateway.
  private var filters: Set<String> = []
  /// Which sub-devices the cloud takes for online.
  private var online: Set<Subdevice> = []

  private var wishes: Set<Wish> = []
  /// How often its owner has unsubscribed from a filter, or gone.
  private var epochs: [Wish: Int] = [:]
  private var asked: [CallID: Asked] = [:]
  private var failures: [CallID: GatewayError] = [:]
  private var leaving: [Subdevice] = []

  init(_ machine: GatewayStateMachine, seed: UInt64) {
    self.machine = machine
    fuzz = FuzzState(seed: seed)
  }

  private static let subdevices = (0..<3).map { Subdevice(known: "123", "s\($0)") }
  private static let command = GatewayTopics.thing(subdevices[0], "service/#")
  private static let pool = ["/shared/1", "/shared/2", command]

  private mutating func tell(_ line: String) { fuzz.story.append(line) }

  private mutating func see(_ event: String) { seen[event, default: 0] += 1 }

  // MARK: The application

  mutating func note(_ id: CallID, _ result: Result<GatewayStateMachine.Value, GatewayError>) {
    switch result {
    case .success: tell("  call \(id.rawValue) ok")
    case .failure(let error):
      tell("  call \(id.rawValue) failed: \(error.message)")
      failures[id] = error
      if error.message.contains("can be online") { see("no room") }
    }
    switch asked[id] {
    case .subscription(let owner, let filter, let epoch):
      guard failures[id] == nil else { return }
      see(owner == .gateway ? "subscribed for the gateway" : "subscribed for a line")
      let wish = Wish(owner: owner, filter: filter)
      if epoch == epochs[wish, default: 0] { wishes.insert(wish) }
    case .request:
      guard failures[id] != nil else { return see("replied") }
      if failures[id]?.kind == .gateway { fuzz.problems.append("call \(id.rawValue) had no reply") }
    case .closing(let subdevice): leaving.append(subdevice)
    case .unsubscription, .other, nil: break
    }
  }

  mutating func note(_ effect: GatewayStateMachine.Effect) {
    switch effect {
    case .openConnection(let id): opening.append(id)
    case .giveUpOpening(let id), .forgetConnection(let id): opening.removeAll { $0 == id }
    case .changeLine(let change):
      tell("  \(change.subdevice.deviceName) is \(change.state)")
      if change.state == .online { see("online") }
    case .changeState(let change): tell("  \(change.state)")
    case .deliver, .command, .notice, .log: break
    }
  }

  @discardableResult
  private mutating func ask(_ what: Asked, _ call: GatewayStateMachine.Call) -> CallID {
    let id = CallID(rawValue: fuzz.lastCall + 1)
    asked[id] = what
    tell("call \(id.rawValue): \(call)")
    self.call(call)
    return id
  }

  private mutating func forget(_ wish: Wish) {
    wishes.remove(wish)
    epochs[wish, default: 0] += 1
  }

  private mutating func callSomething() throws {
    let index = number(Self.subdevices.count)
    let subdevice = Self.subdevices[index]
    let isThere = machine.lines[subdevice] != nil
    switch number(15) {
    case 0, 1:
      guard !isThere else { return }
      lastConnection += 1
      ask(.other, .setUp(ConnectionID(rawValue: lastConnection * 3 + UInt64(index))))
    case 2...4: ask(.other, .operate(.logIn, [subdevice], isBatch: false))
    case 5:
      ask(
        .other, .operate(.logIn, Self.subdevices.filter { machine.lines[$0] != nil }, isBatch: true)
      )
    case 6: ask(.other, .operate(.logOut, [subdevice], isBatch: false))
    case 7:
      ask(
        .other,
        .operate(number(3) == 0 ? .deleteTopology : .addTopology, [subdevice], isBatch: false))
    case 8: try closeSomething(subdevice)
    case 9, 10: try subscribe(number(3) > 0 && isThere ? subdevice : nil)
    case 11, 12: try unsubscribe(number(3) > 0 && isThere ? subdevice : nil)
    case 13: cancelSomething()
    default:
      let topic = try FullTopic(GatewayTopics.thing(subdevice, "event/property/post"))
      ask(.request, .invoke(.init(topic, params: [:], for: subdevice)))
    }
  }

  private mutating func subscribe(_ subdevice: Subdevice?) throws {
    let filter = Self.pool[number(Self.pool.count)]
    let wish = Wish(owner: GatewayOwner(subdevice), filter: filter)
    ask(
      .subscription(wish.owner, filter, epoch: epochs[wish, default: 0]),
      .subscribe(try FullTopic(filter), for: subdevice))
  }

  private mutating func unsubscribe(_ subdevice: Subdevice?) throws {
    let filter = Self.pool[number(Self.pool.count)]
    let id = ask(.unsubscription, .unsubscribe(try FullTopic(filter), for: subdevice))
    // Not connected, nothing was done.
    guard failures[id] == nil else { return }
    see("unsubscribed")
    forget(Wish(owner: GatewayOwner(subdevice), filter: filter))
  }

  private func isSent(_ operation: LineOperation) -> Bool {
    guard case .requesting(let id) = operation.phase else { return false }
    return machine.requests[id]?.isSent == true
  }

  /// Closes a line, mostly one that is being logged in; an application that wants it back may be quick.
  private mutating func closeSomething(_ subdevice: Subdevice) throws {
    let busy = machine.operations.values.filter { $0.kind == .logIn && isSent($0) }
      .flatMap(\.subdevices).sorted()
    let subdevice = number(3) > 0 ? busy.first ?? subdevice : subdevice
    close(subdevice)
    guard machine.lines[subdevice] == nil, number(2) == 0,
      let index = Self.subdevices.firstIndex(of: subdevice)
    else { return }
    lastConnection += 1
    ask(.other, .setUp(ConnectionID(rawValue: lastConnection * 3 + UInt64(index))))
    while !opening.isEmpty { try openSomething() }
    if machine.lines[subdevice] != nil {
      ask(.other, .operate(.logIn, [subdevice], isBatch: false))
    }
  }

  /// Closes a line as ``GatewayLine/close()`` does: offline first, if it is online.
  private mutating func close(_ subdevice: Subdevice) {
    guard let line = machine.lines[subdevice] else { return }
    guard line.state != .online else {
      ask(.closing(subdevice), .operate(.logOut, [subdevice], isBatch: false))
      return
    }
    if line.queue.contains(where: { machine.operations[$0]?.kind == .logIn }) {
      see("closed while logging in")
    }
    see("closed")
    for filter in Self.pool { forget(Wish(owner: .line(subdevice), filter: filter)) }
    ask(.other, .remove(subdevice))
  }

  /// A call is not waited for any more: an operation goes on, and a subscription comes to nothing.
  private mutating func cancelSomething() {
    let calls = fuzz.open.sorted().filter { id in
      switch asked[id] {
      case .closing, nil: false
      case .subscription, .unsubscription, .request: true
      case .other: id.rawValue % 4 == 0
      }
    }
    guard !calls.isEmpty else { return }
    let id = calls[number(calls.count)]
    tell("cancel \(id.rawValue)")
    see("cancelled")
    if case .subscription = asked[id] { see("subscription cancelled") }
    fuzz.open.remove(id)
    input(.cancelled(id))
  }

  // MARK: The cloud

  private mutating func serve(isFriendly: Bool) {
    guard let action = takeFirstAction() else { return }
    switch action.kind {
    case .connect: inbox.append(.connected(.init()))
    case .subscribe(let wanted):
      let isRefused = !isFriendly && isForCall(action.id) && number(5) == 0
      if isRefused { see("refused") } else { filters.formUnion(wanted.map(\.filter)) }
      tell("  the broker \(isRefused ? "refuses" : "grants") \(wanted.map(\.filter))")
      inbox.append(.subscribed(action.id, wanted.map { isRefused ? nil : $0.qos }))
    case .unsubscribe(let gone):
      tell("  the broker drops \(gone)")
      filters.subtract(gone)
      inbox.append(.unsubscribed(action.id))
    case .publish(let message):
      inbox.append(.published(action.id))
      serve(message, isFriendly)
    case .disconnect, .send, .sendText, .sendBinary: break
    }
  }

  /// Whether the application has asked for an action, and not the gateway.
  private func isForCall(_ id: ClientAction.ID) -> Bool {
    if case .call = machine.actions[id] { true } else { false }
  }

  /// Whether the gateway takes a sub-device for online, or brings it there.
  private func isCounted(_ subdevice: Subdevice) -> Bool {
    guard let line = machine.lines[subdevice] else { return false }
    return line.state == .online
      || line.queue.contains { machine.operations[$0]?.kind == .logIn }
  }

  /// Whether a call has asked for a sub-device to go offline.
  private func isBeingLoggedOut(_ subdevice: Subdevice) -> Bool {
    machine.operations.values.contains { $0.kind == .logOut && $0.subdevices.contains(subdevice) }
  }

  private mutating func serve(_ message: Message, _ isFriendly: Bool) {
    guard let request = JSONValue(parsing: message.payload), request["code"] == nil else { return }
    let topic = message.topic
    let params = request["params"]
    let named = Self.named(params?["deviceList"] ?? params)
    let isDeparture = topic.hasSuffix("/logout") && !named.contains { isBeingLoggedOut($0) }
    if isDeparture { see("departed") }
    let isRefused = !isFriendly && number(8) == 0
    // What the gateway does on nobody's behalf it can't be told to be wrong of.
    let isSlowedDown = isRefused && (isDeparture || number(2) == 0)
    if isSlowedDown { see("slowed down") }
    let code: JSONValue = isRefused ? (isSlowedDown ? 429 : 460) : 200
    tell("  the cloud says \(code) to \(topic) of \(named.map(\.deviceName))")
    if !isRefused {
      if topic.hasSuffix("login") {
        online.formUnion(named)
        let count = online.count { isCounted($0) }
        if count > machine.configuration.limits.online {
          fuzz.problems.append("\(count) sub-devices are online")
        }
      } else if topic.hasSuffix("logout") || topic.hasSuffix("topo/delete") {
        online.subtract(named)
        see("offline")
      }
    }
    // Like any message it comes only to who has subscribed to its topic.
    guard filters.contains(topic + "_reply") else { return }
    let reply: JSONValue = ["id": request["id"] ?? "0", "code": code, "data": [:]]
    inbox.append(.message(Message(topic: topic + "_reply", payload: reply.utf8)))
  }

  private static func named(_ params: JSONValue?) -> [Subdevice] {
    if case .array(let entries)? = params { return entries.compactMap { Subdevice($0) } }
    return Subdevice(params).map { [$0] } ?? []
  }

  /// The sub-device appears elsewhere.
  private mutating func kick() {
    let subdevice = Self.subdevices[number(Self.subdevices.count)]
    guard online.remove(subdevice) != nil else { return }
    see("kicked")
    tell("kick \(subdevice.deviceName)")
    let payload: JSONValue = ["id": "0", "code": 427, "data": subdevice.json]
    inbox.append(.message(Message(topic: "/ext/error/a1gw/phone", payload: payload.utf8)))
  }

  private mutating func lose() {
    see("lost")
    tell("lose")
    (inbox, filters, online) = ([], [], [])
    close(.lost("model"))
  }

  // MARK: Steps

  mutating func step() throws {
    switch number(100) {
    case 0..<38: try callSomething()
    case 38..<66: serve(isFriendly: false)
    case 66..<84: hear()
    case 84..<93: try openSomething()
    case 93..<95: kick()
    case 95..<97: lose()
    default: try pass(number(4))
    }
    leave()
    check()
  }

  private mutating func hear() {
    guard !inbox.isEmpty else { return }
    let event = inbox.removeFirst()
    if case .message(let message) = event {
      tell("hear \(message.topic) \(String(decoding: message.payload, as: UTF8.self))")
    } else {
      tell("hear \(event)")
    }
    input(.received(event))
  }

  private mutating func openSomething() throws {
    guard !opening.isEmpty else { return }
    let id = opening.removeFirst()
    let subdevice = Self.subdevices[Int(id.rawValue % 3)]
    tell("\(subdevice.deviceName) opens")
    call(.noteOpened(id, .success(try GatewayBench.info(subdevice))))
  }

  private mutating func leave() {
    while !leaving.isEmpty {
      let subdevice = leaving.removeFirst()
      if machine.lines[subdevice]?.state != .online { close(subdevice) }
    }
  }

  /// Lets everybody do what there is to do, and then time pass.
  private mutating func pass(_ seconds: Int) throws {
    while !fuzz.actions.isEmpty || !inbox.isEmpty || !opening.isEmpty {
      while !fuzz.actions.isEmpty { serve(isFriendly: true) }
      while !opening.isEmpty { try openSomething() }
      hear()
      leave()
    }
    if seconds > 0 { wait(seconds) }
  }

  /// What has to hold at any time: who the connection waits for is being seen to.
  private mutating func check() {
    guard case .open = machine.keeper.link, machine.state != .connected else { return }
    let busy = Set(machine.operations.values.flatMap(\.subdevices) + machine.loginsToCome)
    if machine.restoring.isEmpty || !machine.restoring.isSubset(of: busy) {
      fuzz.problems.append("connected waits for nobody: \(machine.restoring)")
    }
  }

  mutating func settle() throws {
    tell("settle")
    for _ in 0..<150 {
      try pass(0)
      let isIdle = fuzz.open.isEmpty && machine.operations.isEmpty && machine.requests.isEmpty
      if machine.state == .connected, isIdle { return }
      wait(5)
    }
  }

  /// What is not as it is to be.
  var problems: [String] {
    var problems = fuzz.problems
    if machine.state != .connected { problems.append("it is \(machine.state)") }
    if !fuzz.open.isEmpty { problems.append("\(fuzz.open.count) calls are open") }
    for subdevice in Self.subdevices {
      let isOnline = machine.lines[subdevice]?.state == .online
      if isOnline != online.contains(subdevice) {
        problems.append("\(subdevice.deviceName) is \(isOnline ? "online" : "offline") only here")
      }
    }
    let needed = wishes.filter { wish in
      guard case .line(let subdevice) = wish.owner else { return true }
      return machine.lines[subdevice]?.state == .online
    }
    var required = Set(machine.topics.own + needed.map(\.filter))
    for (subdevice, line) in machine.lines
    where line.state == .online && machine.configuration.subscribesToCommands {
      required.formUnion(GatewayTopics.commands(of: subdevice))
    }
    let missing = required.subtracting(filters)
    if !missing.isEmpty { problems.append("the broker does not send \(missing.sorted())") }
    let known = Set(machine.wishes.filters)
    if known != Set(wishes.map(\.filter)) {
      problems.append("the machine wishes \(known.sorted()), not \(wishes.map(\.filter).sorted())")
    }
    // What a sub-device has of its own ends with its session.
    let strange = filters.intersection(Self.pool).subtracting(wishes.map(\.filter))
      .subtracting(machine.configuration.subscribesToCommands ? [Self.command] : [])
    if !strange.isEmpty { problems.append("the broker sends \(strange.sorted())") }
    return problems
  }
}
