import Glibc
import RepriseCore
import Synchronization

/// Standard output or a file that results are written to.
///
/// A file is not touched before there is something to write, so that a command that fails costs
/// nobody what an earlier one has written.
struct OutputFile: ByteSink, Sendable {
  /// The name for messages.
  let name: String
  private let target: OutputTarget

  /// Standard output.
  static let standard = OutputFile(
    name: "standard output", target: OutputTarget(.shared(STDOUT_FILENO)))

  private init(name: String, target: OutputTarget) {
    self.name = name
    self.target = target
  }

  /// Checks whether a file for results can be opened; what is no file of a disk is opened at once.
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
    try Self.check(path, replaces: replaces)
    name = path
    target = OutputTarget(.unopened(path, isPrivate: isPrivate, replaces: replaces))
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG { try open() }
  }

  /// Creates the file, or empties the one that is replaced; does nothing if that is done.
  /// - Throws: ``OutputError``.
  func open() throws(OutputError) { _ = try target.descriptor() }

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

  /// Gives a file that was created here, and not one that was replaced, to a user.
  func give(to user: SystemUser) { target.give(to: user) }

  /// Whether a person reads it.
  var isTerminal: Bool { target.isTerminal }

  /// The bytes that were written whole.
  var byteCount: Int { target.byteCount }

  /// Writes all of the bytes, however often the system takes only a part of them.
  ///
  /// When that fails, a file ends behind what was written before, and one that was made here and has nothing in it
  /// is removed.
  /// - Throws: ``OutputError``.
  func write(_ bytes: RawSpan) throws {
    do {
      try writeAll(bytes)
      target.noteWritten(bytes.byteCount)
    } catch let error as OutputError {
      throw target.takeBack() ? error.leavingNothing : error
    }
  }

  private func writeAll(_ bytes: RawSpan) throws {
    let descriptor = try target.descriptor()
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

  /// Writes text that is there to be read: page by page where it goes to a terminal that it is too long for.
  /// - Throws: ``OutputError``.
  func show(_ text: String) throws {
    if isTerminal, self.name == Self.standard.name, Pager.isLong(text, on: STDOUT_FILENO),
      let pager = Pager(), pager.show(text)
    {
      return
    }
    try write(text)
  }

  /// Ends the output; some file systems tell only now that a write failed.
  /// - Parameter isWhole: Whether the results are all there: then they are what the file holds, be they
  ///   nothing; if not, a file that nothing was written to stays as it was.
  /// - Throws: ``OutputError``.
  func close(isWhole: Bool = true) throws {
    if isWhole { try open() }
    guard let code = target.close() else { return }
    throw OutputError(writing: name, code)
  }
}

/// What an ``OutputFile`` writes to, opened when that is needed.
private final class OutputTarget: Sendable {
  enum State {
    /// What others opened and close.
    case shared(Int32)
    case unopened(_ path: String, isPrivate: Bool, replaces: Bool)
    case open(Int32)
  }

  /// What was made here and may be taken back.
  private struct Made {
    /// The path of a file that was not there before.
    var path: String?
    /// How many bytes were written whole.
    var count = 0
  }

  private let state: Mutex<State>
  private let made = Mutex(Made())

  init(_ state: State) { self.state = Mutex(state) }

  var isTerminal: Bool {
    state.withLock { state in
      switch state {
      case .shared(let descriptor), .open(let descriptor): isatty(descriptor) == 1
      case .unopened: false
      }
    }
  }

  func descriptor() throws(OutputError) -> Int32 {
    try state.withLock { state throws(OutputError) in
      switch state {
      case .shared(let descriptor), .open(let descriptor): return descriptor
      case .unopened(let path, let isPrivate, let replaces):
        let mode: mode_t = isPrivate ? 0o600 : 0o666
        let kind = O_WRONLY | O_CREAT | O_CLOEXEC
        var descriptor = Glibc.open(path, kind | O_EXCL, mode)
        if descriptor >= 0 {
          made.withLock { $0.path = path }
        } else if replaces, errno == EEXIST {
          descriptor = Glibc.open(path, kind | O_TRUNC, mode)
        }
        guard descriptor >= 0 else { throw OutputError(opening: path, errno) }
        // A file that is replaced keeps its mode otherwise.
        if isPrivate, Self.isRegular(descriptor) { fchmod(descriptor, 0o600) }
        state = .open(descriptor)
        return descriptor
      }
    }
  }

  func noteWritten(_ count: Int) { made.withLock { $0.count += count } }

  var byteCount: Int { made.withLock { $0.count } }

  /// Cuts a file, but nothing else, behind what was written whole; removes one that was made here and is empty then.
  /// - Returns: Whether it was removed.
  func takeBack() -> Bool {
    state.withLock { state in
      guard case .open(let descriptor) = state, Self.isRegular(descriptor) else { return false }
      let made = made.withLock { $0 }
      ftruncate(descriptor, off_t(made.count))
      guard made.count == 0, let path = made.path else { return false }
      return unlink(path) == 0
    }
  }

  func give(to user: SystemUser) {
    state.withLock { state in
      guard case .open(let descriptor) = state, made.withLock({ $0.path }) != nil,
        Self.isRegular(descriptor)
      else { return }
      // Where that can't be, it stays whose it is.
      _ = fchown(descriptor, user.id, user.group)
    }
  }

  /// Closes what was opened here; returns the system's error number if that fails.
  func close() -> Int32? {
    state.withLock { state in
      guard case .open(let descriptor) = state else { return nil }
      // Writing from now on fails, whatever the number stands for by then.
      state = .shared(-1)
      return Glibc.close(descriptor) != 0 && errno != EINTR ? errno : nil
    }
  }

  private static func isRegular(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
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
      : "\(name): can't be written: \(systemText(code).lowercased())"
  }

  init(writing name: String, _ code: Int32) {
    self.init(name, "can't be written on: \(systemText(code).lowercased())" + Self.remains)
    isClosedPipe = code == EPIPE
  }

  private static let remains = "; what was written before stays"

  /// The same of a file that was removed, as nothing was written before.
  var leavingNothing: OutputError {
    var error = self
    error.description = description.replacing(Self.remains, with: "")
    return error
  }
}

/// Which file a path names, whatever the path.
struct FileIdentity: Hashable {
  let device: UInt64
  let inode: UInt64
  /// The name in the directory that the numbers stand for; nil where they stand for the file itself.
  var name: String?

  init?(_ path: String) {
    var status = stat()
    guard path != "-", stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return nil
    }
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }

  /// Which file a path names or will name once it is there; nil where nothing can be.
  init?(planned path: String) {
    if let identity = FileIdentity(path) {
      self = identity
      return
    }
    let slash = path.lastIndex(of: "/")
    var status = stat()
    guard path != "-", stat(slash.map { String(path[...$0]) } ?? ".", &status) == 0 else {
      return nil
    }
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    name = slash.map { String(path[path.index(after: $0)...]) } ?? path
  }
}
