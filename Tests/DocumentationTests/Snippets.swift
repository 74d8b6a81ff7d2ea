import Foundation

/// The code that articles show, as the files in the folder Snippets have it.
enum Snippets {
  /// The lines of each file.
  static let files: [[String]] = {
    let folder = Article.package.appending(path: "Tests/DocumentationTests/Snippets")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().compactMap { name in
      guard let text = try? String(contentsOf: folder.appending(path: name), encoding: .utf8)
      else { return nil }
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      return lines.map(String.init)
    }
  }()

  /// Whether lines stand in a file one behind the other, however far indented.
  static func have(_ lines: [String], in file: [String]) -> Bool {
    guard let first = lines.first, file.count >= lines.count else { return false }
    return (0...file.count - lines.count).contains { start in
      guard file[start].hasSuffix(first) else { return false }
      let indent = file[start].dropLast(first.count)
      guard indent.allSatisfy({ $0 == " " }) else { return false }
      return zip(lines, file[start...]).allSatisfy { shown, line in
        shown.isEmpty ? line.isEmpty : line == indent + shown
      }
    }
  }
}
