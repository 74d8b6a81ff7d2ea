import Glibc
import LiveClient
import RepriseCore

/// A broker that a command of the user's starts, on a free port of this machine; it is stopped with the run.
final class LaunchedBroker {
  /// Where it listens.
  let port: UInt16
  private let process: pid_t
  private let command: String

  /// How long it may take until it listens.
  private static let patience = 60.0

  /// Starts a broker, and waits until it listens.
  /// - Parameter command: What a shell starts, with `{port}` in the place of the port.
  /// - Throws: ``UsageError`` where it does not start, or ends at once; ``Interrupted``.
  init(_ command: String) throws {
    guard command.contains("{port}") else {
      throw UsageError(
        "--launch '\(command)' does not say where {port} stands",
        "type such as --launch 'mosquitto -p {port}'")
    }
    // Nobody listens there any more, and hardly anybody will in the moment until the broker does.
    let port = try TCPSocket.listening().port
    self.port = port
    self.command = command
    process = try Self.start(command.replacing("{port}", with: "\(port)"))
    try awaitListening()
  }

  deinit { stop() }

  /// Starts a command in a group of its own, so that what it starts is stopped with it.
  private static func start(_ command: String) throws(UsageError) -> pid_t {
    var attributes = posix_spawnattr_t()
    var actions = posix_spawn_file_actions_t()
    posix_spawnattr_init(&attributes)
    posix_spawn_file_actions_init(&actions)
    defer {
      posix_spawnattr_destroy(&attributes)
      posix_spawn_file_actions_destroy(&actions)
    }
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    // Its own words are none of the report's.
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var process = pid_t()
    let words = ["/bin/sh", "-c", "exec \(command)"].map { (word: String) in strdup(word) } + [nil]
    defer { for word in words { free(word) } }
    let code = posix_spawn(&process, "/bin/sh", &actions, &attributes, words, environ)
    guard code == 0 else {
      throw UsageError(
        "--launch: no shell can be started: \(systemText(code).lowercased())", "start it yourself")
    }
    return process
  }

  private func awaitListening() throws {
    let end = Monotonic.seconds + Self.patience
    while Monotonic.seconds < end {
      try Interruption.check()
      var status: Int32 = 0
      guard waitpid(process, &status, WNOHANG) == 0 else {
        throw UsageError(
          "--launch '\(command)' ended at once", "start it by hand to see what it says")
      }
      if isListening { return }
      usleep(20_000)
    }
    throw UsageError(
      "--launch '\(command)' does not listen on port \(port) of 127.0.0.1",
      "check that {port} stands where its port is told to it")
  }

  private var isListening: Bool {
    let address = try? TCPAddress.resolve("127.0.0.1", port: port).first
    return address.map { TCPSocket.answers($0, within: 200) } ?? false
  }

  /// Stops it, and what it has started.
  private func stop() {
    kill(-process, SIGTERM)
    var status: Int32 = 0
    for _ in 0..<100 {
      guard waitpid(process, &status, WNOHANG) == 0 else { return }
      usleep(20_000)
    }
    kill(-process, SIGKILL)
    waitpid(process, &status, 0)
  }
}
