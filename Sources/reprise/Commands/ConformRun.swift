import Capture
import ConformanceKit
import RepriseCore

/// What the conform commands have in common: options, the pass over the files, the report.
enum ConformRun {
  static let clause = OptionSpec(
    name: "clause", value: "ID-OR-SECTION", isList: true,
    help: "Only these clauses: MQTT-3.8.3-3, or a section with its subsections: 3.8.")
  static let client = OptionSpec(
    name: "client", value: "ID",
    help: "Reports only the connections of this client; all are judged.")
  static let subject = OptionSpec(
    name: "subject", value: "END", choices: ["client", "server"],
    help: "Reports only what this end of the connections does.")
  static let strict = OptionSpec(
    name: "strict", help: "Lets a violated SHOULD fail as a violated MUST does.")
  static let assume = OptionSpec(
    name: "assume", value: "WHAT", choices: ["complete"],
    help: """
      complete: takes the files for all that happens at their servers: no other client and no rule or \
      bridge of a server publishes what they show, or subscribes clients, so that one message \
      shows what takes two for otherwise; and no proxy holds connections of clients that are \
      gone.
      """)
  static let joined = OptionSpec(
    name: "joined",
    help: """
      Judges the files as one capture that was written in parts, as by rotation: connections go on \
      from one to the next, and frames are counted through all.
      """)
  static let allowEmpty = OptionSpec(
    name: "allow-empty", help: "Ends with 0, not 2, where no clause had anything to judge.")
  static let format = OptionSpec(
    name: "format", letter: "f", value: "FORMAT", choices: ReportFormat.allCases.map(\.rawValue),
    help: """
      text (default) is for people, json for programs, junit, sarif, github, markdown, tap and \
      html are for CI servers, code hosts and browsers.
      """)

  /// The options of a judging command.
  static let options: [OptionSpec] =
    [
      .spec, clause, client, subject, strict, assume, allowEmpty, format, ReportFiles.option,
      .output,
    ]
    + BaselineOptions.all
    + [.redact, .bpf, .decode, .keyLog, .serverKey, .preSharedKey, .memory, .jobs]

  /// Judges files and writes the report.
  /// - Parameters:
  ///   - all: The files and folders, of whose files `--shard` takes a part.
  ///   - arguments: The options.
  ///   - console: How to tell the user about errors and notes.
  ///   - project: What a project judges besides, and by what; nil where files are judged alone.
  /// - Returns: Whether a clause is violated, or a file could not be read.
  /// - Throws: ``UsageError`` for clauses that do not exist, ``OutputError`` or ``Interrupted``.
  static func judge(
    _ all: [String], _ arguments: Arguments, _ console: Console, of project: Project? = nil
  ) throws -> ExitStatus {
    let shard = try Shard(arguments)
    // Whether what is gone was in a file of another part nobody knows here.
    let folders = shard == nil ? all.filter(SessionFolder.isFolder) : []
    let all = try SessionFolder.expand(all, console, isOwn: project != nil)
    let places = try shard?.places(of: all)
    let files = places?.map { all[$0] } ?? all
    let run = try InputRun(
      files, arguments, console, isJoined: try isJoined(files, arguments))
    let baseline = try BaselineOptions(
      arguments, inputs: files, folders: folders, usual: project?.accepted)
    var judging = try options(arguments, baseline)
    if let project {
      judging.specs = project.specs.isEmpty ? nil : Set(project.specs)
      judging.clauses = project.clauses
    }
    judging.connections = try arguments.value(client).map {
      try connections(of: $0, run, judging.memory)
    }
    let judges = try ConformFiles(run, judging, console)
    let outputs = try ReportFiles(arguments, inputs: files, others: baseline.paths)
    let report = try judges.judge()
    if files.isEmpty, shard != nil { console.note("--shard", "none of the files is of this part") }
    // A report on nothing would look as if nothing were violated; that on a part is joined with others, and tells them
    // what could not be read.
    guard report.unread.count < run.sessions.count || shard != nil else { return .unable }
    let scenarios = project?.scenarios
    let whole = (scenarios.map(report.adding(scenarios:)) ?? report)
      .asPart(shard?.named(cases: scenarios?.shard?.cases, places: places))
    return try conclude(
      whole, isWhole: report.unread.isEmpty && scenarios?.problems.isEmpty != false,
      isStrange: judging.connections?.isEmpty == true,
      to: outputs, baseline, arguments, console
    ) { entries in
      let kept = Set(entries.filter { $0.isOfScenario && scenarios?.keeps($0) == true })
      // What a part lacks another one may have, unless it has all files that it was found in.
      let others = entries.filter { entry in
        !entry.isOfScenario
          && (shard == nil
            || !entry.files.isEmpty && Set(files).isSuperset(of: entry.files))
      }
      return others.isEmpty
        ? kept : kept.union(try MendedEntries.find(others, in: run, judging))
    }
  }

  /// What a project judges besides its recordings, and what it judges them by.
  struct Project {
    /// The standards; none is all.
    let specs: [String]
    /// The clauses; none is all.
    let clauses: [String]
    /// What came of the SDK's scenarios; nil where they were not run.
    let scenarios: ConformanceReport?
    /// The findings that are accepted, where no option names others.
    let accepted: String?
  }

