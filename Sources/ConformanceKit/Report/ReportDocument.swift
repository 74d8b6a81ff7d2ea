internal import RepriseCore

/// A report as it stands in JSON, of this version or another one.
public struct ReportDocument: Sendable, Hashable {
  /// A clause with its verdict.
  struct Row: Hashable {
    var key: ClauseKey
    var verdict: Verdict
    var violated: Int
    var findings: [Row.Finding]

    /// What is listed of a violation.
    struct Finding: Hashable {
      var fingerprint: String
      var place: String
      /// The file that it was found in.
      var file: String
      var message: String
      /// The scenario in its world that it is of; nil for one of a file.
      var scenario: ScenarioRecord.Key?
      /// What the run of a case that it is of is called; nil for one of a file that nobody was driven for.
      var driven: String?
    }

    /// Whether every violation is listed.
    var isComplete: Bool { findings.count >= violated }
  }

  /// What a report may be on.
  enum Kind: Hashable {
    /// On captures and recordings.
    case files
    /// On scenarios of the SDK, with those that were run to a verdict; nil where it does not tell them.
    case scenarios(Set<ScenarioRecord.Key>?)
    /// On the recordings of a project, and on scenarios, with those that were run to a verdict.
    case project(Set<ScenarioRecord.Key>)
    /// On an end that was driven by cases, with the runs of those that were judged.
    case cases(Peer, Set<String>)

    var words: String {
      switch self {
      case .files: "on captures and recordings"
      case .scenarios: "on scenarios"
      case .project: "on the recordings of a project and on scenarios"
      case .cases(let subject, _): "on a \(subject.rawValue) that was driven by cases"
      }
    }

    /// How such a report is written.
    var remedy: String {
      switch self {
      case .files: "write it by reprise conform trace --format json"
      case .scenarios: "write it by reprise conform sdk --format json"
      case .project: "write it by reprise conform --format json"
      case .cases: "write it by reprise conform broker, client or server with --format json"
      }
    }

    /// Whether two reports are on the same sort of thing.
    func isLike(_ other: Kind) -> Bool { words == other.words }
  }

  /// The name of its file, for messages.
  public let file: String
  let json: JSONValue
  let rows: [Row]
  /// What is wrong with steps of scenarios that show no clause.
  let steps: [Row.Finding]
  /// What it is on.
  let kind: Kind
  /// The files that were to be judged.
  let inputs: Set<String>
  /// Those of them that could not be read.
  let unread: Set<String>
  /// Whether something fails the run besides clauses: steps that show none, and entries of a baseline.
  let failsOtherwise: Bool

  /// Reads a report.
  /// - Parameters:
  ///   - bytes: What its file holds.
  ///   - file: The name of the file.
  /// - Throws: ``ReportError`` for what is no report.
  public init(reading bytes: [UInt8], file: String) throws(ReportError) {
    do throws(JSONSyntaxError) {
      json = try JSONValue.read(bytes)
    } catch {
      throw ReportError(file, "\(error.message), at byte \(error.offset)")
    }
    guard json["tool"]?["name"]?.text == "reprise", let clauses = json["clauses"]?.elements else {
      throw ReportError(file, "this is no report of reprise")
    }
    self.file = file
    var rows: [Row] = []
    for clause in clauses { rows.append(try Row(clause, of: file)) }
    self.rows = rows
    inputs = Set((json["inputs"]?.elements ?? []).compactMap(\.text))
    unread = Set((json["unread"]?.elements ?? []).compactMap { $0["file"]?.text })
    let unbound = json["unbound"]?.elements ?? []
    steps = unbound.map(Row.Finding.init)
    kind = Kind(json, rows)
    let remarks = json["baseline"]?["remarks"]?.elements ?? []
    failsOtherwise =
      unbound.contains { $0["accepted"] == nil }
      || remarks.contains { $0["kind"]?.text == "mended" }
  }

