import RepriseCore
import TestSupport

@testable import DeviceSDK

/// Drives the machine of an MQTT session by hand, and writes down what comes out: a word for each output.
struct MQTTBench: MachineBench {
  var machine: MQTTStateMachine
  var now = ScriptedClient.start
  var book = BenchBook()

  init(_ change: (inout MQTTConfiguration) -> Void = { _ in }) throws {
    var configuration = MQTTConfiguration(clientID: "c")
    change(&configuration)
    machine = try MQTTStateMachine(configuration)
  }

  /// A bench that is connected by action 1.
  static func connected(
    _ change: (inout MQTTConfiguration) -> Void = { _ in }
  ) throws -> MQTTBench {
    var bench = try MQTTBench(change)
    bench.call(.start)
    bench.receive(.connected(.init()))
    _ = bench.take()
    return bench
  }

  @discardableResult
  mutating func call(_ call: MQTTStateMachine.Call) -> CallID {
    let id = book.newCall()
    input(.called(id, call))
    return id
  }

  mutating func publish(_ topic: String, _ qos: QoS, timeout: Duration? = nil) {
    call(.publish(Message(topic: topic, payload: [], qos: qos), timeout: timeout))
  }

  mutating func hold(
    _ filter: String, by holder: UInt64, qos: QoS = .atLeastOnce,
    options: SubscriptionOptions = SubscriptionOptions()
  ) {
    call(.hold(filter, .init(qos: qos, options: options), holder))
  }

  mutating func cancel(_ call: UInt64) { input(.cancelled(CallID(rawValue: call))) }

  mutating func refuse(_ action: UInt32, _ code: DataClientError.Code) {
    input(.refused(.init(rawValue: action), DataClientError(code, "no")))
  }

  mutating func grant(_ action: UInt32, _ granted: QoS?...) {
    receive(.subscribed(.init(rawValue: action), granted))
  }

  mutating func acknowledge(_ action: UInt32) { receive(.published(.init(rawValue: action))) }

  mutating func lose() { receive(.closed(.lost("cut"))) }

  /// Goes to the machine's next deadline.
  mutating func expire() {
    guard let deadline = machine.deadline else { return }
    now = max(now, deadline)
    receive(.deadline)
  }

  /// What calls failed with.
  var errors: [MQTTError] = []

  mutating func take(_ outputs: [MQTTStateMachine.Output]) {
    for output in outputs {
      if case .complete(_, .failure(let error)) = output { errors.append(error) }
      book.lines.append(Self.word(output))
    }
  }

  private static func word(
    _ output: MachineOutput<MQTTStateMachine.Value, MQTTStateMachine.Effect, MQTTError>
  ) -> String {
    switch output {
    case .perform(let action): "\(action.id.rawValue) \(word(action.kind))"
    case .complete(let id, .success(.done)): "call \(id.rawValue) done"
    case .complete(let id, .success(.reply(let message))):
      "call \(id.rawValue) reply \(message.topic)"
    case .complete(let id, .failure(let error)): "call \(id.rawValue) \(error.kind)"
    case .tell(.deliver(let message)): "message \(message.topic)"
    case .tell(.changeState(let change)): word(change)
    case .tell(.end(let filter, let error)): "end of \(filter) \(error.kind)"
    }
  }

  private static func word(_ change: MQTTStateChange) -> String {
    let state =
      switch change.state {
      case .connecting: "connecting"
      case .connected(let isPresent): isPresent ? "connected to its session" : "connected"
      case .disconnected: "disconnected"
      }
    return state + (change.isFinal ? " for good" : "")
  }

  private static func word(_ kind: ClientAction.Kind) -> String {
    switch kind {
    case .connect(let options): "CONNECT \(options.clientID)"
    case .subscribe(let subscriptions):
      "SUBSCRIBE "
        + subscriptions.map { subscription in
          let bits = subscription.options.bits
          return "\(subscription.filter):\(subscription.qos.rawValue)"
            + (bits == 0 ? "" : "/\(String(bits, radix: 16))")
        }.joined(separator: " ")
    case .unsubscribe(let filters): "UNSUBSCRIBE " + filters.joined(separator: " ")
    case .publish(let message): "PUBLISH \(message.topic):\(message.qos.rawValue)"
    case .disconnect: "DISCONNECT"
    case .send, .sendText, .sendBinary: "\(kind)"
    }
  }
}
