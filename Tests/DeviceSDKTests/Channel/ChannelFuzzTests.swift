import RepriseCore
import Testing

@testable import DeviceSDK

/// Inputs in no sensible order: whatever happens, each call is completed once and nothing stays.
@Suite struct ChannelFuzzTests {
  private struct World: FuzzWorld {
    var machine: ChannelStateMachine
    var fuzz: FuzzState
    var lastState: ChannelState = .disconnected

    mutating func note(_ effect: ChannelStateMachine.Effect) {
      guard case .changeState(let change) = effect else { return }
      if change.state == lastState { fuzz.problems.append("\(change.state) twice") }
      lastState = change.state
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
      guard let action = takeAction() else { return }
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
        close(number(4) == 0 ? .refused(code: UInt8(number(7))) : .lost("fuzz"))
      default:
        guard number(3) == 0, cancelFirst() else { return wait(number(40)) }
      }
    }
  }

  @Test(arguments: 0..<300)
  func completesEachCallOnce(seed: UInt64) throws {
    var configuration = try SampleChannel.configuration()
    configuration.replySubscription = seed % 2 == 0 ? .always : .unlessCovered
    configuration.releasesReplyTopics = seed % 3 == 0
    configuration.kickLimit = 50
    var world = World(
      machine: try ChannelStateMachine(configuration), fuzz: FuzzState(seed: seed))
    for _ in 0..<400 { try world.step() }
    world.call(.stop)
    world.wait(10)
    #expect(world.fuzz.problems == [])
    #expect(world.fuzz.open.isEmpty)
    let machine = world.machine
    #expect(machine.calls.isEmpty && machine.deadline == nil && machine.actions.isEmpty)
    #expect(machine.replies.isEmpty && machine.dependents.isEmpty)
    #expect(machine.grants.isEmpty && machine.heldBack.isEmpty && machine.state == .disconnected)
  }
}
