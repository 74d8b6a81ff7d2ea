import ConformanceKit
import RepriseCore
import Statistics

/// A violation that a story has met.
struct Violation {
  var clause: Clause
  var finding: Finding

  /// What is said of which clause, whatever the place.
  struct Kind: Hashable {
    var clause: String
    var spec: String
    var message: String
  }

  var kind: Kind { Kind(clause: clause.id, spec: clause.spec, message: finding.message) }

  /// The violation in words.
  /// - Parameter more: How many others there are like it.
  /// - Returns: A sentence.
  func text(more: Int) -> String {
    let others = more > 0 ? " and \(more) time\(more == 1 ? "" : "s") more" : ""
    return "Violated: \(clause.id) of \(clause.spec) in frame \(finding.frame), connection "
      + "\(finding.connection)\(others): \(finding.message)."
  }

  var json: JSONValue {
    [
      "frame": .number(String(finding.frame)), "connection": .number(String(finding.connection)),
      "clause": .string(clause.id), "spec": .string(clause.spec),
      "message": .string(finding.message),
    ]
  }
}

/// Writes a story sentence by sentence, as text or as one object of JSON.
///
/// The object has `file`, `subject`, `sentences` (each with `frame`, `lastFrame`, `time`, `connection` and `text`),
/// `connections` (how many), `ends` (lines on how they ended, where there are several), `closed`, `slow`,
/// `violations` (each with `frame`, `connection`, `clause`, `spec` and `message`) and, where there are more than that,
/// `untoldViolations` (how many).
struct StoryPage {
  private var lines: LineBuffer<OutputFile>
  private let isJSON: Bool
  private let subject: String
  private let file: String
  private let redaction: RedactionRules
  private let paint: Paint
  private var hasBegun = false
  /// The sentences of a text that are not written yet, as more may go as they do.
  private var waiting: [Sentence] = []
  private static let mostWaiting = 20_000
  /// The date of the last sentence.
  private var day = ""

  init(
    _ output: OutputFile, isJSON: Bool, subject: String, file: String, usesColor: Bool,
    hiding redaction: RedactionRules
  ) {
    paint = Paint(isOn: usesColor)
    lines = LineBuffer(output, threshold: output.isTerminal ? 0 : 1 << 16)
    self.isJSON = isJSON
    self.subject = subject
    self.file = file
    self.redaction = redaction
  }

  /// Writes a sentence whose place is known.
  /// - Throws: ``OutputError``.
  mutating func write(_ sentence: Sentence) throws {
    if isJSON { return try writeJSON(sentence) }
    waiting.append(sentence)
    if waiting.count > Self.mostWaiting { try writeWaiting() }
  }

  private mutating func writeWaiting() throws {
    let lines = StoryFold.fold(waiting)
    waiting = []
    for line in lines {
      switch line {
      case .sentence(let sentence):
        try writeText(sentence, "Frame \(sentence.frame)", sentence.text)
      case .repetition(let repetition):
        try writeText(
          repetition.first, "Frames \(repetition.first.frame) to \(repetition.last.lastFrame)",
          repetition.text, to: repetition.last.connection)
      }
    }
  }

  private mutating func writeText(
    _ sentence: Sentence, _ frames: String, _ text: String, to last: Int? = nil
  ) throws {
    let time = "\(sentence.time)"
    if !hasBegun { try line("\(file), \(subject)", .heading) }
    if day != time.prefix(10) {
      day = String(time.prefix(10))
      try line("\(day) (UTC)", .heading)
    }
    hasBegun = true
    let more = last.map { $0 == sentence.connection ? "" : " to #\($0)" } ?? ""
    append(
      paint(
        .quiet, "\(frames), \(time.dropFirst(11).dropLast()), #\(sentence.connection)\(more):")
        + " ")
    try line(redaction.shown(text))
  }

  /// Writes what is to be said at the end.
  /// - Parameters:
  ///   - teller: The storyteller that knows it.
  ///   - violations: What was found, by its frames.
  ///   - untold: How many more there are.
  /// - Throws: ``OutputError``.
  mutating func end(_ teller: Storyteller, _ violations: [Violation], untold: Int) throws {
    let conclusions = [teller.closingLine, teller.slowLine].map { redaction.shown($0) }
    if isJSON {
      if !hasBegun { begin() }
      let ends = JSONValue.array(teller.endLines.map { .string($0) })
      append("\n],\"connections\":\(teller.connectionCount),\"ends\":")
      ends.append(to: &lines.bytes)
      for (key, text) in zip(["closed", "slow"], conclusions) {
        append(",\"\(key)\":")
        JSONValue.string(text).append(to: &lines.bytes)
      }
      append(",\"violations\":")
      JSONValue.array(violations.map(\.json)).append(to: &lines.bytes)
      append(untold > 0 ? ",\"untoldViolations\":\(untold)}" : "}")
      try lines.endLine()
    } else {
      try writeWaiting()
      for text in teller.endLines + conclusions { try line(text) }
      try write(violations, untold: untold)
    }
    try lines.flush()
  }

  /// Writes the violations, of those that are alike the first.
  private mutating func write(_ violations: [Violation], untold: Int) throws {
    var kinds: [(first: Violation, count: Int)] = []
    var places: [Violation.Kind: Int] = [:]
    for violation in violations {
      if let place = places[violation.kind] {
        kinds[place].count += 1
      } else {
        places[violation.kind] = kinds.count
        kinds.append((violation, 1))
      }
    }
    for kind in kinds.prefix(Self.mostViolations) {
      try line(kind.first.text(more: kind.count - 1), .fault)
    }
    let rest = kinds.dropFirst(Self.mostViolations).reduce(untold) { $0 + $1.count }
    if rest > 0 { try line("Violated: \(rest) more, which reprise conform trace tells.") }
  }

  /// The most violations that are told in text.
  private static let mostViolations = 10

  private mutating func begin() {
    append("{\"file\":")
    JSONValue.string(file).append(to: &lines.bytes)
    append(",\"subject\":")
    JSONValue.string(subject).append(to: &lines.bytes)
    append(",\"sentences\":[\n")
  }

  private mutating func writeJSON(_ sentence: Sentence) throws {
    if hasBegun {
      append(",")
      try lines.endLine()
    } else {
      begin()
    }
    hasBegun = true
    let object: JSONValue = [
      "frame": .number(String(sentence.frame)), "lastFrame": .number(String(sentence.lastFrame)),
      "time": .string("\(sentence.time)"), "connection": .number(String(sentence.connection)),
      "text": .string(redaction.shown(sentence.text)),
    ]
    object.append(to: &lines.bytes)
  }

  private mutating func append(_ text: String) { lines.bytes.append(contentsOf: text.utf8) }

  /// Writes a line of text, of which nothing steers a terminal.
  private mutating func line(_ text: String, _ style: Paint.Style? = nil) throws {
    var safe: [UInt8] = []
    TerminalText.append(Array(text.utf8).span.bytes, to: &safe)
    let shown = String(decoding: safe, as: UTF8.self)
    append(style.map { paint($0, shown) } ?? shown)
    try lines.endLine()
  }
}
