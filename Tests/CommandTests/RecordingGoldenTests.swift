import Foundation
import TestSupport
import Testing

/// What `inspect`, `conform trace`, `stats` and `story` say of every recording, whole and line by line.
///
/// A change that is meant is put in place by `WRITE_GOLDEN=1 swift test --filter RecordingGoldenTests`,
/// and reviewed as the change of its files.
@Suite struct RecordingGoldenTests {
  private static let golden = PackageFolder.url.appending(
    path: "Tests/CommandTests/Golden/recordings")
  private static let isWritten = ProcessInfo.processInfo.environment["WRITE_GOLDEN"] == "1"

  /// What is run, and the ending of the file that holds what came of it.
  private static let outputs = [
    ("inspect.jsonl", ["inspect", "--format", "jsonl", "capture.pcap"]),
    ("inspect.txt", ["inspect", "capture.pcap"]),
    ("conform.txt", ["conform", "trace", "capture.pcap", "--strict"]),
    ("stats.txt", ["stats", "capture.pcap"]),
    ("stats.csv", ["stats", "capture.pcap", "--format", "csv"]),
    ("story.txt", ["story", "capture.pcap", "--connection", "1"]),
  ]

  @Test(arguments: PackageFolder.captured) func saysWhatWasReviewed(_ name: String) throws {
    for (ending, words) in Self.outputs {
      let result = try RepriseProcess.run(
        words, directory: PackageFolder.recordings.appending(path: name))
      let said = Self.shortened(result.output) + result.errors + "status \(result.status)\n"
      let file = Self.golden.appending(path: "\(name).\(ending)")
      if Self.isWritten { try Data(said.utf8).write(to: file) }
      let reviewed = String(decoding: try Data(contentsOf: file), as: UTF8.self)
      let place = Self.firstDifference(said, reviewed)
      #expect(place == nil, "\(file.lastPathComponent) \(place ?? "")")
    }
  }

  @Test func hasNothingElse() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.golden.path)
    let wanted = PackageFolder.captured.flatMap { name in Self.outputs.map { "\(name).\($0.0)" } }
    #expect(PackageFolder.captured.count >= 19)
    #expect(files.sorted() == wanted.sorted())
  }

  /// The lines of an output; of a long one its beginning, its size and a checksum of all of it.
  private static func shortened(_ output: String) -> String {
    output.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      guard line.utf8.count > 2_000 else { return String(line) }
      // FNV-1a: it is the same in every run, as a hash of the library is not.
      let sum = line.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
        ($0 ^ UInt64($1)) &* 0x100_0000_01b3
      }
      return "\(line.prefix(300))… \(line.utf8.count) bytes, \(String(sum, radix: 16))"
    }.joined(separator: "\n")
  }

  /// The first line in which two texts differ; nil if there is none.
  private static func firstDifference(_ said: String, _ reviewed: String) -> String? {
    let said = said.split(separator: "\n", omittingEmptySubsequences: false)
    let reviewed = reviewed.split(separator: "\n", omittingEmptySubsequences: false)
    for index in 0..<max(said.count, reviewed.count) {
      let left = index < said.count ? said[index] : "nothing"
      let right = index < reviewed.count ? reviewed[index] : "nothing"
      if left != right { return "line \(index + 1):\n  said:     \(left)\n  reviewed: \(right)" }
    }
    return nil
  }
}
