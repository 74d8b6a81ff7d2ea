import ConformanceKit
import Driver
import Wire

/// What the commands take that drive a subject by cases.
enum DriveOptions {
  static let profile = OptionSpec(
    name: "profile", value: "PROFILE", choices: DrivenCase.Profile.allCases.map(\.rawValue),
    help: "quick (default): under a minute; full: also what takes longer, such as keep-alives.")
  static let cases = OptionSpec(
    name: "case", value: "NAME", isList: true,
    help: "Only these cases; the path of a file (with a / or ending in .json) is a case of yours.")
  static let chop = OptionSpec(
    name: "chop", value: "N",
    help: """
      Repeats each case N times with what is sent cut into segments of TCP: first behind every \
      byte, then at places drawn by lot: what the peer violates must not change, nor may a \
      server end what nothing is wrong with.
      """)
  static let save = OptionSpec(
    name: "save", value: "FOLDER", isFile: true,
    help: "Writes what was said in each case to FOLDER: CASE.pcapng and CASE.jsonl.")
  static let force = OptionSpec(
    name: "force",
    help: """
      Replaces recordings that exist, and a baseline; reasons, owners and dates of what is \
      still found stay.
      """)
  static let rate = OptionSpec(
    name: "rate", value: "N", help: "Begins at most N cases a second.")
  static let dryRun = OptionSpec(
    name: "dry-run", help: "Shows what would be sent, and connects to nobody.")

  /// The options about cases.
  static let own = [profile, cases, chop]
  /// The options about how they are run and what is kept of them.
  static let running = [.caseShard, save, force, rate, dryRun]
  /// The options about the report.
  static let report: [OptionSpec] = [
    ConformRun.clause, ConformRun.strict, ConformRun.allowEmpty, ConformRun.format,
    ReportFiles.option, .output, BaselineOptions.baseline, BaselineOptions.write, .redact,
  ]

  // MARK: What is run

  /// The versions of MQTT that are asked for; both where none is.
  /// - Parameters:
  ///   - arguments: What was typed.
  ///   - kind: What is driven.
  /// - Returns: The versions.
  /// - Throws: ``UsageError`` for a specification that is none of MQTT.
  static func versions(
    _ arguments: Arguments, _ kind: CaseKind
  ) throws -> Set<MQTTVersion> {
    let all: [MQTTVersion] = [.v3_1_1, .v5_0]
    let specs = arguments.list(.spec)
    for spec in specs where !all.contains(where: { $0.standard == spec }) {
      throw UsageError(
        "a \(kind.rawValue) is not driven by \(spec)",
        "type --spec mqtt-3.1.1 or mqtt-5.0, or both")
    }
    return Set(all.filter { specs.isEmpty || specs.contains($0.standard) })
  }

  /// The cases that are asked for, with their repetitions, and which of them are run here.
  /// - Parameters:
  ///   - kind: What is driven.
  ///   - versions: The versions of MQTT.
  ///   - arguments: What was typed.
  /// - Returns: The cases, at least one.
  /// - Throws: ``UsageError`` where none is left, and ``DriverError`` for names and files that are none.
  static func share(
    of kind: CaseKind, in versions: Set<MQTTVersion>, _ arguments: Arguments
  ) throws -> DriveShare {
    try DriveShare(of: plans(of: kind, in: versions, arguments), arguments)
  }

  /// The plans of the cases that are asked for, with their repetitions.
  static func plans(
    of kind: CaseKind, in versions: Set<MQTTVersion>, _ arguments: Arguments
  ) throws -> [CasePlan] {
    let repetitions = try arguments.count(chop) ?? 0
    let plans = try chosen(kind, arguments).flatMap { CasePlan.plans(of: $0, in: versions) }
      .flatMap { plan in [plan] + (0..<repetitions).map { plan.cut($0 + 1) } }
    guard !plans.isEmpty else {
      throw UsageError("none of these cases is of these versions", "leave --spec out")
    }
    return plans
  }

  /// The cases that are asked for.
  private static func chosen(_ kind: CaseKind, _ arguments: Arguments) throws -> [DrivenCase] {
    let library = try CaseLibrary(kind)
    let profile = arguments.value(profile).flatMap(DrivenCase.Profile.init) ?? .quick
    let typed = arguments.list(cases)
    let files = typed.filter { $0.contains("/") || $0.hasSuffix(".json") }
    let own = try files.flatMap { try CaseLibrary.read(SmallFile.bytes($0, "--case"), kind, $0) }
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
  /// - Parameters:
  ///   - share: What would be run.
  ///   - arguments: What was typed.
  ///   - target: What is asked for by WebSocket; nil where nobody has said.
  /// - Returns: That it is done.
  /// - Throws: ``OutputError``, and ``DriverError`` for a step that can't be done.
  static func show(
    _ share: DriveShare, _ arguments: Arguments, asking target: WebSocketTarget? = nil
  ) throws -> ExitStatus {
    let output = try OutputFile(arguments.value(.output), inputs: [])
    for plan in share.own { try output.write(try plan.preview(of: target)) }
    try output.close()
    return .done
  }

  /// What tells a run from others: eight hexadecimal digits, drawn by lot.
  ///
  /// The first is one of 0 to 9: so baselines know such a name by its looks, and are the same for another run.
  static var runName: String {
    let rest = String(UInt32.random(in: 0..<1 << 28), radix: 16)
    return "0" + String(repeating: "0", count: 7 - rest.count) + rest
  }
}
