import Capture
import Glibc
import RepriseCore

/// `reprise convert`: writes captures and recordings as each other, or parts of them.
enum ConvertCommand: Command {
  private static let output = OptionSpec(
    name: "output", letter: "o", value: "FILE", isFile: true,
    help: "The file to write, by its name's end .jsonl, .pcapng or .pcap; - is standard output.")
  private static let format = OptionSpec(
    name: "format", value: "FORMAT",
    help: "jsonl, pcapng or pcap, whatever the name of the file ends in.")
  private static let plain = OptionSpec(
    name: "plain", help: "Writes what TLS carried in plain, where it can be decrypted.")
  private static let knownPorts = OptionSpec(
    name: "known-ports",
    help: "Gives connections that are made anew the ports by which Wireshark knows what they speak."
  )
  private static let embedSecrets = OptionSpec(
    name: "embed-secrets",
    help:
      "Writes the secrets into the pcapng file that decrypt something in it, of a key log or made by a key."
  )
  private static let force = OptionSpec(
    name: "force", help: "Replaces FILE if it exists.")

  private static let redact = OptionSpec(
    name: "redact", value: "RULE", repeats: true,
    help: "Hides secrets, topic:FILTER, key:NAME, username or correlation.")

  static let spec = CommandSpec(
    name: "convert", summary: "Writes captures and recordings as each other, or parts of them.",
    operands: "FILE", operandCount: 1...1,
    options: [
      output, format, force, .filter, .connection, .client, .from, .to, redact, plain, embedSecrets,
      knownPorts,
      .bpf, .decode, .keyLog, .serverKey, .preSharedKey, .memory, .jobs,
    ],
    details: """
      A recording (.jsonl) is a text file: a header, then one event a line as reprise inspect
      --format jsonl shows it. It can be read, filtered and judged like a capture.

      Nothing is lost on the way to it, and so passwords in the capture are in the recording
      too; only you may read the new file. With --redact, to be repeated, what the rule names
      is hidden, and passwords, tokens and signatures with it: --redact secrets hides these.

      With --connection and --client whole connections are written. --filter, --from and
      --to leave events out of them: their lines say how many (leftOut), and whatever reads
      the recording takes these for missing, so that no one is accused for them.

      From a capture to .pcapng or .pcap frames are copied as they are. Of those, --filter,
      --connection and --client take the ones of whole connections, all of which has an event
      that is chosen, and --from and --to those of that time. With --keylog, --server-key or
      --psk, --plain writes what TLS carried as plain TCP, and --embed-secrets leaves it
      encrypted and puts the secrets of its sessions into the file, so that whoever has it
      can decrypt these, and nothing else by that key.

      From a recording to .pcapng or .pcap each connection becomes packets of TCP between the
      addresses that it names, so that Wireshark and tshark decode it. They know MQTT by port
      1883; --known-ports writes that where the port is another, and says so in comments.

      Examples:
        reprise convert capture.pcapng -o capture.jsonl
        reprise convert capture.pcapng --client sensor-2 -o sensor.pcapng
        reprise convert capture.pcapng --from 07:39 --to 07:41 -o minutes.jsonl
        reprise convert capture.pcapng --keylog keys.log --plain -o plain.pcapng
        reprise convert session.jsonl -o session.pcapng
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let path = try target(arguments)
    let format = try format(arguments, path)
    if format != .recording {
      return try CaptureOutput(
        format, isPlain: arguments.has(plain), embedsSecrets: arguments.has(embedSecrets),
        usesKnownPorts: arguments.has(knownPorts)
      ).run(arguments, path: path, replaces: arguments.has(force), console)
    }
    for option in [plain, embedSecrets, knownPorts] where arguments.has(option) {
      throw UsageError(
        "--\(option.name) is for captures that are written", "name one: -o FILE.pcapng")
    }
    let input = arguments.operand
    let selection = try Selection(arguments)
    let run = try InputRun([input], arguments, console, output: nil)
    let output = try OutputFile(
      path, inputs: [input], isPrivate: true, replaces: arguments.has(force))
    let redaction = try RedactionRules(
      arguments, hidesSecrets: !arguments.list(.redact).isEmpty)
    var converter = Converter(
      RecordingCopy(of: input, to: output, hiding: redaction, flushesEveryLine: run.isLive),
      output, growth: GrowthNote(input, console), selection: selection)
    let isComplete: Bool
    do {
      isComplete = try run.read(into: &converter) == 0
    } catch let interrupted as Interrupted {
      try converter.finish(isWhole: false)
      throw interrupted
    }
    try converter.finish(isWhole: isComplete)
    try output.close(isWhole: isComplete)
    for note in converter.notes { console.note(input, note) }
    return isComplete ? .done : .unable
  }

  private static func target(_ arguments: Arguments) throws(UsageError) -> String {
    guard let path = arguments.value(output) else {
      throw UsageError(
        "convert needs a file to write", "add -o FILE.jsonl, -o FILE.pcapng or -o FILE.pcap")
    }
    return path
  }

  /// The format to write: the one that is named, or the one that the name of the file ends in.
  private static func format(_ arguments: Arguments, _ path: String) throws(UsageError)
    -> CaptureFormat
  {
    let formats: [(name: String, format: CaptureFormat)] = [
      ("jsonl", .recording), ("pcapng", .pcapng), ("pcap", .pcap),
    ]
    if let name = arguments.value(format) {
      guard let known = formats.first(where: { $0.name == name }) else {
        throw UsageError("--format can't be '\(name)'", "type jsonl, pcapng or pcap")
      }
      return known.format
    }
    if path.hasSuffix(".gz") {
      throw UsageError(
        "convert writes no compressed files", "write to standard output and pipe it to gzip: -o -")
    }
    if let named = formats.first(where: { path.hasSuffix("." + $0.name) }) { return named.format }
    let name = path.split(separator: "/").last ?? ""
    guard path == "-" || path.hasPrefix("/dev/") || !name.dropFirst().contains(".") else {
      throw UsageError(
        "the end of '\(name)' names no format that convert writes",
        "name it .jsonl, .pcapng or .pcap, or add --format")
    }
    return .recording
  }

  /// The last part of a path: where the file lay is nobody's business who gets the recording.
  static func baseName(_ path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  static var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let microseconds = Int64(time.tv_nsec) / 1_000 * 1_000
    return Timestamp(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ microseconds)
  }
}

/// Hands the events of the one file to a recording, which begins with the first of them.
private struct Converter: SessionConsumer {
  private let output: OutputFile
  private var growth: GrowthNote
  private var copy: RecordingCopy
  private var selection: Selection
  private var counter = SelectionCounter()
  private var isEmpty = true

  init(
    _ copy: RecordingCopy, _ output: OutputFile, growth: GrowthNote, selection: Selection
  ) {
    self.copy = copy
    self.output = output
    self.growth = growth
    self.selection = selection
  }

  /// What a user should know of the selection.
  var notes: [String] {
    let isNothing = isEmpty && selection.isSome
    return (isNothing ? ["no event was chosen; the recording is empty"] : [])
      + (selection.filter?.note.map { [$0] } ?? []) + copy.notes
  }

  mutating func beginFile(_ name: String) {}

  mutating func begin(_ header: RecordingHeader) { copy.begin(header) }

  mutating func note(unknown members: [JSONMember], line: Int) {
    copy.note(unknown: members, line: line)
  }

  mutating func consume(_ event: borrowing EventView) throws {
    // The filter has to see all of them.
    let isSelected = selection.filter?.matches(event) ?? true
    if let connection = selection.connection, event.context.connection != connection { return }
    guard var client = selection.client.take() else { return try write(event, isSelected) }
    defer { selection.client = client }
    try client.consume(event, isSelected: isSelected) { try write($0, $1) }
  }

  private mutating func write(_ event: borrowing EventView, _ isSelected: Bool) throws {
    guard isSelected else { return counter.leaveOut(event) }
    isEmpty = false
    if selection.filter == nil {
      try copy.consume(event)
    } else {
      try copy.consume(event, leftOut: counter.take(event))
    }
    growth.take(output.byteCount)
  }

  mutating func endFile() {}

  /// Writes what is left.
  /// - Parameter isWhole: Whether a file without events is a recording without events, too.
  /// - Throws: ``OutputError``.
  mutating func finish(isWhole: Bool) throws { try copy.finish(isWhole: isWhole) }
}
