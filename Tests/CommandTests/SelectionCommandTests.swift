import Foundation
import TestSupport
import Testing

/// Parts of a session: `convert --filter`, `--connection`, `--client`, `--from` and `--to`, and `inspect --filter`.
@Suite struct SelectionCommandTests {
  private static let capture = PackageFolder.capture("qos-levels-v311")

  private static let all: [Substring] = {
    let result = try? RepriseProcess.run(["convert", capture, "-o", "-"])
    return result?.output.split(separator: "\n").dropFirst().map { $0 } ?? []
  }()

  private func convert(_ words: [String]) throws -> [Substring] {
    let result = try RepriseProcess.run(["convert", Self.capture, "-o", "-"] + words)
    #expect(result.status == 0 && result.errors == "", "\(words)")
    return result.output.split(separator: "\n").dropFirst().map { $0 }
  }

  @Test(arguments: [
    (["--connection", "4"], [4], 9), (["--client", "sensor-2"], [4, 5], 18),
    (["--client", "sensor-2", "--connection", "5"], [5], 9),
  ])
  func writesWholeConnectionsAsTheyAre(
    _ words: [String], _ connections: [Int], _ count: Int
  ) throws {
    let lines = try convert(words)
    let wanted = Self.all.filter { line in
      connections.contains { line.contains("\"connection\":\($0),") }
    }
    #expect(lines == wanted && lines.count == count)
  }

  @Test(arguments: [
    (["--filter", "PUBLISH"], #""type":"PUBLISH""#),
    (["--filter", "connection == 4", "--filter", "PUBLISH"], "PUBLISH\""),
    (["--connection", "4", "--filter", "PUBLISH"], "PUBLISH\""),
    (["--from", "+0s", "--to", "2026-11-22T00:00:00Z"], ""),
  ])
  func marksWhatIsLeftOutOfConnections(_ words: [String], _ part: String) throws {
    let lines = try convert(words)
    let isOfOne = words.contains { $0.contains("4") && !$0.contains("T") }
    let wanted = Self.all.filter { line in
      (part.isEmpty || line.contains(part)) && (!isOfOne || line.contains(#""connection":4,"#))
    }
    let plain = lines.map { line in
      line.replacing(/,"leftOut":{"client":[0-9]+,"server":[0-9]+}/, with: "")
    }
    #expect(plain == wanted && !lines.isEmpty)
    #expect(lines.allSatisfy { $0.contains(#","leftOut":{"client":"#) })
  }

  @Test func takesFromOneMomentToBeforeAnother() throws {
    let times = Self.all.compactMap { $0.split(separator: "\"time\":\"").last?.prefix(27) }
    let middle = String(try #require(times.dropFirst(times.count / 2).first))
    let early = try convert(["--to", middle])
    let late = try convert(["--from", middle])
    #expect(early.count + late.count == Self.all.count && !early.isEmpty && !late.isEmpty)
  }

  @Test(arguments: [
    (["--from", "noon"], "--from: 'noon' is no time such as 2026-11-21T07:39:01Z, 07:39 or +2s"),
    (["--to", "1"], "--to: '1' is no time such as 2026-11-21T07:39:01Z, 07:39 or +2s"),
    (["--filter", "qos >"], "--filter: "), (["--connection", "0"], "--connection can't be '0'"),
  ])
  func refusesWhatChoosesNothing(_ words: [String], _ message: String) throws {
    let result = try RepriseProcess.run(["convert", Self.capture, "-o", "-"] + words)
    #expect(result.status == 2 && result.output.isEmpty)
    #expect(result.errors.hasPrefix("reprise: \(message)"), "\(result.errors)")
  }

  @Test func saysWhenNothingWasChosen() throws {
    let words = ["convert", Self.capture, "-o", "-", "--client", "nobody"]
    let result = try RepriseProcess.run(words)
    #expect(result.status == 0 && result.output.split(separator: "\n").count == 1)
    #expect(result.errors.contains("no event was chosen; the recording is empty"))
  }

  /// Of an acknowledgement that was filtered out nobody knows that it never came.
  @Test func judgesWhatInspectPrints() throws {
    let whole = try RepriseProcess.shell(
      "$reprise inspect --format jsonl \(RepriseProcess.quoted(Self.capture))"
        + " | $reprise conform trace --format json -")
    let direct = try RepriseProcess.run(["conform", "trace", "--format", "json", Self.capture])
    #expect(whole.status == 0 && totals(whole.output) == totals(direct.output))
    #expect(totals(direct.output).contains("passed"))
    let part = try RepriseProcess.shell(
      "$reprise inspect --format jsonl --filter 'not PUBACK' \(RepriseProcess.quoted(Self.capture))"
        + " | $reprise conform trace --format json -")
    #expect(part.status == 0 && sum(of: "violated", in: part.output) == 0)
    #expect(sum(of: "undecided", in: part.output) > sum(of: "undecided", in: direct.output))
    #expect(sum(of: "kept", in: part.output) < sum(of: "kept", in: direct.output))
    #expect(part.errors.contains("it is a selection: "))
  }

  /// How often all clauses of a report were kept, violated or left undecided together.
  private func sum(of count: String, in report: String) -> Int {
    report.components(separatedBy: "\"\(count)\":").dropFirst()
      .compactMap { Int($0.prefix(while: \.isNumber)) }.reduce(0, +)
  }

  private func totals(_ report: String) -> String {
    let start = report.range(of: #""totals":"#)?.upperBound ?? report.endIndex
    return String(report[start...].prefix { $0 != "}" })
  }
}
