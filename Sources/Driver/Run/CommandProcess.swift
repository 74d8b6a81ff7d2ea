import Glibc
import RepriseCore

/// A command of the user's that runs beside the driver, in a group of its own, so that what it starts ends with it.
package final class CommandProcess {
  private let process: pid_t
  /// How it ended, as `waitpid` has it; nil as long as it runs.
  private var status: Int32?

  /// What a shell makes of a text is started in place of the shell.
  package static func words(of text: String) -> [String] { ["/bin/sh", "-c", "exec \(text)"] }

  /// Starts a command; what it prints goes nowhere.
  /// - Parameter words: The program, by its path or its name, and its arguments.
  /// - Throws: ``DriverError`` where it can't be started.
  package init(_ words: [String]) throws(DriverError) {
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
    let name = words.first ?? ""
    let arguments = words.map { (word: String) in strdup(word) } + [nil]
    defer { for argument in arguments { free(argument) } }
    let code = posix_spawnp(&process, name, &actions, &attributes, arguments, environ)
    guard code == 0 else {
      throw DriverError(
        .unstartable,
        "\(name) can't be started: \(systemText(code).lowercased()); check its name")
    }
    self.process = process
  }

  deinit { kill() }

  /// Whether it runs.
  package var isRunning: Bool { endedBy == nil }

  /// How it ended, for people, such as `status 1`; nil as long as it runs.
  var endedBy: String? {
    if status == nil {
      var code: Int32 = 0
      if waitpid(process, &code, WNOHANG) != 0 { status = code }
    }
    guard let status else { return nil }
    // The lowest seven bits are the signal that ended it, and the next byte what it returned.
    return status & 0x7F == 0 ? "status \(status >> 8 & 0xFF)" : "signal \(status & 0x7F)"
  }

  /// Asks it to end, and what it has started.
  package func terminate() {
    // A process that has ended still names its group as long as others are in it.
    _ = Glibc.kill(-process, SIGTERM)
  }

  /// Ends it, and what it has started, at once.
  func kill() {
    _ = Glibc.kill(-process, SIGKILL)
    guard status == nil else { return }
    var code: Int32 = 0
    waitpid(process, &code, 0)
    status = code
  }
}
