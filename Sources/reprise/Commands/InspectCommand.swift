import Capture
import DataClient

/// `reprise inspect`: shows what happened in captures and recordings.
enum InspectCommand: Command {
  private static let format = OptionSpec(
    name: "format", letter: "f", value: "FORMAT", choices: ["text", "jsonl"],
    help: "text (default): a line for people; jsonl: a line of JSON for programs.")
  private static let filter = OptionSpec(
    name: "filter", value: "EXPRESSION",
    help: "Shows only the events that match; see reprise help filter.")

  static let spec = CommandSpec(
    name: "inspect", summary: "Shows the events in captures and recordings, one a line.",
    operands: "FILE...", operandCount: 1...Int.max,
    options: [format, filter, .output, .showSecrets, .redact, .bpf, .decode, .memory],
    details: """
      FILE is a capture (pcap or pcapng, also gzip-compressed) or a recording (.jsonl);
      - is standard input. Files are recognised by what they hold, never by their names.

      A line of text has the time (UTC), the frame, the connection, the direction
      (→ from the client, ← from the server), the type and its fields; ! marks what
      breaks a rule of the format or is missing.

      Examples:
        reprise inspect capture.pcap
        reprise inspect --filter 'topic ~ "plant/+/alarm" and qos > 0' capture.pcap
        reprise inspect --format jsonl capture.pcap | head
        tcpdump -U -w - port 1883 | reprise inspect -
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let memory = try arguments.size(.memory) ?? InputOptions.defaultMemory
    // A quarter of what everything may take.
    let filter = try arguments.value(Self.filter).map {
      try SessionFilter(typed: $0, memory: memory / 4)
    }
    let showsSecrets = arguments.has(.showSecrets)
    let redaction = try RedactionRules(arguments, hidesSecrets: !showsSecrets)
    let path = arguments.value(.output)
    let run = try InputRun(arguments.operands, arguments, console, output: nil)
    let output = try OutputFile(path, inputs: arguments.operands, isPrivate: showsSecrets)
    let lines = LineBuffer(output, threshold: output.isTerminal || run.isLive ? 0 : 1 << 16)
    let isComplete: Bool
    if arguments.value(format) == "jsonl" {
      let printer = JSONPrinter(
        lines: lines, writer: EventJSONWriter(hiding: redaction), filter: filter, console: console)
      isComplete = try print(by: printer, run)
    } else {
      let writer = EventTextWriter(
        usesColor: console.usesColor(on: output), hiding: redaction)
      let printer = TextPrinter(lines: lines, writer: writer, filter: filter, console: console)
      isComplete = try print(by: printer, run)
    }
    try output.close(isWhole: isComplete)
    return isComplete ? .done : .unable
  }

  private static func print(by printer: some Printer, _ run: InputRun) throws -> Bool {
    var printer = printer
    let isComplete: Bool
    do {
      isComplete = try run.read(into: &printer) == 0
    } catch let interrupted as Interrupted {
      // What was seen so far stays, to its last complete line.
      try printer.lines.flush()
      throw interrupted
    }
    try printer.lines.flush()
    return isComplete
  }
}

/// A consumer that writes lines.
private protocol Printer: SessionConsumer {
  var lines: LineBuffer<OutputFile> { get set }
  /// How much is written of the current file.
  var growth: GrowthNote { get set }
}

extension Printer {
  /// Ends a line, and looks at what is written each time that lines are handed on.
  fileprivate mutating func endLine() throws {
    try lines.endLine()
    if lines.bytes.isEmpty { growth.take(lines.sink.byteCount) }
  }

  fileprivate mutating func flush() throws {
    try lines.flush()
    growth.take(lines.sink.byteCount)
  }
}

/// Writes events as lines of JSON.
private struct JSONPrinter: Printer {
  var lines: LineBuffer<OutputFile>
  var writer: EventJSONWriter
  var filter: SessionFilter?
  let console: Console
  var growth: GrowthNote

  init(
    lines: LineBuffer<OutputFile>, writer: EventJSONWriter, filter: SessionFilter?, console: Console
  ) {
    self.lines = lines
    self.writer = writer
    self.filter = filter
    self.console = console
    growth = GrowthNote("-", console)
  }

  mutating func beginFile(_ name: String) {
    writer.file = name
    filter?.beginFile()
    growth = GrowthNote(name, console, behind: lines.sink.byteCount)
  }

  mutating func consume(_ event: borrowing EventView) throws {
    guard filter?.matches(event) ?? true else { return }
    writer.appendLines(event, to: &lines.bytes)
    try endLine()
  }

  mutating func endFile() throws {
    try flush()
    if let file = writer.file, let note = filter?.note { console.note(file, note) }
  }
}

/// Writes events as lines for people.
private struct TextPrinter: Printer {
  var lines: LineBuffer<OutputFile>
  var writer: EventTextWriter
  var filter: SessionFilter?
  let console: Console
  var growth: GrowthNote
  private var file = ""

  init(
    lines: LineBuffer<OutputFile>, writer: EventTextWriter, filter: SessionFilter?, console: Console
  ) {
    self.lines = lines
    self.writer = writer
    self.filter = filter
    self.console = console
    growth = GrowthNote("-", console)
  }

  mutating func beginFile(_ name: String) {
    file = name
    writer.beginFile(name)
    filter?.beginFile()
    growth = GrowthNote(name, console, behind: lines.sink.byteCount)
  }

  mutating func consume(_ event: borrowing EventView) throws {
    guard filter?.matches(event) ?? true else { return }
    writer.append(event, to: &lines.bytes)
    try endLine()
  }

  mutating func endFile() throws {
    try flush()
    if let note = filter?.note { console.note(file, note) }
  }
}

extension SessionFilter {
  /// Reads the expression that a user typed.
  fileprivate init(typed expression: String, memory: Int) throws(UsageError) {
    do {
      try self.init(expression, memory: memory)
    } catch {
      throw UsageError(
        "--filter: \(error.message)", "type reprise help filter", excerpt: error.excerpt)
    }
  }
}
