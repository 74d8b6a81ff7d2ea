import Foundation
import Testing

/// A text file of what is expected, beside this one: a block for each name, of the name and lines.
///
/// A change that is meant is put in place by `WRITE_GOLDEN=1 swift test --filter TallyTests`, and read line by line
/// before it is kept.
struct GoldenFile: Sendable {
  static let isWritten = ProcessInfo.processInfo.environment["WRITE_GOLDEN"] == "1"

  private let url: URL
  private let expected: [String: [String]]

  /// Reads a file.
  init(_ file: String) {
    url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: file)
    let text = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
    let blocks = text.split(separator: "\n\n").map { $0.split(separator: "\n").map(String.init) }
    expected = Dictionary(blocks.map { ($0[0], Array($0.dropFirst())) }) { first, _ in first }
  }

  var names: Set<String> { Set(expected.keys) }

  /// The lines of a block; none where there is no such block.
  func lines(of name: String) -> [String] { expected[name] ?? [] }

  /// Puts blocks in the place of what the file has.
  func write(_ blocks: some Sequence<(name: String, lines: [String])>) throws {
    let texts = blocks.map { name, lines in ([name] + lines).joined(separator: "\n") }
    try (texts.joined(separator: "\n\n") + "\n").write(to: url, atomically: true, encoding: .utf8)
  }

  /// Checks that blocks are as they are in the file, until so many are not.
  func check(_ blocks: some Sequence<(name: String, lines: [String])>, most: Int = 10) {
    var wrong: [String] = []
    for (name, lines) in blocks {
      guard wrong.count < most else { break }
      let expected = expected[name] ?? []
      guard lines != expected else { continue }
      let missing = expected.filter { !lines.contains($0) }
      let surplus = lines.filter { !expected.contains($0) }
      wrong.append("\(name): without \(missing), but with \(surplus)")
    }
    #expect(wrong == [], "the first ones")
  }
}
