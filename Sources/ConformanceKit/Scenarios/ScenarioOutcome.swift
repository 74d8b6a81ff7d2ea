package import RepriseCore

/// What came of a scenario in one world.
package struct ScenarioOutcome: Sendable, Hashable {
  /// The name of the scenario.
  package let scenario: String
  /// The lines that came of each step, as far as the scenario got.
  package let transcript: [[String]]
  /// What is not as it should be, in the order of the steps.
  package let findings: [ScenarioFinding]

}

/// A step of a scenario of which something else came than should.
package struct ScenarioFinding: Sendable, Hashable {
  /// The number of the step, from 1; one more than there are is the end of the scenario.
  package let step: Int
  /// What the step does, such as `cloud accepts`.
  package let action: String
  /// The clauses that are broken; none when a step went otherwise that shows none, or the end.
  package let clauses: [String]
  /// The frame, or the line, at which it was noticed, or the number of what happened; with connection and time.
  package let place: ReplayPlace
  /// Whether it says nothing of the subject: the world had no more to tell, or could not.
  package let isOfWorld: Bool
  /// What is wrong, in one sentence.
  package let message: String
  /// What should have come of it.
  package let expected: String
  /// What came of it.
  package let actual: String
  /// What to do next, with commands to type.
  package var remedies: [String] = []
  /// What tells it from other findings in the same step, and is the same in each run; without it `message`,
  /// `expected` and `actual` do.
  package var identity: [String]?

  /// What tells it from all other findings of its scenario and world.
  var texts: [String] { ["\(step)", action] + (identity ?? [message, expected, actual]) }
}
