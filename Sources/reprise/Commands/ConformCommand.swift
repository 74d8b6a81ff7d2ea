import Glibc
import RepriseCore

/// `reprise conform`: judges all recordings of a project.
enum ConformCommand: Command {
  static let spec = CommandSpec(
    name: "conform", summary: "Judges all recordings in Recordings/ by the standards' clauses.",
    operandCount: 0...Int.max, options: ConformRun.options,
    details: """
      Reads every .pcap, .pcapng and .jsonl file in Recordings/ below the current
      directory and in the directories in it, as reprise conform trace does.

      Other forms:
        reprise conform trace FILE...   judges captures and recordings by name
        reprise conform sdk             judges the SDK by its scenarios
        reprise conform list            lists the clauses
        reprise conform explain ID      says what a clause means and how it is judged
      """)

  /// Where recordings lie, below the current directory.
  private static let directory = "Recordings"

  static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
    // Options may stand in front of the second word, too.
    if let word = arguments.operands.first {
      let rest = arguments.droppingFirstOperand
      if word == "sdk" { return try await ConformSDKCommand.run(rest, console) }
      guard word == "trace" else { throw unknown(word) }
      try rest.checkOperands(ConformTraceCommand.spec)
      return try ConformTraceCommand.run(rest, console)
    }
    let files = try RecordingFiles.find(in: directory)
    guard !files.isEmpty else {
      throw UsageError(
        "there is no recording in \(directory)/",
        "change to your project's directory, or name files: reprise conform trace FILE")
    }
    return try ConformRun.judge(files, arguments, console)
  }

  private static func unknown(_ word: String) -> UsageError {
    switch word {
    case "broker", "client":
      return UsageError(
        "this version can't do 'conform \(word)' yet", "type reprise help conform")
    default:
      let nearest = NearestName.find(word, in: ["trace", "sdk", "list", "explain"])
      return UsageError(
        "unknown command 'conform \(word)'",
        (nearest.map { "did you mean reprise conform \($0)? " } ?? "")
          + "type reprise help conform")
    }
  }
}

/// The recordings of a project.
enum RecordingFiles {
  private static let endings = [
    ".pcap", ".pcapng", ".jsonl", ".pcap.gz", ".pcapng.gz", ".jsonl.gz",
  ]

  /// Finds the captures and recordings in a directory and in those in it.
  /// - Parameter directory: The directory.
  /// - Returns: Their paths, in the order of their names.
  /// - Throws: ``UsageError`` when there is no such directory.
  static func find(in directory: String) throws(UsageError) -> [String] {
    guard let names = names(in: directory) else {
      throw UsageError(
        "there is no directory \(directory) here",
        "change to your project's directory, or name files: reprise conform trace FILE")
    }
    var files: [String] = []
    for name in names {
      let path = "\(directory)/\(name)"
      let inside = Self.names(in: path)?.map { "\(path)/\($0)" } ?? [path]
      files += inside.filter { file in endings.contains { file.hasSuffix($0) } }
    }
    return files
  }

  /// Whether a path names a directory.
  static func isFolder(_ path: String) -> Bool { names(in: path) != nil }

  /// The captures and recordings that lie in a directory itself, in the order of their names.
  static func sessions(in directory: String) -> [String] {
    (names(in: directory) ?? []).map { "\(directory)/\($0)" }
      .filter { file in endings.contains { file.hasSuffix($0) } }
  }

  /// The names in a directory in order, without hidden ones; nil when it is no directory.
  private static func names(in path: String) -> [String]? {
    guard let directory = opendir(path) else { return nil }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) {
          String(cString: $0)
        }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }
}
