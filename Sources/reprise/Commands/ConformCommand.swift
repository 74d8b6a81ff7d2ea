import Glibc
import RepriseCore

/// `reprise conform`: judges all recordings of a project.
enum ConformCommand: Command {
  static let spec = CommandSpec(
    name: "conform", summary: "Judges all recordings in Recordings/, by all clauses.",
    operandCount: 0...Int.max, options: ConformRun.options + [.shard],
    details: """
      Reads every capture and every recording in the folder Recordings and in those in it,
      as reprise conform trace Recordings does. Where Recordings/sdk has recordings of
      scenarios of the SDK, these are run as well, as by reprise conform sdk: one report has
      the clauses of MQTT, WebSocket and the SDK; --spec sdk is for the last alone.

      What Recordings/accepted.json lists is accepted, as with --baseline, which may name
      another file. It is written by reprise conform --write-baseline Recordings/accepted.json.
      With --shard it is left to reprise report merge --baseline.

      Other forms:
        reprise conform trace FILE...   judges captures and recordings by name
        reprise conform broker URL      drives a broker by cases, and judges what it does
        reprise conform client -- CMD   is the broker of a client, and judges what that does
        reprise conform server URL      drives a WebSocket server by cases
        reprise conform sdk             judges the SDK by its scenarios
        reprise conform list            lists the clauses
        reprise conform explain ID      says what a clause means and how it is judged
        reprise conform compare A B     says what differs between two reports in JSON
      """)

  /// Where recordings lie, below the current directory.
  private static let directory = "Recordings"
  /// What is accepted of them, where there is such a file.
  private static let accepted = "\(directory)/accepted.json"

  static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
    // Options may stand in front of the second word, too.
    if let word = arguments.operands.first {
      let rest = arguments.droppingFirstOperand
      if word == "sdk" { return try await ConformSDKCommand.run(rest, console) }
      if word == "broker" {
        try rest.checkOperands(ConformBrokerCommand.spec)
        return try ConformBrokerCommand.run(rest, console)
      }
      if word == "client" {
        try rest.checkOperands(ConformClientCommand.spec)
        return try ConformClientCommand.run(rest, console)
      }
      if word == "server" {
        try rest.checkOperands(ConformServerCommand.spec)
        return try ConformServerCommand.run(rest, console)
      }
      guard word == "trace" else { throw unknown(word) }
      try rest.checkOperands(ConformTraceCommand.spec)
      return try ConformTraceCommand.run(rest, console)
    }
    return try await judgeProject(arguments, console)
  }

  private static func judgeProject(
    _ arguments: Arguments, _ console: Console
  ) async throws -> ExitStatus {
    guard SessionFolder.isFolder(directory) else {
      throw UsageError(
        "there is no directory \(directory) here",
        "change to your project's directory, or name files: reprise conform trace FILE")
    }
    let clauses = try ProjectClauses(
      arguments, hasScenarios: SessionFolder.isFolder(ScenarioPlay.usualFolder))
    // The parts of a run are joined first.
    let baseline = arguments.has(.shard) || access(accepted, F_OK) != 0 ? nil : accepted
    // By its name all of its scenarios are asked for.
    let isRecorded = !arguments.list(.spec).contains(ProjectClauses.sdkName)
    var job = try clauses.sdk.map {
      try ConformSDKCommand.job($0, isRecorded: isRecorded, arguments)
    }
    // A folder of that name may be for something else.
    if job?.hasNone == true, isRecorded, clauses.standards != nil { job = nil }
    if let job, job.unrecorded > 0 {
      console.note(
        ScenarioPlay.usualFolder,
        "\(job.unrecorded) scenarios of the SDK have no recording there, and are not run; "
          + "--spec sdk asks for all")
    }
    guard let standards = clauses.standards else {
      return try await job?.run(arguments, accepted: baseline, console) ?? .unable
    }
    let project = ConformRun.Project(
      specs: standards.specs, clauses: standards.clauses,
      scenarios: try await job?.judge(console), accepted: baseline)
    return try ConformRun.judge([directory], arguments, console, of: project)
  }

  private static func unknown(_ word: String) -> UsageError {
    if access(word, F_OK) == 0 {
      return UsageError(
        "\(word) is no command of conform, but there is such a file",
        "type reprise conform trace \(ShellWord.quoted(word))")
    }
    let nearest = NearestName.find(
      word, in: ["trace", "broker", "client", "server", "sdk", "list", "explain", "compare"])
    return UsageError(
      "unknown command 'conform \(word)'",
      (nearest.map { "did you mean reprise conform \($0)? " } ?? "") + "type reprise help conform")
  }
}
