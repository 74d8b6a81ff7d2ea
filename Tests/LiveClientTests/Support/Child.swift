import Glibc
import Synchronization

/// A program that a test runs; it is killed with the last reference to it.
final class Child: Sendable {
  private let pid: pid_t
  private let status = Mutex<Int32?>(nil)

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Starts a program, found by the PATH, with its output in a file, and its errors there or in
  /// another one.
  init(_ arguments: [String], output: String = "/dev/null", errors: String? = nil) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    if let errors {
      posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    } else {
      posix_spawn_file_actions_adddup2(&actions, 1, 2)
    }
    // A socket that a broker inherits stays open when a test closes it.
    for file in Int32(3)..<512 { posix_spawn_file_actions_addclose(&actions, file) }
    // Threads of the runtime block signals, and a program inherits that.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    // So it does what whoever started the tests ignores.
    for signal in [SIGINT, SIGTERM, SIGPIPE, SIGXFSZ] { sigaddset(&signals, signal) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
    let copies = arguments.map { strdup($0) } + [nil]
    defer { for copy in copies { free(copy) } }
    var pid = pid_t()
    guard let program = arguments.first else { throw Failure(description: "no program") }
    let code = posix_spawnp(&pid, program, &actions, &attributes, copies, environ)
    guard code == 0 else { throw Failure(description: "\(program) does not start: error \(code)") }
    self.pid = pid
  }

  deinit {
    guard status.withLock({ $0 }) == nil else { return }
    kill(pid, SIGKILL)
    waitpid(pid, nil, 0)
  }

  /// Sends a signal and waits for the end.
  ///
  /// The signal is sent again after a while: mosquitto forgets one that comes when it listens already
  /// and its loop has not begun.
  func stop(_ signal: Int32 = SIGTERM) {
    var rounds = 0
    while !hasEnded {
      if rounds.isMultiple(of: 1_000) { kill(pid, signal) }
      usleep(500)
      rounds += 1
    }
  }

  /// Sends a signal.
  func send(_ signal: Int32) { kill(pid, signal) }

  /// Stops the program where it is, or lets it go on.
  func pause(_ isPaused: Bool) { kill(pid, isPaused ? SIGSTOP : SIGCONT) }

  /// Waits for the end; returns the exit status.
  func wait() -> Int32 {
    status.withLock { status in
      if let status { return status }
      var raw: Int32 = 0
      while waitpid(pid, &raw, 0) < 0, errno == EINTR {}
      let code = Self.code(raw)
      status = code
      return code
    }
  }

  /// The exit status as a shell tells it.
  private static func code(_ raw: Int32) -> Int32 {
    raw & 0x7f == 0 ? (raw >> 8) & 0xff : 128 + raw & 0x7f
  }

  /// Whether the program has ended.
  var hasEnded: Bool {
    status.withLock { status in
      var raw: Int32 = 0
      if status == nil, waitpid(pid, &raw, WNOHANG) == pid { status = Self.code(raw) }
      return status != nil
    }
  }

  /// Runs a program to its end.
  static func run(_ arguments: [String], output: String = "/dev/null") throws {
    let status = try Child(arguments, output: output).wait()
    guard status == 0 else {
      throw Failure(description: "\(arguments) ended with \(status): \(text(of: output))")
    }
  }

  /// What a file holds.
  static func text(of path: String) -> String {
    String(decoding: bytes(of: path), as: UTF8.self)
  }

  /// What a file holds.
  static func bytes(of path: String) -> [UInt8] {
    guard path != "/dev/null", let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
      bytes += buffer[..<count]
    }
    return bytes
  }
}

/// A directory of a test; it goes with the last reference to it.
final class Scratch: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/reprise-live-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw Child.Failure(description: "no directory") }
    path = String(cString: made)
  }

  deinit { try? Child.run(["rm", "-rf", path]) }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  func write(_ text: String, to name: String) throws {
    guard let file = fopen(file(name), "w") else { throw Child.Failure(description: name) }
    fputs(text, file)
    fclose(file)
  }
}

/// Asks again and again, 5 ms apart, whether something of another process or of a C thread is so.
///
/// Nothing announces it, so it has to be asked for; the limit only keeps a broken test from hanging.
func eventually(within seconds: Int = 120, _ isSo: () -> Bool) async throws -> Bool {
  for _ in 0..<(seconds * 200) {
    if isSo() { return true }
    try await Task.sleep(for: .milliseconds(5))
  }
  return isSo()
}
