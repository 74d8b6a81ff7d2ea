import Capture
import ConformanceKit
import RepriseCore
import Statistics

/// Makes the page of a session: reads the files once to judge and count, and again to write.
///
/// Between the two, a page that can't have all events reads them once more, to find those that findings are about.
struct PageRun {
  private let run: InputRun
  private let filter: SessionFilter?
  private let filters: [String]
  private let redaction: RedactionRules
  private let memory: Int
  private let payloadLimit: Int
  private let mostEvents: Int
  private let requestKeys: RequestKeys
  private let console: Console

  /// Prepares a page.
  /// - Parameters:
  ///   - files: The files, of which none is a folder.
  ///   - arguments: What was typed besides.
  ///   - filter: What the page has.
  ///   - redaction: What is not told.
  ///   - payloadLimit: The most characters of a payload that a line has.
  ///   - mostEvents: The most events that the page has.
  ///   - console: How to tell the user about errors and notes.
  /// - Throws: ``UsageError``, ``CaptureError`` where standard input can't be kept, or ``Interrupted``.
  init(
    _ files: [String], _ arguments: Arguments, _ filter: SessionFilter?,
    hiding redaction: RedactionRules,
    payloadLimit: Int, mostEvents: Int, _ console: Console
  ) throws {
    self.filter = filter
    self.redaction = redaction
    self.payloadLimit = payloadLimit
    self.mostEvents = mostEvents
    self.console = console
    filters = arguments.list(.filter)
    requestKeys = try RequestKeys(arguments)
    // A quarter of what everything may take, for each that remembers connections.
    memory = try arguments.memory() / 4
    var run = try InputRun(files, arguments, console, output: nil)
    try run.keepStandardInput()
    self.run = run
  }

  /// Writes the page.
  /// - Parameter output: Where it goes; nothing is written where no file can be read.
  /// - Returns: Whether everything could be read.
  /// - Throws: ``OutputError`` or ``Interrupted``; the page has what was read so far and is whole then, too.
  func write(to output: OutputFile) throws -> Bool {
    let options = ConformanceOptions(
      maximumFindings: SessionSettings.mostFindings, redaction: redaction, memory: memory)
    var survey = PageSurvey(
      judge: try ConformanceJudge(catalogue: Catalogue.bundled(), options: options),
      filter: filter, console: console)
    let unread = try run.read(into: &survey)
    guard unread < run.files.count else { return false }
    let report = survey.judge.report(toolVersion: Reprise.version)
    let findings = PageFindings(report, hiding: redaction)
    let choice = try choose(survey.matching, findings)
    var writer = PageWriter(
      page: SessionPage(
        output, hiding: redaction, payloadLimit: payloadLimit, requestKeys, memory: memory / 2),
      filter: filter, choice: choice, findings: findings)
    writer.page.begin()
    let facts = facts(survey, choice, findings, untold: report.untold)
    do {
      _ = try run.readSilently(into: &writer)
    } catch let interrupted as Interrupted {
      try writer.page.end(facts + [("interrupted", true)])
      throw interrupted
    }
    try writer.page.end(facts)
    tell(of: writer.page, output.name, survey.matching, choice)
    if report.untold > 0 {
      let all = findings.all.count + report.untold
      console.note(
        output.name,
        "the page has \(findings.all.count) of \(all) findings: of a clause the first "
          + "\(SessionSettings.mostFindings); reprise conform trace counts all")
    }
    return unread == 0
  }

  /// Tells what the page does not have.
  private func tell(of page: SessionPage, _ name: String, _ matching: Int, _ choice: PageChoice) {
    if page.count < matching {
      console.note(
        name,
        "the page has \(page.count) of \(matching) events: "
          + (page.isFull ? "a browser takes no more of this size" : rule(choice))
          + "; --filter chooses others" + (page.isFull ? "" : ", --most-events more"))
    }
    if page.forgottenConnections > 0 {
      console.note(
        name,
        "the clients of \(page.forgottenConnections) connections were forgotten for lack of memory; "
          + "--memory gives it more")
    }
  }

  private func rule(_ choice: PageChoice) -> String {
    choice.nearFindings == 0
      ? "the first ones"
      : "\(choice.nearFindings) around findings, and the first of the others"
  }

  private func choose(_ count: Int, _ findings: PageFindings) throws -> PageChoice {
    guard count > mostEvents else { return PageChoice(all: count) }
    guard !findings.all.isEmpty else {
      return PageChoice(around: [], of: count, most: mostEvents)
    }
    var finder = PlaceFinder(filter: filter, findings: findings)
    _ = try run.readSilently(into: &finder)
    return PageChoice(around: finder.places, of: count, most: mostEvents)
  }

  /// What the page says of the whole session.
  private func facts(
    _ survey: PageSurvey, _ choice: PageChoice, _ findings: PageFindings, untold: Int
  ) -> [(String, JSONValue)] {
    [
      ("total", .number(String(survey.total))), ("matching", .number(String(survey.matching))),
      ("nearFindings", .number(String(choice.nearFindings))),
      ("filters", .array(filters.map { .string($0) })), ("findings", findings.json),
      ("untoldFindings", .number(String(untold))),
    ]
  }
}

/// Judges the events and counts those that match.
private struct PageSurvey: SessionConsumer {
  var judge: ConformanceJudge
  var filter: SessionFilter?
  let console: Console
  private(set) var total = 0
  private(set) var matching = 0
  private var file = ""

  init(judge: ConformanceJudge, filter: SessionFilter?, console: Console) {
    self.judge = judge
    self.filter = filter
    self.console = console
  }

  mutating func beginFile(_ name: String) {
    file = name
    judge.begin(file: name)
    filter?.beginFile()
  }

  mutating func consume(_ event: borrowing EventView) {
    total += 1
    if filter?.matches(event) ?? true { matching += 1 }
    judge.consume(event)
  }

  mutating func note(_ missing: MissingConnections) { judge.note(missing) }

  mutating func endFile() {
    judge.endFile()
    for note in [ConformRun.forgotten(judge), filter?.note] {
      if let note { console.note(file, note) }
    }
  }
}

/// Finds the places of the events that findings are about, among those that match.
private struct PlaceFinder: SessionConsumer {
  var filter: SessionFilter?
  let findings: PageFindings
  private(set) var places: [Int] = []
  private var file = ""
  private var next = 0

  init(filter: SessionFilter?, findings: PageFindings) {
    self.filter = filter
    self.findings = findings
  }

  mutating func beginFile(_ name: String) {
    file = name
    filter?.beginFile()
  }

  mutating func consume(_ event: borrowing EventView) {
    guard filter?.matches(event) ?? true else { return }
    if findings.mayConcern(event.context, in: file) { places.append(next) }
    next += 1
  }

  mutating func endFile() {}
}

/// Hands the chosen events to the page.
private struct PageWriter: SessionConsumer {
  var page: SessionPage
  var filter: SessionFilter?
  var choice: PageChoice
  let findings: PageFindings
  private var next = 0

  init(
    page: SessionPage, filter: SessionFilter?, choice: PageChoice, findings: PageFindings
  ) {
    self.page = page
    self.filter = filter
    self.choice = choice
    self.findings = findings
  }

  mutating func beginFile(_ name: String) {
    page.beginFile(name)
    filter?.beginFile()
  }

  mutating func consume(_ event: borrowing EventView) throws {
    var isWanted = false
    if filter?.matches(event) ?? true {
      isWanted = choice.contains(next) && !page.isFull
      next += 1
    }
    try page.take(event, isWanted: isWanted, findings)
  }

  mutating func endFile() {}
}
