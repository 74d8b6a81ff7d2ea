import ConformanceKit
import RepriseCore

/// Where a report goes, and how it is written in each place: `--format`, `--output` and `--report`.
struct ReportFiles {
  static let option = OptionSpec(
    name: "report", value: "FORMAT=FILE", repeats: true,
    help: "Writes the report to FILE as well, in another format; may stand several times.")

  /// How the report is written to ``main``.
  let format: ReportFormat
  /// What `--output` names, or standard output.
  let main: OutputFile
  private let others: [(format: ReportFormat, file: OutputFile)]

  /// All files.
  var files: [OutputFile] { [main] + others.map(\.file) }

  /// Reads the options, and checks that the files can be written.
  /// - Parameters:
  ///   - arguments: The options.
  ///   - inputs: The files that are read, none of which may be overwritten.
  ///   - others: Files that something else is written to.
  /// - Throws: ``UsageError`` for a format that there is not, and for two reports in one file; ``OutputError``.
  init(_ arguments: Arguments, inputs: [String], others: [String] = []) throws {
    format = arguments.value(ConformRun.format).flatMap(ReportFormat.init) ?? .text
    let typed = try arguments.list(Self.option).map(Self.parse)
    let path = arguments.value(.output) ?? "-"
    try Self.check([path] + typed.map(\.path) + others)
    main = try OutputFile(path, inputs: inputs)
    self.others = try typed.map { ($0.format, try OutputFile($0.path, inputs: inputs)) }
  }

  private static func parse(
    _ typed: String
  ) throws(UsageError) -> (format: ReportFormat, path: String) {
    let names = ReportFormat.allCases.map(\.rawValue)
    let name = String(typed.prefix { $0 != "=" })
    let path = String(typed.dropFirst(name.count + 1))
    guard let format = ReportFormat(rawValue: name) else {
      let question = NearestName.find(name, in: names).map { "did you mean \($0)? " } ?? ""
      throw UsageError(
        "--report can't be '\(typed)'",
        question + "type FORMAT=FILE with one of: \(names.joined(separator: ", "))")
    }
    guard !path.isEmpty else {
      throw UsageError("--report \(typed) names no file", "type --report \(name)=FILE")
    }
    return (format, path)
  }

  /// One report would replace another.
  private static func check(_ paths: [String]) throws(UsageError) {
    var seen: Set<FileIdentity> = []
    var isPrinted = false
    for path in paths {
      if path == "-" {
        guard !isPrinted else {
          throw UsageError(
            "two reports go to standard output", "name a file for one of them: -o FILE")
        }
        isPrinted = true
      } else if let identity = FileIdentity(planned: path) {
        guard seen.insert(identity).inserted else {
          throw UsageError("\(path): two reports go to this file", "name another for one of them")
        }
      }
    }
  }

  /// Writes a report everywhere, and closes the files.
  /// - Parameters:
  ///   - report: The report.
  ///   - isWhole: Whether everything could be judged that was to be.
  ///   - console: How to tell whether colours are used.
  /// - Returns: What the verdicts are to the process.
  /// - Throws: ``OutputError``.
  func write(
    _ report: ConformanceReport, isWhole: Bool, _ console: Console
  ) throws -> ExitStatus {
    let status: ExitStatus = !isWhole ? .unable : report.hasFailed ? .failed : .done
    for (format, file) in others + [(self.format, main)] {
      do {
        let bytes = report.document(
          as: format, exitStatus: Int(status.rawValue), color: console.usesColor(on: file))
        if format == .text, file.isTerminal {
          try file.show(String(decoding: bytes, as: UTF8.self))
        } else {
          try file.write(bytes.span.bytes)
        }
        try file.close()
      } catch let error as OutputError where error.isClosedPipe {
        // The verdict stands, whoever has stopped reading it.
      }
    }
    return status
  }
}
