import RepriseCore

@testable import ConformanceKit
@testable import DeviceSDK

/// A right link with one thing wrong, in what goes in or in what comes out.
///
/// What is wrong is done once for each input: the machine inside is never asked again for what came of
/// a defect, so that none can go on for ever.
struct WrongLink<Machine: LinkMachine>: LinkMachine {
  typealias Call = Machine.Call
  typealias Value = Void
  typealias Effect = LinkEffect
  typealias Failure = LinkError
  typealias Input = MachineInput<Call>
  typealias Output = MachineOutput<Void, LinkEffect, LinkError>

  let defect: LinkDefect
  var machine: Machine
  /// The call that opens the link, as the application made it last.
  var opening: Call?
  var connected: LinkEffect?
  /// The channel that was asked for last.
  var channel = ""
  var lastTime: Timestamp?
  /// Whether the application has closed the link, or the server has.
  var isOver = false
  /// How much later than it is the machine believes it to be, in nanoseconds.
  var shift: Int64 = 0

  init(_ machine: Machine, _ defect: LinkDefect) {
    self.machine = machine
    self.defect = defect
  }

  var deadline: Timestamp? {
    machine.deadline.map { Timestamp(nanoseconds: $0.nanoseconds - shift) }
  }

  mutating func handle(_ input: Input, now: Timestamp) -> [Output] {
    if case .called(let id, let call) = input {
      if case .limitsAreNone = defect { shift += 1_000_000_000 }
      note(call)
      if isIgnored(call) { return [.complete(id, .success(()))] }
    }
    let time = Timestamp(nanoseconds: now.nanoseconds + shift)
    var outputs = before(input, time)
    for spoiled in spoil(input) { outputs += machine.handle(spoiled, now: time) }
    note(outputs)
    let result = outputs.flatMap { spoil($0, of: input) } + afterwards(input, outputs, time)
    lastTime = now
    return result
  }

  // MARK: What is kept

  private mutating func note(_ call: Call) {
    if LinkCallKind(call) == .opens { opening = call }
  }

  private mutating func note(_ outputs: [Output]) {
    for output in outputs {
      switch output {
      case .tell(.changeState(let event)):
        if event.current == .connected { (connected, isOver) = (.changeState(event), false) }
        if event.current == .idle || event.current == .failed { isOver = true }
      case .perform(let action):
        guard case .publish(let message) = action.kind else { continue }
        channel = JSONValue(parsing: message.payload)?["channel"]?.text ?? channel
      case .tell, .complete: continue
      }
    }
  }

  private func isIgnored(_ call: Call) -> Bool {
    switch (defect, LinkCallKind(call)) {
    case (.networkIsIgnored, .notesNetwork), (.serviceFailureIsIgnored, .notesFailure),
      (.unsubscribingIsForgotten, .unsubscribes):
      true
    default: false
    }
  }

  // MARK: What goes in

  /// What the machine hears before something.
  private mutating func before(_ input: Input, _ time: Timestamp) -> [Output] {
    guard case .received(.message(let message)) = input, defect == .usersAreNotWaitedFor,
      let base = message.link(below: "/down/reply")
    else { return [] }
    let users: JSONValue = ["channel": .string(channel), "type": 1, "users": []]
    return machine.handle(
      .received(.message(Message(topic: base + "/down/snapshot", payload: users.utf8))), now: time)
  }

  private func spoil(_ input: Input) -> [Input] {
    switch (defect, input) {
    case (_, .received(.message(let message))): spoil(message)
    case (.refusedFiltersCount, .received(.subscribed(let id, let granted))):
      [.received(.subscribed(id, granted.map { $0 ?? .atLeastOnce }))]
    case (.refusalsAreTriedAgain, .received(.closed(.refused))):
      [.received(.closed(.refused(code: 3)))]
    case (.unavailableIsFinal, .received(.closed(.refused(code: 3)))):
      [.received(.closed(.refused(code: 5)))]
    case (.lossesAreNotNoticed, .received(.closed(.byServer))),
      (.lossesAreNotNoticed, .received(.closed(.lost))):
      []
    default: [input]
    }
  }

  private func spoil(_ message: Message) -> [Input] {
    var message = message
    switch defect {
    case .pongsAreNotHeard where message.topic.hasSuffix("/down/pong"): return []
    case .kicksAreLosses where message.topic.hasSuffix("/down/kick"):
      return [.received(.closed(.lost("kicked")))]
    case .kicksAreNotHeard where message.topic.hasSuffix("/down/kick"): return []
    case .rejectionsAreTaken: message.replaceMember("code") { _ in 0 }
    case .serverCodesAreLost:
      message.replaceMember("code") { $0.integer == 0 ? 0 : -10_012 }
    case .serverReasonsAreLost: message.replaceMember("reason") { _ in 0 }
    case .endedTokensAreShown: message.replaceMember("expiresIn") { _ in 86_400 }
    case .unrestoredStaysThere: message.replaceMember("unrestored") { _ in [] }
    case .ownPresenceIsTold where message.topic.hasSuffix("/presence"):
      message.replaceMember("user") { $0 == "ann" ? "anna" : $0 }
    case .topicEventsAreDropped where message.topic.hasSuffix("/down/topics"): return []
    case .topicMessagesAreDropped where message.isOfTopic: return []
    case .ownTopicsAreTold where message.topic.hasSuffix("/down/topics"):
      message.replaceMember("user") { $0 == "ann" ? "anna" : $0 }
    case .snapshotsAreDropped where message.topic.hasSuffix("/down/snapshot"): return []
    default: break
    }
    return [.received(.message(message))]
  }

