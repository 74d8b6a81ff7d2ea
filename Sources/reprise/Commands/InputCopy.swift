import Capture
import Glibc

/// A file that can be read several times: the file itself, or a copy of what comes through standard input.
///
/// The copy has no name and is gone with the process.
final class InputCopy: Sendable {
  /// Where to read it.
  let path: String
  private let descriptor: CInt

  /// Copies standard input, where that is asked for and is no file by itself.
  /// - Throws: ``CaptureError`` where there is no room.
  init(_ input: String) throws {
    guard input == "-" else {
      path = input
      descriptor = -1
      return
    }
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(folder)/reprise-XXXXXX".utf8CString)
    descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw Self.failure("can't make a copy of standard input") }
    unlink(template)
    path = "/proc/self/fd/\(descriptor)"
    try fill()
  }

  private func fill() throws {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      try Interruption.check()
      let count = read(STDIN_FILENO, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Self.failure("can't read standard input") }
      guard count > 0 else { break }
      var offset = 0
      while offset < count {
        let written = buffer.withUnsafeBytes {
          write(descriptor, $0.baseAddress.map { $0 + offset }, count - offset)
        }
        guard written > 0 else { throw Self.failure("can't keep a copy of standard input") }
        offset += written
      }
    }
    lseek(descriptor, 0, SEEK_SET)
  }

  private static func failure(_ message: String) -> CaptureError {
    CaptureError(
      .readFailed, "\(message): \(String(cString: strerror(errno)))",
      remedy: "save it in a file first, and name that")
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}
