import DataClient
import Synchronization

@testable import DeviceSDK

/// Runs a scenario on a driver in a scripted world, and compares what happens line by line.
final class ScenarioRunner: Sendable {
  private struct State {
    var text = ChannelText()
    var lines: [String] = []
    var open: [ClientAction] = []
    var waitingSince: Timestamp?
  }

  private final class Listener: ChannelDownstreamListener {
    let topics: [String]?
    let got: @Sendable (String) -> Void

    init(topics: [String]?, got: @escaping @Sendable (String) -> Void) {
      self.topics = topics
      self.got = got
    }

    func shouldHandle(topic: String) -> Bool { topics?.contains(topic) ?? true }
    func onDownstream(topic: String, message: ChannelMessage) { got(topic) }
  }

  private let state = Mutex(State())
  private let scenario: Scenario

  init(_ scenario: Scenario) { self.scenario = scenario }

  /// Returns what is wrong, a line a step; empty when all is as it should be.
  func run() async throws -> [String] {
    let client = ScriptedClient { [self] action, now in
      note(action, at: now)
      return []
    }
    let hub = ChannelHub(log: ChannelLog())
    let machine = try ChannelStateMachine(try scenario.channelConfiguration())
    let driver = Driver(machine, client: client) { [self] effect in
      add(ChannelText.line(effect), at: client.now)
      hub.take(effect)
    }
    return try await driver.run(
      goodbye: .stop, loop: { try await driver.loop(.stop) }, helper: {}, finish: hub.finish
    ) {
      var problems: [String] = []
      var listeners: [String: Listener] = [:]
      await client.settle()
      for (index, step) in scenario.steps.enumerated() {
        try await perform(step, driver, client, hub, &listeners)
        await client.settle()
        let lines = state.withLock { state in
          defer { state.lines = [] }
          return state.lines
        }
        if lines != step.expected {
          problems.append("step \(index + 1): expected \(step.expected), but got \(lines)")
        }
      }
      client.feed(.ended)
      return problems
    }
  }

  private func add(_ line: String, at now: Timestamp) {
    state.withLock { state in
      guard let since = state.waitingSince else { return state.lines.append(line) }
      state.lines.append("+\(now.nanoseconds(since: since) / 1_000_000_000) \(line)")
    }
  }

  private func note(_ action: ClientAction, at now: Timestamp) {
    let line = state.withLock { state in
      state.open.append(action)
      return state.text.line(action)
    }
    add(line, at: now)
  }

  private func perform(
    _ step: Scenario.Step, _ driver: Driver<ChannelStateMachine>, _ client: ScriptedClient,
    _ hub: ChannelHub, _ listeners: inout [String: Listener]
  ) async throws {
    if let (name, call) = try step.call() {
      driver.submit(call) { [self] result in
        let result = result.mapError { ChannelStateMachine.error(for: $0) }
        add(ChannelText.line(name, result), at: client.now)
      }
    } else if let seconds = step.fields["wait"]?.integer {
      state.withLock { $0.waitingSince = client.now }
      await client.advance(by: .seconds(seconds))
      state.withLock { $0.waitingSince = nil }
    } else if let name = step.fields["listen"]?.text {
      let listener = Listener(topics: step.fields["topics"]?.texts) { [self] topic in
        add("\(name) got \(topic)", at: client.now)
      }
      listeners[name] = listener
      hub.downstreamListeners.add(listener, onMain: false)
    } else if let name = step.fields["forget"]?.text {
      listeners[name] = nil
    } else if let kind = step.fields["cloud"]?.text {
      client.feed(try event(kind, step.fields))
    } else {
      let counts = driver.read { $0.statistics }
      add(
        "late \(counts.lateReplies) duplicate \(counts.duplicateReplies) "
          + "unknown \(counts.unknownReplies) lost \(counts.lostConnections)", at: client.now)
    }
  }

  // MARK: The cloud

  private func event(_ kind: String, _ fields: JSONValue) throws -> ClientEvent {
    switch kind {
    case "accepts":
      _ = try takeOpen { if case .connect = $0 { true } else { false } }
      return .connected(.init())
    case "refuses": return close(.refused(code: UInt8(fields["code"]?.integer ?? 0)))
    case "loses": return close(.lost("the scenario says so"))
    case "closes": return close(.byUser)
    case "grants":
      let action = try takeOpen { if case .subscribe = $0 { true } else { false } }
      return .subscribed(action.id, granted(fields["qos"], by: action))
    case "acknowledges": return try acknowledge()
    case "sends": return message(fields)
    default: throw Scenario.Wrong("the cloud does not know how it \(kind)")
    }
  }

  private func close(_ reason: ClientEvent.Closed) -> ClientEvent {
    state.withLock { $0.open = [] }
    return .closed(reason)
  }

  private func granted(_ value: JSONValue?, by action: ClientAction) -> [QoS?] {
    if case .array(let values) = value {
      return values.map { $0.integer.flatMap { QoS(rawValue: UInt8($0)) } }
    }
    guard case .subscribe(let wanted) = action.kind else { return [] }
    return wanted.map { $0.qos }
  }

  private func acknowledge() throws -> ClientEvent {
    let action = try takeOpen {
      switch $0 {
      case .publish, .unsubscribe: true
      case .connect, .subscribe, .send, .disconnect: false
      }
    }
    if case .publish = action.kind { return .published(action.id) }
    return .unsubscribed(action.id)
  }

  private func message(_ fields: JSONValue) -> ClientEvent {
    let payload = fields["payload"].map { value in
      state.withLock { $0.text.replacingNames(in: value) }.utf8
    }
    return .message(
      Message(
        topic: ChannelText.lengthen(fields["topic"]?.text ?? ""), payload: payload ?? [],
        qos: .atLeastOnce))
  }

  private func takeOpen(where isMeant: (ClientAction.Kind) -> Bool) throws -> ClientAction {
    let action = state.withLock { state -> ClientAction? in
      guard let index = state.open.firstIndex(where: { isMeant($0.kind) }) else { return nil }
      return state.open.remove(at: index)
    }
    guard let action else { throw Scenario.Wrong("nothing open is like that") }
    return action
  }
}
