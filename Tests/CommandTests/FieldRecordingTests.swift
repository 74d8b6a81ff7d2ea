import Foundation
import RepriseCore
import TestSupport
import Testing

/// The tables of what brokers, clients and peers do otherwise: each cell that says `failed` names a recording that shows it.
@Suite struct FieldRecordingTests {
  /// What cells say of a recording.
  private struct Shown: CustomStringConvertible, Sendable {
    /// Its path below the recordings of the field.
    let path: String
    /// Whose conduct it shows: `client` or `server`.
    let subject: String
    /// The clauses that it violates, each with its standard in front.
    var clauses: [String]

    var description: String { path }
  }

  /// The recordings of all cells, by the sections of the page.
  private static let shown: [Shown] = {
    let page = try? String(
      contentsOf: PackageFolder.url.appending(path: "Conformance/README.md"), encoding: .utf8)
    var shown: [String: Shown] = [:]
    var isOfClients = false
    for line in (page ?? "").split(separator: "\n") {
      if line.hasPrefix("## ") { isOfClients = line.contains("clients") }
      let columns = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      for cell in columns.dropFirst() {
        guard let start = cell.range(of: "[failed](../Recordings/field/"), cell.hasSuffix(")")
        else {
          continue
        }
        let path = String(cell[start.upperBound...].dropLast())
        let subject = isOfClients || path.contains("-client/") ? "client" : "server"
        shown[path, default: Shown(path: path, subject: subject, clauses: [])]
          .clauses.append(columns[0])
      }
    }
    return shown.values.sorted { $0.path < $1.path }
  }()

  @Test(arguments: shown) private func showsWhatItsCellsSay(_ recording: Shown) throws {
    let result = try RepriseProcess.run(
      [
        "conform", "trace", recording.path, "--subject", recording.subject, "--assume", "complete",
        "--format", "json",
      ],
      directory: PackageFolder.recordings.appending(path: "field"))
    let report = try #require(JSONValue(parsing: Array(result.output.utf8)))
    let failed = (report["clauses"]?.elements ?? []).filter { $0["verdict"]?.text == "failed" }
      .map { "\($0["spec"]?.text ?? "")/\($0["id"]?.text ?? "")" }
    #expect(result.status == 1 && Set(recording.clauses).isSubset(of: failed), "\(failed)")
  }

  /// What was not looked at may have been another connection of the client.
  @Test(arguments: [
    ([], "failed"), (["--decode", "9=mqtt"], "failed"), (["--decode", "9=none"], "inconclusive"),
    (["--bpf", "tcp"], "inconclusive"),
  ])
  func accusesNobodyByWhatIsLeftOut(_ words: [String], _ verdict: String) throws {
    let result = try RepriseProcess.run(
      ["conform", "trace", "amqtt/session-dropped.v311.pcapng", "--format", "json"] + words,
      directory: PackageFolder.recordings.appending(path: "field"))
    let report = try #require(JSONValue(parsing: Array(result.output.utf8)))
    let clause = try #require(
      report["clauses"]?.elements?.first {
        $0["spec"]?.text == "mqtt-3.1.1" && $0["id"]?.text == "MQTT-3.2.2-3"
      })
    #expect(clause["verdict"]?.text == verdict)
  }

  @Test func hasNoRecordingThatNoCellNames() throws {
    let captures = PackageFolder.files(in: PackageFolder.path("Recordings/field"))
      .filter { $0.hasSuffix(".pcapng") }
    #expect(captures == Self.shown.map(\.path))
    #expect(Self.shown.count > 70 && Self.shown.flatMap(\.clauses).count > Self.shown.count)
    #expect(Set(Self.shown.map(\.subject)) == ["client", "server"])
  }

  /// What a run found is kept beside its recordings, and the tables are made of it.
  @Test func cellsAreWhatWasFound() throws {
    let field = PackageFolder.recordings.appending(path: "field")
    let names = try FileManager.default.contentsOfDirectory(atPath: field.path).filter {
      $0 != "README.md"
    }
    var found: [String: Set<String>] = [:]
    for name in names {
      let bytes = try Data(contentsOf: field.appending(path: "\(name)/found.json"))
      let lines = try #require(JSONValue(parsing: Array(bytes)), "\(name)")
      guard case .object(let failed) = lines["failed"] else {
        Issue.record("\(name): says nothing of what failed")
        continue
      }
      for clause in failed {
        found["\(name)/\(clause.value.text ?? "").pcapng", default: []].insert(clause.key)
      }
      #expect(lines["counts"]?["failed"]?.integer == failed.count, "\(name)")
    }
    let cells = Self.shown.map { ($0.path, Set($0.clauses)) }
    #expect(found == Dictionary(uniqueKeysWithValues: cells))
  }
}
