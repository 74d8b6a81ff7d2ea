import Capture
import RepriseCore
import Statistics

/// `reprise stats`: counts what happened in captures and recordings.
enum StatsCommand: Command {
  private static let format = OptionSpec(
    name: "format", letter: "f", value: "FORMAT", choices: ["text", "json", "csv", "prometheus"],
    help: "text (default): for people; json: one object; csv: one table; prometheus: metrics.")
  private static let top = OptionSpec(
    name: "top", value: "N", help: "The most rows of each table: 10 (default).")

  static let spec = CommandSpec(
    name: "stats", summary: "Counts messages, bytes and errors, and tells how slow answers were.",
    operands: "FILE...", operandCount: 1...Int.max,
    options: [
      format, .output, top, .filter, .client, .connection, .from, .to, .envelope, .redact, .bpf,
      .decode, .keyLog, .serverKey, .preSharedKey, .memory, .jobs,
    ],
    details: """
      FILE is a capture (pcap or pcapng, also gzip-compressed), a recording (.jsonl), or a
      folder for those in it; - is standard input. All files together are counted in one report.

      Questions and answers are paired by what the protocol says: packet identifiers, the
      payload of a Ping, the topic and data of a response, the id of a call. A request over
      WebSocket has a uniqueId, an id, or the key that --envelope tells. → is asked by
      clients, ← by servers. none: the connection was closed first; open: the capture ends
      first; ?: the capture lacks bytes, its clock goes back, or the answer may be that to
      another question. Quantiles of times are off by at most 0.4 %. Slowest answers tell who
      asked, and in which frame.

      silence is the longest time between two packets of a client, beside its keep-alive; !
      marks one that is longer than the standard lets it be. every: half of the times between
      two messages to a topic are shorter.

      With --filter, --from and --to only what is chosen is counted; answers to a question
      that is chosen count in any case. The tables have the most frequent topics and clients.

      Examples:
        reprise stats capture.pcap
        reprise stats *.pcap --format json -o stats.json
        reprise stats capture.pcap --format prometheus -o /var/lib/node_exporter/reprise.prom
        reprise stats capture.pcap --client sensor-7 --from 07:39 --to 07:41
        reprise stats capture.pcap --filter 'topic ~ "plant/+/alarm"' --top 50
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let memory = try arguments.memory()
    let rows = try arguments.count(top) ?? 10
    let redaction = try RedactionRules(arguments, hidesSecrets: true)
    let files = try SessionFolder.expand(arguments.operands, console)
    let run = try InputRun(files, arguments, console, output: nil)
    // A quarter of what everything may take.
    let limits = StatisticsLimits(memory: memory / 4, listed: rows)
    var counter = Counter(
      statistics: SessionStatistics(limits, requestKeys: try RequestKeys(arguments)),
      selecting: try Selection(arguments), console)
    let output = try OutputFile(arguments.value(.output), inputs: files)
    let unread = try run.read(into: &counter)
    // Figures of nothing would look as if nothing had happened.
    guard unread < files.count else { return .unable }
    if let absence = counter.absence {
      if unread == 0 { console.error(absence) }
      return .unable
    }
    let report = StatisticsReport(
      counter.statistics, top: rows, hiding: redaction, toolVersion: Reprise.version)
    switch arguments.value(format) {
    case "json": try output.write("\(String(decoding: report.json.utf8, as: UTF8.self))\n")
    case "csv": try output.write(report.csv)
    case "prometheus": try output.write(report.prometheus)
    default: try output.show(report.text(color: console.usesColor(on: output)))
    }
    try output.close()
    return unread == 0 ? .done : .unable
  }
}

/// Hands the events that were selected to the statistics, and the others too, to tell what they answer.
private struct Counter: SessionConsumer {
  var statistics: SessionStatistics
  private var selection: Selection
  private let typed: Selection
  private let subject: SessionSubject?
  private var people = SessionPeople()
  /// Whether the client or the connection that is asked for was seen.
  private var isSubjectSeen = false
  private let console: Console
  private var file = ""

  init(statistics: SessionStatistics, selecting selection: Selection, _ console: Console) {
    self.statistics = statistics
    self.selection = selection
    typed = selection
    subject = selection.subject
    self.console = console
  }

  /// Why there is nothing to count, where the client or the connection that is asked for is not there; nil if it is.
  var absence: String? { isSubjectSeen ? nil : subject.map { people.absence(of: $0) } }

  mutating func beginFile(_ name: String) {
    file = name
    selection = typed
    statistics.beginFile(name)
  }

  mutating func consume(_ event: borrowing EventView) throws {
    if subject != nil { people.note(event) }
    // The filter has to see all of them.
    let isChosen = selection.filter?.matches(event) ?? true
    let isOfSubject = selection.connection.map { $0 == event.context.connection } ?? true
    let isSelected = isChosen && isOfSubject
    guard var client = selection.client.take() else {
      if isOfSubject { isSubjectSeen = true }
      return statistics.consume(event, isSelected: isSelected)
    }
    defer { selection.client = client }
    try client.consume(event, isSelected: isSelected) {
      if isOfSubject { isSubjectSeen = true }
      statistics.consume($0, isSelected: $1)
    }
  }

  mutating func endFile() {
    if let note = selection.filter?.note { console.note(file, note) }
    statistics.endFile()
  }
}
