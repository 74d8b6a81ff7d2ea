import ConformanceKit
import Glibc

/// `reprise conform sdk`: runs the SDK through its scenarios and judges it by its clauses.
enum ConformSDKCommand: Command {
  private static let client = OptionSpec(
    name: "client", value: "WORLD", choices: ScenarioPlay.World.allCases.map(\.rawValue),
    isList: true,
    help: """
      What the SDK lives in: file and capture (default) repeat what was recorded, live is a \
      real broker or, for requests, a real WebSocket, script answers as the steps say.
      """)
  private static let recordings = OptionSpec(
    name: "recordings", value: "FOLDER", isFile: true,
    help: "Where file and capture find SYSTEM/NAME.jsonl and .pcap (default Recordings/sdk).")
  private static let broker = OptionSpec(
    name: "broker", value: "URL",
    help: """
      The broker of live: mqtt://[USER[:PASSWORD]@]HOST[:PORT]; for requests alone none is \
      needed.
      """)
  private static let gate = OptionSpec(
    name: "gate", value: "ADDRESS",
    help: """
      Where live listens between the SDK and the broker (default 127.0.0.1); from another \
      loopback address on, each scenario has one of its own, for captures.
      """)
  private static let speed = OptionSpec(
    name: "speed", value: "X",
    help: """
      How many times as fast the SDK's time passes in live, 1 to 1000 (default 20); long \
      scenarios have a speed of their own, if it is higher.
      """)
  private static let save = OptionSpec(
    name: "save", value: "FOLDER", isFile: true,
    help: "Records what happens in live: SYSTEM/NAME.jsonl a scenario, and session.json.")
  private static let force = OptionSpec(
    name: BaselineOptions.force.name,
    help: """
      Replaces recordings that exist, and a baseline; reasons, owners and dates of what is \
      still found stay.
      """)
  private static let jobs = OptionSpec(
    name: OptionSpec.jobs.name, value: "N",
    help: """
      How many scenarios are run at a time, to the same result; as many as processors \
      (default). In live it is always 16.
      """)
  private static let list = OptionSpec(
    name: "list", help: "Lists the scenarios with their clauses and runs none.")

  static let spec = CommandSpec(
    name: "conform sdk", summary: "Judges the SDK by its scenarios, the same in every world.",
    operands: "[SCENARIO|SYSTEM...]", operandCount: 0...Int.max,
    options: [
      client, recordings, broker, gate, speed, save, force, list, ConformRun.clause,
      ConformRun.strict, ConformRun.format, ReportFiles.option, .output,
      BaselineOptions.baseline, BaselineOptions.write, .scenarioShard, jobs,
    ],
    details: """
      A scenario says what an application and a cloud do, step by step, and every line
      that must come of it. It is run in each world. What is wrong with a step is held
      against the clause that the step shows; the others of its scenario are kept if
      all their steps came before, and undecided if not.

      Verdicts: passed, failed, inconclusive (not reached), not-exercised (its
      scenarios were not run), not-applicable (only a unit test can judge it),
      not-followed (a SHOULD or MAY). Failed fails the run (status 1), as does a wrong
      step that shows no clause; a recording that is cut accuses nobody (status 2).

      --write-baseline writes what is found to a file of JSON, an entry a line, with room for
      a reason, an owner and a date (expires) of each. With --baseline these findings are
      accepted; a new one fails the run, and so does an entry that nothing matches any more,
      if its scenario now keeps the clause in its world. An entry goes by the clause, the
      scenario, the world, the step, what should come of it and what came, and the same of
      the steps behind it; not by times, frames and the names of files.

      --shard 3/16 runs the third of sixteen parts of the scenarios, for as many machines, in
      each world; reprise report merge joins their reports in JSON to that on all scenarios.
      In live it differs by what differs between two runs: times, and numbers of frames.

      A finding names the scenario's step, and in file and capture how to look at the place.
      What the lines and steps of scenarios mean tells Conformance/sdk/README.md.

      Examples:
        reprise conform sdk
        reprise conform sdk publish request-timeout --client capture
        reprise conform sdk link --client script
        reprise conform sdk --client live --broker mqtt://127.0.0.1:1883
        reprise conform sdk requests --client live
        reprise conform sdk --clause 1.5 --format json -o report.json
        reprise conform sdk --write-baseline accepted.json
        reprise conform sdk --baseline accepted.json --report junit=results.xml
        reprise conform sdk --shard 3/16 --format json -o 3.json
      """)

