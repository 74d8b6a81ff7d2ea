import Capture
import ConformanceKit
import RepriseCore
import SessionView
import Statistics

/// How a session is read to be looked at.
struct SessionSettings: Sendable {
  /// The most findings of a clause that are shown.
  static let mostFindings = 1_000

  /// The file, as it was typed.
  let file: String
  /// The most bytes that everything may take.
  let memory: Int
  /// What is not shown.
  let redaction: RedactionRules
  /// How requests over WebSocket are told.
  private let requestKeys: RequestKeys
  /// Whether the file shows all that happens at its servers.
  private let isComplete: Bool
  /// The options by which it is read, as they were typed.
  private let words: [String]

  /// Reads the options.
  /// - Parameters:
  ///   - file: The file, or the interface.
  ///   - arguments: Where `--memory`, `--redact`, `--envelope` and `--show-secrets` stand.
  /// - Throws: ``UsageError`` for an option that can't be understood.
  init(_ file: String, _ arguments: Arguments) throws(UsageError) {
    self.file = file
    memory = try arguments.memory()
    redaction = try RedactionRules(arguments, hidesSecrets: !arguments.has(.showSecrets))
    requestKeys = try RequestKeys(arguments)
    isComplete = arguments.has(ConformRun.assume)
    // A pre-shared key is a secret, which no command line should have in it.
    let valued: [OptionSpec] = [
      .bpf, .decode, .keyLog, .serverKey, .redact, .memory, .envelope, ConformRun.assume,
    ]
    words =
      valued.flatMap { option in arguments.list(option).flatMap { ["--\(option.name)", $0] } }
      + (arguments.has(.showSecrets) ? ["--\(OptionSpec.showSecrets.name)"] : [])
  }

  /// A session without events; they have half of the memory.
  var session: ViewedSession {
    var session = ViewedSession(
      file, hiding: redaction, memory: memory / 2, requestKeys: requestKeys)
    session.options = words
    return session
  }

  /// What judges the session; it has a quarter of the memory.
  /// - Returns: A judge that keeps findings to be told when they come.
  /// - Throws: What the catalogue has of mistakes.
  func judge() throws -> ConformanceJudge {
    var options = ConformanceOptions(
      maximumFindings: Self.mostFindings, redaction: redaction, memory: memory / 4)
    options.hasOwnMessages = isComplete
    var judge = try ConformanceJudge(catalogue: Catalogue.bundled(), options: options)
    _ = judge.takeNews()
    return judge
  }
}

extension ViewedSession {
  /// What of the session is not there, a line each.
  var cutNotes: [String] {
    var notes: [String] = []
    if archive.leftOver > 0 {
      notes.append(
        "the last \(archive.leftOver) events are not shown: those before take all of the memory; "
          + "--memory gives more")
    }
    if untoldFindings > 0 {
      notes.append(
        "\(findings.count) of \(findings.count + untoldFindings) findings are shown: of a clause "
          + "the first \(SessionSettings.mostFindings); reprise conform trace counts all")
    }
    return notes
  }
}

/// Reads a whole session: its events, and what the clauses say of them.
struct SessionLoader: SessionConsumer {
  /// What was read so far.
  private(set) var session: ViewedSession
  /// What judges it, until it has told all.
  private var judge: ConformanceJudge?

  /// Prepares to read a file.
  /// - Parameter settings: How.
  /// - Throws: What the catalogue has of mistakes.
  init(_ settings: SessionSettings) throws {
    session = settings.session
    judge = try settings.judge()
  }

  mutating func beginFile(_ name: String) { judge?.begin(file: name) }

  mutating func consume(_ event: borrowing EventView) {
    session.archive.append(event)
    judge?.consume(event)
  }

  mutating func note(_ missing: MissingConnections) { judge?.note(missing) }

  mutating func endFile() {
    guard let report = judge.take()?.report(toolVersion: Reprise.version) else { return }
    session.setFindings(report.findings(in: session.archive, hiding: session.redaction))
    session.untoldFindings = report.untold
  }
}
