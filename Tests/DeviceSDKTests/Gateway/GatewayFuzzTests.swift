import RepriseCore
import Testing

@testable import DeviceSDK

/// Inputs in no sensible order: whatever happens, each call is completed once and nothing stays.
@Suite struct GatewayFuzzTests {
  private struct World: FuzzWorld {
    var machine: GatewayStateMachine
    var fuzz: FuzzState
    var lastConnection: UInt64 = 0
    var opening: [ConnectionID] = []
    var lastState: ChannelState = .disconnected
    /// What has happened, to see that the inputs are not all of one kind.
    var seen: Set<String> = []
    let subdevices = (0..<4).map { Subdevice(known: "123", "s\($0)") }

    mutating func note(_ result: Result<GatewayStateMachine.Value, GatewayError>) {
      switch result {
      case .success(.done): break
      case .success(.replies): seen.insert("replies")
      case .success(.reply): seen.insert("reply")
      case .success(.line): seen.insert("line")
      case .success(.subdevices): seen.insert("subdevices")
      case .success(.topics): seen.insert("topics")
      case .success(.registered): seen.insert("registered")
      case .failure(let error): seen.insert("\(error.kind.rawValue)")
      }
    }

    mutating func note(_ effect: GatewayStateMachine.Effect) {
      switch effect {
      case .changeState(let change):
        if change.state == lastState { fuzz.problems.append("\(change.state) twice") }
        lastState = change.state
      case .openConnection(let id):
        if opening.contains(id) { fuzz.problems.append("opened twice") }
        opening.append(id)
      case .giveUpOpening(let id), .forgetConnection(let id): opening.removeAll { $0 == id }
      case .changeLine(let change):
        seen.insert(change.isDisabled ? "disabled" : "\(change.state)")
      case .deliver, .command, .notice, .log: break
      }
    }

    mutating func callSomething() throws {
      let subdevice = subdevices[number(4)]
      let topic = try FullTopic("/sys/\(subdevice)/thing/event/property/post")
      switch number(14) {
      case 0, 1: call(.start)
      case 2: call(number(5) == 0 ? .stop : .start)
      case 3:
        lastConnection += 1
        call(.setUp(ConnectionID(rawValue: number(3) == 0 ? 1 : lastConnection)))
      case 4: if number(4) == 0 { call(.remove(subdevice)) }
      case 5...8:
        let kinds = LineCall.allCases
        let isBatch = number(3) == 0
        call(
          .operate(
            kinds[number(4)], isBatch ? Array(subdevices.prefix(1 + number(4))) : [subdevice],
            isBatch: isBatch))
      case 9:
        call(.invoke(.init(topic, params: [:], for: subdevice, timeout: .seconds(number(20)))))
      case 10: call(number(2) == 0 ? .topology : .register([.init(productKey: "123")]))
      case 11: call(.subscribe(topic, for: number(2) == 0 ? subdevice : nil))
      case 12: call(.unsubscribe(topic, for: number(2) == 0 ? subdevice : nil))
      default: call(.upload(topic, [1], .atLeastOnce))
      }
    }

    mutating func answerSomething() throws {
      if number(3) == 0, let id = opening.first {
        opening.removeFirst()
        let own = number(20) == 0 ? number(4) : Int(id.rawValue % 4)
        let info = try GatewayBench.info(subdevices[own])
        return call(
          .noteOpened(id, number(10) == 0 ? .failure(.init(.subdevice, "fuzz")) : .success(info)))
      }
      guard let action = takeAction() else { return }
      guard number(60) > 0 else { return input(.refused(action.id, .init(.transport, "fuzz"))) }
      switch action.kind {
      case .connect: input(.received(.connected(.init())))
      case .subscribe(let wanted):
        let granted = wanted.map { _ in number(20) > 0 ? QoS.atLeastOnce : nil }
        input(.received(.subscribed(action.id, granted)))
      case .unsubscribe: input(.received(.unsubscribed(action.id)))
      case .publish(let message): answer(action.id, message)
      case .disconnect: close(.byUser)
      case .send, .sendText, .sendBinary: break
      }
    }

