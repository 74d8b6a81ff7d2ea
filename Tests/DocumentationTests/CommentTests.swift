import CloudSimulator
import Foundation
import Testing

/// The code in the documentation comments of the libraries is compiled, too, and their scripts are read.
@Suite struct CommentTests {
  /// A block of code in a comment.
  struct Block: Sendable, CustomTestStringConvertible {
    var file: String
    var line: Int
    var language: String
    var lines: [String] = []

    var testDescription: String { "\(file):\(line)" }
    var text: String { lines.joined(separator: "\n") }
  }

  private static let sources = Article.package.appending(path: "Sources")

  /// The blocks in the files of the libraries that are documented, which have a catalogue.
  static let blocks: [Block] = {
    let manager = FileManager.default
    let libraries = (try? manager.contentsOfDirectory(atPath: sources.path)) ?? []
    let files = libraries.sorted().filter {
      manager.fileExists(atPath: sources.appending(path: "\($0)/\($0).docc").path)
    }.flatMap { library in
      let paths = try? manager.subpathsOfDirectory(
        atPath: sources.appending(path: library).path)
      return (paths ?? []).sorted().filter { $0.hasSuffix(".swift") }.map { "\(library)/\($0)" }
    }
    return files.flatMap { blocks(in: $0) }
  }()

  private static func blocks(in file: String) -> [Block] {
    let text = try? String(contentsOf: sources.appending(path: file), encoding: .utf8)
    var blocks: [Block] = []
    var open: Block?
    let lines = (text ?? "").split(separator: "\n", omittingEmptySubsequences: false)
    for (number, line) in lines.enumerated() {
      guard let comment = line.firstMatch(of: /^ *\/\/\/ ?(.*)$/)?.1 else {
        // A block that the comment does not end is one that no test would see.
        if let block = open { blocks.append(block) }
        open = nil
        continue
      }
      if comment.hasPrefix("```") {
        if let block = open {
          blocks.append(block)
          open = nil
        } else {
          open = Block(file: file, line: number + 1, language: String(comment.dropFirst(3)))
        }
      } else {
        open?.lines.append(String(comment))
      }
    }
    return blocks
  }

  @Test func thereAreBlocks() {
    #expect(Self.blocks.count { $0.language == "swift" } > 20)
    #expect(Self.blocks.count { $0.language == "json" } > 3)
    #expect(Set(Self.blocks.map(\.language)) == ["swift", "json"])
  }

  @Test(arguments: blocks.filter { $0.language == "swift" }) func isCompiled(block: Block) {
    #expect(
      Snippets.files.contains { Snippets.have(block.lines, in: $0) },
      "no file in Tests/DocumentationTests/Snippets has\n\(block.text)")
  }

  @Test(arguments: blocks.filter { $0.language == "json" }) func isAScript(block: Block) throws {
    let json = Array(block.text.utf8)
    if block.file.contains("/Requests/") {
      _ = try RequestScript(parsing: json)
    } else {
      _ = try CloudScript(parsing: json)
    }
  }
}
