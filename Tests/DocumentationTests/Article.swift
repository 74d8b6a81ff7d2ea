import Foundation
import Testing

/// A page of the documentation, as its source has it.
struct Article: Sendable, CustomTestStringConvertible {
  /// A block of code, and what a reader does with it.
  enum Block: Equatable {
    /// Commands, each with what is seen behind it.
    case console([Command])
    /// The text of a file that the reader writes.
    case file(path: String, text: String)
    /// Code of Swift that stands among the snippets, where it is compiled and run.
    case snippet([String])
  }

  /// What is wrong with a page.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let name: String
  let text: String

  init(_ file: URL) throws {
    name = file.deletingPathExtension().lastPathComponent
    text = try String(contentsOf: file, encoding: .utf8)
  }

  var testDescription: String { name }

  /// The folder of the package.
  static let package: URL = {
    var folder = URL(filePath: #filePath)
    for _ in 0..<3 { folder.deleteLastPathComponent() }
    return folder
  }()

  /// The pages in all catalogues: the package's, and those beside the sources of a library.
  static let all: [Article] = {
    let sources = package.appending(path: "Sources")
    let libraries = (try? FileManager.default.contentsOfDirectory(atPath: sources.path)) ?? []
    let folders =
      [package.appending(path: "Documentation/Reprise.docc")]
      + libraries.sorted().map { sources.appending(path: "\($0)/\($0).docc") }
    return folders.flatMap { folder in
      let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
      return names.sorted().filter { $0.hasSuffix(".md") }
        .compactMap { try? Article(folder.appending(path: $0)) }
    }
  }()

  /// Its blocks of code, in their order.
  /// - Throws: ``Failure`` where a block is of no kind that a test can hold to.
  func blocks() throws -> [Block] {
    var blocks: [Block] = []
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var fence: (language: String, indent: Int, path: String?)?
    var body: [String] = []
    for (number, line) in lines.enumerated() {
      let bare = line.drop { $0 == " " }
      guard bare.hasPrefix("```"), !bare.hasPrefix("``` ") else {
        if let fence { body.append(String(line.dropFirst(fence.indent))) }
        continue
      }
      if bare.dropFirst(3).isEmpty, let open = fence {
        blocks.append(try block(open.language, path: open.path, body, line: number))
        fence = nil
      } else if fence == nil, bare.dropFirst(3).allSatisfy({ $0.isLetter }) {
        fence = (
          String(bare.dropFirst(3)), line.count - bare.count, Self.path(above: lines[..<number])
        )
        body = []
      }
    }
    if fence != nil { throw Failure(description: "\(name): a block of code has no end") }
    return blocks
  }

  /// The file that a block is, if the line above it ends with its name and a colon.
  private static func path(above lines: ArraySlice<String>) -> String? {
    let last = lines.last { !$0.allSatisfy { $0 == " " } }
    return last?.firstMatch(of: /`([\w\/.\-]+\.[a-z]+)`:$/).map { String($0.1) }
  }

  private func block(
    _ language: String, path: String?, _ lines: [String], line: Int
  ) throws -> Block {
    switch language {
    case "console": return .console(try Command.all(in: lines, of: "\(name).md:\(line)"))
    case _ where path != nil:
      return .file(path: path ?? "", text: lines.joined(separator: "\n") + "\n")
    case "swift": return .snippet(lines)
    default:
      throw Failure(
        description: """
          \(name).md:\(line): a block of code is either console, or swift that stands among the snippets, \
          or a file, whose name stands above it: `NAME`:
          """)
    }
  }
}
