import DataClient
import Glibc

/// `reprise convert`: writes a capture as a recording.
enum ConvertCommand: Command {
  private static let output = OptionSpec(
    name: "output", letter: "o", value: "FILE", isFile: true,
    help: "The recording to write; - is standard output. Needed.")
  private static let force = OptionSpec(
    name: "force", help: "Replaces FILE if it exists.")

  private static let redact = OptionSpec(
    name: "redact", value: "RULE", repeats: true,
    help: "Hides secrets, topic:FILTER, key:NAME, username or correlation.")

  static let spec = CommandSpec(
    name: "convert", summary: "Writes a capture as a recording (.jsonl).",
    operands: "FILE", operandCount: 1...1,
    options: [output, force, redact, .bpf, .decode, .memory],
    details: """
      A recording is a text file: a header, then one event a line as reprise inspect
      --format jsonl shows it. It can be read, filtered and judged like a capture.

      Nothing is lost on the way, and so passwords in the capture are in the recording
      too; only you may read the new file. With --redact, to be repeated, what the rule names
      is hidden, and passwords, tokens and signatures with it: --redact secrets hides these.

      Example:
        reprise convert capture.pcapng -o capture.jsonl
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let path = try target(arguments)
    let input = arguments.operand
    let run = try InputRun([input], arguments, console, output: nil)
    let output = try OutputFile(
      path, inputs: [input], isPrivate: true, replaces: arguments.has(force))
    let redaction = try RedactionRules(
      arguments, hidesSecrets: !arguments.list(.redact).isEmpty)
    let header = RecordingHeader(
      created: now, source: .capture(baseName(input)), redacted: redaction.ruleNames)
    var converter = Converter(
      output: output, header: header, redaction: redaction, flushesEveryLine: run.isLive,
      growth: GrowthNote(input, console))
    let isComplete: Bool
    do {
      isComplete = try run.read(into: &converter) == 0
    } catch let interrupted as Interrupted {
      try converter.finish(isWhole: false)
      throw interrupted
    }
    try converter.finish(isWhole: isComplete)
    try output.close(isWhole: isComplete)
    return isComplete ? .done : .unable
  }

  private static func target(_ arguments: Arguments) throws(UsageError) -> String {
    guard let path = arguments.value(output) else {
      throw UsageError("convert needs a file to write", "add -o FILE.jsonl")
    }
    for ending in [".pcap", ".pcapng"] where path.hasSuffix(ending) {
      throw UsageError(
        "this version can't write \(ending) files yet", "name a recording: -o FILE.jsonl")
    }
    return path
  }

  /// The last part of a path: where the file lay is nobody's business who gets the recording.
  private static func baseName(_ path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  private static var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let microseconds = Int64(time.tv_nsec) / 1_000 * 1_000
    return Timestamp(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ microseconds)
  }
}

/// Hands the events of the one file to a recording, which begins with the first of them.
private struct Converter: SessionConsumer {
  let output: OutputFile
  let header: RecordingHeader
  let redaction: RedactionRules
  let flushesEveryLine: Bool
  private var growth: GrowthNote
  private var writer: RecordingWriter<OutputFile>?

  init(
    output: OutputFile, header: RecordingHeader, redaction: RedactionRules,
    flushesEveryLine: Bool, growth: GrowthNote
  ) {
    self.output = output
    self.header = header
    self.redaction = redaction
    self.flushesEveryLine = flushesEveryLine
    self.growth = growth
  }

  mutating func beginFile(_ name: String) {}

  mutating func consume(_ event: borrowing EventView) throws {
    try begin()
    try writer?.consume(event)
    growth.take(output.byteCount)
  }

  mutating func endFile() {}

  /// Writes what is left.
  /// - Parameter isWhole: Whether a file without events is a recording without events, too.
  /// - Throws: ``OutputError``.
  mutating func finish(isWhole: Bool) throws {
    if isWhole { try begin() }
    try writer?.finish()
  }

  private mutating func begin() throws {
    guard writer == nil else { return }
    writer = try RecordingWriter(
      output, header: header, hiding: redaction, flushesEveryLine: flushesEveryLine)
  }
}
