import ConformanceKit
import RepriseCore
import TestSupport

@testable import DeviceSDK

/// Drives a channel's machine by hand, and writes down what comes out.
struct ChannelBench: MachineBench {
  var machine: ChannelStateMachine
  var now = ScriptedClient.start
  private var text: ChannelText
  var book = BenchBook()

  init(_ change: (inout ChannelConfiguration) -> Void = { _ in }) throws {
    text = ChannelText(try SampleChannel.identity())
    var configuration = try SampleChannel.configuration()
    change(&configuration)
    machine = try ChannelStateMachine(configuration)
  }

  /// A bench whose channel is connected and subscribed to everything.
  static func connected(
    _ change: (inout ChannelConfiguration) -> Void = { _ in }
  ) throws -> ChannelBench {
    var bench = try ChannelBench(change)
    bench.call("start", .start)
    bench.accept()
    if !bench.open.isEmpty { bench.grant() }
    _ = bench.take()
    return bench
  }

  mutating func take(_ outputs: [ChannelStateMachine.Output]) {
    for output in outputs {
      switch output {
      case .perform(let action):
        book.open.append(action)
        book.lines.append(text.line(action))
      case .complete(let id, let result):
        book.lines.append(ChannelText.line(book.name(of: id) ?? "call", result))
      case .tell(let effect): book.lines.append(text.line(effect))
      }
    }
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

  // MARK: What the world does

  private mutating func takeSubscribe() -> ClientAction.ID {
    book.takeOpen { if case .subscribe = $0 { true } else { false } }
  }

  /// The cloud answers the oldest SUBSCRIBE, or the last.
  mutating func grant(_ granted: [QoS?] = [.atLeastOnce], isLast: Bool = false) {
    if isLast { book.open.reverse() }
    let id = takeSubscribe()
    if isLast { book.open.reverse() }
    input(.received(.subscribed(id, granted)))
  }

  mutating func acknowledge() {
    let id = book.takeOpen { if case .publish = $0 { true } else { false } }
    input(.received(.published(id)))
  }

  /// The cloud acknowledges the oldest UNSUBSCRIBE, or the last.
  mutating func acknowledgeUnsubscribe(isLast: Bool = false) {
    if isLast { book.open.reverse() }
    let id = book.takeOpen { if case .unsubscribe = $0 { true } else { false } }
    if isLast { book.open.reverse() }
    input(.received(.unsubscribed(id)))
  }

  /// The cloud refuses the oldest open action by a reason code.
  mutating func fail(_ code: UInt8) {
    let id = book.open.removeFirst().id
    input(.received(.failed(id, .refused(code: code, reason: nil))))
  }

  mutating func close(_ reason: ClientEvent.Closed = .lost("test")) {
    book.open = []
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
}
