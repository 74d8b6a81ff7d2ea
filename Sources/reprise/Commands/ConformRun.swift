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
  static let strict = OptionSpec(
    name: "strict", help: "Lets a violated SHOULD fail as a violated MUST does.")
  static let allowEmpty = OptionSpec(
    name: "allow-empty", help: "Ends with 0, not 2, where no clause had anything to judge.")
  static let format = OptionSpec(
    name: "format", letter: "f", value: "FORMAT", choices: ["text", "json"],
    help: "text (default): a report for people; json: one for programs.")

  /// The options of a judging command.
  static let options: [OptionSpec] = [
    .spec, clause, client, strict, allowEmpty, format, .output, .redact, .bpf, .decode, .keyLog,
    .serverKey, .preSharedKey,
    .memory,
    .jobs,
  ]

  /// Judges files and writes the report.
  /// - Parameters:
  ///   - files: The files.
  ///   - arguments: The options.
  ///   - console: How to tell the user about errors and notes.
  /// - Returns: Whether a clause is violated, or a file could not be read.
  /// - Throws: ``UsageError`` for clauses that do not exist, ``OutputError`` or ``Interrupted``.
  static func judge(
    _ files: [String], _ arguments: Arguments, _ console: Console
  ) throws -> ExitStatus {
    let specs = arguments.list(.spec)
    // A quarter of what everything may take.
    let memory = (try arguments.size(.memory) ?? InputOptions.defaultMemory) / 4
    let run = try InputRun(files, arguments, console, output: nil)
    let judging = ConformanceOptions(
      specs: specs.isEmpty ? nil : Set(specs), clauses: arguments.list(clause),
      isStrict: arguments.has(strict),
      connections: try arguments.value(client).map { try connections(of: $0, run, memory) },
      redaction: try RedactionRules(arguments, hidesSecrets: true), memory: memory)
    var consumer = JudgingConsumer(
      judge: try ConformanceJudge(catalogue: Catalogue.bundled(), options: judging),
      console: console)
    let output = try OutputFile(arguments.value(.output), inputs: files)
    let unread = try run.read(into: &consumer)
    // A report on nothing would look as if nothing were violated.
    guard unread < files.count else { return .unable }
    let report = consumer.judge.report(toolVersion: Reprise.version)
    let isEmpty = !report.hasJudged && !arguments.has(allowEmpty)
    let status = try write(
      report, isWhole: unread == 0 && !isEmpty, to: output, arguments, console)
    if isEmpty {
      let isStrange = judging.connections?.isEmpty == true
      console.error(
        isStrange
          ? "nothing was judged: there is no connection of the client "
            + "\"\(arguments.value(client) ?? "")\"; reprise inspect shows who is there"
          : "nothing was judged: no clause that was asked for had anything to judge; look at what there is "
            + "by reprise inspect, or add --allow-empty")
    }
    return status
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
    _ = try run.silent.read(into: &finder)
    return finder.connections
  }

  /// Writes a report.
  /// - Parameters:
  ///   - report: The report.
  ///   - isWhole: Whether everything could be judged that was to be.
  ///   - output: Where it goes; it is closed then.
  ///   - arguments: Where `--format` stands.
  ///   - console: How to tell whether colours are used.
  /// - Returns: What the verdicts are to the process.
  /// - Throws: ``OutputError``.
  static func write(
    _ report: ConformanceReport, isWhole: Bool, to output: OutputFile, _ arguments: Arguments,
    _ console: Console
  ) throws -> ExitStatus {
    let status: ExitStatus = !isWhole ? .unable : report.hasFailed ? .failed : .done
    do {
      if arguments.value(format) == "json" {
        let bytes = report.json()
        try output.write(bytes.span.bytes)
        if bytes.last != UInt8(ascii: "\n") { try output.write("\n") }
      } else {
        try output.write(report.text(color: console.usesColor(on: output)))
      }
      try output.close()
    } catch let error as OutputError where error.isClosedPipe {
      // The verdict stands, whoever has stopped reading it.
      return status
    }
    return status
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

/// Hands the events of the files to the judge.
private struct JudgingConsumer: SessionConsumer {
  var judge: ConformanceJudge
  let console: Console
  private var file = ""

  init(judge: ConformanceJudge, console: Console) {
    self.judge = judge
    self.console = console
  }

  mutating func beginFile(_ name: String) {
    file = name
    judge.begin(file: name)
  }

  mutating func consume(_ event: borrowing EventView) { judge.consume(event) }

  mutating func endFile() {
    judge.endFile()
    guard judge.forgottenConnections > 0 else { return }
    console.note(
      file,
      "\(judge.forgottenConnections) times what was known of a connection was given up while it was "
        + "judged: all of it together is more than --memory allows; what depends on it is inconclusive"
    )
  }
}
