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
      var message: String
    }

    /// Whether every violation is listed.
    var isComplete: Bool { findings.count >= violated }
  }

  /// The name of its file, for messages.
  public let file: String
  let json: JSONValue
  let rows: [Row]
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
    let remarks = json["baseline"]?["remarks"]?.elements ?? []
    failsOtherwise =
      json["unbound"]?.elements?.isEmpty == false
      || remarks.contains { $0["kind"]?.text == "mended" }
  }

  /// How many clauses have a verdict.
  func count(_ verdict: Verdict) -> Int { rows.count { $0.verdict == verdict } }
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
    self.findings = findings.map { finding in
      Finding(
        fingerprint: finding["fingerprint"]?.text ?? "",
        place: (finding["file"]?.text ?? "") + " frame \(finding["frame"]?.integer ?? 0)",
        message: finding["message"]?.text ?? "")
    }
  }
}

/// Why a file is no report that can be taken.
public struct ReportError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file, what is wrong with it, and what to do.
  public let description: String

  init(
    _ file: String, _ message: String,
    _ remedy: String = "write it by reprise conform trace --format json"
  ) {
    description = "\(file): \(message); \(remedy)"
  }
}
