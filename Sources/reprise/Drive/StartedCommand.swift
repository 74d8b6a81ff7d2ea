import Driver
import Glibc
import RepriseCore

/// A command of the user's that was started for one case, with all that it starts itself.
final class StartedCommand: StartedSubject {
  private let process: pid_t
  /// What it ended with, as the system tells it; nil as long as it runs.
  private var status: Int32?

  /// Starts a command in a group of its own, so that what it starts is stopped with it.
  /// - Parameter words: The command and what stands behind it.
  /// - Throws: ``DriverError`` where the system does not start it.
  init(_ words: [String]) throws(DriverError) {
    let name = words.first ?? ""
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
    let copies = words.map { (word: String) in strdup(word) } + [nil]
    defer { for copy in copies { free(copy) } }
    var process = pid_t()
    let code = posix_spawnp(&process, name, &actions, &attributes, copies, environ)
    guard code == 0 else {
      throw DriverError(
        .unreachable,
        "\(name) can't be started: \(systemText(code).lowercased()); check its name")
    }
    self.process = process
  }

  deinit { stop() }

  var end: String? {
    if status == nil {
      var now: Int32 = 0
      if waitpid(process, &now, WNOHANG) == process { status = now }
    }
    return status.map { status in
      let signal = status & 0x7F
      return signal == 0
        ? "ended with status \(status >> 8 & 0xFF)" : "was ended by signal \(signal)"
    }
  }

  func stop() {
    // What is left of its group is stopped as well; the run does not wait for it to say good bye.
    kill(-process, SIGKILL)
    guard status == nil else { return }
    var last: Int32 = 0
    waitpid(process, &last, 0)
    status = last
  }
}