  static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
    let worlds = worlds(arguments)
    let play = ScenarioPlay(
      folder: arguments.value(recordings) ?? ScenarioPlay.usualFolder,
      live: try livePlay(arguments), jobs: try scenariosAtATime(arguments))
    let job = try ScenarioJob(
      .bundled(), arguments.operands, clauses: arguments.list(ConformRun.clause), in: worlds,
      by: play, arguments)
    try checkIsLive(worlds, arguments)
    guard arguments.has(list) else { return try await job.run(arguments, console) }
    let output = try OutputFile(arguments.value(.output), inputs: [])
    try output.write(job.listing)
    try output.close()
    return .done
  }

  /// The scenarios of a project, as they are run where nothing but their clauses is chosen.
  /// - Parameters:
  ///   - clauses: The clauses; none is all.
  ///   - isRecorded: Whether those alone are meant of which there is a recording.
  ///   - arguments: Where `--jobs`, `--strict` and `--shard` stand.
  /// - Returns: What runs them from what was recorded.
  /// - Throws: ``UsageError``, and `ConformanceError` for clauses that there are not.
  static func job(
    _ clauses: [String], isRecorded: Bool, _ arguments: Arguments
  ) throws -> ScenarioJob {
    let play = ScenarioPlay(
      folder: ScenarioPlay.usualFolder,
      live: LivePlay(broker: nil, gates: .one, speed: 20, folder: nil, replaces: false),
      jobs: try scenariosAtATime(arguments))
    return try ScenarioJob(
      .bundled(), [], clauses: clauses, in: usualWorlds, by: play, arguments,
      isRecorded: isRecorded)
  }

  private static let usualWorlds: [ScenarioPlay.World] = [.file, .capture]

  private static func scenariosAtATime(_ arguments: Arguments) throws(UsageError) -> Int {
    try arguments.count(jobs) ?? sysconf(Int32(_SC_NPROCESSORS_ONLN))
  }

  /// A user is not to believe that a broker was asked when none was.
  private static func checkIsLive(
    _ worlds: [ScenarioPlay.World], _ arguments: Arguments
  ) throws(UsageError) {
    guard !worlds.contains(.live) else { return }
    for option in [broker, gate, speed, save] where arguments.has(option) {
      throw UsageError("--\(option.name) is for --client live", "add --client live")
    }
    guard !arguments.has(force) || arguments.has(BaselineOptions.write) else {
      throw UsageError(
        "--force replaces recordings of live, or a baseline",
        "add --client live, or --write-baseline FILE")
    }
  }

  private static func livePlay(_ arguments: Arguments) throws(UsageError) -> LivePlay {
    let typed = arguments.value(speed) ?? "20"
    guard let number = Int(typed), (1...1_000).contains(number) else {
      throw UsageError("--speed can't be '\(typed)'", "type a whole number from 1 to 1000")
    }
    let gates = try arguments.value(gate).map(GateAddresses.init) ?? .one
    return LivePlay(
      broker: arguments.value(broker), gates: gates, speed: number,
      folder: arguments.value(save), replaces: arguments.has(force))
  }

  private static func worlds(_ arguments: Arguments) -> [ScenarioPlay.World] {
    var chosen: [ScenarioPlay.World] = []
    for world in arguments.list(client).compactMap(ScenarioPlay.World.init)
    where !chosen.contains(world) {
      chosen.append(world)
    }
    return chosen.isEmpty ? usualWorlds : chosen
  }
}
