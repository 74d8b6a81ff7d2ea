import Capture
import RepriseCore
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The file of a recording: read, checked, and written whole or not at all.
enum CassetteFile {
  /// The files that tests record into at this moment.
  private static let claims = Mutex<Set<String>>([])

  /// Reads a recording as a world.
  /// - Parameters:
  ///   - path: The file.
  ///   - settings: How to replay it, and what is a secret.
  /// - Returns: The world.
  /// - Throws: What is wrong with the file.
  static func replay(_ path: String, _ settings: CassetteSettings) throws -> ReplayClient {
    try check(path, settings.redact)
    var options = settings.options
    if let match = settings.match { options.match = match }
    return try ReplayClient(
      contentsOf: path, of: settings.selection, input: settings.input, options: options)
  }

  /// Looks for secrets in clear.
  /// - Throws: ``CassetteError/Code/secret`` with the place of the first, and what is wrong with the file.
  static func check(_ path: String, _ rules: RedactionRules) throws {
    var check = SecretCheck(rules)
    _ = try SessionInput.read(path, options: InputOptions(), into: &check)
    guard let found = check.found else { return }
    throw CassetteError(
      .secret,
      "\(path): line \(found.line) has a secret in clear, in \"\(found.key)\" of its \(found.type); "
        + "record it anew, or hide it: reprise convert \(ShellWord.quoted(path)) --redact secrets -o NEW"
    )
  }

  /// Reserves a file for one test to record into.
  /// - Parameter path: The file.
  /// - Throws: ``CassetteError/Code/beingRecorded`` when another one does.
  static func claim(_ path: String) throws(CassetteError) {
    guard claims.withLock({ $0.insert(path).inserted }) else {
      throw CassetteError(
        .beingRecorded,
        "\(path): another test records into it at the same time; give each test a recording of its own"
      )
    }
  }

  /// Lets others record into a file.
  /// - Parameter path: The file.
  static func release(_ path: String) { claims.withLock { _ = $0.remove(path) } }

  /// Writes a recording in the place of what is there, in one step.
  /// - Parameters:
  ///   - bytes: All of it.
  ///   - path: The file.
  /// - Throws: What keeps it from being written; the file is as it was then.
  static func write(_ bytes: [UInt8], to path: String) throws {
    let folder = URL(filePath: path).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let draft = "\(path).new"
    do {
      try FileSink(draft, replacing: true).write(bytes.span.bytes)
      try FileSink.move(draft, to: path)
    } catch {
      try? FileManager.default.removeItem(atPath: draft)
      throw error
    }
  }
}

extension CassetteFile {
  /// The most bytes of a recording that are attached to an issue: 16 MiB.
  private static let attachmentLimit = 16 << 20

  /// Returns a recording for a report; nil when it can't be read, or is too large.
  static func bytes(_ path: String) -> [UInt8]? {
    guard let data = try? Data(contentsOf: URL(filePath: path)), data.count <= attachmentLimit
    else { return nil }
    return [UInt8](data)
  }
}
