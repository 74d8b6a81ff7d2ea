import RepriseCore
import Testing

@testable import DeviceSDK

/// A model of who has subscribed to what beside the machine: on random sequences of calls, requests, answers that come
/// late, in another order or not at all, refusals, losses and kicks, the channel has at every step what the application
/// was told, relies on nothing that the broker does not send, and leaves nothing there that nobody has asked for.
@Suite struct ChannelOwnershipTests {
  private static func run(_ seed: UInt64) throws -> ChannelModelWorld {
    var configuration = try SampleChannel.configuration()
    configuration.replySubscription = seed % 2 == 0 ? .always : .unlessCovered
    configuration.releasesReplyTopics = seed % 3 != 0
    configuration.subscribesAll = seed % 5 < 2
    configuration.kickLimit = .max
    var world = ChannelModelWorld(try ChannelStateMachine(configuration), seed: seed)
    world.call(.start)
    for _ in 0..<80 where world.problems.isEmpty { try world.step() }
    world.settle()
    return world
  }

  @Test(arguments: 0..<20)
  func theChannelHasWhatTheApplicationWasTold(part: UInt64) throws {
    try expectSound((part * 20)..<(part * 20 + 20), Self.run)
  }

  @Test func theSequencesReachWhatTheyAreFor() throws {
    let events = [
      "subscribed", "refused", "unsubscribed", "not unsubscribed", "replied", "cancelled", "late",
      "not handed over", "lost", "kicked", "delivered", "held back", "given up", "released",
      "reply across a close", "unrestored", "granted to nobody", "both under way", "out of order",
    ]
    try expectReached(events, 0..<120, Self.run)
  }
}

/// A channel and a broker that do one thing after the other, and what the application knows.
private struct ChannelModelWorld: ModelWorld {
  private enum Asked {
    case subscription(String)
    case unsubscription(String)
    case request
  }

  var machine: ChannelStateMachine
  var fuzz: FuzzState
  private(set) var seen: [String: Int] = [:]
  private var model = SubscriptionModel()

  private var asked: [CallID: Asked] = [:]
  /// The call that is being made.
  private var current: CallID?
  /// The calls whose UNSUBSCRIBE waits for replies, the earliest first.
  private var heldBack: [CallID] = []
  /// The requests that may end without a reply, as nobody has answered in time.
  private var excused: Set<CallID> = []
  private var deliveries = 0

  /// What the broker has sent, and the channel has not heard.
  private var inbox: [ClientEvent] = []
  /// The replies that the cloud has not sent yet.
  private var thinking: [Message] = []
  /// The replies that a lost connection would have brought.
  private var stale: [Message] = []
  /// What the broker sends to the channel.
  private var filters: Set<String> = []
  /// What the broker has refused to drop.
  private var stubborn: Set<String> = []

  init(_ machine: ChannelStateMachine, seed: UInt64) {
    self.machine = machine
    fuzz = FuzzState(seed: seed)
  }

  private static let pool = ["/a_reply", "/b_reply", "/x", "/#", "/+"]
  private static let replyTopics = Set(["/a_reply", "/b_reply"].map { SampleChannel.down + $0 })

  var problems: [String] { fuzz.problems + model.problems }

  private mutating func tell(_ line: String) { fuzz.story.append(line) }

  private mutating func see(_ event: String) { seen[event, default: 0] += 1 }

  // MARK: What the channel does

  mutating func note(_ action: ClientAction) {
    tell("  \(action.kind.shortText)")
    switch action.kind {
    case .subscribe(let wishes) where machine.state != .connected:
      model.noteRestoring(wishes.map(\.filter), action.id)
    case .subscribe(let wishes):
      guard let filter = wishes.first?.filter, !isForReply(filter) else { return }
      model.noteSubscribe(filter, action.id, for: current)
    case .unsubscribe(let given): for filter in given { noteUnsubscribe(filter, action.id) }
    case .connect, .publish, .disconnect, .send, .sendText, .sendBinary: break
    }
  }

  /// Whether a SUBSCRIBE is of a request, be it a filter that the application knows as well.
  private func isForReply(_ filter: String) -> Bool {
    guard Self.replyTopics.contains(filter), let current else { return false }
    guard case .request = asked[current] else { return false }
    return true
  }

  private mutating func noteUnsubscribe(_ filter: String, _ action: ClientAction.ID) {
    if let current, case .unsubscription(filter) = asked[current] {
      return model.noteUnsubscribe(filter, action)
    }
    guard let index = heldBack.firstIndex(where: { isUnsubscription($0, filter) }) else {
      return see("released")
    }
    heldBack.remove(at: index)
    model.noteUnsubscribe(filter, action)
  }

  private func isUnsubscription(_ id: CallID, _ filter: String) -> Bool {
    if case .unsubscription(filter) = asked[id] { true } else { false }
  }

