import Glibc
import Synchronization
import TestSupport
import Testing

/// A program that a test runs; it is killed with the last reference to it.
///
/// What it writes comes through pipes to a thread, which tells those who wait for it.
final class Child: Sendable {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// What is known of a program.
  struct Report: Sendable {
    /// What it wrote to standard output, and to standard error unless that is kept apart.
    var output: [UInt8] = []
    /// What it wrote to standard error, if that is kept apart.
    var errors: [UInt8] = []
    /// The exit status as a shell tells it, once the program has ended and all it wrote is here.
    var status: Int32?

    var hasEnded: Bool { status != nil }
    var text: String { String(decoding: output, as: UTF8.self) }
    var errorText: String { String(decoding: errors, as: UTF8.self) }
  }

  private let name: String
  private let pid: pid_t
  private let report = Observed(Report())

  /// Starts a program, found by the PATH.
  /// - Parameters:
  ///   - arguments: Its name and what stands behind it.
  ///   - errorsApart: Whether its errors are not to stand among its output.
  ///   - folder: A directory whose files' changes are news of it, too.
  /// - Throws: What the system says when it can't be started.
  init(_ arguments: [String], errorsApart: Bool = false, folder: Scratch? = nil) throws {
    name = arguments.joined(separator: " ")
    let (pid, follower) = try Self.starting.withLock { _ in
      let output = try Pipe()
      let errors = errorsApart ? try Pipe() : nil
      defer { for pipe in [output, errors] { pipe?.closeWriting() } }
      let follower = try ChildFollower(output, errors, folder: folder?.path)
      do {
        return (try Self.spawn(arguments, output.writing, (errors ?? output).writing), follower)
      } catch {
        follower.close()
        throw error
      }
    }
    self.pid = pid
    try startThread { [report] in follower.follow(pid, report) }
  }

  deinit { send(SIGKILL) }

  /// One at a time: a program must not inherit the pipes of another one, whose end would not be seen then.
  private static let starting = Mutex(())

  private static func spawn(_ arguments: [String], _ output: Int32, _ errors: Int32) throws -> pid_t
  {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    posix_spawn_file_actions_adddup2(&actions, errors, 2)
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
    return pid
  }

  // MARK: What it does

  /// What it wrote so far.
  var output: [UInt8] { report.value.output }

  /// What it wrote so far.
  var text: String { report.value.text }

  /// What it wrote to standard error so far, if that is kept apart.
  var errors: String { report.value.errorText }

  var hasEnded: Bool { report.value.hasEnded }

  /// Waits until what is known of it is as it should be; that it ends before is an error, and that nothing
  /// comes.
  /// - Parameters:
  ///   - what: What is waited for.
  ///   - isSo: Whether it is there; asked whenever the program has written something or has ended, and when a
  ///     file of its folder has changed.
  /// - Throws: What was waited for, and what the program wrote instead.
  func wait(for what: String, until isSo: @escaping @Sendable (Report) -> Bool) async throws {
    let isThere: Bool? = await report.first { report in
      if isSo(report) { return true }
      return report.hasEnded ? false : nil
    }
    guard isThere != true else { return }
    let why = report.value.status.map { "it ended with \($0)" } ?? "\(waitingLimit) s went by"
    throw Failure(
      description: "\(name): waited for \(what); \(why). It wrote: \(text.suffix(4_000))\(errors)")
  }

  /// Waits for the end; returns the exit status, which is that of SIGKILL if it does not end.
  func wait() async -> Int32 {
    if let status = await report.first(\.status) { return status }
    Issue.record("\(name) does not end. It wrote: \(text.suffix(4_000))\(errors)")
    send(SIGKILL)
    return await report.first(\.status) ?? 128 + SIGKILL
  }

  /// Runs a program to its end; returns what it wrote.
  @discardableResult
  static func run(_ arguments: [String]) async throws -> String {
    let child = try Child(arguments)
    let status = await child.wait()
    guard status == 0 else {
      throw Failure(description: "\(arguments) ended with \(status): \(child.text)")
    }
    return child.text
  }

  // MARK: Signals

  /// Sends a signal and waits for the end.
  func stop(_ signal: Int32 = SIGTERM) async {
    send(signal)
    _ = await wait()
  }

  /// Sends a signal, unless the program has ended and its number may be another one's.
  func send(_ signal: Int32) {
    report.read { if !$0.hasEnded { kill(pid, signal) } }
  }

  /// Stops the program where it is, or lets it go on.
  func pause(_ isPaused: Bool) { send(isPaused ? SIGSTOP : SIGCONT) }
}
