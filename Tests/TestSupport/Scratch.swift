public import Foundation

/// A folder of a test's own, which is gone with the last reference to it.
public final class Scratch: Sendable {
  /// The folder.
  public let directory: URL

  /// Makes an empty folder; where that fails, whatever is written to it fails.
  public init() {
    var path = Array(
      FileManager.default.temporaryDirectory.appending(path: "reprise-XXXXXX").path.utf8CString)
    directory = URL(filePath: mkdtemp(&path).map { String(cString: $0) } ?? "/dev/null/folder")
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  /// Where the folder is.
  public var path: String { directory.path }

  /// All files and folders in it, relative to it, in the order of names.
  public var files: [String] { PackageFolder.files(in: path) }

  /// The path of a file in it, which need not be there.
  public func file(_ name: String) -> String { directory.appending(path: name).path }

  /// Writes a file, and the folders that it stands in.
  /// - Parameters:
  ///   - bytes: What it holds.
  ///   - name: Its name, relative to the folder.
  /// - Returns: Where it is.
  /// - Throws: What Foundation says of a file that can't be written.
  @discardableResult
  public func write(_ bytes: [UInt8], to name: String) throws -> URL {
    let file = directory.appending(path: name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: file)
    return file
  }

  /// Writes a text file, and the folders that it stands in.
  /// - Parameters:
  ///   - text: What it holds.
  ///   - name: Its name, relative to the folder.
  /// - Returns: Where it is.
  /// - Throws: What Foundation says of a file that can't be written.
  @discardableResult
  public func write(_ text: String, to name: String) throws -> URL {
    try write(Array(text.utf8), to: name)
  }

  /// The text of a file.
  /// - Parameter name: Its name, relative to the folder.
  /// - Returns: The text.
  /// - Throws: What Foundation says of a file that can't be read.
  public func read(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: directory.appending(path: name)), as: UTF8.self)
  }
}
