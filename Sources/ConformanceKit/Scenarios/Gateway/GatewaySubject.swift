package import DeviceSDK
package import RepriseCore
import Synchronization

/// The gateway of an app as scenarios drive it.
package final class GatewaySubject<Gateway: GatewayMachine>: ScenarioSubject {
  /// What is under test, with what is beside it.
  package typealias Machine = GatewayStage<Gateway>

  private let settings: GatewaySettings
  private let pen: ScenarioPen
  private let wrap: @Sendable (GatewayStateMachine) -> Gateway
  private let devices: GatewayDevices
  private let text: Mutex<GatewayText>
  /// The newest command to each sub-device, for the application to answer.
  private let commands = Mutex<[String: GatewayCommand]>([:])

  /// Creates the subject of one run.
  /// - Parameters:
  ///   - scenario: What configures the gateway; its name is that of the gateway's device and the key of
  ///     its sub-devices' product, so that scenarios can be run on one broker at a time.
  ///   - pen: What lines are written by.
  ///   - wrap: Makes the machine that is under test of the gateway's own.
  /// - Throws: ``ConformanceError`` for an unknown setting.
  package init(
    _ scenario: Scenario, pen: ScenarioPen,
    wrap: @escaping @Sendable (GatewayStateMachine) -> Gateway
  ) throws {
    settings = try GatewaySettings(scenario)
    devices = GatewayDevices(productKey: scenario.name)
    text = Mutex(GatewayText(settings.identity, devices))
    self.pen = pen
    self.wrap = wrap
  }

  /// Closes the connection.
  package var goodbye: Machine.Call { .leave }

  /// Creates the machine that is under test.
  package func makeMachine() throws -> Machine {
    GatewayStage(
      wrap(try GatewayStateMachine(settings.gateway)),
      channel: try settings.channel.map { try ChannelStateMachine($0) }, devices: devices)
  }

  // MARK: Steps

  /// Does what a step of the application, or of a sub-device, does, as far as it needs no machine.
  package func perform(_ step: ScenarioStep) throws -> ScenarioAct<Machine> {
    if let kind = step.fields["call"]?.text { return try call(kind, step) }
    guard let name = step.fields["device"]?.text else {
      throw ConformanceError(.badCatalogue, "a gateway does not know the step \(step.summary)")
    }
    if step.fields["is"] != nil || step.fields["says"] != nil {
      try set(name, step, step.fields["says"] ?? [:])
      return .done
    }
    guard let connection = devices.connection(to: name) else {
      throw ConformanceError(.badCatalogue, "nobody has a connection to \(name)")
    }
    switch step.fields["then"]?.text {
    case "opens":
      return .call(.opened(connection, devices.info(of: connection)), as: "\(name) opens")
    case "fails": return .call(.opened(connection, GatewayDevices.failure), as: "\(name) fails")
    default:
      throw ConformanceError(.badCatalogue, "a sub-device does not know the step \(step.summary)")
    }
  }

  private func set(_ name: String, _ step: ScenarioStep, _ saying: JSONValue) throws {
    var words: [String: String] = [:]
    if case .object(let members) = saying {
      for member in members { words[member.key] = member.value.text ?? "" }
    }
    let condition = step.fields["is"]?.text
    guard condition == nil || condition.flatMap(GatewayDevices.Condition.init) != nil else {
      throw ConformanceError(.badCatalogue, "a sub-device can't be as in \(step.summary)")
    }
    devices.set(name, condition.flatMap(GatewayDevices.Condition.init), saying: words)
  }

  private func call(_ kind: String, _ step: ScenarioStep) throws -> ScenarioAct<Machine> {
    let name = step.fields["as"]?.text ?? kind
    switch kind {
    case "statistics": return .ask { [Self.line($0.gateway.statistics)] }
    case "lines":
      return .ask { [text = text.withLock { $0 }] stage in
        stage.gateway.subdevices.map { device in
          "\(text.name(device)) is \(stage.gateway.lineState(of: device) ?? .new)"
        }
      }
    case "answer":
      let device = step.fields["device"]?.text ?? ""
      guard let command = commands.withLock({ $0[device] }) else {
        return .ask { _ in ["\(device) has no command"] }
      }
      let code = step.fields["code"]?.integer ?? 200
      return .call(
        .gateway(
          .answer(
            command, code: code, message: step.fields["message"]?.text,
            step.fields["data"] ?? [:])), as: name)
    default:
      let reader = GatewayCallReader(fields: step.fields, devices: devices) { [self] short in
        text.withLock { $0.lengthen(short) }
      }
      return .call(try reader.call(kind), as: name)
    }
  }

  /// Makes the message that the cloud sends.
  package func message(_ step: ScenarioStep) throws -> Message {
    guard let topic = step.fields["topic"]?.text else {
      throw ConformanceError(.badCatalogue, "the cloud sends without a topic")
    }
    return text.withLock { text in
      let bytes =
        step.fields["text"]?.text.map { Array($0.utf8) }
        ?? step.fields["payload"].map { text.replacingNames(in: $0).utf8 }
      return Message(topic: text.lengthen(topic), payload: bytes ?? [], qos: .atLeastOnce)
    }
  }

  // MARK: Lines

  /// Returns the line of an action that a machine had performed.
  package func line(_ action: ClientAction) -> String { text.withLock { $0.line(action) } }

  /// Returns the line of a call that was completed.
  package func line(_ name: String, _ result: Result<Machine.Value, any Error>) -> String {
    switch result {
    // What a sub-device says is no question.
    case .success(.gateway(.done)) where name.hasSuffix(" opens") || name.hasSuffix(" fails"): name
    case .success(.gateway(let value)): text.withLock { $0.line(name, value) }
    case .success(.channel(let value)): ChannelText.line(name, .success(value))
    case .failure(let error as ChannelError): ChannelText.line(name, .failure(error))
    case .failure(let error): GatewayText.line(name, Self.gatewayError(error))
    }
  }

  private static func gatewayError(_ error: any Error) -> GatewayError {
    switch error {
    case let error as GatewayError: error
    case let error as DataClientError: GatewayError(.network, error.message)
    default: GatewayError(.client, "\(error)")
    }
  }

  private static func line(_ counts: GatewayStatistics) -> String {
    "late \(counts.lateReplies) duplicate \(counts.duplicateReplies) "
      + "unknown \(counts.unknownReplies) lost \(counts.lostConnections) "
      + "logins \(counts.automaticLogins)"
  }

  /// Writes what the application was told.
  package func take(_ effect: Machine.Effect) {
    switch effect {
    case .gateway(let effect):
      pen.write(text.withLock { $0.line(effect) })
      guard case .command(let command) = effect else { return }
      commands.withLock { $0[command.subdevice.deviceName] = command }
    case .channel(let effect): pen.write(text.withLock { $0.line(effect) })
    }
  }

  /// Nothing more will be told.
  package func finish() {}
}

extension GatewaySubject where Gateway == GatewayStateMachine {
  /// Creates the subject of one run of the right gateway.
  /// - Parameters:
  ///   - scenario: What configures the gateway.
  ///   - pen: What lines are written by.
  /// - Throws: ``ConformanceError`` for an unknown setting.
  package convenience init(_ scenario: Scenario, pen: ScenarioPen) throws {
    try self.init(scenario, pen: pen) { $0 }
  }
}