  /// The clauses of the SDK, or the others, as they stand in JSON and as they were read.
  func entries(ofSDK isSDK: Bool) -> [(json: JSONValue, row: Row)] {
    zip(json["clauses"]?.elements ?? [], rows)
      .filter { ($1.key.spec == ClauseKey.step.spec) == isSDK }
      .map { ($0, $1) }
  }

  /// How many clauses have a verdict.
  func count(_ verdict: Verdict) -> Int { rows.count { $0.verdict == verdict } }

  /// Checks that another report is on the same sort of thing, so that the two can be compared.
  /// - Parameter earlier: The other report.
  /// - Throws: ``ReportError`` where they are of two sorts: on captures, on scenarios, on an end that was driven.
  public func check(isLike earlier: ReportDocument) throws(ReportError) {
    guard kind.isLike(earlier.kind) else {
      throw ReportError(
        file, "it is \(kind.words), and \(earlier.file) \(earlier.kind.words)",
        "compare reports of one sort")
    }
  }
}

extension ReportDocument.Kind {
  fileprivate init(_ json: JSONValue, _ rows: [ReportDocument.Row]) {
    if let cases = json["cases"]?.elements {
      let judged: [String] = [
        CaseRecord.Outcome.judged.rawValue, CaseRecord.Outcome.changed.rawValue,
      ]
      let runs = cases.filter { $0["outcome"]?.text.map(judged.contains) == true }
      // A broker, and a server, is what is driven where nothing says so.
      let subject = json["subject"]?.text.flatMap(Peer.init) ?? .server
      self = .cases(subject, Set(runs.compactMap { $0["run"]?.text }))
      return
    }
    guard let scenarios = json["scenarios"]?.elements else {
      self = rows.contains { $0.key.spec == ClauseKey.step.spec } ? .scenarios(nil) : .files
      return
    }
    let judged: [String] = [
      ScenarioRecord.Outcome.passed.rawValue, ScenarioRecord.Outcome.failed.rawValue,
    ]
    let keys = Set(
      scenarios.compactMap { record in
        guard let outcome = record["outcome"]?.text, judged.contains(outcome) else {
          return ScenarioRecord.Key?.none
        }
        return ScenarioRecord.Key(record)
      })
    // What files speak is told of files alone.
    self = json["protocols"] == nil ? .scenarios(keys) : .project(keys)
  }
}

extension ScenarioRecord.Key {
  /// The scenario and the world of a place, or of a record; nil where it names none.
  init?(_ value: JSONValue) {
    guard let scenario = value["scenario"]?.text, let world = value["world"]?.text else {
      return nil
    }
    self.init(world: world, scenario: scenario)
  }
}

extension ReportDocument.Row {
  fileprivate init(_ value: JSONValue, of file: String) throws(ReportError) {
    guard let id = value["id"]?.text, let spec = value["spec"]?.text,
      let verdict = value["verdict"]?.text.flatMap(Verdict.init),
      let findings = value["findings"]?.elements
    else {
      throw ReportError(file, "a clause has no id, spec, findings or verdict that is known")
    }
    key = ClauseKey(spec: spec, id: id)
    self.verdict = verdict
    violated = value["tally"]?["violated"]?.integer ?? findings.count
    self.findings = findings.map(Finding.init)
  }
}

extension ReportDocument.Row.Finding {
  fileprivate init(_ value: JSONValue) {
    let step = value["scenario"]?.text.map { name in
      "scenario \(name), step \(value["step"]?.integer ?? 0), \(value["action"]?.text ?? ""), "
    }
    fingerprint = value["fingerprint"]?.text ?? ""
    self.file = value["file"]?.text ?? ""
    place =
      self.file + " " + (step ?? "") + "frame \(value["frame"]?.integer ?? 0)"
    message = value["message"]?.text ?? ""
    scenario = ScenarioRecord.Key(value)
    driven = value["case"]?.text
  }
}

/// Why a file is no report that can be taken.
public struct ReportError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file, what is wrong with it, and what to do.
  public let description: String

  init(
    _ file: String, _ message: String,
    _ remedy: String = ReportDocument.Kind.files.remedy
  ) {
    description = "\(file): \(message); \(remedy)"
  }
}
