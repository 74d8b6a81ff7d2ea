package import RepriseCore

/// A dialogue between an application, a system of the SDK and the cloud, with the lines that come of it.
package struct Scenario: Sendable, Hashable {
  /// The systems of the SDK that there are scenarios of; a catalogue of clauses has the same name.
  package enum System: String, Sendable, Hashable, CaseIterable {
    /// The long connection of an app.
    case channel
    /// Requests and their answers over a WebSocket.
    case requests
    /// The gateway that an app is for its sub-devices.
    case gateway
    /// The states of links.
    case link
  }

  /// The system that is under test.
  package let system: System
  /// The name, which is that of its file.
  package let name: String
  /// What it shows, in one sentence.
  package let title: String
  /// The clauses that it is bound to.
  package let clauses: [String]
  /// How the cloud of a simulator behaves; nil when the steps say all that the cloud does.
  package let cloud: JSONValue?
  /// How many times as fast as true time the subject's time passes at a broker, if that is its own.
  ///
  /// It is for scenarios of minutes and hours.
  package let speed: Int?
  /// How the system is configured; an object.
  let configuration: JSONValue
  let steps: [ScenarioStep]

  /// Reads a scenario.
  /// - Parameters:
  ///   - value: The scenario, as the files in the folder of the system have it.
  ///   - system: The system that is under test.
  /// - Throws: ``ConformanceError`` when something is missing.
  package init(_ value: JSONValue, of system: System) throws(ConformanceError) {
    guard let name = value["name"]?.text, let title = value["title"]?.text,
      case .array(let clauses) = value["clauses"], case .array(let steps) = value["steps"]
    else {
      let name = value["name"]?.text ?? "without a name"
      throw ConformanceError(
        .badCatalogue, "the scenario \(name) lacks its name, its title, its clauses or its steps")
    }
    self.system = system
    self.name = name
    self.title = title
    self.clauses = clauses.compactMap(\.text)
    cloud = value["cloud"]
    speed = value["speed"]?.integer
    configuration = value["configuration"] ?? [:]
    self.steps = try Self.bind(steps.flatMap(ScenarioStep.steps), to: self.clauses, of: name)
  }
}
