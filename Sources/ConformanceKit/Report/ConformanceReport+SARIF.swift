internal import RepriseCore

extension ConformanceReport {
  /// Returns the report as SARIF 2.1.0 (OASIS): a rule a clause that had anything to judge, a result a finding.
  ///
  /// What is inconclusive is no result: those who read the format take every result for a fault.
  func sarif(exitStatus: Int) -> [UInt8] {
    let judged = results.filter { $0.isExercised }
    var list: [JSONValue] = []
    var repeats = Repeats()
    for (index, result) in judged.enumerated() {
      for finding in result.findings {
        // A strict run fails for a SHOULD as for a MUST.
        let level = result.verdict == .failed ? "error" : Self.level(result.clause.level)
        list.append(sarif(finding, result.clause.key, rule: index, level: level, &repeats))
      }
    }
    var rules = judged.map { Self.rule($0.clause) }
    if !unbound.isEmpty {
      for finding in unbound {
        list.append(sarif(finding, .step, rule: rules.count, level: "error", &repeats))
      }
      rules.append([
        "id": .string(ClauseKey.step.description),
        "shortDescription": ["text": .string(Self.stepText)],
      ])
    }
    for entry in baseline?.mended ?? [] {
      list.append(sarif(mended: entry, rule: rules.count))
    }
    if baseline?.mended.isEmpty == false {
      rules.append([
        "id": "baseline/mended", "shortDescription": ["text": .string(Self.mendedText)],
      ])
    }
    let driver: JSONValue = [
      "name": "reprise", "version": .string(toolVersion), "rules": .array(rules),
    ]
    let artifacts = inputs.map { input -> JSONValue in
      ["location": ["uri": .string(FileURI.of(input))], "roles": ["analysisTarget"]]
    }
    let verdicts = Verdict.allCases.filter { $0 != .accepted || baseline != nil }
    let totals = verdicts.map { verdict in
      JSONMember(verdict.rawValue, .number(String(count(verdict))))
    }
    let run: JSONValue = [
      "tool": ["driver": driver],
      "invocations": [sarifInvocation(exitStatus: exitStatus)],
      "artifacts": .array(artifacts), "results": .array(list),
      "columnKind": "unicodeCodePoints", "properties": ["totals": .object(totals)],
    ]
    let log: JSONValue = [
      "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
      "runs": [run],
    ]
    return log.utf8 + [UInt8(ascii: "\n")]
  }

  /// How the run ended, with what it could not read.
  private func sarifInvocation(exitStatus: Int) -> JSONValue {
    var members = [
      JSONMember("executionSuccessful", .bool(exitStatus != 2)),
      JSONMember("exitCode", .number(String(exitStatus))),
    ]
    var notifications = unread.map { input -> JSONValue in
      [
        "level": "error", "message": ["text": .string(Self.plain(input.text))],
        "locations": [.object([Self.location(input.file)])],
      ]
    }
    // Of a clause with more findings the first are results.
    for result in results where result.violated > result.findings.count && !result.findings.isEmpty
    {
      let text =
        "\(result.key): \(result.findings.count) of \(result.violated) findings are among the results"
      notifications.append(["level": "note", "message": ["text": .string(text)]])
    }
    if !notifications.isEmpty {
      members.append(JSONMember("toolExecutionNotifications", .array(notifications)))
    }
    return .object(members)
  }

  private static let mendedText = "An entry of a baseline accepts something that is still found."

  private func sarif(mended entry: Baseline.Entry, rule: Int) -> JSONValue {
    let text = BaselineOutcome.Remark(kind: .mended, entry: entry)
    let uri = FileURI.of(baseline?.file ?? "-")
    return [
      "ruleId": "baseline/mended", "ruleIndex": .number(String(rule)), "level": "error",
      "message": ["text": .string(Self.plain("\(text.title): \(text.text)"))],
      "locations": [
        [
          "physicalLocation": [
            "artifactLocation": ["uri": .string(uri)],
            "region": ["startLine": .number(String(max(1, entry.line)))],
          ]
        ]
      ],
      "partialFingerprints": [
        "repriseFinding/v1": .string(entry.fingerprint.description),
        "primaryLocationLineHash": .string("\(entry.fingerprint):\(max(1, entry.line))"),
      ],
      "suppressions": [],
    ]
  }

  private static let stepText = "A step of a scenario goes as it should."

