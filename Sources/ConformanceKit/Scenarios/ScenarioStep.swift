package import RepriseCore

/// One step of a scenario: what one of the three does, and the lines that must come of it.
package struct ScenarioStep: Sendable, Hashable {
  /// What is done, with its arguments.
  package let fields: JSONValue
  /// All lines that must come of it.
  package let expected: [String]
  /// The clauses that it shows.
  package var binding: StepBinding

  /// Creates a step from its object.
  /// - Parameter fields: What is done, with its arguments and `expect`.
  package init(_ fields: JSONValue) {
    self.fields = fields
    expected = fields["expect"]?.texts ?? []
    binding = StepBinding(fields["clause"])
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
