import Foundation

/// A program that tests run beside them.
///
/// It ends with the tests at the latest, however these end.
final class Program: Sendable {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// What it writes, a line each; ends with it.
  private let lines: AsyncStream<String>
  private let name: String
  /// Its end closes this, and the shell kills the program then.
  private let leash: Pipe

  /// Starts a program.
  /// - Parameters:
  ///   - name: Its name, found by the PATH, or its path.
  ///   - arguments: What is typed behind it.
  /// - Throws: What the system says when it can't be started.
  init(_ name: String, _ arguments: [String]) throws {
    self.name = name
    let (output, leash) = (Pipe(), Pipe())
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments =
      ["-c", #""$@" 2>&1 & exec >&-; read -r line; kill -KILL $!"#, "sh", name] + arguments
    process.standardInput = leash
    process.standardOutput = output
    let (lines, line) = AsyncStream<String>.makeStream()
    try process.run()
    self.lines = lines
    self.leash = leash
    let reading = output.fileHandleForReading
    // A thread of its own, as it waits for most of its time.
    Thread.detachNewThread { Self.read(reading, line) }
  }

  /// Reads what the program writes, to the end.
  private static func read(_ handle: FileHandle, _ line: AsyncStream<String>.Continuation) {
    var rest = ""
    while case let data = handle.availableData, !data.isEmpty {
      for text in rest.takeLines(String(decoding: data, as: UTF8.self)) { line.yield(text) }
    }
    line.finish()
  }

  deinit { try? leash.fileHandleForWriting.close() }

  /// Waits until it has written a line with a text.
  /// - Parameter text: The text.
  /// - Throws: What it wrote when it has ended before.
  func writes(_ text: String) async throws {
    var written: [String] = []
    for await line in lines {
      if line.contains(text) { return }
      written.append(line)
    }
    throw Failure(
      description: "\(name) ended, and did not write \"\(text)\", but: "
        + written.joined(separator: "\n"))
  }
}

extension String {
  /// Adds text that came, and takes the lines out that are whole.
  fileprivate mutating func takeLines(_ more: String) -> [String] {
    var lines = (self + more).split(separator: "\n", omittingEmptySubsequences: false)
    self = String(lines.popLast() ?? "")
    return lines.map(String.init)
  }
}
