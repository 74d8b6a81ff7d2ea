public import DataClient

/// What came of a scenario in one world.
public struct ScenarioOutcome: Sendable, Hashable {
  /// The name of the scenario.
  public let scenario: String
  /// The lines that came of each step, as far as the scenario got.
  public let transcript: [[String]]
  /// What is not as it should be, in the order of the steps.
  public let findings: [ScenarioFinding]

  /// Whether all is as it should be.
  public var hasPassed: Bool { findings.isEmpty }
}

/// A step of a scenario of which something else came than should.
public struct ScenarioFinding: Sendable, Hashable {
  /// The number of the step, from 1; one more than there are is the end of the scenario.
  public let step: Int
  /// What the step does, such as `cloud accepts`.
  public let action: String
  /// The clauses that are broken; none when a step went otherwise that shows none, or the end.
  public let clauses: [String]
  /// The frame, or the line, at which it was noticed, or the number of what happened; with connection and time.
  public let place: ReplayPlace
  /// Whether it says nothing of the subject: the world had no more to tell, or could not.
  public let isOfWorld: Bool
  /// What is wrong, in one sentence.
  public let message: String
  /// What should have come of it.
  public let expected: String
  /// What came of it.
  public let actual: String
}
