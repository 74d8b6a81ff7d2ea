import Foundation
import RepriseCore
import TestSupport

/// The recordings of the SDK's scenarios, as they are and changed.
public enum SDKRecording {
  private static let folder = PackageFolder.recordings.appending(path: "sdk")

  /// The path of a recording or capture: `requests/ask.pcap`.
  public static func path(_ name: String) -> String { folder.appending(path: name).path }

  /// The names of all recordings and captures of a system: `requests/ask.pcap`.
  public static func names(of system: String) -> [String] {
    let files = try? FileManager.default.contentsOfDirectory(atPath: path(system))
    return (files ?? []).filter { $0.hasSuffix(".jsonl") || $0.hasSuffix(".pcap") }.sorted()
      .map { "\(system)/\($0)" }
  }

  /// The text of a recording.
  /// - Throws: What Foundation says of a file that can't be read.
  public static func text(_ name: String) throws -> String {
    try String(contentsOf: folder.appending(path: name), encoding: .utf8)
  }

  /// A recording with other words in the payloads of some lines, whose lengths follow.
  /// - Parameters:
  ///   - text: The recording.
  ///   - mark: What those lines have, so that the others stay.
  ///   - old: What is replaced, as it stands in the line.
  ///   - new: What takes its place.
  /// - Returns: The recording.
  public static func changing(
    _ text: String, lines mark: String, _ old: String, _ new: String
  ) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      guard line.contains(mark) else { return String(line) }
      let count = line.ranges(of: old).count
      let growth = count * (length(new) - length(old))
      let changed = String(line).replacing(old, with: new)
      guard let length = changed.firstMatch(of: /"length":(\d+)/), let value = Int(length.1) else {
        return changed
      }
      return changed.replacing("\"length\":\(value)", with: "\"length\":\(value + growth)")
    }
    return lines.joined(separator: "\n")
  }

  /// A recording in which time passed so many times as slowly: the SDK's time of the scenarios passed faster than true
  /// time, which recordings have.
  public static func slowing(_ text: String, _ factor: Int64) -> String {
    var begin: Timestamp?
    return text.replacing(/"(time|firstTime)":"([^"]*)"/) { match in
      guard let time = Timestamp(String(match.2)) else { return String(match.0) }
      let first = begin ?? time
      begin = first
      let later = first.advanced(by: .nanoseconds(time.nanoseconds(since: first) * factor))
      return "\"\(match.1)\":\"\(later)\""
    }
  }

  /// How many bytes a text is in a payload that stands in JSON.
  private static func length(_ text: String) -> Int {
    text.replacing("\\\\", with: "_").replacing("\\", with: "").utf8.count
  }
}
