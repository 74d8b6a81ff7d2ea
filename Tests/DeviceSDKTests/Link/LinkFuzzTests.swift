import RepriseCore
import Testing

@testable import DeviceSDK

/// Inputs in no sensible order: whatever happens, each call is completed once, each change of a state is
/// a row of the table, and nothing stays.
@Suite struct LinkFuzzTests {
  private struct World<Machine: StateMachine>: FuzzWorld
  where Machine.Effect == LinkEffect, Machine.Failure == LinkError, Machine.Value == Void {
    var machine: Machine
    let table: LinkTable
    var fuzz: FuzzState
    var state = LinkState.idle

    mutating func note(_ effect: LinkEffect) {
      if case .changeState(let event) = effect { check(event) }
    }

    private mutating func check(_ event: LinkStateEvent) {
      let isRow = table.rows.contains {
        $0.from == event.previous && $0.to == event.current && $0.operation == event.operation
          && $0.reasons.contains(event.reason)
      }
      if !isRow { fuzz.problems.append("\(event) is no row") }
      if event.previous != state { fuzz.problems.append("\(event) comes after \(state)") }
      if event.isResumed, event.current != .connected {
        fuzz.problems.append("resumed to \(event)")
      }
      state = event.current
    }

    mutating func answerSomething() {
      guard let action = takeAction() else { return }
      guard number(15) > 0 else { return input(.refused(action.id, .init(.transport, "fuzz"))) }
      switch action.kind {
      case .connect: input(.received(.connected(.init())))
      case .subscribe(let wanted):
        let granted = wanted.map { _ in number(12) > 0 ? QoS.atLeastOnce : nil }
        input(.received(.subscribed(action.id, number(20) > 0 ? granted : [])))
      case .unsubscribe: input(.received(.unsubscribed(action.id)))
      case .publish(let message):
        input(.received(.published(action.id)))
        reply(to: message)
      case .disconnect: input(.received(.closed(.byUser)))
      case .send, .sendText, .sendBinary: break
      }
    }

    private mutating func reply(to message: Message) {
      let base = message.topic.split(separator: "/").dropLast(2).joined(separator: "/")
      let id = JSONValue(parsing: message.payload)?["id"] ?? "0"
      let code = [0, 0, 0, 0, 0, -10_005, -11_021][number(7)]
      let payload: JSONValue = [
        "id": id, "code": .number("\(code)"), "expiresIn": .number("\(number(500))"),
        "unrestored": ["a"],
      ]
      let isPing = message.topic.hasSuffix("ping")
      let down = Message(
        topic: base + (isPing ? "/down/pong" : "/down/reply"),
        payload: isPing ? message.payload : payload.utf8)
      input(.received(.message(down)))
    }

    mutating func say(_ verb: String, _ payload: JSONValue, base: String) {
      input(.received(.message(Message(topic: "\(base)/down/\(verb)", payload: payload.utf8))))
    }

    mutating func step(base: String, _ callSomething: (inout Self) -> Void) {
      switch number(12) {
      case 0...3: callSomething(&self)
      case 4...8: answerSomething()
      case 9:
        switch number(5) {
        case 0: say("kick", ["reason": .number("\(number(40))")], base: base)
        case 1: say("snapshot", ["channel": "a", "type": 1, "users": []], base: base)
        case 2:
          let users: JSONValue = [["user": "bob", "meta": ""], ["user": "dan", "meta": ""]]
          let event = ["snapshot", "join", "leave"][number(3)]
          say(
            "topics", ["event": .string(event), "topics": [["topic": "a", "publishers": users]]],
            base: base)
        default:
          let code = UInt8(number(7))
          close(number(4) == 0 ? .refused(code: code) : .lost("fuzz"))
        }
      case 10:
        guard !fuzz.open.isEmpty, number(3) == 0 else { return }
        _ = cancelFirst()
      default: wait(number(60))
      }
    }
  }

  private static func callMessage(_ world: inout World<MessageLinkMachine>) {
    let channel = ["a", "b", "c/"][world.number(3)]
    switch world.number(11) {
    case 0...2: world.call(.login(token: "t"))
    case 3: world.call(world.number(4) == 0 ? .logout : .login(token: "u"))
    case 4: world.call(.renewToken("v"))
    case 5, 6:
      world.call(.subscribe(channel, world.number(2) == 0 ? [.presence, .message] : [.message]))
    case 7: world.call(.unsubscribe(channel))
    case 8: world.call(.publish(channel, [1]))
    case 9: world.call(.changeStates(channel, ["k": world.number(2) == 0 ? "v" : nil]))
    default: world.call(.noteNetwork(LinkNetworkChange.allCases[world.number(3)]))
    }
  }

  private static func callStream(_ world: inout World<StreamLinkMachine>) {
    let topic = ["a", "b", "c/"][world.number(3)]
    switch world.number(14) {
    case 8: world.call(.joinTopic(topic, .init(qos: world.number(2) == 0 ? .ordered : .unordered)))
    case 9: world.call(.leaveTopic(topic))
    case 10: world.call(.publish(topic, [1]))
    case 11: world.call(.subscribeTopic(topic, [["bob"], ["bob", "carl"], []][world.number(3)]))
    case 12: world.call(.unsubscribeTopic(topic, world.number(2) == 0 ? [] : ["carl"]))
    case 0...2, 13: world.call(.join(token: "t", .presence))
    case 3: world.call(world.number(3) == 0 ? .leave : .join(token: "u", []))
    case 4: world.call(.renewToken("v"))
    case 5: world.call(.changeStates(["k": world.number(2) == 0 ? "v" : nil]))
    case 6: world.call(world.number(4) == 0 ? .noteServiceFailure : .join(token: "u", []))
    default: world.call(.noteNetwork(LinkNetworkChange.allCases[world.number(3)]))
    }
  }

  @Test(arguments: 0..<200)
  func completesEachCallOfAMessageLinkOnce(seed: UInt64) throws {
    let configuration = SampleLink.configuration {
      if seed % 3 == 0 { $0.reconnectTimeout = .seconds(200) }
      $0.rejectsRepeatedLogin = seed % 5 == 0
    }
    var world = World(
      machine: try MessageLinkMachine(configuration), table: .message,
      fuzz: FuzzState(seed: seed))
    for _ in 0..<400 { world.step(base: SampleLink.base, Self.callMessage) }
    world.call(.logout)
    world.wait(20)
    #expect(world.fuzz.problems == [])
    #expect(world.fuzz.open.isEmpty)
    let machine = world.machine
    #expect(machine.calls.isEmpty && machine.deadlines.first == nil && machine.state == .idle)
    #expect(machine.session.purposes.isEmpty && machine.session.requests.isEmpty)
    #expect(machine.channels.isEmpty && machine.states == TemporaryStates())
    #expect(machine.deadline == nil)
  }

  @Test(arguments: 0..<200)
  func completesEachCallOfAStreamLinkOnce(seed: UInt64) throws {
    var world = World(
      machine: try StreamLinkMachine("room", SampleLink.configuration()), table: .stream,
      fuzz: FuzzState(seed: seed))
    for _ in 0..<400 { world.step(base: SampleLink.streamBase("room"), Self.callStream) }
    world.call(.leave)
    world.wait(20)
    #expect(world.fuzz.problems == [])
    #expect(world.fuzz.open.isEmpty)
    let machine = world.machine
    #expect(machine.calls.isEmpty && machine.deadlines.first == nil && machine.state == .idle)
    #expect(machine.session.purposes.isEmpty && machine.session.requests.isEmpty)
    #expect(machine.topics == StreamTopics() && machine.deadline == nil)
  }
}
