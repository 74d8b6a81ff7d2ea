import ConformanceKit
import RepriseCore
import TestSupport

@testable import DeviceSDK

/// Drives a channel's machine by hand, and writes down what comes out.
struct MachineBench {
  var machine: ChannelStateMachine
  var now = ScriptedClient.start
  private var text: ChannelText
  private var lines: [String] = []
  private var lastCall: UInt64 = 0
  private var names: [CallID: String] = [:]
  private var ids: [String: CallID] = [:]
  private(set) var open: [ClientAction] = []

  init(_ change: (inout ChannelConfiguration) -> Void = { _ in }) throws {
    text = ChannelText(try SampleChannel.identity())
    var configuration = try SampleChannel.configuration()
    change(&configuration)
    machine = try ChannelStateMachine(configuration)
  }

  /// A bench whose channel is connected and subscribed to everything.
  static func connected(
    _ change: (inout ChannelConfiguration) -> Void = { _ in }
  ) throws -> MachineBench {
    var bench = try MachineBench(change)
    bench.call("start", .start)
    bench.accept()
    if !bench.open.isEmpty { bench.grant() }
    _ = bench.take()
    return bench
  }

  /// Returns the lines since the last time.
  mutating func take() -> [String] {
    defer { lines = [] }
    return lines
  }

  mutating func input(_ input: ChannelStateMachine.Input) {
    for output in machine.handle(input, now: now) {
      switch output {
      case .perform(let action):
        open.append(action)
        lines.append(text.line(action))
      case .complete(let id, let result):
        lines.append(ChannelText.line(names[id] ?? "call", result))
      case .tell(let effect): lines.append(text.line(effect))
      }
    }
  }

  mutating func call(_ name: String, _ call: ChannelStateMachine.Call) {
    lastCall += 1
    let id = CallID(rawValue: lastCall)
    names[id] = name
    ids[name] = id
    input(.called(id, call))
  }

  mutating func invoke(
    _ name: String, _ topic: String, params: JSONValue = [:], options: JSONValue? = nil,
    timeout: Duration? = nil
  ) throws {
    call(
      name,
      .invoke(
        .init(try ChannelTopic(topic), params: params, options: options, timeout: timeout)))
  }

  mutating func cancel(_ name: String) {
    if let id = ids[name] { input(.cancelled(id)) }
  }

  // MARK: What the world does

  private mutating func takeOpen(where isMeant: (ClientAction.Kind) -> Bool) -> ClientAction.ID {
    guard let index = open.firstIndex(where: { isMeant($0.kind) }) else {
      lines.append("nothing open is like that")
      return ClientAction.ID(rawValue: 0)
    }
    return open.remove(at: index).id
  }

  private mutating func takeSubscribe() -> ClientAction.ID {
    takeOpen { if case .subscribe = $0 { true } else { false } }
  }

  mutating func accept() {
    _ = takeOpen { if case .connect = $0 { true } else { false } }
    input(.received(.connected(.init())))
  }

  /// The cloud answers the oldest SUBSCRIBE, or the last.
  mutating func grant(_ granted: [QoS?] = [.atLeastOnce], isLast: Bool = false) {
    if isLast { open.reverse() }
    let id = takeSubscribe()
    if isLast { open.reverse() }
    input(.received(.subscribed(id, granted)))
  }

  mutating func acknowledge() {
    let id = takeOpen { if case .publish = $0 { true } else { false } }
    input(.received(.published(id)))
  }

  /// The cloud acknowledges the oldest UNSUBSCRIBE, or the last.
  mutating func acknowledgeUnsubscribe(isLast: Bool = false) {
    if isLast { open.reverse() }
    let id = takeOpen { if case .unsubscribe = $0 { true } else { false } }
    if isLast { open.reverse() }
    input(.received(.unsubscribed(id)))
  }

  /// The cloud refuses the oldest open action by a reason code.
  mutating func fail(_ code: UInt8) {
    let id = open.removeFirst().id
    input(.received(.failed(id, .refused(code: code, reason: nil))))
  }

  mutating func refuse(_ code: DataClientError.Code) {
    let id = open.removeFirst().id
    input(.refused(id, DataClientError(code, "refused by the test")))
  }

  mutating func close(_ reason: ClientEvent.Closed = .lost("test")) {
    open = []
    input(.received(.closed(reason)))
  }

  mutating func message(_ topic: String, _ payload: JSONValue) {
    input(.received(SampleChannel.message(topic, text.replacingNames(in: payload))))
  }

  mutating func reply(
    _ topic: String, _ id: String, code: JSONValue = 200, data: JSONValue? = nil
  ) {
    var members = [JSONMember("id", .string(id)), JSONMember("code", code)]
    if let data { members.append(JSONMember("data", data)) }
    message(topic + "_reply", .object(members))
  }

  /// Lets time pass, with every deadline on the way.
  mutating func wait(_ seconds: Int64) {
    let end = Timestamp(nanoseconds: now.nanoseconds + seconds * 1_000_000_000)
    while let deadline = machine.deadline, deadline <= end {
      now = max(now, deadline)
      input(.received(.deadline))
    }
    now = end
  }
}
