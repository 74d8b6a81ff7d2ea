import Capture
import RepriseCore

/// `reprise inspect`: shows what happened in captures and recordings.
enum InspectCommand: Command {
  private static let format = OptionSpec(
    name: "format", letter: "f", value: "FORMAT", choices: ["text", "jsonl"],
    help: "text (default): a line for people; jsonl: a line of JSON for programs.")
  private static let payloadWidth = OptionSpec(
    name: "payload-width", value: "COUNT",
    help: "The most characters of a payload in a line for people: 60 (default) to 65536.")

  static let spec = CommandSpec(
    name: "inspect", summary: "Shows the events in captures and recordings, one a line.",
    operands: "FILE...", operandCount: 1...Int.max,
    options: [
      format, .filter, payloadWidth, .output, .showSecrets, .redact, .bpf, .decode, .keyLog,
      .serverKey, .preSharedKey,
      .memory, .jobs,
    ],
    details: """
      FILE is a capture (pcap or pcapng, also gzip-compressed) or a recording (.jsonl);
      - is standard input. Files are recognised by what they hold, never by their names.

      A line of text has the time (UTC), the frame, the connection, the direction
      (→ from the client, ← from the server), the type and its fields; ! marks what
      breaks a rule of the format or is missing.

      What --format jsonl prints can be read like a recording: reprise conform trace -
      judges it. What --filter leaves out counts there as missing.

      Examples:
        reprise inspect capture.pcap
        reprise inspect --filter 'topic ~ "plant/+/alarm" and qos > 0' capture.pcap
        reprise inspect --format jsonl capture.pcap | head
        tcpdump -U -w - port 1883 | reprise inspect -
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let memory = try arguments.size(.memory) ?? InputOptions.defaultMemory
    // A quarter of what everything may take.
    let filter = try SessionFilter(typed: arguments, memory: memory / 4)
    let showsSecrets = arguments.has(.showSecrets)
    let redaction = try RedactionRules(arguments, hidesSecrets: !showsSecrets)
    let path = arguments.value(.output)
    let run = try InputRun(arguments.operands, arguments, console, output: nil)
    let output = try OutputFile(path, inputs: arguments.operands, isPrivate: showsSecrets)
    let lines = LineBuffer(output, threshold: output.isTerminal || run.isLive ? 0 : 1 << 16)
    let isComplete: Bool
    if arguments.value(format) == "jsonl" {
      isComplete = try print(
        by: Printer(lines, EventJSONWriter(hiding: redaction), filter, console), run)
    } else {
      let writer = EventTextWriter(
        usesColor: console.usesColor(on: output), hiding: redaction,
        payloadLimit: try arguments.count(payloadWidth) ?? EventTextWriter.defaultPayloadLimit)
      isComplete = try print(by: Printer(lines, writer, filter, console), run)
    }
    try output.close(isWhole: isComplete)
    return isComplete ? .done : .unable
  }

  private static func print<Writer>(by printer: Printer<Writer>, _ run: InputRun) throws -> Bool {
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

/// What makes the lines of an event, in one of the formats.
private protocol LineFormat {
  mutating func beginFile(_ name: String)
  mutating func write(
    _ event: borrowing EventView, leftOut: LeftOut?, to bytes: inout [UInt8])
}

extension EventTextWriter: LineFormat {
  fileprivate mutating func write(
    _ event: borrowing EventView, leftOut: LeftOut?, to bytes: inout [UInt8]
  ) {
    append(event, to: &bytes)
  }
}

extension EventJSONWriter: LineFormat {
  fileprivate mutating func beginFile(_ name: String) { file = name }

  fileprivate mutating func write(
    _ event: borrowing EventView, leftOut: LeftOut?, to bytes: inout [UInt8]
  ) {
    self.leftOut = leftOut
    appendLines(event, to: &bytes)
  }
}

/// Writes the events that were asked for as lines.
private struct Printer<Writer: LineFormat>: SessionConsumer {
  var lines: LineBuffer<OutputFile>
  var writer: Writer
  var filter: SessionFilter?
  private var counter = SelectionCounter()
  let console: Console
  private var file = ""
  /// How much is written of the current file.
  private var growth: GrowthNote

  init(
    _ lines: LineBuffer<OutputFile>, _ writer: Writer, _ filter: SessionFilter?, _ console: Console
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
    counter.beginFile()
    growth = GrowthNote(name, console, behind: lines.sink.byteCount)
  }

  mutating func consume(_ event: borrowing EventView) throws {
    guard filter?.matches(event) ?? true else { return counter.leaveOut(event) }
    let leftOut = filter == nil ? nil : counter.take(event)
    writer.write(event, leftOut: leftOut, to: &lines.bytes)
    try lines.endLine()
    // Looked at each time that lines are handed on.
    if lines.bytes.isEmpty { growth.take(lines.sink.byteCount) }
  }

  mutating func endFile() throws {
    try lines.flush()
    growth.take(lines.sink.byteCount)
    if let note = filter?.note { console.note(file, note) }
  }
}