  /// Judges what an interface brings, tells what is found when it comes, and writes the report at the end.
  /// - Parameters:
  ///   - interface: What is captured.
  ///   - arguments: The options.
  ///   - console: How to tell the user about errors and notes.
  /// - Returns: Whether a clause is violated.
  /// - Throws: ``UsageError`` for clauses that do not exist, what keeps it from capturing, ``OutputError`` or
  ///   ``Interrupted``.
  static func judge(
    _ interface: InterfaceOptions, _ arguments: Arguments, _ console: Console
  ) throws -> ExitStatus {
    guard !arguments.has(client) else {
      throw UsageError(
        "--client reads its files twice, and an interface can't be", "name a file")
    }
    for option in [.shard, joined] where arguments.has(option) {
      throw UsageError(
        "--\(option.name) is about files, and an interface has none", "name files")
    }
    let baseline = try BaselineOptions(arguments, inputs: [])
    let outputs = try ReportFiles(arguments, inputs: [], others: baseline.paths)
    // A report for programs has nothing in front of it.
    let news = outputs.format == .text ? outputs.main : nil
    let run = try InterfaceRun(interface, arguments, console)
    return try run.judge(
      try options(arguments, baseline), tellingTo: news, except: baseline.accepts,
      writingTo: outputs.files + baseline.files
    ) { report in
      try conclude(
        report, isWhole: true, isStrange: false, to: outputs, baseline, arguments, console
      ) { _ in
        // What passed does not pass again.
        []
      }
    }
  }

  /// Whether the files are parts of one capture.
  /// - Throws: ``UsageError`` where they can't be.
  private static func isJoined(
    _ files: [String], _ arguments: Arguments
  ) throws(UsageError) -> Bool {
    guard arguments.has(joined) else { return false }
    guard !arguments.has(.shard) else {
      throw UsageError(
        "--shard takes a part of files, and what is joined can't be parted", "leave out one of them"
      )
    }
    guard !files.contains("-") else {
      throw UsageError(
        "--joined looks first when each file begins, and standard input is read once", "name files")
    }
    return files.count > 1
  }

  /// What is judged, and how.
  static func options(
    _ arguments: Arguments, _ baseline: BaselineOptions
  ) throws(UsageError) -> ConformanceOptions {
    let specs = arguments.list(.spec)
    var options = ConformanceOptions(
      specs: specs.isEmpty ? nil : Set(specs), clauses: arguments.list(clause),
      isStrict: arguments.has(strict),
      redaction: try RedactionRules(arguments, hidesSecrets: true),
      // A quarter of what everything may take.
      memory: try arguments.memory() / 4)
    options.listsEachKind = baseline.isUsed
    options.hasOwnMessages = arguments.has(assume)
    options.subject = arguments.value(subject) == "client" ? .client : nil
    if arguments.value(subject) == "server" { options.subject = .server }
    return options
  }

  /// Writes a report, and tells if there was nothing to judge.
  /// - Parameters:
  ///   - report: The report.
  ///   - isWhole: Whether everything could be read.
  ///   - isStrange: Whether there is no connection of the client that was asked for.
  ///   - outputs: Where it goes; they are closed then.
  ///   - baseline: What is accepted.
  ///   - arguments: Where `--allow-empty` stands.
  ///   - console: How to tell the user.
  ///   - findMended: Says which of some entries of the baseline that nothing matches are mended.
  /// - Returns: What the verdicts are to the process.
  /// - Throws: ``OutputError``, and what `findMended` throws.
  private static func conclude(
    _ report: ConformanceReport, isWhole: Bool, isStrange: Bool, to outputs: ReportFiles,
    _ baseline: BaselineOptions, _ arguments: Arguments, _ console: Console,
    _ findMended: ([Baseline.Entry]) throws -> Set<Baseline.Entry>
  ) throws -> ExitStatus {
    let report = try baseline.apply(
      to: report, isWhole: isWhole && report.hasJudged, console, findMended)
    let mayBeEmpty = arguments.has(allowEmpty) || arguments.has(.shard)
    let isEmpty = !report.hasJudged && !mayBeEmpty
    let status = try outputs.write(report, isWhole: isWhole && !isEmpty, console)
    if isEmpty {
      console.error(
        isStrange
          ? "nothing was judged: there is no connection of the client "
            + "\"\(arguments.value(client) ?? "")\"; reprise inspect shows who is there"
          : "nothing was judged: no clause that was asked for had anything to judge; look at what there is "
            + "by reprise inspect, or add --allow-empty")
    }
    return status
  }

  /// Tells that what was known of connections was given up; nil if it was not.
  static func forgotten(_ judge: ConformanceJudge) -> String? {
    guard judge.forgottenConnections > 0 else { return nil }
    return
      "\(judge.forgottenConnections) times what was known of a connection was given up while it was "
      + "judged: all of it together is more than --memory allows; what depends on it is inconclusive"
  }

  /// Finds the connections of a client, by file: what comes before its CONNECT is known only then.
  private static func connections(
    of client: String, _ run: InputRun, _ memory: Int
  ) throws -> [String: Set<Int>] {
    guard !run.files.contains("-") else {
      throw UsageError(
        "--client reads its files twice, and standard input can't be", "name a file")
    }
    var finder = ClientFinder(client: client, memory: memory)
    // What can't be read is told when it is judged.
    _ = try run.readSilently(into: &finder)
    return finder.connections
  }
}

/// Collects the connections of a client.
private struct ClientFinder: SessionConsumer {
  let client: String
  let memory: Int
  private(set) var connections: [String: Set<Int>] = [:]
  private var file = ""
  private var choice: ClientChoice

  init(client: String, memory: Int) {
    self.client = client
    self.memory = memory
    choice = ClientChoice(client, memory: memory)
  }

  mutating func beginFile(_ name: String) {
    file = name
    choice = ClientChoice(client, memory: memory)
  }

  mutating func consume(_ event: borrowing EventView) throws {
    var number: Int?
    try choice.consume(event, isSelected: true) { event, _ in number = event.context.connection }
    if let number { connections[file, default: []].insert(number) }
  }

  mutating func endFile() {}
}
