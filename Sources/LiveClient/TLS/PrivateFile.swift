import Glibc
import RepriseCore

/// Files that only the user may read.
enum PrivateFile {
  /// The largest file that is read, in bytes.
  private static let limit = 1 << 16

  /// The user's name at this computer; his number where he has none.
  static var user: String {
    guard let name = getpwuid(getuid())?.pointee.pw_name else { return "user \(getuid())" }
    return String(cString: name)
  }

  /// Makes a folder that only the user may enter, and those above it that are missing.
  /// - Parameter path: The folder.
  /// - Throws: ``DataClientError`` when that fails.
  static func makeFolder(_ path: String) throws(DataClientError) {
    var end = path.startIndex
    repeat {
      end = path[end...].dropFirst().firstIndex(of: "/") ?? path.endIndex
      let isDone = mkdir(String(path[..<end]), 0o700) == 0 || errno == EEXIST
      guard isDone || errno == EROFS || errno == EACCES, isDone || end < path.endIndex else {
        throw error(path, "can't be made")
      }
    } while end < path.endIndex
    guard chmod(path, 0o700) == 0 else { throw error(path, "can't be kept from others") }
  }

  /// Writes a file that must not be there yet.
  /// - Parameters:
  ///   - bytes: What it holds.
  ///   - path: The file.
  /// - Throws: ``DataClientError`` when that fails; the file is removed then.
  static func write(_ bytes: [UInt8], to path: String) throws(DataClientError) {
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw error(path, "can't be written") }
    let count = bytes.isEmpty ? -1 : Glibc.write(file, bytes, bytes.count)
    let isWhole = fsync(file) == 0 && count == bytes.count
    close(file)
    guard !isWhole else { return }
    let failure = error(path, "can't be written on")
    unlink(path)
    throw failure
  }

  /// Reads a file.
  /// - Parameter path: The file.
  /// - Returns: What it holds, at most 64 KiB.
  /// - Throws: ``DataClientError`` when it can't be read.
  static func read(_ path: String) throws(DataClientError) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw error(path, "can't be read") }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: limit)
    let count = Glibc.read(file, &bytes, bytes.count)
    guard count >= 0 else { throw error(path, "can't be read") }
    return Array(bytes.prefix(count))
  }

  private static func error(_ path: String, _ what: String) -> DataClientError {
    DataClientError(
      .unreadable,
      "\(path) \(what): \(systemText(errno).lowercased()); name another folder by --ca-folder")
  }
}
