public import DataClient
import DeviceSDK

/// A dialogue between an application, a system of the SDK and the cloud, with the lines that come of it.
public struct Scenario: Sendable, Hashable {
  /// The systems of the SDK that there are scenarios of; a catalogue of clauses has the same name.
  public enum System: String, Sendable, Hashable, CaseIterable {
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
  public let system: System
  /// The name, which is that of its file.
  public let name: String
  /// What it shows, in one sentence.
  public let title: String
  /// The clauses that it is bound to.
  public let clauses: [String]
  /// How the cloud of a simulator behaves; nil when the steps say all that the cloud does.
  public let cloud: JSONValue?
  /// How many times as fast as true time the subject's time passes at a broker, if that is its own.
  ///
  /// It is for scenarios of minutes and hours.
  public let speed: Int?
  /// How the system is configured; an object.
  let configuration: JSONValue
  let steps: [ScenarioStep]

  /// Reads a scenario.
  /// - Parameters:
  ///   - value: The scenario, as the files in the folder of the system have it.
  ///   - system: The system that is under test.
  /// - Throws: ``ConformanceError`` when something is missing.
  public init(_ value: JSONValue, of system: System) throws(ConformanceError) {
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
    self.steps = steps.flatMap(ScenarioStep.steps)
  }
}

/// One step of a scenario: what one of the three does, and the lines that must come of it.
package struct ScenarioStep: Sendable, Hashable {
  /// What is done, with its arguments.
  package let fields: JSONValue
  /// All lines that must come of it.
  package let expected: [String]

  /// Creates a step from its object.
  /// - Parameter fields: What is done, with its arguments and `expect`.
  package init(_ fields: JSONValue) {
    self.fields = fields
    expected = fields["expect"]?.texts ?? []
  }

  /// Returns the steps that an object of a scenario stands for: itself, or what it repeats.
  ///
  /// In what is repeated `{i}` is the number of the repetition, from `from` on, which is 1 if it is not
  /// said.
  /// - Parameter fields: The object.
  /// - Returns: The steps, in their order.
  package static func steps(_ fields: JSONValue) -> [ScenarioStep] {
    guard let count = fields["repeat"]?.integer, case .array(let steps) = fields["steps"] else {
      return [ScenarioStep(fields)]
    }
    let first = fields["from"]?.integer ?? 1
    return (0..<max(0, min(count, 10_000))).flatMap { index in
      steps.flatMap { Self.steps($0.replacing("{i}", by: "\(first &+ index)")) }
    }
  }

  /// What the step is, for people: `cloud accepts`.
  package var summary: String {
    guard case .object(let members) = fields, let first = members.first else { return "nothing" }
    let value = first.value.text ?? String(decoding: first.value.utf8, as: UTF8.self)
    return "\(first.key) \(value)"
  }

  /// The time that passes; nil when the step is no `wait`.
  package var wait: Duration? { fields["wait"]?.seconds }

  /// The time that passes at once; nil when the step is no `jump`.
  package var jump: Duration? { fields["jump"]?.seconds }

  /// What the cloud does; nil when it does nothing.
  /// - Parameter message: Makes the message of a `sends`.
  /// - Returns: The step of the cloud.
  /// - Throws: ``ConformanceError`` for what no cloud can do, and what `message` throws.
  func cloud(message: (ScenarioStep) throws -> Message) throws -> CloudStep? {
    guard let kind = fields["cloud"]?.text else { return nil }
    switch kind {
    case "accepts": return .accept
    case "refuses": return .refuse(code: UInt8(clamping: fields["code"]?.integer ?? 0))
    case "grants": return .grant(granted)
    case "acknowledges": return .acknowledge
    case "sends": return .send(try message(self))
    case "loses": return .lose
    case "hangs up": return .hangUp
    case "closes": return .close
    case "acts": return .act(events: fields["events"]?.integer ?? 1)
    default: throw ConformanceError(.badCatalogue, "the cloud does not know how it \(kind)")
    }
  }

  private var granted: [QoS?]? {
    guard case .array(let values) = fields["qos"] else { return nil }
    return values.map { $0.integer.flatMap { QoS(rawValue: UInt8(clamping: $0)) } }
  }
}

extension JSONValue {
  /// The strings of an array of strings.
  package var texts: [String] {
    guard case .array(let values) = self else { return [] }
    return values.compactMap(\.text)
  }

  /// The value with something else in the place of a part of its strings.
  fileprivate func replacing(_ part: String, by other: String) -> JSONValue {
    switch self {
    case .string(let text): .string(text.replacing(part, with: other))
    case .array(let values): .array(values.map { $0.replacing(part, by: other) })
    case .object(let members):
      .object(members.map { JSONMember($0.key, $0.value.replacing(part, by: other)) })
    case .null, .bool, .number: self
    }
  }

  /// The duration that a number of seconds is, to the millisecond.
  package var seconds: Duration? {
    guard case .number(let digits) = self, let seconds = Double(digits), seconds >= 0,
      seconds < 1e9
    else { return nil }
    return .milliseconds(Int64((seconds * 1_000).rounded()))
  }
}
