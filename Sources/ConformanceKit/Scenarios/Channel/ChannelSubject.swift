package import DeviceSDK
package import RepriseCore
import Synchronization

/// A machine that can stand in the place of the channel's.
package protocol ChannelMachine: StateMachine
where
  Call == ChannelStateMachine.Call, Value == ChannelStateMachine.Value,
  Effect == ChannelStateMachine.Effect, Failure == ChannelError
{
  /// What was counted.
  var statistics: ChannelStatistics { get }
}

extension ChannelStateMachine: ChannelMachine {}

/// The long connection of an app as scenarios drive it.
package final class ChannelSubject<Machine: ChannelMachine>: ScenarioSubject {
  private let configuration: ChannelConfiguration
  private let pen: ScenarioPen
  private let hub = ChannelHub()
  private let wrap: @Sendable (ChannelStateMachine) -> Machine
  private let text: Mutex<ChannelText>
  private let listeners = Mutex<[String: Listener]>([:])

  /// Creates the subject of one run.
  /// - Parameters:
  ///   - scenario: What configures the channel; its name is that of the device, so that scenarios can
  ///     be run on one broker at a time.
  ///   - pen: What lines are written by.
  ///   - wrap: Makes the machine that is under test of the channel's own.
  /// - Throws: ``ConformanceError`` for an unknown setting.
  package init(
    _ scenario: Scenario, pen: ScenarioPen,
    wrap: @escaping @Sendable (ChannelStateMachine) -> Machine
  ) throws {
    let identity = try ChannelIdentity(productKey: "a1pk", deviceName: scenario.name)
    configuration = try Self.configuration(of: scenario, identity)
    self.pen = pen
    self.wrap = wrap
    text = Mutex(ChannelText(identity))
  }

  private static func configuration(
    of scenario: Scenario, _ identity: ChannelIdentity
  ) throws(ConformanceError) -> ChannelConfiguration {
    var result = ChannelConfiguration(appKey: "1234", authCode: "test", identity: identity)
    result.reconnect.jitterPercent = 0
    guard case .object(let members) = scenario.configuration else { return result }
    for member in members {
      switch (member.key, member.value) {
      case ("replySubscription", "unlessCovered"): result.replySubscription = .unlessCovered
      case ("releasesReplyTopics", .bool(let value)): result.releasesReplyTopics = value
      default:
        throw ConformanceError(
          .badCatalogue, "the scenario \(scenario.name) has the unknown setting \(member.key)")
      }
    }
    return result
  }

  /// Stops the channel.
  package var goodbye: Machine.Call { .stop }

  /// Creates the machine that is under test.
  package func makeMachine() throws -> Machine { wrap(try ChannelStateMachine(configuration)) }

  // MARK: Steps

  /// Does what a step of the application does, as far as it needs no machine.
  package func perform(_ step: ScenarioStep) throws -> ScenarioAct<Machine> {
    if let kind = step.fields["call"]?.text {
      guard kind != "statistics" else { return .ask { [Self.line($0.statistics)] } }
      return .call(try call(kind, step.fields), as: step.fields["as"]?.text ?? kind)
    }
    if let name = step.fields["listen"]?.text {
      listen(as: name, topics: step.fields["topics"]?.texts)
    } else if let name = step.fields["forget"]?.text {
      listeners.withLock { $0[name] = nil }
    } else {
      throw ConformanceError(.badCatalogue, "a channel does not know the step \(step.summary)")
    }
    return .done
  }

  private func call(_ kind: String, _ fields: JSONValue) throws -> Machine.Call {
    let params = fields["params"] ?? [:]
    switch kind {
    case "start": return .start
    case "stop": return .stop
    case "unbind": return .unbind
    case "login": return .noteLogin
    case "bind": return .bind(token: fields["token"]?.text ?? "")
    case "publish": return .publish(try topic(fields), params)
    case "subscribe": return .subscribe(try topic(fields))
    case "unsubscribe": return .unsubscribe(try topic(fields))
    case "invoke":
      return .invoke(
        .init(
          try topic(fields), params: params, options: fields["opts"],
          timeout: fields["timeout"]?.seconds))
    default: throw ConformanceError(.badCatalogue, "a channel does not know the call \(kind)")
    }
  }

  private func topic(_ fields: JSONValue) throws -> ChannelTopic {
    let short = fields["topic"]?.text ?? ""
    return try ChannelTopic(text.withLock { $0.lengthen(short) })
  }

  /// Makes the message that the cloud sends.
  package func message(_ step: ScenarioStep) throws -> Message {
    guard let topic = step.fields["topic"]?.text else {
      throw ConformanceError(.badCatalogue, "the cloud sends without a topic")
    }
    return text.withLock { text in
      let payload = step.fields["payload"].map { text.replacingNames(in: $0).utf8 }
      return Message(topic: text.lengthen(topic), payload: payload ?? [], qos: .atLeastOnce)
    }
  }

  // MARK: Listeners

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

  private func listen(as name: String, topics: [String]?) {
    let listener = Listener(topics: topics) { [pen] in pen.write("\(name) got \($0)") }
    listeners.withLock { $0[name] = listener }
    hub.downstreamListeners.add(listener, onMain: false) { [weak listener] in listener }
  }

  // MARK: Lines

  /// Returns the line of an action that the machine had performed.
  package func line(_ action: ClientAction) -> String { text.withLock { $0.line(action) } }

  /// Returns the line of a call that was completed.
  package func line(_ name: String, _ result: Result<Machine.Value, any Error>) -> String {
    ChannelText.line(name, result.mapError(Self.channelError))
  }

  private static func channelError(_ error: any Error) -> ChannelError {
    switch error {
    case let error as ChannelError: error
    case let error as DataClientError: ChannelError(error)
    default: ChannelError(.client, "\(error)")
    }
  }

  private static func line(_ counts: ChannelStatistics) -> String {
    "late \(counts.lateReplies) duplicate \(counts.duplicateReplies) "
      + "unknown \(counts.unknownReplies) lost \(counts.lostConnections)"
  }

  /// Writes what the application was told, and hands it to the application's listeners.
  package func take(_ effect: Machine.Effect) {
    pen.write(text.withLock { $0.line(effect) })
    hub.take(effect)
  }

  /// Ends the listeners.
  package func finish() { hub.finish() }
}

extension ChannelSubject where Machine == ChannelStateMachine {
  /// Creates the subject of one run of the right channel.
  /// - Parameters:
  ///   - scenario: What configures the channel.
  ///   - pen: What lines are written by.
  /// - Throws: ``ConformanceError`` for an unknown setting.
  package convenience init(_ scenario: Scenario, pen: ScenarioPen) throws {
    try self.init(scenario, pen: pen) { $0 }
  }
}
