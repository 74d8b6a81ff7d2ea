import RepriseCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The one owner of a file descriptor opened for reading; standard input is borrowed, not closed.
struct InputFile: ~Copyable {
  private let descriptor: Int32
  private let count: ReadCount?
  /// What is looked after while a pipe has nothing; nil where nothing is.
  var pace: PipePace?

  /// Opens a file, or standard input for `-`.
  ///
  /// - Parameters:
  ///   - path: The path, or `-`.
  ///   - count: What counts the bytes that are read; nil is nothing.
  /// - Throws: `CaptureError` if the file is missing, a directory, or may not be read.
  init(path: String, counting count: ReadCount? = nil) throws(CaptureError) {
    self.count = count
    guard path != "-" else {
      descriptor = STDIN_FILENO
      return
    }
    let opened = open(path, O_RDONLY | O_CLOEXEC)
    guard opened >= 0 else { throw Self.openingError(errno) }
    var status = stat()
    // `open` takes a directory; only `read` would refuse it, with a message about the wrong thing.
    if fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      _ = close(opened)
      throw Self.openingError(EISDIR)
    }
    descriptor = opened
  }

  deinit {
    if descriptor != STDIN_FILENO { _ = close(descriptor) }
  }

  /// The size of a regular file, in bytes; nil for a pipe and the like, of which nobody knows when more comes.
  var regularSize: Int? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int(clamping: status.st_size)
  }

  /// Reads once into a buffer.
  ///
  /// - Parameters:
  ///   - buffer: Where the bytes go.
  ///   - offset: The place in the file, for the error.
  /// - Returns: The number of bytes, 0 at the end of the file.
  /// - Throws: `CaptureError` if the operating system reports an error.
  func read(
    into buffer: UnsafeMutableRawBufferPointer, offset: Int
  ) throws(CaptureError) -> Int {
    awaitBytes()
    while true {
      #if canImport(Glibc)
        let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      #elseif canImport(Musl)
        let count = Musl.read(descriptor, buffer.baseAddress, buffer.count)
      #elseif canImport(Darwin)
        let count = Darwin.read(descriptor, buffer.baseAddress, buffer.count)
      #endif
      if count >= 0 {
        self.count?.add(count)
        return count
      }
      let number = errno
      if number == EINTR { continue }
      throw CaptureError(
        .readFailed, "the file cannot be read: \(systemText(number))", offset: offset)
    }
  }

  /// Looks after what waits until the pipe has bytes, or has ended, or nothing waits any more.
  private func awaitBytes() {
    guard let pace else { return }
    while pace.waits() {
      var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&request, 1, PipePace.milliseconds) == 0 else { return }
      pace.passIdly()
    }
  }

  /// Takes bytes off the count again.
  func uncount(_ bytes: Int) { count?.add(-bytes) }

  private static func openingError(_ number: Int32) -> CaptureError {
    switch number {
    case ENOENT, ENOTDIR:
      CaptureError(.notFound, "no such file", remedy: "check the path")
    case EISDIR:
      CaptureError(.isDirectory, "this is a directory", remedy: "name a file in it")
    case EACCES, EPERM:
      CaptureError(
        .permissionDenied, "permission to read it is denied",
        remedy: "make it readable for this user")
    default:
      CaptureError(.readFailed, "the file cannot be opened: \(systemText(number))")
    }
  }
}
