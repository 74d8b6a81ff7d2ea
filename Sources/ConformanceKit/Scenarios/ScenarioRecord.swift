/// What became of a scenario in one world.
package struct ScenarioRecord: Sendable, Hashable {
  /// How a scenario ended.
  package enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// All was as it should be.
    case passed
    /// A step went otherwise than it should.
    case failed
    /// The world could not be played to its end, which accuses nobody.
    case inconclusive
    /// There was no such world.
    case notRun = "not-run"
  }

  /// The name of the scenario.
  package let scenario: String
  /// The system that it is of.
  package let system: Scenario.System
  /// The world, by the name that the command has for it.
  package let world: String
  /// What the world was made of, or would have been: a file, or the world's name.
  package let file: String
  /// How it ended.
  package let outcome: Outcome
  /// Why it is neither passed nor failed; nil where it is.
  package let reason: String?
  /// The clauses that it kept; not told in reports.
  let kept: Set<String>

  init(
    _ scenario: Scenario, in world: String, of file: String, _ outcome: Outcome,
    reason: String? = nil, kept: Set<String> = []
  ) {
    self.scenario = scenario.name
    system = scenario.system
    (self.world, self.file, self.outcome, self.reason) = (world, file, outcome, reason)
    self.kept = kept
  }

  /// Why there is no verdict of it, with the file; nil where there is one.
  package var problem: String? {
    // A reason for which a file can't be read names it.
    reason.map { $0.hasPrefix(file) ? $0 : "\(file): \($0)" }
  }

  /// The subject that findings of it are about.
  var subject: String { ScenarioPlace.subject(scenario, in: world) }

  /// The place of the case among those of a run, whatever its parts.
  var key: Key { Key(world: world, scenario: scenario) }

  /// A scenario in a world.
  struct Key: Hashable {
    var world: String
    var scenario: String
  }

  /// Whether a clause, with its standard, was kept; that of steps which show none, where all went well.
  func keeps(_ clause: String) -> Bool {
    outcome == .passed && clause == ClauseKey.step.description
      || kept.contains { "sdk/\($0)" == clause }
  }
}

extension ClauseKey {
  /// What stands in the place of a clause where a step shows none.
  static let step = ClauseKey(spec: "sdk", id: "step")
}
