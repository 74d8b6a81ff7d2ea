import Foundation
import TestSupport
import Testing

/// The parts of one capture, judged as the one session that they are.
@Suite struct JoinedTests {
  private static let recordings = PackageFolder.captured.map(PackageFolder.capture)

  private func judge(_ words: [String]) throws -> RepriseProcess.Result {
    try RepriseProcess.run(["conform", "trace", "--format", "json"] + words)
  }

  /// Cuts a capture into parts of so many frames.
  private func cut(_ path: String, every size: Int, in scratch: Scratch) throws -> [String] {
    let name = scratch.directory.appending(path: "part.pcap").path
    let result = try RepriseProcess.shell("editcap -F pcap -c \(size) '\(path)' '\(name)'")
    try #require(result.status == 0, "editcap is needed: make setup installs it")
    return try FileManager.default.contentsOfDirectory(atPath: scratch.directory.path)
      .filter { $0.hasPrefix("part_") }.sorted()
      .map { scratch.directory.appending(path: $0).path }
  }

  /// Names no file, and not how files are joined.
  private func nameless(_ report: String) -> String {
    report.replacing(/"(file|firstFile)":"[^"]*"/, with: "")
      .replacing(/"inputs":\[[^\]]*\]/, with: "").replacing(/,"joined":\[[^\]]*\]/, with: "")
  }

  @Test(
    "All parts together have the report of the whole, with frames counted through",
    arguments: recordings)
  func parts(path: String) throws {
    let scratch = Scratch()
    let parts = try cut(path, every: 25, in: scratch)
    let whole = try judge(["--assume", "complete", path])
    let joined = try judge(["--assume", "complete", "--joined"] + parts.reversed())
    #expect(joined.status == whole.status)
    #expect(nameless(joined.output) == nameless(whole.output))
    #expect(joined.errors == whole.errors.replacing(path, with: parts[0]))
    let json = try #require(
      JSONSerialization.jsonObject(with: Data(joined.output.utf8)) as? [String: Any])
    #expect(json["inputs"] as? [String] == parts)
    let joints = json["joined"] as? [[String: Any]] ?? []
    guard parts.count > 1 else { return #expect(joints.isEmpty) }
    #expect(joints.map { $0["file"] as? String } == parts)
    #expect(joints.map { $0["firstFrame"] as? Int } == parts.indices.map { $0 * 25 + 1 })
    // Each frame is in the file that it is said to be in.
    let clauses = json["clauses"] as? [[String: Any]] ?? []
    for clause in clauses {
      for finding in clause["findings"] as? [[String: Any]] ?? [] {
        let frame = try #require(finding["frame"] as? Int)
        #expect(finding["file"] as? String == parts[(frame - 1) / 25])
      }
    }
  }

  @Test("Judged one by one the parts are other sessions")
  func apart() throws {
    let scratch = Scratch()
    let path = try #require(Self.recordings.first { $0.contains("/keep-alive-expired/") })
    let parts = try cut(path, every: 25, in: scratch)
    try #require(parts.count > 1)
    let (whole, apart) = (try judge([path]), try judge(parts))
    #expect(nameless(apart.output) != nameless(whole.output))
    #expect(!apart.output.contains(#""joined":"#))
  }

  @Test("The report tells where parts begin, in text and when it is joined with others")
  func reports() throws {
    let scratch = Scratch()
    let path = try #require(Self.recordings.first { $0.contains("/keep-alive-expired/") })
    let parts = try cut(path, every: 30, in: scratch)
    let text = try RepriseProcess.run(["conform", "trace", "--joined"] + parts).output
    let flat = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(
      flat.hasPrefix(
        "Frames are counted through all parts: \(parts[0]) from 1, \(parts[1]) from 31"))
    let report = try scratch.write(Array(try judge(["--joined"] + parts).output.utf8), to: "a.json")
    let other = try scratch.write(Array(try judge([path]).output.utf8), to: "b.json")
    let merged = try RepriseProcess.run(
      ["report", "merge", "--format", "json", report.path, other.path])
    #expect(merged.output.contains(#""joined":[{"file":"\#(parts[0])","firstFrame":1}"#))
  }

  @Test(
    "What can't be joined is refused",
    arguments: [
      (["--shard", "1/2", "a.pcap", "b.pcap"], "--shard takes a part of files"),
      (["a.pcap", "-"], "--joined looks first when each file begins"),
      (["--interface", "lo"], "--joined is about files, and an interface has none"),
      (["missing.pcap", "b.pcap"], "missing.pcap: "),
    ])
  func refused(words: [String], text: String) throws {
    let result = try judge(["--joined"] + words)
    #expect(result.status == 2 && result.output.isEmpty)
    #expect(result.errors.hasPrefix("reprise: \(text)"))
    #expect(result.errors.split(separator: "\n").count == 1)
  }

  @Test("Captures that were taken at once are told, and nothing is judged")
  func overlap() throws {
    let path = try #require(Self.recordings.first { $0.contains("/keep-alive-expired/") })
    let scratch = Scratch()
    let copy = try scratch.write(Array(try Data(contentsOf: URL(filePath: path))), to: "copy.pcap")
    let result = try judge(["--joined", path, copy.path])
    #expect(result.status == 2)
    #expect(result.errors.contains("mergecap merges those that were captured at once"))
  }
}
