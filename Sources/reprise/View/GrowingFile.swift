import Glibc
import RepriseCore

/// A file that somebody still writes to, as a pipe that does not end where the file does now.
final class GrowingFile: Sendable {
  /// How often more is looked for, in milliseconds.
  private static let interval: Int32 = 100

  private let file: Int32
  private let reader: Int32
  private let writer: Int32

  /// Opens a file.
  /// - Parameter path: The file.
  /// - Throws: ``OutputError`` where it can't be read.
  init(_ path: String) throws(OutputError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.error(path, "can't be read", errno) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      Glibc.close(descriptor)
      throw OutputError(path, "it is no file that grows; leave --follow out")
    }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      let code = errno
      Glibc.close(descriptor)
      throw Self.error(path, "no pipe can be opened", code)
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (file, reader, writer) = (descriptor, ends[0], ends[1])
  }

  private static func error(_ path: String, _ what: String, _ code: Int32) -> OutputError {
    OutputError(path, "\(what): \(systemText(code).lowercased())")
  }

  /// The name under which the pipe can be opened.
  var path: String { "/proc/self/fd/\(reader)" }

  /// Begins to hand on what the file has and gets, on a thread of its own, until the process ends.
  /// - Throws: `DataClientError` when the system gives no thread.
  func start() throws {
    let thread = try WorkerThread { [self] in pump() }
    thread.detach()
  }

  private func pump() {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(file, &bytes, bytes.count)
      if count == 0 || count < 0 && errno == EINTR {
        _ = poll(nil, 0, Self.interval)
      } else if count < 0 || !hand(on: bytes[..<count]) {
        break
      }
    }
    Glibc.close(writer)
  }

  private func hand(on bytes: ArraySlice<UInt8>) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(writer, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if !(count < 0 && errno == EINTR) {
        return false
      }
    }
    return true
  }
}
