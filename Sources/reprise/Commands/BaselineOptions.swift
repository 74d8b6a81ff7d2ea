import ConformanceKit
import Glibc
import RepriseCore

/// What a team has accepted: `--baseline` and `--write-baseline`.
struct BaselineOptions {
  static let baseline = OptionSpec(
    name: "baseline", value: "FILE", isFile: true,
    help: "Accepts the findings in FILE: a new one fails, and so does an entry that is mended.")
  static let write = OptionSpec(
    name: "write-baseline", value: "FILE", isFile: true,
    help: "Writes the findings to FILE, to be accepted from then on, and accepts them.")
  static let force = OptionSpec(
    name: "force",
    help: "Replaces a baseline; reasons, owners and dates of what is still found stay.")
  static let all = [baseline, write, force]

  private let accepted: Baseline?
  private let output: (path: String, file: OutputFile, old: Baseline?)?
  private let folders: [String]

  /// Whether a report is compared with one.
  var isUsed: Bool { accepted != nil || output != nil }

  /// Reads the options, and the baseline that they name.
  /// - Parameters:
  ///   - arguments: The options.
  ///   - inputs: The files that are read, none of which may be overwritten.
  ///   - folders: The folders all sessions of which are read: what was found in a file of theirs is gone with it.
  ///   - ownsForce: Whether `--force` is for baselines alone.
  ///   - usual: The baseline that counts where no option names one; nil where there is none.
  /// - Throws: ``UsageError``, ``OutputError``, and what says where a file is no baseline.
  init(
    _ arguments: Arguments, inputs: [String], folders: [String] = [], ownsForce: Bool = true,
    usual: String? = nil
  ) throws {
    self.folders = folders
    let path = arguments.value(Self.baseline)
    let read = path ?? (arguments.has(Self.write) ? nil : usual)
    accepted = try read.map { try Self.read($0, "--baseline") }
    guard let target = arguments.value(Self.write) else {
      output = nil
      guard !ownsForce || !arguments.has(Self.force) else {
        throw UsageError("--force replaces a baseline", "add --write-baseline FILE")
      }
      return
    }
    guard path == nil else {
      throw UsageError(
        "--write-baseline accepts what --baseline would judge", "type one of them")
    }
    guard target != "-" else {
      throw UsageError("--write-baseline needs a file", "type --write-baseline accepted.json")
    }
    let replaces = arguments.has(Self.force)
    let file = try OutputFile(target, inputs: inputs, replaces: replaces)
    let old =
      replaces && access(target, F_OK) == 0 ? try Self.read(target, "--write-baseline") : nil
    output = (target, file, old)
  }

  private static func read(_ path: String, _ option: String) throws -> Baseline {
    let baseline = try Baseline(reading: SmallFile.bytes(path, option), file: path)
    try baseline.check(against: Catalogue.bundled())
    return baseline
  }

  /// The files that it writes.
  var files: [OutputFile] { output.map { [$0.file] } ?? [] }

  /// The paths that it writes.
  var paths: [String] { output.map { [$0.path] } ?? [] }

  /// Whether a finding is accepted today.
  func accepts(_ finding: Finding, of clause: Clause) -> Bool {
    accepted?.accepts(finding, of: clause, on: Self.today) ?? false
  }

  /// The files of entries that were in a folder which is read, and are there no more.
  private func removed(from baseline: Baseline) -> Set<String> {
    let starts = folders.map { $0.hasSuffix("/") ? $0 : $0 + "/" }
    return Set(baseline.entries.flatMap(\.files)).filter { file in
      starts.contains(where: file.hasPrefix) && access(file, F_OK) != 0
    }
  }

  private static var today: String { String(ConvertCommand.now.description.prefix(10)) }

  /// Returns a report with what is accepted told as accepted; writes the baseline if that is asked for.
  /// - Parameters:
  ///   - report: The report.
  ///   - isWhole: Whether everything could be judged; if not, none is written, and no entry mended.
  ///   - console: How to tell that.
  ///   - findMended: Says which of some entries that nothing matches are mended.
  /// - Returns: The report to be written.
  /// - Throws: ``OutputError``, and what `findMended` throws.
  func apply(
    to report: ConformanceReport, isWhole: Bool, _ console: Console,
    _ findMended: ([Baseline.Entry]) throws -> Set<Baseline.Entry>
  ) throws -> ConformanceReport {
    let today = Self.today
    func mended(_ baseline: Baseline) throws -> Set<Baseline.Entry> {
      guard isWhole else { return [] }
      let unmatched = report.unmatched(of: baseline, on: today, without: removed(from: baseline))
      return unmatched.isEmpty ? [] : try findMended(unmatched)
    }
    if let accepted {
      return report.accepting(accepted, on: today, mended: try mended(accepted))
    }
    guard let output else { return report }
    guard isWhole else {
      console.error("\(output.path): not written, because not everything could be judged")
      return report
    }
    let unlisted = report.results.reduce(0) { $0 + $1.unlisted }
    if unlisted > 0 {
      console.error(
        "\(output.path): \(unlisted) findings are not in it, as of a clause so many are kept alone; "
          + "mend what all clients do, or judge fewer files at a time")
    }
    let written = Baseline(
      of: report, file: output.path, keeping: output.old,
      without: try output.old.map { try mended($0) } ?? [])
    let bytes = written.json
    try output.file.write(bytes.span.bytes)
    try output.file.close()
    // With the numbers of its lines, as the next run will have it.
    return report.accepting(try Baseline(reading: bytes, file: output.path), on: today)
  }
}
