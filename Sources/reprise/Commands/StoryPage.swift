import ConformanceKit
import RepriseCore
import Statistics

/// A violation that a story has met.
struct Violation {
  var clause: Clause
  var finding: Finding

  var text: String {
    "Violated: \(clause.id) of \(clause.spec) in frame \(finding.frame), connection \(finding.connection): "
      + "\(finding.message)."
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
    let time = "\(sentence.time)"
    if !hasBegun { try line("\(file), \(subject)", .heading) }
    if day != time.prefix(10) {
      day = String(time.prefix(10))
      try line("\(day) (UTC)", .heading)
    }
    hasBegun = true
    append(
      paint(
        .quiet,
        "Frame \(sentence.frame), \(time.dropFirst(11).dropLast()), #\(sentence.connection):"
      ) + " ")
    try line(redaction.shown(sentence.text))
  }

  /// Writes what is to be said at the end.
  /// - Parameters:
  ///   - teller: Who knows it.
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
      for text in teller.endLines + conclusions { try line(text) }
      for violation in violations.prefix(Self.mostViolations) {
        try line(violation.text, .fault)
      }
      let rest = violations.count + untold - Self.mostViolations
      if rest > 0 { try line("Violated: \(rest) more, which reprise conform trace tells.") }
    }
    try lines.flush()
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