  mutating func note(_ id: CallID, _ result: Result<ChannelStateMachine.Value, ChannelError>) {
    var failure: ChannelError?
    if case .failure(let error) = result { failure = error }
    tell("  call \(id.rawValue) \(failure.map { "failed: \($0.message)" } ?? "ok")")
    if failure?.message.contains("in time") == true { see("late") }
    switch asked[id] {
    case .subscription:
      see(failure == nil ? "subscribed" : "not subscribed")
      if failure?.cloudCode == 0x80 { see("refused") }
    case .unsubscription(let filter):
      see(failure == nil ? "unsubscribed" : "not unsubscribed")
      let wasHeldBack = heldBack.contains(id)
      heldBack.removeAll { $0 == id }
      guard wasHeldBack, failure == nil else { return }
      see("given up")
      model.noteGivenUp(filter)
    case .request:
      guard let failure else { return see("replied") }
      if failure.message.contains("in time"), !excused.contains(id) {
        fuzz.problems.append("call \(id.rawValue): \(failure.message)")
      }
    case nil: break
    }
  }

  mutating func note(_ effect: ChannelStateMachine.Effect) {
    switch effect {
    case .deliver:
      see("delivered")
      deliveries += 1
    case .changeState(let change): tell("  \(change.state)")
    case .forward, .changeAccount, .log: break
    }
  }

  // MARK: The application

  private mutating func ask(_ what: Asked, _ call: ChannelStateMachine.Call) {
    let id = CallID(rawValue: fuzz.lastCall + 1)
    asked[id] = what
    current = id
    tell("call \(id.rawValue): \(what)")
    let count = fuzz.actions.count
    self.call(call)
    current = nil
    guard case .unsubscription = what, fuzz.open.contains(id), fuzz.actions.count == count else {
      return
    }
    see("held back")
    heldBack.append(id)
  }

  private mutating func callSomething() throws {
    let short = Self.pool[number(Self.pool.count)]
    let filter = SampleChannel.down + short
    switch number(9) {
    case 0...2:
      noteOthers(filter)
      ask(.subscription(filter), .subscribe(try ChannelTopic(short)))
    case 3, 4:
      noteOthers(filter)
      ask(.unsubscription(filter), .unsubscribe(try ChannelTopic(short)))
    case 5...7:
      let topic = try ChannelTopic(["/a", "/b"][number(2)])
      ask(.request, .invoke(.init(topic, params: [:])))
    default: cancelSomething()
    }
  }

  private mutating func noteOthers(_ filter: String) {
    let others = fuzz.actions.contains { action in
      switch action.kind {
      case .subscribe(let wanted): wanted.contains { $0.filter == filter }
      case .unsubscribe(let given): given.contains(filter)
      default: false
      }
    }
    if others { see("both under way") }
  }

  private mutating func cancelSomething() {
    let calls = fuzz.open.sorted().filter { asked[$0] != nil }
    guard !calls.isEmpty else { return }
    let id = calls[number(calls.count)]
    tell("cancel \(id.rawValue)")
    see("cancelled")
    heldBack.removeAll { $0 == id }
    fuzz.open.remove(id)
    input(.cancelled(id))
  }

  // MARK: The broker

  /// The broker takes the oldest action.
  private mutating func serve(isFriendly: Bool) {
    guard let action = takeFirstAction() else { return }
    if !isFriendly, action.kind != .disconnect, number(40) == 0 {
      tell("  not handed over: \(action.kind.shortText)")
      see("not handed over")
      model.noteFailure(of: action.id)
      return input(.refused(action.id, DataClientError(.transport, "model")))
    }
    switch action.kind {
    case .connect:
      filters = []
      inbox.append(.connected(.init()))
    case .subscribe(let wishes): serve(action.id, wishes, isFriendly)
    case .unsubscribe(let given):
      guard isFriendly || number(6) > 0 else {
        tell("  the broker does not drop \(given)")
        stubborn.formUnion(given)
        return inbox.append(.failed(action.id, .refused(code: 0x83, reason: nil)))
      }
      filters.subtract(given)
      stubborn.subtract(given)
      inbox.append(.unsubscribed(action.id))
    case .publish(let message):
      inbox.append(.published(action.id))
      for case .message(let reply) in SampleChannel.reply(to: message) { thinking.append(reply) }
      if isFriendly || number(2) == 0 { answer() }
    case .disconnect: lose(.byUser)
    case .send, .sendText, .sendBinary: break
    }
  }

  private mutating func serve(
    _ id: ClientAction.ID, _ wishes: [Subscription], _ isFriendly: Bool
  ) {
    let granted = wishes.map { wish -> QoS? in
      guard !isFriendly, number(7) == 0 else { return wish.qos }
      tell("  the broker refuses \(wish.filter)")
      return nil
    }
    for (wish, qos) in zip(wishes, granted) where qos != nil { filters.insert(wish.filter) }
    inbox.append(.subscribed(id, granted))
  }

  private func sends(_ topic: String) -> Bool {
    filters.contains { TopicFilter($0)?.matches(topic) == true }
  }

  /// The cloud sends a reply; like any message it comes only to a client that has subscribed to its topic.
  private mutating func answer() {
    guard !thinking.isEmpty else { return }
    let reply = thinking.remove(at: number(thinking.count))
    guard sends(reply.topic) else { return tell("  a reply on \(reply.topic) reaches nobody") }
    inbox.append(.message(reply))
  }

