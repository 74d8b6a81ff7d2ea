import Glibc
import RepriseCore
import SessionView

/// The terminal of the user, taken for a program that paints all of it.
///
/// Keys are read from it also where standard input is something else.
final class Terminal {
  /// What woke the one who waits.
  enum Input {
    /// Keys were typed.
    case keys([Key])
    /// The terminal has another size, or comes back.
    case resized
    /// The user wants to be back in the shell for a while.
    case suspend
    /// Nothing came.
    case nothing
    /// The terminal is gone.
    case gone
  }

  /// So long is waited, in milliseconds, for what would follow Escape if it were not a key of its own.
  private static let patience: Int32 = 50

  private let descriptor: Int32
  private let before: termios
  private let pipe: [Int32]
  private var decoder = KeyDecoder()

  /// Opens the terminal, and leaves it as it is.
  /// - Throws: ``UsageError`` where there is none that can be painted.
  init() throws(UsageError) {
    let kind = getenv("TERM").map { String(cString: $0) } ?? ""
    guard isatty(STDOUT_FILENO) == 1, !kind.isEmpty, kind != "dumb" else {
      throw Self.absent("view needs a terminal")
    }
    let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    var settings = termios()
    guard descriptor >= 0, tcgetattr(descriptor, &settings) == 0 else {
      throw Self.absent("view can't open the terminal: \(systemText(errno).lowercased())")
    }
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else {
      throw Self.absent("view can't open a pipe: \(systemText(errno).lowercased())")
    }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    self.descriptor = descriptor
    before = settings
    pipe = ends
  }

  private static func absent(_ message: String) -> UsageError {
    UsageError(message, "add --at FRAME, which needs none, or type reprise inspect")
  }

  /// Takes the terminal: every key is told at once, and the screen of the shell stays as it is.
  func enter() {
    TerminalGuard.begin(descriptor, before, tellingTo: pipe[1])
    var raw = before
    cfmakeraw(&raw)
    // Ctrl-C, Ctrl-\ and Ctrl-Z are signals, so that they work whatever is being done.
    raw.c_lflag |= tcflag_t(ISIG)
    tcsetattr(descriptor, TCSADRAIN, &raw)
    // The alternate screen, without going on in the next row behind the last column.
    write(Array("\u{1B}[?1049h\u{1B}[?7l".utf8))
  }

  /// Gives the terminal back.
  func leave() { TerminalGuard.giveBack() }

  /// Gives the terminal back, suspends the process, and takes it again when that goes on.
  func suspend() {
    leave()
    _ = signal(SIGTSTP, SIG_DFL)
    // All of the job, as when no one had listened.
    kill(0, SIGTSTP)
    enter()
  }

  /// The size; 80 × 24 where the terminal does not tell.
  var size: Screen.Size {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
      return Screen.Size(width: 80, height: 24)
    }
    return Screen.Size(width: Int(size.ws_col), height: Int(size.ws_row))
  }

  /// Writes bytes, all of them, unless the terminal is gone.
  func write(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if count < 0, errno == EAGAIN {
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&wait, 1, 100)
      } else if !(count < 0 && errno == EINTR) {
        return
      }
    }
  }

  /// Waits for what the user does.
  /// - Parameter timeout: The longest time, in milliseconds; -1 is for ever.
  /// - Returns: What came.
  func wait(_ timeout: Int32) -> Input {
    var sources = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: pipe[0], events: Int16(POLLIN), revents: 0),
    ]
    let limit = decoder.isWaiting ? Self.patience : timeout
    let ready = poll(&sources, 2, limit)
    if ready < 0 { return errno == EINTR ? .nothing : .gone }
    if ready == 0 { return decoder.isWaiting ? .keys(decoder.flush()) : .nothing }
    if sources[1].revents != 0 { return readSignals() }
    var bytes = [UInt8](repeating: 0, count: 1_024)
    let count = read(descriptor, &bytes, bytes.count)
    if count > 0 { return .keys(decoder.take(bytes.prefix(count))) }
    return count < 0 && (errno == EINTR || errno == EAGAIN) ? .nothing : .gone
  }

  private func readSignals() -> Input {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(pipe[0], &bytes, bytes.count)
    guard count > 0 else { return .nothing }
    return bytes.prefix(count).contains(UInt8(truncatingIfNeeded: SIGTSTP)) ? .suspend : .resized
  }
}