  // MARK: What the defect does of its own

  private mutating func afterwards(
    _ input: Input, _ outputs: [Output], _ time: Timestamp
  ) -> [Output] {
    switch (defect, input) {
    case (.openingIsDoneTooEarly, .called(let id, let call)):
      return LinkCallKind(call) == .opens ? [.complete(id, .success(()))] : []
    case (.waitsNotBeforeNewTries, .received(.closed)):
      guard let deadline = machine.deadline else { return [] }
      return machine.handle(.received(.deadline), now: deadline)
    case (.alwaysWaitsTwoSeconds, .received(.closed)):
      guard let deadline = machine.deadline else { return [] }
      shift += max(0, deadline.nanoseconds - time.nanoseconds - 2_000_000_000)
      return []
    case (.comesBackByItself, .received(.closed)):
      guard isOver, let opening else { return [] }
      isOver = false
      return machine.handle(.called(CallID(rawValue: .max), opening), now: time)
    case (.isConnectedBeforeAllIsBack, .received(.subscribed)):
      guard let connected, outputs.contains(where: \.isGreeting) else { return [] }
      return [.tell(connected)]
    case (.publishIsDoneBeforeThePuback, .called(let id, let call)):
      return LinkCallKind(call) == .publishes ? [.complete(id, .success(()))] : []
    case (.answersItsOwnHeartbeats, _):
      return outputs.flatMap { output -> [Output] in
        guard case .perform(let action) = output, case .publish(let message) = action.kind,
          let base = message.link(below: "/up/ping")
        else { return [] }
        let pong = Message(topic: base + "/down/pong", payload: message.payload)
        return machine.handle(.received(.message(pong)), now: time)
      }
    case (.heartbeatsAreMadeUpFor, .received(.deadline)):
      return outputs.filter(\.isPing)
    default: return []
    }
  }
}

/// What a call of either link is, as far as defects matter.
enum LinkCallKind {
  case opens, notesNetwork, notesFailure, unsubscribes, publishes, other

  init(_ call: some LinkCall) {
    switch call {
    case let call as MessageLinkMachine.Call: self.init(call)
    case let call as StreamLinkMachine.Call: self.init(call)
    default: self = .other
    }
  }

  private init(_ call: MessageLinkMachine.Call) {
    switch call {
    case .login: self = .opens
    case .noteNetwork: self = .notesNetwork
    case .unsubscribe: self = .unsubscribes
    case .publish: self = .publishes
    case .logout, .renewToken, .subscribe, .abandonSubscription, .changeStates, .admitStream,
      .releaseStream:
      self = .other
    }
  }

  private init(_ call: StreamLinkMachine.Call) {
    switch call {
    case .join: self = .opens
    case .noteNetwork: self = .notesNetwork
    case .noteServiceFailure: self = .notesFailure
    case .publish: self = .publishes
    case .unsubscribeTopic: self = .unsubscribes
    case .leave, .renewToken, .changeStates, .joinTopic, .leaveTopic, .subscribeTopic:
      self = .other
    }
  }
}

extension Message {
  /// The topic of the link that the message is to or from, if the rest of its topic is this.
  func link(below ending: String) -> String? {
    topic.hasSuffix(ending) ? String(topic.dropLast(ending.count)) : nil
  }

  /// Replaces a member of a payload that is a JSON object, wherever it stands.
  mutating func replaceMember(_ key: String, by change: (JSONValue) -> JSONValue) {
    guard let value = JSONValue(parsing: payload), case .object = value else { return }
    payload = value.replacingMember(key, by: change).utf8
  }
}

extension JSONValue {
  fileprivate func replacingMember(
    _ key: String, by change: (JSONValue) -> JSONValue
  ) -> JSONValue {
    switch self {
    case .array(let values): .array(values.map { $0.replacingMember(key, by: change) })
    case .object(let members):
      .object(
        members.map { member in
          JSONMember(
            member.key,
            member.key == key
              ? change(member.value) : member.value.replacingMember(key, by: change))
        })
    case .null, .bool, .number, .string: self
    }
  }
}

extension MachineOutput {
  /// Whether it sends the greeting of a link.
  fileprivate var isGreeting: Bool {
    sends { $0.hasSuffix("/up/login") || $0.hasSuffix("/up/join") }
  }

  /// Whether it sends a heartbeat.
  var isPing: Bool { sends { $0.hasSuffix("/up/ping") } }

  private func sends(to isMeant: (String) -> Bool) -> Bool {
    guard case .perform(let action) = self, case .publish(let message) = action.kind else {
      return false
    }
    return isMeant(message.topic)
  }
}
