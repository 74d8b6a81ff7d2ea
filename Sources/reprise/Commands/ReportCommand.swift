import ConformanceKit

/// `reprise report`: says what can be done with reports.
enum ReportCommand: Command {
  private static let group = CommandGroup(
    name: "report",
    ways: [ReportMergeCommand.self, ReportCompareCommand.self, ReportBadgeCommand.self])

  static let spec = CommandSpec(
    name: "report", summary: "Joins and compares reports in JSON; see its forms.",
    operands: "merge|compare|badge FILE...", operandCount: 0...Int.max,
    options: group.options,
    details: """
      Forms:
        reprise report merge FILE...    joins the reports on parts of a run
        reprise report compare A B      says what is better and what is worse in B
        reprise report badge FILE       draws a small picture with the numbers
      """)

  static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
    try await group.run(
      arguments, console,
      missing: UsageError("report needs to know what to do", "type reprise help report"))
  }

  /// Reads a report.
  /// - Throws: ``UsageError`` where it can't be read, and what says why it is none.
  static func read(_ path: String) throws -> ReportDocument {
    try ReportDocument(reading: SmallFile.bytes(path), file: path)
  }
}

/// `reprise report merge`: joins reports on different files, scenarios or cases.
enum ReportMergeCommand: Command {
  static let spec = CommandSpec(
    name: "report merge", summary: "Joins the reports on parts of a run to one on all of it.",
    operands: "FILE...", operandCount: 1...Int.max,
    options: [
      ConformRun.format, ReportFiles.option, .output, BaselineOptions.baseline,
      ConformRun.allowEmpty,
    ],
    details: """
      FILE is a report that a conform command wrote with --format json. The result is what one
      run over all files, scenarios or cases gives: files of what --shard made stand as they
      were named, others in the order of their names if they do so in each report, otherwise
      report by report; scenarios and cases stand as in a run. The reports must be of one
      version and one command, on the same clauses and on different files, scenarios and worlds,
      or cases, and judged without a baseline: --baseline is for what they come to together,
      where no entry of files is called mended, as that takes the files. Of what --shard made,
      all parts must be there.

      Status 2 as well where a scenario in them could not be run to its end.

      Examples:
        reprise report merge 1.json 2.json --format html -o all.html
        reprise report merge shard-*.json --report json=all.json --report junit=all.xml
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let baseline = try BaselineOptions(arguments, inputs: arguments.operands)
    let outputs = try ReportFiles(arguments, inputs: arguments.operands)
    let parts = try arguments.operands.map { path in
      (name: path, report: try ConformanceReport(reading: ReportCommand.read(path)))
    }
    let merged = try ConformanceReport.merged(parts)
    let isEmpty = !merged.hasJudged && !arguments.has(ConformRun.allowEmpty)
    for problem in merged.problems { console.error(problem) }
    let isWhole = !isEmpty && merged.problems.isEmpty
    let report = try baseline.apply(to: merged, isWhole: isWhole, console) { entries in
      Set(entries.filter(merged.keeps))
    }
    let status = try outputs.write(report, isWhole: isWhole, console)
    if isEmpty { console.error("nothing was judged: no clause had anything to judge") }
    return status
  }
}

/// `reprise report compare`: says what differs between two reports.
enum ReportCompareCommand: Command {
  static let spec = CommandSpec(
    name: "report compare", summary: "Says what is better and what is worse in a later report.",
    operands: "BEFORE AFTER", operandCount: 2...2, options: options, details: details)

  fileprivate static let options = [format, .output]
  private static let format = OptionSpec(
    name: "format", letter: "f", value: "FORMAT", choices: ["text", "json"],
    help: "text (default): lines for people; json: an object for programs.")
  fileprivate static let details = """
    BEFORE and AFTER are reports in JSON, both of one conform command. Findings are compared
    by their fingerprints, which do not depend on frames, times and files. Status 1 if a
    clause fails that did not, or is no longer followed, or something new was found. What was
    found in a scenario, a case or a file that has no verdict in AFTER is not called gone,
    unless AFTER is on other files altogether.

    Example:
      reprise report compare before.json after.json
    """

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let output = try OutputFile(arguments.value(.output), inputs: arguments.operands)
    let documents = try arguments.operands.map(ReportCommand.read)
    guard let before = documents.first, let after = documents.last else { return .unable }
    try after.check(isLike: before)
    let comparison = ReportComparison(before, after)
    if arguments.value(format) == "json" {
      let bytes = comparison.json
      try output.write(bytes.span.bytes)
    } else {
      try output.write(comparison.text)
    }
    try output.close()
    return comparison.isWorse ? .failed : .done
  }
}

/// `reprise conform compare`: the same under the name that stands beside `conform trace`.
enum ConformCompareCommand: Command {
  static let spec = CommandSpec(
    name: "conform compare", summary: "Says what is better and what is worse in a later report.",
    operands: "BEFORE AFTER", operandCount: 2...2, options: ReportCompareCommand.options,
    details: ReportCompareCommand.details)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    try ReportCompareCommand.run(arguments, console)
  }
}

/// `reprise report badge`: draws how many clauses failed and passed.
enum ReportBadgeCommand: Command {
  static let spec = CommandSpec(
    name: "report badge", summary: "Draws a small picture (SVG) with the numbers of a report.",
    operands: "FILE", operandCount: 1...1, options: [.output],
    details: """
      FILE is a report in JSON, of any conform command. The picture says how many
      clauses failed and passed; what is inconclusive is not called passed.

      Example:
        reprise report badge report.json -o badge.svg
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let output = try OutputFile(arguments.value(.output), inputs: arguments.operands)
    try output.write(try ReportCommand.read(arguments.operand).badge)
    try output.close()
    return .done
  }
}