    mutating func answer(_ id: ClientAction.ID, _ message: Message) {
      input(.received(.published(id)))
      guard let payload = JSONValue(parsing: message.payload), payload["code"] == nil,
        let request = payload["id"]
      else { return }
      let code = ([429, 500, 520, 6401, 6287, 460, 522] + Array(repeating: 200, count: 21))[
        number(28)]
      let subdevice = subdevices[number(4)]
      let isError = number(10) == 0
      let reply: JSONValue = [
        "id": request, "code": .number("\(code)"), "data": isError ? subdevice.json : [],
      ]
      let topic = isError ? "/ext/error/a1gw/phone" : message.topic + "_reply"
      for _ in 0...(number(5) == 0 ? 1 : 0) {
        input(.received(.message(Message(topic: topic, payload: reply.utf8))))
      }
    }

    mutating func pushSomething() {
      let subdevice = subdevices[number(4)]
      let status: JSONValue = .number(["0", "1", "2", "8", "5"][number(5)])
      let (topic, payload): (String, JSONValue) =
        switch number(4) {
        case 0: ("/sys/\(subdevice)/thing/disable", ["id": "1"])
        case 1: ("/sys/\(subdevice)/thing/delete", ["id": 1])
        case 2: ("/ext/error/a1gw/phone", ["id": "7", "code": 427, "data": subdevice.json])
        default:
          (
            "/sys/a1gw/phone/thing/topo/change",
            ["id": "3", "params": ["status": status, "subList": [subdevice.json]]]
          )
        }
      input(.received(.message(Message(topic: topic, payload: payload.utf8))))
    }

    mutating func step() throws {
      switch number(30) {
      case 0...7: try callSomething()
      case 8...26: try answerSomething()
      case 27: pushSomething()
      case 28:
        guard number(6) == 0 else { return wait(number(8)) }
        close(number(4) == 0 ? .refused(code: UInt8(number(7))) : .lost("fuzz"))
      default:
        guard number(3) == 0, cancelFirst() else { return wait(number(100)) }
      }
    }
  }

  private func run(_ seed: UInt64) throws -> World {
    var configuration = try GatewayWorld.configuration()
    configuration.kickLimit = 1_000
    configuration.syncsTopology = seed % 2 == 0
    configuration.subscribesToCommands = seed % 3 > 0
    configuration.limits.loginsPerRequest = 2
    configuration.limits.concurrentLogins = 1 + Int(seed % 3)
    var world = World(
      machine: try GatewayStateMachine(configuration), fuzz: FuzzState(seed: seed))
    for _ in 0..<600 { try world.step() }
    world.call(.stop)
    world.wait(40)
    return world
  }

  @Test func seesAllThereIs() throws {
    let seen = try (0..<20).reduce(into: Set<String>()) { $0.formUnion(try run($1).seen) }
    #expect(
      seen.isSuperset(of: [
        "ready", "topology", "online", "disabled", "reply", "line", "subdevices", "registered",
        "4301", "4302", "4201", "4101", "4102", "4103",
      ]))
  }

  @Test(arguments: 0..<120)
  func completesEachCallOnce(seed: UInt64) throws {
    let world = try run(seed)
    #expect(world.fuzz.problems == [])
    #expect(world.fuzz.open.isEmpty, "\(world.machine.calls)")
    let machine = world.machine
    #expect(machine.calls.isEmpty && machine.deadline == nil && machine.actions.isEmpty)
    #expect(machine.requests.isEmpty && machine.replies.isEmpty)
    #expect(machine.operations.isEmpty && machine.lines.values.allSatisfy { $0.queue.isEmpty })
    #expect(machine.accesses.values.allSatisfy { !$0.isOpening && $0.operations.isEmpty })
    #expect(machine.accesses.count == machine.lines.count)
    #expect(
      machine.restoring.isEmpty && machine.loginsToCome.isEmpty && machine.grants.filters.isEmpty)
    #expect(machine.lines.values.allSatisfy { $0.state != .online && !$0.wantsOnline })
    #expect(machine.state == .disconnected)
  }
}
