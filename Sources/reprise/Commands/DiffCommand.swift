import Capture
import ConformanceKit
import RepriseCore
import SessionDiff

/// `reprise diff`: tells what differs between two sessions.
enum DiffCommand: Command {
  private static let format = OptionSpec(
    name: "format", letter: "f", value: "FORMAT", choices: ["text", "json"],
    help: "text (default): lines for people; json: one object for programs.")
  private static let details = OptionSpec(
    name: "with", value: "WHAT", isList: true,
    help: "Compares what is left out otherwise, too: times, pings, ids or repeats.")
  private static let ignored = OptionSpec(
    name: "ignore", value: "RULE", repeats: true,
    help: "Leaves out topic:FILTER, key:NAME, username, correlation or order.")

  static let spec = CommandSpec(
    name: "diff", summary: "Tells what differs between two sessions, by what packets mean.",
    operands: "A B", operandCount: 2...2,
    options: [
      format, details, ignored, .output, .filter, .client, .from, .to, .showSecrets, .bpf, .decode,
      .keyLog, .serverKey, .preSharedKey, .memory, .jobs,
    ],
    details: """
      A and B are captures (pcap or pcapng, also gzip-compressed) or recordings (.jsonl);
      - is standard input for one of them. The status is 0 where nothing differs, 1 where
      something does, and 2 where that can't be told.

      Connections are the same that have a client of the same name, in their order; those of
      clients without a name, or with one made anew, are told by what is said on them.
      On each, what either end says is compared in its order: types, topics, QoS, flags,
      payloads (JSON as JSON, whatever the order of its keys), filters, reason codes and
      properties. An acknowledgement is compared at the packet that it answers, wherever it
      comes. Addresses, TCP, the frames that carry a message, times, packet identifiers,
      topic aliases, pings and packets that are sent again don't count, unless --with has
      them; a client identifier made anew is shown, and counts with --with ids.

      A line begins with - for what is in A alone, + for B alone, ~ for what both have with
      other fields or at another place, each with time and frame. Where bytes are missing
      from a file, or it is cut, nobody knows what was said there: ? marks what only the other
      one shows, and it is no difference. What is hidden, as by reprise redact, is equal to
      everything, and so are passwords and tokens without --show-secrets.

      --ignore key:NAME leaves out members of JSON, headers and user properties of that name,
      topic:FILTER the payloads of topics, order what only comes at another place. --filter,
      --from and --to choose of both files what is compared; with --client only its
      connections are.

      Examples:
        reprise diff yesterday.pcapng today.pcapng
        reprise diff capture.pcap public.jsonl
        reprise diff a.pcap b.pcap --ignore key:timestamp --ignore order
        reprise diff a.pcap b.pcap --client sensor-7 --format json
        reprise convert a.pcap -o - | reprise diff a.pcap - --with times,pings,ids,repeats
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let files = arguments.operands
    guard files != ["-", "-"] else {
      throw UsageError("- can be one of the two files only", "save the other one in a file first")
    }
    let output = try OutputFile(
      arguments.value(.output), inputs: files, isPrivate: arguments.has(.showSecrets))
    let run = try Run(arguments, console, try options(arguments))
    guard let comparison = try run.compare() else { return .unable }
    guard let (a, b) = names(files) else { return .unable }
    if arguments.value(format) == "json" {
      try output.write("\(comparison.json(a, b))\n")
    } else {
      var text = DiffText(usesColor: console.usesColor(on: output))
      try output.show(text.text(of: comparison, a, b))
    }
    try output.close()
    return comparison.isSame ? .done : .failed
  }

  private static func names(_ files: [String]) -> (String, String)? {
    guard let first = files.first, let last = files.last else { return nil }
    return (first, last)
  }

  private static func options(_ arguments: Arguments) throws(UsageError) -> DiffOptions {
    var kept: Set<DiffOptions.Detail> = []
    for name in arguments.list(details) {
      guard let detail = DiffOptions.Detail(rawValue: name) else {
        throw UsageError("--with can't be '\(name)'", "type times, pings, ids or repeats")
      }
      kept.insert(detail)
    }
    var rules = RedactionRules(hidesSecrets: !arguments.has(.showSecrets))
    var ignoresOrder = false
    for rule in arguments.list(ignored) {
      guard rule != "order" else {
        ignoresOrder = true
        continue
      }
      do throws(RedactionRules.TypedError) {
        try rules.add(typed: rule)
      } catch {
        switch error {
        case .unknown:
          throw UsageError(
            "--ignore can't be '\(rule)'",
            "type topic:FILTER, key:NAME, username, correlation or order")
        case .notTopicFilter(let filter):
          throw UsageError(
            "--ignore: '\(filter)' is no topic filter",
            "+ stands for a whole level, # for all levels at the end: plant/+/alarm, plant/#")
        }
      }
    }
    return DiffOptions(details: kept, ignoring: rules, ignoresOrder: ignoresOrder)
  }
}

/// The passes over both files: the first keeps what tells that something differs, the second what that is.
private struct Run {
  private let a: InputRun
  private let b: InputRun
  private let options: DiffOptions
  private let selection: Selection
  private let memory: Int
  private let console: Console

  init(_ arguments: Arguments, _ console: Console, _ options: DiffOptions) throws {
    memory = try arguments.memory()
    selection = try Selection(arguments)
    self.options = options
    self.console = console
    var runs: [InputRun] = []
    for file in arguments.operands {
      var run = try InputRun([file], arguments, console, output: nil)
      try run.keepStandardInput()
      runs.append(run)
    }
    guard let first = runs.first, let last = runs.last else {
      throw UsageError("diff needs two files", arguments.helpHint)
    }
    (a, b) = (first, last)
  }

  /// Compares; nil where that can't be, which is told.
  func compare() throws -> SessionComparison? {
    guard let first = try digest(a), let second = try digest(b) else { return nil }
    let plan = SessionPlan(first, second)
    guard !plan.isEmpty else {
      console.error(
        "there is nothing to compare: neither file has an event that is chosen; "
          + "reprise inspect shows what they have")
      return nil
    }
    guard let spokenA = try details(a, plan.places(inFirst: true)),
      let spokenB = try details(b, plan.places(inFirst: false))
    else { return nil }
    return SessionComparison(plan, spokenA, spokenB, options)
  }

  private func digest(_ run: InputRun) throws -> SessionDigest? {
    // A quarter of what everything may take for each, as for what differs.
    var reader = Chosen(SessionDigest(options, memory: memory / 4), selection, console) {
      try $0.consume($1, isSelected: $2)
    }
    guard try run.read(into: &reader) == 0 else { return nil }
    var digest = reader.base
    for missing in reader.missing {
      switch missing {
      case .behindTheEnd: try digest.endEarly()
      case .dropped, .unread: digest.lackConnections()
      // The same is left out of both files.
      case .leftOut: break
      }
    }
    return digest
  }

  private func details(_ run: InputRun, _ places: SessionPlaces) throws -> SessionDetails? {
    let details = SessionDetails(places, options, memory: memory / 8)
    guard !places.isEmpty else { return details }
    var reader = Chosen(details, selection, nil) { try $0.consume($1, isSelected: $2) }
    guard try run.readSilently(into: &reader) == 0 else {
      console.error("\(run.files.first ?? "-"): it changed while it was read; try again")
      return nil
    }
    return reader.base
  }
}

/// Hands on the events of the connections that were chosen, and says of each whether it was chosen itself.
private struct Chosen<Base>: SessionConsumer {
  private(set) var base: Base
  private var selection: Selection
  private let console: Console?
  private let take: (inout Base, borrowing EventView, Bool) throws -> Void
  private var file = ""
  /// Why connections may be missing.
  private(set) var missing: [MissingConnections] = []

  init(
    _ base: Base, _ selection: Selection, _ console: Console?,
    _ take: @escaping (inout Base, borrowing EventView, Bool) throws -> Void
  ) {
    self.base = base
    self.selection = selection
    self.console = console
    self.take = take
  }

  mutating func beginFile(_ name: String) { file = name }

  mutating func consume(_ event: borrowing EventView) throws {
    // The filter has to see all of them.
    let isSelected = selection.filter?.matches(event) ?? true
    guard var client = selection.client.take() else { return try take(&base, event, isSelected) }
    defer { selection.client = client }
    try client.consume(event, isSelected: isSelected) { try take(&base, $0, $1) }
  }

  mutating func note(_ missing: MissingConnections) { self.missing.append(missing) }

  mutating func endFile() {
    if let note = selection.filter?.note { console?.note(file, note) }
  }
}
