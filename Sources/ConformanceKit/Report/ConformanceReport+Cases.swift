internal import RepriseCore

extension CaseRecord {
  /// Reads what became of the cases of a report.
  /// - Parameter document: The report.
  /// - Returns: The records, as they stand in it.
  /// - Throws: ``ReportError`` for what is none.
  static func records(of document: ReportDocument) throws(ReportError) -> [CaseRecord] {
    var records: [CaseRecord] = []
    for value in document.json["cases"]?.elements ?? [] {
      guard let number = value["number"]?.integer, number > 0, let name = value["case"]?.text,
        let run = value["run"]?.text, let spec = value["spec"]?.text,
        let file = value["file"]?.text, let clauses = value["clauses"]?.texts,
        let failed = value["failed"]?.texts,
        let outcome = value["outcome"]?.text.flatMap(Outcome.init)
      else {
        throw ReportError(document.file, "a case in it lacks something", document.kind.remedy)
      }
      var record = CaseRecord(
        number, name: name, run: run, values: value["values"]?.text ?? "", spec: spec, file: file,
        clauses: clauses)
      record.outcome = outcome
      record.reason = value["reason"]?.text
      record.failed = failed
      records.append(record)
    }
    return records
  }
}

extension ConformanceReport {
  /// Joins reports on different cases to the one that a run of all gives.
  /// - Parameter parts: The reports, with the names of their files.
  /// - Returns: The report.
  /// - Throws: ``ReportError`` where a case is in two of them, or in none.
  static func merged(
    cases parts: [(name: String, report: ConformanceReport)]
  ) throws(ReportError) -> ConformanceReport {
    var known: [Int: (name: String, run: String)] = [:]
    for (name, report) in parts {
      for record in report.cases ?? [] {
        if let other = known.updateValue((name, record.run), forKey: record.number) {
          throw ReportError(
            name,
            "case \(record.number) of the run is \(record.run), and in \(other.name) it is "
              + other.run,
            "name the reports on the parts of one run, each once")
        }
      }
    }
    for (name, report) in parts {
      guard let all = report.shard?.cases, all != known.count else { continue }
      throw ReportError(
        name, "it is a part of \(all) cases, and all parts have \(known.count)",
        "run the parts to their end, with the same cases, --profile, --spec and --clause")
    }
    let records = parts.flatMap { $0.report.cases ?? [] }.sorted { $0.number < $1.number }
    let judged = Set(parts.flatMap(\.report.inputs))
    let inputs = records.map(\.file).filter(judged.contains)
    return try merged(parts, inputs).adding(records)
  }
}
