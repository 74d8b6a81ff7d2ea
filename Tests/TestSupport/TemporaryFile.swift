import Foundation

/// A file that is gone with the last reference to it.
public final class TemporaryFile: Sendable {
  private let folder = Scratch()
  /// Where it is.
  public let path: String

  /// Writes a file.
  /// - Parameters:
  ///   - bytes: What it holds.
  ///   - name: Its name.
  /// - Throws: What Foundation says when it can't be written.
  public init(_ bytes: [UInt8], named name: String = "file") throws {
    path = try folder.write(bytes, to: name).path
  }
}
