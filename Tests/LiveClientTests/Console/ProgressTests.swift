import Foundation
import TestSupport
import Testing

/// What a terminal shows of a long work.
@Suite struct ProgressTests {
  private let directory = Scratch()

  init() throws {
    #expect(mkfifo(directory.file("out"), 0o600) == 0)
  }

  /// Runs a command on a terminal of its own, and tells what that shows.
  private func onTerminal(_ words: String) throws -> Child {
    let command = RunningCommand.path
    return try Child(
      ["script", "-qefc", "cd \(directory.path) && exec \(command) \(words)", "/dev/null"])
  }

  private func line(_ second: Int) -> String {
    #"{"frame":1,"time":"2026-11-21T07:39:0\#(second).000000Z","connection":1,"from":"client","#
      + #""protocol":"mqtt-3.1.1","type":"PUBLISH","qos":0,"topic":"a/b","payload":{"utf8":"21.5"}}"#
  }

  /// A file has a size, and so the time that is left can be told.
  @Test func tellsHowMuchOfARecordingIsLeft() async throws {
    let text =
      [#"{"reprise":1,"source":{"kind":"client"},"redacted":[]}"#]
      + Array(repeating: line(1), count: 20_000)
    try directory.write(text.map { $0 + "\n" }.joined(), to: "a.jsonl")
    let output = try await watch("inspect a.jsonl") {
      $0.contains(
        /a\.jsonl: [0-9.]+ KiB of 3\.\d MiB, \d+ events, \d+ a second, \d+ s left/)
    }
    // A line for the day, and one for each event.
    #expect(output.count { $0 == UInt8(ascii: "\n") } == 20_001)
  }

  /// What is read twice is twice as long.
  @Test(arguments: [
    ("convert LARGE --format pcapng", "785.9 KiB"),
    ("convert LARGE --format pcapng --filter 'type == PUBLISH'", "1.5 MiB"),
    ("redact LARGE", "1.5 MiB"),
  ])
  func tellsHowMuchOfACaptureIsLeft(words: String, size: String) async throws {
    let output = try await watch(
      "\(words.replacing("LARGE", with: Self.large)) -o -"
    ) { text in
      text.contains("/capture.pcap: ")
        && text.split(separator: "\r").contains {
          $0.hasSuffix(" s left") && $0.contains("B of \(size), ")
        }
    }
    #expect(output.count > 700_000)
  }

  private static let large = PackageFolder.capture("large-payload")

  /// Runs a command whose output nobody takes until its line shows something.
  /// - Returns: The output.
  private func watch(
    _ words: String, until isShown: @escaping @Sendable (String) -> Bool
  ) async throws -> [UInt8] {
    let shown = try onTerminal("\(words) > out")
    let reader = try await onThread { [self] in open(directory.file("out"), O_RDONLY) }
    defer { close(reader) }
    try await shown.wait(for: "the time that is left") { isShown($0.text) }
    let output = try await onThread { Self.drain(reader) }
    #expect(await shown.wait() == 0)
    // The line is taken away in the end, and nothing is said behind it but notes.
    let rest = shown.text.components("\u{1B}[K")
    #expect(rest > 1 && shown.text.split(separator: "\r").last?.hasPrefix("\u{1B}[K") == true)
    return output
  }

  private static func drain(_ reader: Int32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    var all: [UInt8] = []
    while true {
      let count = read(reader, &bytes, bytes.count)
      guard count > 0 else { return all }
      all += bytes.prefix(count)
    }
  }
}
