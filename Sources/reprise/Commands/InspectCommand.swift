import Capture
import RepriseCore

/// `reprise inspect`: shows what happened in captures and recordings.
enum InspectCommand: Command {
  private static let format = OptionSpec(
    name: "format", letter: "f", value: "FORMAT", choices: ["text", "jsonl", "html"],
    help: """
      text (default): a line for people; jsonl: a line of JSON for programs; html: one page for a \
      browser.
      """)
  private static let payloadWidth = OptionSpec(
    name: "payload-width", value: "COUNT",
    help: "The most characters of a payload in a line for people, 1 to 65536: 60 (default).")
  private static let mostEvents = OptionSpec(
    name: "most-events", value: "COUNT",
    help: "The most events of a page: 100000 (default), which any browser moves through with ease.")

  static let spec = CommandSpec(
    name: "inspect", summary: "Shows the events in captures and recordings, one a line.",
    operands: "FILE... | --interface NAME", operandCount: 0...Int.max,
    options: [
      format, .filter, payloadWidth, mostEvents, .envelope, .output, .showSecrets, .redact, .bpf,
      .decode, .keyLog, .serverKey, .preSharedKey, .memory, .jobs,
    ] + InterfaceOptions.live,
    details: """
      FILE is a capture (pcap or pcapng, also gzip-compressed), a recording (.jsonl), or a
      folder for those in it; - is standard input. Files are recognised by what they hold,
      never by their names; in a folder, recordings by their names as well.

      A line of text has the time (UTC), the frame, the connection, the direction
      (→ from the client, ← from the server), the type and its fields; ! marks what
      breaks a rule of the format or is missing.

      What --format jsonl prints can be read like a recording: reprise conform trace -
      judges it. What --filter leaves out counts there as missing.

      --format html makes one file that needs nothing else: a timeline, the events as a table
      and as a diagram of who said what to whom, every packet with its bytes, what answers
      what, and what the clauses of MQTT and WebSocket find, each at its event. Its search field
      takes the language of --filter. Of more than --most-events it has those around findings,
      and the first of the others. A request over WebSocket is told from others by its uniqueId,
      an id, or the key that --envelope tells.

      With --interface it shows what passes a network interface, as it comes, until --duration,
      --count or Ctrl-C ends it. Only new connections are seen whole. What that takes tells
      reprise help record interface; --keylog may name a file that still grows.

      Examples:
        reprise inspect capture.pcap
        reprise inspect --filter 'topic ~ "plant/+/alarm" and qos > 0' capture.pcap
        reprise inspect --format jsonl capture.pcap | head
        reprise inspect --format html -o session.html capture.pcap
        reprise inspect --interface eth0 --bpf 'port 1883'
        tcpdump -U -w - port 1883 | reprise inspect -
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let memory = try arguments.memory()
    // A quarter of what everything may take.
    let filter = try SessionFilter(typed: arguments, memory: memory / 4)
    let showsSecrets = arguments.has(.showSecrets)
    let redaction = try RedactionRules(arguments, hidesSecrets: !showsSecrets)
    let path = arguments.value(.output)
    let files = try SessionFolder.expand(arguments.operands, console)
    if arguments.value(format) == "html" {
      return try writePage(files, arguments, filter, hiding: redaction, console)
    }
    guard !arguments.has(mostEvents) else {
      throw UsageError("--most-events is for a page", "add --format html")
    }
    guard !arguments.has(.envelope) else {
      throw UsageError("--envelope is for a page", "add --format html")
    }
    let source: Source
    if let interface = try InterfaceOptions(live: arguments, for: spec) {
      source = .interface(try InterfaceRun(interface, arguments, console))
    } else {
      source = .files(try InputRun(files, arguments, console, output: nil))
    }
    let output = try OutputFile(path, inputs: files, isPrivate: showsSecrets)
    let lines = LineBuffer(output, threshold: output.isTerminal || source.isLive ? 0 : 1 << 16)
    let isComplete: Bool
    if arguments.value(format) == "jsonl" {
      isComplete = try print(
        by: Printer(lines, EventJSONWriter(hiding: redaction), filter, console), source)
    } else {
      let writer = EventTextWriter(
        usesColor: console.usesColor(on: output), hiding: redaction,
        payloadLimit: try arguments.count(payloadWidth) ?? EventTextWriter.defaultPayloadLimit)
      isComplete = try print(by: Printer(lines, writer, filter, console), source)
    }
    try output.close(isWhole: isComplete)
    return isComplete ? .done : .unable
  }

  private static func writePage(
    _ files: [String], _ arguments: Arguments, _ filter: SessionFilter?,
    hiding redaction: RedactionRules,
    _ console: Console
  ) throws -> ExitStatus {
    guard try InterfaceOptions(live: arguments, for: spec) == nil else {
      throw UsageError(
        "--format html needs all events before it writes any, and --interface has no end",
        "record it first: reprise record interface, and name the file")
    }
    let output = try OutputFile(
      arguments.value(.output), inputs: files, isPrivate: arguments.has(.showSecrets))
    guard !output.isTerminal else {
      throw UsageError("--format html is for a browser, not for a terminal", "add -o FILE.html")
    }
    let page = try PageRun(
      files, arguments, filter, hiding: redaction,
      payloadLimit: try arguments.count(payloadWidth) ?? EventTextWriter.defaultPayloadLimit,
      mostEvents: try arguments.count(mostEvents) ?? PageChoice.mostEvents, console)
    let isComplete = try page.write(to: output)
    try output.close(isWhole: isComplete)
    return isComplete ? .done : .unable
  }

  /// Where events come from.
  private enum Source {
    case files(InputRun)
    case interface(InterfaceRun)

    /// Whether they come as they happen.
    var isLive: Bool {
      switch self {
      case .files(let run): run.isLive
      case .interface: true
      }
    }
  }

  private static func print<Writer>(
    by printer: Printer<Writer>, _ source: Source
  ) throws -> Bool {
    var printer = printer
    var isComplete = true
    do {
      switch source {
      case .files(let run): isComplete = try run.read(into: &printer) == 0
      case .interface(let run):
        try run.read(into: &printer, writingTo: printer.lines.sink)
      }
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
