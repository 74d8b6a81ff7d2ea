package import DeviceSDK
package import RepriseCore

/// One of the SDK's systems as scenarios drive it: its machine, its vocabulary of calls, its lines.
///
/// There is one subject a run. It is what a scenario of its system needs and no other scenario does:
/// reading files, steps, time and worlds are the same for all systems.
package protocol ScenarioSubject: Sendable {
  /// The machine of the system.
  associatedtype Machine: StateMachine

  /// The call that closes what the machine has opened.
  var goodbye: Machine.Call { get }

  /// Creates the machine, configured as the scenario wants it.
  /// - Returns: The machine.
  /// - Throws: What is wrong with the configuration.
  func makeMachine() throws -> Machine

  /// Does what a step of the application does, as far as it needs no machine.
  /// - Parameter step: A step that is neither the cloud's nor a `wait`.
  /// - Returns: What is left to do.
  /// - Throws: ``ConformanceError`` for a step that the system does not know, and what calls throw
  ///   for bad arguments.
  func perform(_ step: ScenarioStep) throws -> ScenarioAct<Machine>

  /// Makes the message that the cloud sends.
  /// - Parameter step: A step of kind `sends`.
  /// - Returns: The message.
  /// - Throws: ``ConformanceError`` when the step has no topic.
  func message(_ step: ScenarioStep) throws -> Message

  /// Reads what the cloud does in a step.
  /// - Parameter step: The step.
  /// - Returns: What the cloud does; nil when it does nothing.
  /// - Throws: ``ConformanceError`` for what no cloud of the system can do.
  func cloud(_ step: ScenarioStep) throws -> CloudStep?

  /// Returns the line of an action that the machine had performed.
  /// - Parameter action: The action.
  /// - Returns: The line.
  func line(_ action: ClientAction) -> String

  /// Returns the line of a call that was completed.
  /// - Parameters:
  ///   - name: The name of the call's outcome.
  ///   - result: The outcome.
  /// - Returns: The line.
  func line(_ name: String, _ result: Result<Machine.Value, any Error>) -> String

  /// Writes what the application was told, and hands it to the application's listeners.
  /// - Parameter effect: What the application was told.
  func take(_ effect: Machine.Effect)

  /// Nothing more will be told.
  func finish()
}

extension ScenarioSubject {
  /// Reads what any cloud can do.
  package func cloud(_ step: ScenarioStep) throws -> CloudStep? {
    try step.cloud(message: message)
  }
}

/// What is left of a step of the application.
package enum ScenarioAct<Machine: StateMachine>: Sendable {
  /// Give the machine a call, whose outcome has a name.
  case call(Machine.Call, as: String)
  /// Ask the machine for something, which makes lines.
  case ask(@Sendable (Machine) -> [String])
  /// Nothing: it is done.
  case done
}
