package import DeviceSDK
package import RepriseCore
import Synchronization

/// A machine that can stand in the place of one of the links'.
package protocol LinkMachine: StateMachine
where Call: LinkCall, Value == Void, Effect == LinkEffect, Failure == LinkError {}

extension MessageLinkMachine: LinkMachine {}
extension StreamLinkMachine: LinkMachine {}

/// One link as scenarios drive it: that of the message service, or that of one stream channel.
///
/// Each has a connection of its own, and so a scenario is of one of them.
package final class LinkSubject<Machine: LinkMachine>: ScenarioSubject {
  private let settings: LinkSettings
  private let pen: ScenarioPen
  private let make: @Sendable (LinkSettings) throws -> Machine
  private let text: Mutex<LinkText>

  /// Creates the subject of one run.
  /// - Parameters:
  ///   - scenario: What configures the link; its name is that of the app, so that scenarios can be run
  ///     on one broker at a time.
  ///   - pen: What lines are written by.
  ///   - make: Makes the machine that is under test.
  /// - Throws: ``ConformanceError`` for an unknown setting.
  package init(
    _ scenario: Scenario, pen: ScenarioPen,
    make: @escaping @Sendable (LinkSettings) throws -> Machine
  ) throws {
    settings = try LinkSettings(scenario)
    self.pen = pen
    self.make = make
    text = Mutex(LinkText(settings))
  }

  /// Logs out of the message service, or leaves the stream channel.
  package var goodbye: Machine.Call { .goodbye }

  /// Creates the machine that is under test.
  package func makeMachine() throws -> Machine { try make(settings) }

  // MARK: Steps

  /// Does what a step of the application does.
  package func perform(_ step: ScenarioStep) throws -> ScenarioAct<Machine> {
    guard let kind = step.fields["call"]?.text, let call = try Machine.Call(kind, step.fields)
    else {
      throw ConformanceError(.badCatalogue, "a link does not know the step \(step.summary)")
    }
    return .call(call, as: step.fields["as"]?.text ?? kind)
  }

  /// Makes the message that the cloud sends.
  package func message(_ step: ScenarioStep) throws -> Message {
    guard let topic = step.fields["topic"]?.text else {
      throw ConformanceError(.badCatalogue, "the cloud sends without a topic")
    }
    return text.withLock { text in
      Message(
        topic: text.lengthen(topic), payload: text.payload(step.fields["payload"]),
        qos: .atLeastOnce)
    }
  }

  // MARK: Lines

  /// Returns the line of an action that the machine had performed.
  package func line(_ action: ClientAction) -> String { text.withLock { $0.line(action) } }

  /// Returns the line of a call that was completed.
  package func line(_ name: String, _ result: Result<Void, any Error>) -> String {
    LinkText.line(name, result)
  }

  /// Writes what the application was told.
  package func take(_ effect: LinkEffect) { pen.write(LinkText.line(effect)) }

  /// There is nobody else to tell.
  package func finish() {}
}

/// Whose link a scenario is of, and how it behaves.
package struct LinkSettings: Sendable {
  /// How the link behaves, and who it is.
  package var configuration: LinkConfiguration
  /// The stream channel; nil for the link of the message service.
  package private(set) var streamChannel: String?

  /// Reads the settings of a scenario.
  /// - Parameter scenario: The scenario.
  /// - Throws: ``ConformanceError`` for an unknown setting.
  package init(_ scenario: Scenario) throws(ConformanceError) {
    configuration = LinkConfiguration(appID: scenario.name, userID: "ann", sessionID: "1")
    guard case .object(let members) = scenario.configuration else { return }
    for member in members where !set(member.key, member.value) {
      throw ConformanceError(
        .badCatalogue, "the scenario \(scenario.name) has the unknown setting \(member.key)")
    }
  }

  /// Takes a setting over.
  /// - Returns: Whether there is such a setting.
  private mutating func set(_ key: String, _ value: JSONValue) -> Bool {
    switch (key, value) {
    case ("streamChannel", .string(let name)): streamChannel = name
    case ("heartbeatInterval", _): return set(\.heartbeatInterval, value)
    case ("presenceTimeout", _): return set(\.presenceTimeout, value)
    case ("reconnectTimeout", _): return set(\.reconnectTimeout, value)
    case ("attemptTimeout", _): return set(\.attemptTimeout, value)
    case ("callTimeout", _): return set(\.callTimeout, value)
    case ("rejectsRepeatedLogin", .bool(let flag)): configuration.rejectsRepeatedLogin = flag
    case ("restoresAfterFailure", .bool(let flag)): configuration.restoresAfterFailure = flag
    default: return false
    }
    return true
  }

  private mutating func set(
    _ field: WritableKeyPath<LinkConfiguration, Duration>, _ value: JSONValue
  ) -> Bool {
    guard let duration = value.seconds else { return false }
    configuration[keyPath: field] = duration
    return true
  }
}

extension Scenario {
  /// Runs a scenario of a link with the SDK's own machines.
  func runLink(in world: any ScenarioWorld) async throws -> ScenarioOutcome {
    guard try LinkSettings(self).streamChannel != nil else {
      return try await ScenarioRunner(self) { scenario, pen in
        try LinkSubject(scenario, pen: pen) { try MessageLinkMachine($0.configuration) }
      }.run(in: world)
    }
    return try await ScenarioRunner(self) { scenario, pen in
      try LinkSubject(scenario, pen: pen) {
        try StreamLinkMachine($0.streamChannel ?? "", $0.configuration)
      }
    }.run(in: world)
  }
}
