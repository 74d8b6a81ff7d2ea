import Capture
import ConformanceKit
import RepriseCore
import Statistics

/// `reprise story`: tells what happened to a client.
enum StoryCommand: Command {
  private static let format = OptionSpec(
    name: "format", letter: "f", value: "FORMAT", choices: ["text", "json"],
    help: "text (default): sentences for people; json: one object for programs.")
  private static let client = OptionSpec(
    name: "client", value: "ID", help: "Tells what happened to this client.")
  private static let connection = OptionSpec(
    name: "connection", value: "N", help: "Tells what happened on the connection of this number.")

  static let spec = CommandSpec(
    name: "story", summary: "Tells what happened to a client, in sentences with frame numbers.",
    operands: "FILE", operandCount: 1...1,
    options: [
      client, connection, ConformRun.assume, format, .envelope, .output, .redact, .bpf, .decode,
      .keyLog, .serverKey,
      .preSharedKey, .memory, .jobs,
    ],
    details: """
      FILE is a capture (pcap or pcapng, also gzip-compressed) or a recording (.jsonl);
      - is standard input.

      The story tells how the client connects, what it subscribes to and is granted, what it
      publishes and receives, how long it is silent, what stays unanswered, and who closes the
      connection. The last lines say why it was closed, what was slow, and which clauses were
      violated on the way, by either end. Messages of a topic are one sentence until something
      else happens, and connections that go as one before are one line; --connection N tells
      each, and json all of them. What the capture does not show is not guessed.

      Examples:
        reprise story capture.pcap --client sensor-7
        reprise story capture.pcap --connection 12
        reprise story session.jsonl --client sensor-7 --format json -o story.json
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let memory = try arguments.memory()
    let redaction = try RedactionRules(arguments, hidesSecrets: true)
    let run = try InputRun(arguments.operands, arguments, console, output: nil)
    let subject = try subject(arguments)
    let output = try OutputFile(arguments.value(.output), inputs: arguments.operands)
    let page = StoryPage(
      output, isJSON: arguments.value(format) == "json", subject: subject.title,
      file: arguments.operand, usesColor: console.usesColor(on: output), hiding: redaction)
    // A quarter of what everything may take.
    var judging = ConformanceOptions(redaction: redaction, memory: memory / 4)
    judging.hasOwnMessages = arguments.has(ConformRun.assume)
    var reader = StoryReader(
      page: page, subject: subject, teller: Storyteller(requestKeys: try RequestKeys(arguments)),
      judge: try ConformanceJudge(catalogue: Catalogue.bundled(), options: judging),
      memory: memory / 4)
    let isComplete: Bool
    do {
      isComplete = try run.read(into: &reader) == 0
    } catch let interrupted as Interrupted {
      try reader.end()
      throw interrupted
    }
    guard reader.teller.connectionCount > 0 else {
      if isComplete { console.error("\(arguments.operand): \(reader.absence)") }
      return .unable
    }
    try reader.end()
    try output.close(isWhole: isComplete)
    return isComplete ? .done : .unable
  }

  private static func subject(_ arguments: Arguments) throws(UsageError) -> SessionSubject {
    let number = try arguments.count(connection)
    switch (arguments.value(client), number) {
    case (let name?, nil): return .client(name)
    case (nil, let number?): return .connection(number)
    case (nil, nil):
      throw UsageError(
        "story needs someone to tell of",
        "add --client ID or --connection N; reprise stats shows who is there")
    case (.some, .some):
      throw UsageError("story tells of a client or of a connection", "leave one of them out")
    }
  }
}

/// Hands the events of whom the story is about to the storyteller.
private struct StoryReader: SessionConsumer {
  private var page: StoryPage
  private(set) var teller: Storyteller
  private var order = StoryOrder()
  /// Judges everyone: what others publish is what the subject gets.
  private var judge: ConformanceJudge
  /// The connections that the story is about.
  private var told: Set<Int> = []
  private let subject: SessionSubject
  private var choice: ClientChoice?
  private var people = SessionPeople()

  init(
    page: StoryPage, subject: SessionSubject, teller: Storyteller, judge: ConformanceJudge,
    memory: Int
  ) {
    self.page = page
    self.teller = teller
    self.judge = judge
    self.subject = subject
    if case .client(let name) = subject { choice = ClientChoice(name, memory: memory) }
  }

  mutating func beginFile(_ name: String) { judge.begin(file: name) }

  mutating func consume(_ event: borrowing EventView) throws {
    people.note(event)
    try teller.observe(event) { sentence in try order.add(sentence) { try page.write($0) } }
    try choose(event)
    // Behind the choice, so that what a CONNECT violates is kept as a finding of its client.
    judge.consume(event)
  }

  /// Tells of an event if it is one of the subject's, and of those in front of it that are found to be.
  private mutating func choose(_ event: borrowing EventView) throws {
    if var chosen = choice.take() {
      defer { choice = chosen }
      return try chosen.consume(event, isSelected: true) { event, _ in try tell(event) }
    }
    guard case .connection(let number) = subject, number == event.context.connection else { return }
    try tell(event)
  }

  private mutating func tell(_ event: borrowing EventView) throws {
    if told.insert(event.context.connection).inserted {
      judge.focus(on: event.context.connection)
    }
    try teller.consume(event) { sentence in try order.add(sentence) { try page.write($0) } }
  }

  mutating func note(_ missing: MissingConnections) { judge.note(missing) }

  mutating func endFile() throws {
    judge.endFile()
    try teller.finish { sentence in try order.add(sentence) { try page.write($0) } }
    try order.finish { try page.write($0) }
  }

  /// Writes what is to be said at the end.
  /// - Throws: ``OutputError``.
  mutating func end() throws {
    let report = judge.report(toolVersion: Reprise.version)
    let violations = report.results.filter { $0.verdict == .failed }.flatMap { result in
      result.findings.filter { told.contains($0.connection) }.map {
        Violation(clause: result.clause, finding: $0)
      }
    }
    try page.end(
      teller, violations.sorted { $0.finding.frame < $1.finding.frame }, untold: report.untold)
  }

  /// Why there is nothing to tell, and what there is instead.
  var absence: String { people.absence(of: subject) }
}
