import DataClient
import Glibc

/// Standard output or a file that results are written to.
struct OutputFile: ByteSink, Sendable {
  /// The name for messages.
  let name: String
  private let descriptor: Int32
  private let ownsDescriptor: Bool

  /// Standard output.
  static let standard = OutputFile(
    name: "standard output", descriptor: STDOUT_FILENO, ownsDescriptor: false)

  private init(name: String, descriptor: Int32, ownsDescriptor: Bool) {
    self.name = name
    self.descriptor = descriptor
    self.ownsDescriptor = ownsDescriptor
  }

  /// Opens a file for results.
  /// - Parameters:
  ///   - path: The file; nil or `-` is standard output.
  ///   - inputs: The files that are read, none of which may be overwritten.
  ///   - isPrivate: Whether only the user may read it.
  ///   - replaces: Whether a file that exists is replaced.
  /// - Throws: ``OutputError``.
  init(
    _ path: String?, inputs: [String], isPrivate: Bool = false, replaces: Bool = true
  ) throws(OutputError) {
    guard let path, path != "-" else {
      self = .standard
      return
    }
    if let identity = FileIdentity(path), inputs.contains(where: { FileIdentity($0) == identity }) {
      throw OutputError(path, "it is one of the files to read; name another")
    }
    let mode: mode_t = isPrivate ? 0o600 : 0o666
    let kind = O_WRONLY | O_CREAT | O_CLOEXEC | (replaces ? O_TRUNC : O_EXCL)
    descriptor = open(path, kind, mode)
    guard descriptor >= 0 else {
      throw OutputError(opening: path, errno)
    }
    // A file that is replaced keeps its mode otherwise.
    if isPrivate, Self.isRegular(descriptor) { fchmod(descriptor, 0o600) }
    name = path
    ownsDescriptor = true
  }

  /// Checks, without a trace, whether a new file could be opened.
  /// - Parameters:
  ///   - path: The file; `-` is standard output.
  ///   - replaces: Whether a file that exists is replaced.
  /// - Throws: ``OutputError``.
  static func check(_ path: String, replaces: Bool) throws(OutputError) {
    if path == "-" { return }
    var status = stat()
    if lstat(path, &status) == 0 {
      guard replaces else { throw OutputError(opening: path, EEXIST) }
      guard status.st_mode & S_IFMT != S_IFDIR else { throw OutputError(opening: path, EISDIR) }
      guard access(path, W_OK) == 0 else { throw OutputError(opening: path, errno) }
      return
    }
    let directory = path.lastIndex(of: "/").map { path[...$0] } ?? "."
    guard access(String(directory), W_OK | X_OK) == 0 else {
      throw OutputError(opening: path, errno)
    }
  }

  /// Cuts a file, but nothing else, behind its last complete line.
  /// - Parameter count: How many bytes stay.
  func cut(to count: Int) {
    if ownsDescriptor, Self.isRegular(descriptor) { ftruncate(descriptor, off_t(count)) }
  }

  private static func isRegular(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Whether a person reads it.
  var isTerminal: Bool { isatty(descriptor) == 1 }

  /// Writes all of the bytes, however often the system takes only a part of them.
  /// - Throws: ``OutputError``.
  func write(_ bytes: RawSpan) throws {
    var offset = 0
    while offset < bytes.byteCount {
      let rest = bytes.extracting(offset..<bytes.byteCount)
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        offset += count
      } else if count < 0, errno == EAGAIN {
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&wait, 1, 100)
        try Interruption.check()
      } else if count < 0, errno != EINTR {
        throw OutputError(writing: name, errno)
      }
    }
  }

  /// Writes text.
  /// - Throws: ``OutputError``.
  func write(_ text: String) throws {
    let bytes = Array(text.utf8)
    try write(bytes.span.bytes)
  }

  /// Ends the output; some file systems tell only now that a write failed.
  /// - Throws: ``OutputError``.
  func close() throws {
    guard ownsDescriptor, Glibc.close(descriptor) != 0, errno != EINTR else { return }
    throw OutputError(writing: name, errno)
  }
}

/// Results can't be written.
struct OutputError: Error, Sendable, CustomStringConvertible {
  /// What is wrong, with the file's name.
  var description: String
  /// Whether the reader of a pipe has gone, which is no mistake of anyone's.
  var isClosedPipe = false
  /// Whether a file of this name exists.
  var isTaken = false

  init(_ name: String, _ message: String) { description = "\(name): \(message)" }

  init(opening name: String, _ code: Int32) {
    isTaken = code == EEXIST
    description =
      isTaken
      ? "\(name): it exists; name another file or add --force"
      : "\(name): can't be written: \(SystemError.text(code))"
  }

  init(writing name: String, _ code: Int32) {
    self.init(
      name, "can't be written on: \(SystemError.text(code)); what was written before stays")
    isClosedPipe = code == EPIPE
  }
}

/// What the system says about an error.
enum SystemError {
  static func text(_ code: Int32) -> String {
    guard let text = strerror(code) else { return "error \(code)" }
    return String(cString: text).lowercased()
  }
}

/// Which file a path names, whatever the path.
private struct FileIdentity: Equatable {
  let device: UInt64
  let inode: UInt64

  init?(_ path: String) {
    var status = stat()
    guard path != "-", stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return nil
    }
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }
}
