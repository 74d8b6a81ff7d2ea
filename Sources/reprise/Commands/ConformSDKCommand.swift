import ConformanceKit
import RepriseCore

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
    name: "force", help: "Replaces recordings that exist.")
  private static let list = OptionSpec(
    name: "list", help: "Lists the scenarios with their clauses and runs none.")

  static let spec = CommandSpec(
    name: "conform sdk", summary: "Judges the SDK by its scenarios, the same in every world.",
    operands: "[SCENARIO|SYSTEM...]", operandCount: 0...Int.max,
    options: [
      client, recordings, broker, gate, speed, save, force, list, ConformRun.clause,
      ConformRun.strict, ConformRun.format, ReportFiles.option,
      .output,
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

      Examples:
        reprise conform sdk
        reprise conform sdk publish request-timeout --client capture
        reprise conform sdk link --client script
        reprise conform sdk --client live --broker mqtt://127.0.0.1:1883
        reprise conform sdk requests --client live
        reprise conform sdk --clause 1.5 --format json -o report.json
      """)

  static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
    let suite = try ScenarioSuite.bundled()
    let selectors = arguments.list(ConformRun.clause)
    let scenarios = try suite.select(arguments.operands, clauses: selectors)
    let worlds = worlds(arguments)
    let live = try livePlay(arguments)
    try checkIsLive(worlds, arguments)
    let outputs = try ReportFiles(arguments, inputs: [])
    if arguments.has(list) {
      try outputs.main.write(suite.listing(scenarios))
      try outputs.main.close()
      return .done
    }
    var judge = try ScenarioJudge(
      suite, clauses: selectors, isStrict: arguments.has(ConformRun.strict))
    let play = ScenarioPlay(
      folder: arguments.value(recordings) ?? "Recordings/sdk", live: live)
    var unplayed = 0
    var played = 0
    for world in worlds {
      for result in try await play.run(scenarios, in: world) {
        switch result {
        case .played(let scenario, let outcome, let input, let notes):
          for note in notes { console.note(input, note) }
          judge.add(outcome, of: scenario, in: input, isWhole: notes.isEmpty)
          played += 1
          if let first = outcome.findings.first, first.isOfWorld || !notes.isEmpty {
            console.error("\(input): \(first.message)")
            unplayed += 1
          }
        case .impossible(let message):
          console.error(message)
          unplayed += 1
        }
      }
    }
    // A report on nothing would look as if nothing were violated.
    guard played > 0 else { return .unable }
    return try outputs.write(
      judge.report(toolVersion: Reprise.version), isWhole: unplayed == 0, console)
  }

  /// A user is not to believe that a broker was asked when none was.
  private static func checkIsLive(
    _ worlds: [ScenarioPlay.World], _ arguments: Arguments
  ) throws(UsageError) {
    guard !worlds.contains(.live) else { return }
    for option in [broker, gate, speed, save, force] where arguments.has(option) {
      throw UsageError("--\(option.name) is for --client live", "add --client live")
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
    let chosen = arguments.list(client).compactMap(ScenarioPlay.World.init)
    return chosen.isEmpty ? [.file, .capture] : chosen
  }
}