  /// A clause as the rule that results name.
  private static func rule(_ clause: Clause) -> JSONValue {
    var help = clause.summary
    if let check = clause.check { help += "\n\nHow it is checked: \(check)" }
    if let inconclusive = clause.inconclusive { help += "\n\nInconclusive: \(inconclusive)" }
    if let example = clause.example { help += "\n\nA violation: \(example)" }
    return [
      "id": .string("\(clause.spec)/\(clause.id)"),
      "shortDescription": ["text": .string("\(clause.id): \(clause.summary)")],
      "fullDescription": ["text": .string(clause.summary)],
      "help": ["text": .string(help)],
      "defaultConfiguration": ["level": .string(level(clause.level))],
      "properties": [
        "specification": .string(clause.spec), "section": .string(clause.section),
        "requirement": .string(clause.level.rawValue), "actor": .string(clause.actor.rawValue),
        "tags": [.string(clause.spec), .string(clause.actor.rawValue)],
      ],
    ]
  }

  private static func level(_ level: Clause.Level) -> String {
    switch level {
    case .must: "error"
    case .should: "warning"
    case .may: "note"
    }
  }

  /// How often findings of one fingerprint were met in one file: without that number those who read the format take
  /// them for one.
  private struct Repeats {
    private struct Place: Hashable {
      var rule: Int
      var file: String
      var fingerprint: String
    }

    private var counts: [Place: Int] = [:]

    /// The number of a finding, from 1.
    mutating func number(_ finding: Finding, _ fingerprint: String, rule: Int) -> Int {
      let place = Place(rule: rule, file: finding.file, fingerprint: fingerprint)
      counts[place, default: 0] += 1
      return counts[place] ?? 1
    }
  }

  private func sarif(
    _ finding: Finding, _ clause: ClauseKey, rule: Int, level: String, _ repeats: inout Repeats
  ) -> JSONValue {
    let fingerprint = finding.fingerprint(of: clause).description
    let number = repeats.number(finding, fingerprint, rule: rule)
    var members = Self.sarifMembers(
      finding, rule: rule, id: clause.description, level: level)
    members.append(
      JSONMember(
        "partialFingerprints",
        [
          "repriseFinding/v1": .string(fingerprint),
          "primaryLocationLineHash": .string("\(fingerprint):\(number)"),
        ]))
    if let acceptance = finding.acceptance {
      let text: JSONValue = .string(Self.printable(acceptance.text))
      members.append(
        JSONMember(
          "suppressions", [["kind": "external", "justification": text]]))
    } else if baseline != nil {
      // Where one result says it, all have to.
      members.append(JSONMember("suppressions", []))
    }
    return .object(members)
  }

  private static func sarifMembers(
    _ finding: Finding, rule: Int, id: String, level: String
  ) -> [JSONMember] {
    let text =
      "\(finding.message) (\(place(of: finding))). Expected: \(finding.expected); "
      + "actual: \(finding.actual)"
    var members = [
      JSONMember("ruleId", .string(id)), JSONMember("ruleIndex", .number(String(rule))),
      JSONMember("level", .string(level)), JSONMember("message", ["text": .string(plain(text))]),
      JSONMember("locations", [.object([location(finding.file)])]),
    ]
    if !finding.evidence.isEmpty {
      let related = finding.evidence.map { packet -> JSONValue in
        let text = "frame \(packet.frame), connection \(packet.connection): \(packet.role)"
        return .object([
          location(finding.file), JSONMember("message", ["text": .string(plain(text))]),
        ])
      }
      members.append(JSONMember("relatedLocations", .array(related)))
    }
    var properties = [
      JSONMember("frame", .number(String(finding.frame))),
      JSONMember("connection", .number(String(finding.connection))),
      JSONMember("time", .string(finding.time.description)),
      JSONMember("subject", .string(printable(finding.subject))),
    ]
    if let other = finding.sameCauseAs {
      properties.append(JSONMember("sameCauseAs", .string(other)))
    }
    return members + [JSONMember("properties", .object(properties))]
  }

  /// A place in a file: its beginning, as captures have no lines, and some readers leave out what has no region.
  private static func location(_ file: String) -> JSONMember {
    JSONMember(
      "physicalLocation",
      [
        "artifactLocation": ["uri": .string(FileURI.of(file))],
        "region": ["startLine": .number("1")],
      ])
  }

  /// Text for a message, in which braces would be a place for an argument, and brackets a link.
  private static func plain(_ text: String) -> String {
    printable(text).replacing("{", with: "{{").replacing("}", with: "}}")
      .replacing("](", with: "] (")
  }
}

/// The names of files as references of RFC 3986.
enum FileURI {
  /// Returns the reference of a file: relative where its path is.
  static func of(_ path: String) -> String {
    if path == "-" { return "standard-input" }
    var rest = path[...]
    while rest.hasPrefix("./") { rest = rest.dropFirst(2).drop { $0 == "/" } }
    let encoded = rest.utf8.map { byte -> String in
      isPlain(byte) ? String(UnicodeScalar(byte)) : "%" + hexadecimal(byte)
    }
    return (rest.hasPrefix("/") ? "file://" : "") + encoded.joined()
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "/"):
      true
    default: false
    }
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return byte < 16 ? "0" + digits : digits
  }
}
