import DataClient
import Testing

@testable import DeviceSDK

/// Inputs in no sensible order: whatever happens, each call is completed once and nothing stays.
@Suite struct ChannelFuzzTests {
  private struct World {
    var machine: ChannelStateMachine
    var random: SeededGenerator
    var now = ScriptedClient.start
    var lastCall: UInt64 = 0
    var open: Set<CallID> = []
    var actions: [ClientAction] = []
    var lastState: ChannelState = .disconnected
    var problems: [String] = []

    mutating func number(_ limit: UInt64) -> Int { Int(random.next() % limit) }

    mutating func input(_ input: ChannelStateMachine.Input) {
      for output in machine.handle(input, now: now) {
        switch output {
        case .perform(let action):
          if actions.contains(where: { $0.id == action.id }) { problems.append("id used twice") }
          actions.append(action)
        case .complete(let id, _):
          if open.remove(id) == nil { problems.append("completed twice, or after a cancellation") }
        case .tell(.changeState(let change)):
          if change.state == lastState { problems.append("\(change.state) twice") }
          lastState = change.state
        case .tell: break
        }
      }
    }

    mutating func call(_ call: ChannelStateMachine.Call) {
      lastCall += 1
      open.insert(CallID(rawValue: lastCall))
      input(.called(CallID(rawValue: lastCall), call))
    }

    mutating func callSomething() throws {
      let topic = try ChannelTopic(["/a", "/b", "/a_reply", "/#", "/account/bind"][number(5)])
      switch number(9) {
      case 0, 1: call(.start)
      case 2: call(number(4) == 0 ? .stop : .start)
      case 3: call(.invoke(.init(topic, params: [:], timeout: .seconds(number(20)))))
      case 4: call(.publish(topic, [:]))
      case 5: call(.subscribe(topic))
      case 6: call(.unsubscribe(topic))
      case 7: call(.bind(token: "t"))
      default: call(number(2) == 0 ? .unbind : .noteLogin)
      }
    }

    mutating func answerSomething() {
      guard !actions.isEmpty else { return }
      let action = actions.remove(at: number(UInt64(actions.count)))
      guard number(12) > 0 else { return input(.refused(action.id, .init(.transport, "fuzz"))) }
      switch action.kind {
      case .connect: input(.received(.connected(.init())))
      case .subscribe(let wanted):
        input(
          .received(.subscribed(action.id, wanted.map { _ in number(5) > 0 ? .atLeastOnce : nil })))
      case .unsubscribe: input(.received(.unsubscribed(action.id)))
      case .publish(let message):
        input(.received(.published(action.id)))
        let code = [200, 200, 200, 2043, 2152, 429, 460][number(7)]
        for event in SampleChannel.reply(to: message, code: code) { input(.received(event)) }
      case .disconnect: input(.received(.closed(.byUser)))
      case .send, .sendText, .sendBinary: break
      }
    }

    mutating func step() throws {
      switch number(10) {
      case 0...3: try callSomething()
      case 4...7: answerSomething()
      case 8:
        guard number(3) == 0 else {
          let id = String(number(50))
          return input(.received(SampleChannel.message("/a_reply", ["id": .string(id)])))
        }
        actions = []
        input(.received(.closed(number(4) == 0 ? .refused(code: UInt8(number(7))) : .lost("fuzz"))))
      default:
        if number(3) == 0, let id = open.sorted().first {
          open.remove(id)
          return input(.cancelled(id))
        }
        wait(number(40))
      }
    }

    mutating func wait(_ seconds: Int) {
      let end = Timestamp(nanoseconds: now.nanoseconds + Int64(seconds) * 1_000_000_000)
      var rounds = 0
      while let deadline = machine.deadline, deadline <= end, rounds < 1_000 {
        now = max(now, deadline)
        input(.received(.deadline))
        rounds += 1
      }
      if rounds == 1_000 { problems.append("a deadline does not pass") }
      now = end
    }
  }

  @Test(arguments: 0..<300)
  func completesEachCallOnce(seed: UInt64) throws {
    var configuration = try SampleChannel.configuration()
    configuration.replySubscription = seed % 2 == 0 ? .always : .unlessCovered
    configuration.releasesReplyTopics = seed % 3 == 0
    configuration.kickLimit = 50
    var world = World(
      machine: try ChannelStateMachine(configuration), random: SeededGenerator(seed: seed))
    for _ in 0..<400 { try world.step() }
    world.call(.stop)
    world.wait(10)
    #expect(world.problems == [])
    #expect(world.open.isEmpty)
    let machine = world.machine
    #expect(machine.calls.isEmpty && machine.deadline == nil && machine.actions.isEmpty)
    #expect(machine.waiting.isEmpty && machine.subscribing.isEmpty && machine.dependents.isEmpty)
    #expect(machine.grants.isEmpty && machine.heldBack.isEmpty && machine.state == .disconnected)
  }
}