  /// A notification comes, if it is subscribed to.
  private mutating func push() {
    let topic = SampleChannel.down + "/x"
    guard sends(topic) else { return }
    inbox.append(.message(Message(topic: topic, payload: Array(#"{"params":{}}"#.utf8))))
  }

  private mutating func lose(_ reason: ClientEvent.Closed) {
    tell("lose \(reason)")
    for case .message(let message) in inbox { stale.append(message) }
    stale += thinking
    (inbox, thinking, filters, stubborn) = ([], [], [], [])
    model.noteClosed()
    close(reason)
  }

  /// A reply to a request of an earlier connection comes, as a cloud sends it to whoever is there.
  private mutating func crossAClose() {
    guard machine.isConnected, !stale.isEmpty else { return }
    let message = stale.removeFirst()
    guard sends(message.topic) else { return }
    see("reply across a close")
    inbox.append(.message(message))
  }

  // MARK: Steps

  mutating func step() throws {
    switch number(100) {
    case 0..<40: try callSomething()
    case 40..<66: serve(isFriendly: false)
    case 66..<86: hear()
    case 86..<89: answer()
    case 89: push()
    case 90..<93: crossAClose()
    case 93, 94:
      see("lost")
      lose(.lost("model"))
    case 95:
      see("kicked")
      lose(.byServer(code: nil, "model"))
    case 96:
      // No answer comes in time.
      excused.formUnion(fuzz.open)
      tell("wait 11")
      wait(11)
    default:
      drain()
      tell("wait")
      wait(1 + number(3))
    }
    check()
  }

  private mutating func hear() {
    guard !inbox.isEmpty else { return }
    // Answers to packets may come in any order.
    let isOutOfOrder = inbox.count > 1 && number(5) == 0
    if isOutOfOrder { see("out of order") }
    let event = inbox.remove(at: isOutOfOrder ? 1 : 0)
    tell("hear \(event)")
    let before = deliveries
    var isNotification = false
    switch event {
    case .subscribed(let id, let granted):
      if let outcome = model.noteAnswer(to: id, granted, open: fuzz.open) { see(outcome) }
    case .failed(let id, _): model.noteFailure(of: id)
    case .message(let message): isNotification = message.topic.hasSuffix("/x")
    default: break
    }
    input(.received(event))
    // A notification is told once, and a reply, be it late, to no listener.
    if deliveries - before != (isNotification ? 1 : 0) {
      fuzz.problems.append("\(event) was delivered \(deliveries - before) times")
    }
  }

  /// Lets everybody do what there is to do, with good will.
  private mutating func drain() {
    while !fuzz.actions.isEmpty || !inbox.isEmpty || !thinking.isEmpty {
      while !fuzz.actions.isEmpty { serve(isFriendly: true) }
      while !thinking.isEmpty { answer() }
      while !inbox.isEmpty { hear() }
    }
  }

  mutating func settle() {
    tell("settle")
    for _ in 0..<90 where problems.isEmpty {
      drain()
      check()
      if machine.state == .connected, fuzz.open.isEmpty { return checkEnd() }
      wait(1)
    }
    fuzz.problems.append("it is \(machine.state) with \(fuzz.open.count) open calls")
  }

  // MARK: What has to hold

  /// What has to hold at any time.
  private mutating func check() {
    let own = Set(machine.grants.filter { $0.owner == .application }.map(\.filter))
    if own != model.wanted {
      fuzz.problems.append("the application has \(model.wanted.sorted()), not \(own.sorted())")
    }
    guard machine.state == .connected else { return }
    let promised = Set(machine.grants.map(\.filter)).subtracting(filters)
    if !promised.isEmpty {
      fuzz.problems.append("it relies on \(promised.sorted()), which nobody sends")
    }
  }

  /// What has to hold when nothing is under way any more.
  private mutating func checkEnd() {
    let unknown = filters.subtracting(machine.grants.map(\.filter))
    if !unknown.isEmpty { fuzz.problems.append("the broker sends \(unknown.sorted())") }
    // Reply topics stay unless they are released.
    var needless = filters.subtracting(model.wanted).subtracting(stubborn)
    if !machine.configuration.releasesReplyTopics { needless.subtract(Self.replyTopics) }
    if !needless.isEmpty { fuzz.problems.append("nobody wants \(needless.sorted())") }
    let isIdle =
      machine.dependents.isEmpty && machine.heldBack.isEmpty && machine.replies.isEmpty
      && machine.wishes.isEmpty && machine.actions.isEmpty
    if !isIdle { fuzz.problems.append("something is kept for nobody") }
  }
}

extension ClientAction.Kind {
  /// What it is, and about which filters or topic.
  fileprivate var shortText: String {
    switch self {
    case .subscribe(let wishes): "SUBSCRIBE \(wishes.map(\.filter).joined(separator: " "))"
    case .unsubscribe(let filters): "UNSUBSCRIBE \(filters.joined(separator: " "))"
    case .publish(let message): "PUBLISH \(message.topic)"
    case .connect: "CONNECT"
    case .disconnect: "DISCONNECT"
    case .send, .sendText, .sendBinary: "\(self)"
    }
  }
}
