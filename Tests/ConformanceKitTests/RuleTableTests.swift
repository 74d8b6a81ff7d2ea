import Foundation
import TestSupport
import Testing
import Wire

@testable import ConformanceKit

/// The table of sections in the guide for those who add a clause: which file judges what.
///
/// `WRITE_GOLDEN=1` with this suite writes it anew.
@Suite("The table of sections, rules and files")
struct RuleTableTests {
  private static let guide = PackageFolder.url.appending(
    path: "Documentation/Reprise.docc/Guides/AddAClause.md")
  private static let rules = PackageFolder.url.appending(path: "Sources/ConformanceKit/Rules")
  /// What stands in front of the table, and its last line.
  private static let head = "| section | rules | files |\n|---|---|---|\n"

  /// The files of rules, without those that bind them to clauses.
  private static let sources: [(name: String, text: String)] = {
    let paths = FileManager.default.enumerator(atPath: rules.path)?.compactMap { $0 as? String }
    return (paths ?? []).sorted().compactMap { path in
      let name = String(path.split(separator: "/").last ?? "")
      let isBinding = [
        "MQTTRule.swift", "MQTTRule+Clauses.swift", "MQTTRule+Messages.swift",
        "HandshakeRule.swift", "FrameRule.swift", "FaultRule.swift",
      ].contains(name)
      guard path.hasSuffix(".swift"), !isBinding,
        let text = try? String(contentsOf: rules.appending(path: path), encoding: .utf8)
      else { return nil }
      return (String(path.dropLast(".swift".count)), text)
    }
  }()

  /// The rules that have a state, by their clauses.
  private static let folds: [ClauseKey: String] = {
    var folds: [ClauseKey: String] = [:]
    for version in MQTTJudge.versions {
      for rule in MQTTRule.allCases {
        guard let id = rule.clauses[version] else { continue }
        folds[ClauseKey(spec: version.spec, id: id)] = "\(rule)"
      }
    }
    for rule in HandshakeRule.allCases {
      folds[ClauseKey(spec: "rfc6455", id: rule.clause)] = "\(rule)"
    }
    for rule in FrameRule.allCases {
      folds[ClauseKey(spec: "rfc6455", id: rule.clause)] = "\(rule)"
    }
    return folds
  }()

  /// Whether a text names a case: not a property that is called the same.
  private static func names(_ rule: String, in text: String) -> Bool {
    func isPartOfName(_ character: Character?) -> Bool {
      character.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
    }
    return text.ranges(of: "." + rule).contains { range in
      let before = text[..<range.lowerBound]
      let after = text[range.upperBound...].first
      let isOfType = before.hasSuffix("MQTTRule") || before.hasSuffix("FrameRule")
      let isProperty =
        !isOfType && (isPartOfName(before.last) || ")]?!".contains(before.last ?? " "))
      return !isProperty && !isPartOfName(after)
    }
  }

  private static func files(of rule: String) -> [String] {
    sources.filter { names(rule, in: $0.text) }.map(\.name)
  }

  private static func files(ofFormat id: String, _ version: String) -> [String] {
    let label = version == "mqtt-5.0" ? "v5_0" : "v3_1_1"
    let named = sources.filter { $0.text.contains("\(label): \"\(id)\"") }
    // Some tables are of one version alone.
    let others = sources.filter { $0.text.contains("\"\(id)\"") }
    return (named.isEmpty ? others : named).map(\.name)
  }

  /// A section by three numbers at most: what is below it is found with it.
  private static func short(_ section: String) -> String {
    section.split(separator: ".").prefix(3).joined(separator: ".")
  }

  /// The table, of all standards.
  private static func table() throws -> String {
    var rows: [(section: String, rules: [String], files: [String])] = []
    for clause in try Catalogue.bundled().clauses where clause.status.hasRule {
      let section = "\(clause.spec) \(short(clause.section))"
      let fold = folds[clause.key]
      let files = fold.map { Self.files(of: $0) } ?? files(ofFormat: clause.id, clause.spec)
      #expect(!files.isEmpty, "\(clause.id) is judged nowhere")
      if rows.last?.section != section { rows.append((section, [], [])) }
      let name = fold.map { "`\($0)`" } ?? "format"
      if !rows[rows.count - 1].rules.contains(name) { rows[rows.count - 1].rules.append(name) }
      for file in files where !rows[rows.count - 1].files.contains(file) {
        rows[rows.count - 1].files.append(file)
      }
    }
    return rows.map {
      "| \($0.section) | \($0.rules.joined(separator: ", ")) | \($0.files.sorted().joined(separator: ", ")) |\n"
    }.joined()
  }

  @Test("The guide has the table as the sources have it")
  func isTrue() throws {
    let text = try String(contentsOf: Self.guide, encoding: .utf8)
    let table = try Self.table()
    let parts = text.split(separator: Self.head, omittingEmptySubsequences: false)
    try #require(parts.count == 2, "one table")
    let rest = parts[1]
    let end = rest.firstRange(of: "\n\n")?.lowerBound ?? rest.endIndex
    if GoldenFile.isWritten {
      let written = parts[0] + Self.head + table + rest[end...].dropFirst()
      return try String(written).write(to: Self.guide, atomically: true, encoding: .utf8)
    }
    let lines = rest[..<end].split(separator: "\n")
    let expected = table.split(separator: "\n")
    #expect(Set(lines).symmetricDifference(expected).sorted() == [], "write it anew")
    #expect(lines.count == expected.count)
  }

  @Test("A property that is called as a rule is no rule")
  func properties() {
    #expect(Self.names("keepAlive", in: "tally.satisfy(.keepAlive, hearing)"))
    #expect(Self.names("keepAlive", in: "let rule = MQTTRule.keepAlive"))
    #expect(!Self.names("keepAlive", in: "opening.connect?.keepAlive ?? state.keepAlive"))
    #expect(!Self.names("keepAlive", in: "[.keepAliveIsEnforced]"))
  }
}
