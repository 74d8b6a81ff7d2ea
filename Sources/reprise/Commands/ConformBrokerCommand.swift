import ConformanceKit
import Driver
import Glibc
import LiveClient
import RepriseCore
import Wire

/// `reprise conform broker`: drives a broker by cases, and judges what it does.
enum ConformBrokerCommand: Command {
  static let profile = OptionSpec(
    name: "profile", value: "PROFILE", choices: DrivenCase.Profile.allCases.map(\.rawValue),
    help: "quick (default): under a minute; full: also what takes longer, such as keep-alives.")
  static let launch = OptionSpec(
    name: "launch", value: "COMMAND",
    help: """
      Starts the broker by COMMAND, in which {port} is the port to listen on, and stops it at \
      the end.
      """)
  static let save = OptionSpec(
    name: "save", value: "FOLDER", isFile: true,
    help: "Writes what was said in each case to FOLDER: CASE.pcapng and CASE.jsonl.")
  static let cases = OptionSpec(
    name: "case", value: "NAME", isList: true,
    help: "Only these cases; the path of a file (with a / or ending in .json) is a case of yours.")
  static let rate = OptionSpec(
    name: "rate", value: "N", help: "Begins at most N cases a second.")
  static let chop = OptionSpec(
    name: "chop", value: "N",
    help: """
      Repeats each case N times with what is sent cut into segments of TCP: first behind every \
      byte, then at places drawn by lot; what comes of it must not change.
      """)
  static let dryRun = OptionSpec(
    name: "dry-run", help: "Shows what would be sent, and connects to nobody.")
  static let force = OptionSpec(
    name: "force",
    help: """
      Replaces recordings that exist, and a baseline; reasons, owners and dates of what is \
      still found stay.
      """)

  static let spec = CommandSpec(
    name: "conform broker", summary: "Drives a broker by cases, and judges what it does.",
    operands: "URL | --launch COMMAND", operandCount: 0...1,
    options: [
      profile, cases, chop, launch, save, force, rate, dryRun, .spec, ConformRun.clause,
      ConformRun.strict, ConformRun.allowEmpty, ConformRun.format, ReportFiles.option, .output,
      BaselineOptions.baseline, BaselineOptions.write, .redact,
      BrokerOptions.username, BrokerOptions.passwordFile, BrokerOptions.authority,
      BrokerOptions.certificate, BrokerOptions.key, BrokerOptions.insecure,
      BrokerOptions.header,
    ],
    details: """
      URL is mqtt://HOST:PORT, mqtts:// for TLS, or ws:// and wss://HOST:PORT/PATH, where
      the clauses of WebSocket are judged as well. A case says what clients do, in MQTT 3.1.1
      and 5.0: reprise conform list --cases shows them all, reprise conform explain CASE one of
      them. What they and the broker say is recorded, byte by byte, and judged by the clauses
      that conform trace judges captures by; only what the broker does is in the report.

      The broker is asked first what it can do. What it can't and need not makes the clauses
      about it not-applicable. A case by which none of its clauses could be judged is
      inconclusive, and counts as nothing.

      Only the address that was given is connected to. Topics and client identifiers of a run
      are its own (reprise/RUN/...); what it has the broker keep is taken away at the end, also
      after Ctrl-C, and nothing of others is touched. With --save each finding can be judged
      again: reprise conform trace FOLDER. Recordings hold the password; others can't read them.

      What the steps of a case may be tells Conformance/broker/README.md.

      Examples:
        reprise conform broker mqtt://localhost
        reprise conform broker --launch 'mosquitto -p {port}' --save evidence/
        reprise conform broker mqtts://host --ca-file ca.pem --profile full
        reprise conform broker mqtt://localhost --case will-on-reset --spec mqtt-5.0
        reprise conform broker mqtt://localhost --case ./my-case.json --dry-run
        reprise conform broker mqtt://localhost --chop 3
        reprise conform broker mqtt://localhost --report junit=results.xml
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let versions = try versions(arguments)
    let repetitions = try arguments.count(chop) ?? 0
    let plans = try chosen(arguments).flatMap { CasePlan.plans(of: $0, in: versions) }
      .flatMap { plan in [plan] + (0..<repetitions).map { plan.cut($0 + 1) } }
    guard !plans.isEmpty else {
      throw UsageError("none of these cases is of these versions", "leave --spec out")
    }
    if arguments.has(dryRun) { return try show(plans, arguments) }
    // A step that can't be done is a mistake of its author, and no conduct of a broker.
    for plan in plans { _ = try plan.preview() }
    let baseline = try BaselineOptions(arguments, inputs: [], ownsForce: false)
    let outputs = try ReportFiles(arguments, inputs: [], others: baseline.paths)
    let recordings = try CaseRecordings(
      folder: arguments.value(save), replaces: arguments.has(force))
    try recordings.check(plans)
    var judging = try ConformRun.options(arguments, baseline)
    let session = try DriverSession(arguments, console)
    judging.specs = Set(versions.map(\.standard) + (session.isWebSocket ? ["rfc6455"] : []))
    judging.subject = .server
    var judge = try CaseJudge(judging)
    for result in try session.run(plans, in: versions) {
      try judge.take(result, in: recordings.write(result))
    }
    let report = judge.report()
    let noted = try baseline.apply(to: report, isWhole: true, console) { entries in
      Set(entries.filter(report.keeps))
    }
    let isEmpty = !report.hasJudged && !arguments.has(ConformRun.allowEmpty)
    return try outputs.write(noted, isWhole: !isEmpty && !session.isCutShort, console)
  }

  /// The versions of the standards that are judged by.
  private static func versions(_ arguments: Arguments) throws -> Set<MQTTVersion> {
    let all: [MQTTVersion] = [.v3_1_1, .v5_0]
    let specs = arguments.list(.spec)
    for spec in specs where !all.contains(where: { $0.standard == spec }) {
      throw UsageError(
        "a broker is not driven by \(spec)", "type --spec mqtt-3.1.1 or mqtt-5.0, or both")
    }
    return Set(all.filter { specs.isEmpty || specs.contains($0.standard) })
  }

  /// The cases that are asked for.
  private static func chosen(_ arguments: Arguments) throws -> [DrivenCase] {
    let library = try CaseLibrary(.broker)
    let profile = arguments.value(profile).flatMap(DrivenCase.Profile.init) ?? .quick
    let typed = arguments.list(cases)
    let files = typed.filter { $0.contains("/") || $0.hasSuffix(".json") }
    let own = try files.flatMap { try CaseLibrary.read(SmallFile.bytes($0, "--case"), .broker, $0) }
    let selectors = arguments.list(ConformRun.clause)
    let named = try library.select(
      typed.filter { !files.contains($0) }, profile: typed.isEmpty ? profile : .full, own: own)
    guard !selectors.isEmpty else { return named }
    let wanted = Set(try Catalogue.bundled().select(selectors).map { "\($0.spec)/\($0.id)" })
    let matching = named.filter { one in
      one.standards.contains { standard in
        one.clauses(of: standard).contains { wanted.contains("\(standard)/\($0)") }
      }
    }
    guard !matching.isEmpty else {
      throw UsageError(
        "no case is for \(selectors.joined(separator: ", "))",
        "reprise conform list --cases shows what each is for")
    }
    return matching
  }

  /// Shows what would be sent.
  private static func show(_ plans: [CasePlan], _ arguments: Arguments) throws -> ExitStatus {
    let output = try OutputFile(arguments.value(.output), inputs: [])
    for plan in plans { try output.write(try plan.preview()) }
    try output.close()
    return .done
  }
}
