#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Where a recording lies.
struct RecordingPlace: Sendable, Hashable {
  /// The file.
  let path: String
  /// Whether the file is one that we write, not a capture.
  let isRecording: Bool

  /// The ends of names that are kept; any other name gets `.jsonl`.
  private static let extensions = [
    ".jsonl", ".jsonl.gz", ".pcap", ".pcapng", ".pcap.gz", ".pcapng.gz",
  ]

  /// Finds the place of a recording.
  /// - Parameters:
  ///   - name: Its name, with `/` between folders.
  ///   - argument: What tells the cases of a parameterised test apart.
  ///   - source: The file of the test.
  ///   - folder: The folder of recordings; nil is `Recordings` beside the test.
  /// - Throws: ``CassetteError/Code/badName``.
  init(
    _ name: String, argument: String? = nil, beside source: String, in folder: String? = nil
  ) throws(CassetteError) {
    try Self.check(name)
    let ending = Self.extensions.filter { name.hasSuffix($0) }.max { $0.count < $1.count }
    let stem = name.dropLast(ending?.count ?? 0) + (argument.map { "-\($0)" } ?? "")
    isRecording = ending == nil || ending == ".jsonl"
    let file = stem + (ending ?? ".jsonl")
    path =
      URL(filePath: folder ?? Self.folder(beside: source), directoryHint: .isDirectory)
      .appending(path: file).path
  }

  /// Whether there is a file.
  var exists: Bool { FileManager.default.fileExists(atPath: path) }

  private static func folder(beside source: String) -> String {
    URL(filePath: source).deletingLastPathComponent().appending(path: "Recordings").path
  }

  private static func check(_ name: String) throws(CassetteError) {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    let isGood = parts.allSatisfy { part in
      !part.isEmpty && part != "." && part != ".."
        && part.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\\" && $0 != ":" }
    }
    guard isGood else {
      throw CassetteError(
        .badName,
        "\"\(name)\" can't be the name of a recording; name a file below the folder of recordings, as "
          + "in \"lamp/bind\"")
    }
  }
}
