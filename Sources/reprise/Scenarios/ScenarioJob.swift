import ConformanceKit
import Glibc

/// Scenarios of the SDK that are to be run in some worlds, and judged.
struct ScenarioJob {
  private let suite: ScenarioSuite
  /// The scenarios of all parts of a run.
  private let all: [Scenario]
  /// How many were left out, as there is no recording of them.
  let unrecorded: Int
  /// Those of this part.
  let scenarios: [Scenario]
  private let worlds: [ScenarioPlay.World]
  private let play: ScenarioPlay
  private let clauses: [String]
  private let isStrict: Bool
  private let shard: Shard?

  /// Prepares to run scenarios.
  /// - Parameters:
  ///   - suite: The suite that they are of.
  ///   - names: Which are meant: systems and scenarios; none is all.
  ///   - clauses: The clauses that they are judged by; none is all.
  ///   - worlds: The worlds.
  ///   - play: What runs them.
  ///   - arguments: Where `--strict` and `--shard` stand.
  ///   - isRecorded: Whether those alone are meant of which there is a recording.
  /// - Throws: ``UsageError`` for a part that is none, and `ConformanceError` for what is not there.
  init(
    _ suite: ScenarioSuite, _ names: [String], clauses: [String], in worlds: [ScenarioPlay.World],
    by play: ScenarioPlay, _ arguments: Arguments, isRecorded: Bool = false
  ) throws {
    self.suite = suite
    self.worlds = worlds
    self.play = play
    self.clauses = clauses
    let selected = try suite.select(names, clauses: clauses)
    all =
      isRecorded
      ? selected.filter { scenario in
        worlds.compactMap { play.path(of: scenario, in: $0) }.contains { access($0, F_OK) == 0 }
      } : selected
    unrecorded = selected.count - all.count
    shard = try Shard(arguments)
    scenarios = shard?.scenarios(of: all) ?? all
    isStrict = arguments.has(ConformRun.strict)
  }

  /// Whether there are none, in any part.
  var hasNone: Bool { all.isEmpty }

  /// The scenarios with their clauses, for people.
  var listing: String { suite.listing(scenarios) }

  /// The files that they are played from.
  var inputs: [String] {
    worlds.flatMap { world in scenarios.compactMap { play.path(of: $0, in: world) } }
  }

  /// Runs and judges them.
  /// - Parameter console: How to tell what the worlds lack.
  /// - Returns: The report, as that on a part where it is one.
  /// - Throws: What ``ScenarioPlay/run(_:in:)`` throws, and `ConformanceError`.
  func judge(_ console: Console) async throws -> ConformanceReport {
    var judge = try ScenarioJudge(suite, clauses: clauses, isStrict: isStrict)
    for world in worlds {
      for result in try await play.run(scenarios, in: world) {
        judge.add(result, in: world, console)
      }
    }
    if scenarios.isEmpty, shard != nil {
      console.note("--shard", "none of the scenarios is of this part")
    }
    let report = judge.report(toolVersion: Reprise.version)
      .asPart(shard?.named(cases: all.count * worlds.count))
    for problem in report.problems { console.error(problem) }
    return report
  }

  /// Runs and judges them, and writes what came of it.
  /// - Parameters:
  ///   - arguments: Where the report goes, and what is accepted.
  ///   - accepted: The baseline that counts where no option names one; nil where there is none.
  ///   - console: How to tell the user.
  /// - Returns: What the verdicts are to the process.
  /// - Throws: ``UsageError``, ``OutputError``, and what ``judge(_:)`` throws.
  func run(_ arguments: Arguments, accepted: String? = nil, _ console: Console) async throws
    -> ExitStatus
  {
    let baseline = try BaselineOptions(
      arguments, inputs: inputs, ownsForce: false, usual: accepted)
    let outputs = try ReportFiles(arguments, inputs: inputs, others: baseline.paths)
    let report = try await judge(console)
    // A report on nothing would look as if nothing were violated; that on a part is joined with others.
    guard !report.inputs.isEmpty || shard != nil else { return .unable }
    let isWhole = report.problems.isEmpty
    return try outputs.write(
      baseline.apply(to: report, isWhole: isWhole, console) { Set($0.filter(report.keeps)) },
      isWhole: isWhole, console)
  }
}

extension ScenarioJudge {
  /// Takes what came of the wish to run a scenario, and tells what its world lacks.
  fileprivate mutating func add(
    _ result: ScenarioPlay.Result, in world: ScenarioPlay.World, _ console: Console
  ) {
    switch result {
    case .played(let scenario, let outcome, let input, let notes):
      for note in notes { console.note(input, note) }
      add(outcome, of: scenario, in: world.rawValue, from: input, isWhole: notes.isEmpty)
    case .impossible(let scenario, let input, let reason):
      add(unrun: scenario, in: world.rawValue, from: input, reason: reason)
    }
  }
}
