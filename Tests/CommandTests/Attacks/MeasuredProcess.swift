import Foundation
import Glibc

/// The built command, run with memory that is filled with a pattern when it is taken and given back,
/// and what that took of the machine.
struct MeasuredProcess {
  /// The status that it ended with; nil where a signal ended it.
  var status: Int32?
  /// The most memory that it had at once, in bytes.
  var peak: Int
  /// How long it kept a processor busy, in seconds: what else runs does not count.
  var seconds: Double
  /// What it wrote to standard error.
  var errors: String

  /// Runs the command to its end; what it writes to standard output is dropped.
  /// - Parameter words: What is typed behind its name.
  /// - Returns: How it ended, and what it took.
  /// - Throws: What the system says when it can not be run.
  static func run(_ words: [String]) throws -> MeasuredProcess {
    let scratch = try Scratch()
    let errors = scratch.path("errors")
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addopen(
      &actions, STDERR_FILENO, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    let executable = RepriseProcess.executable.path
    let typed = [executable] + words
    var arguments: [UnsafeMutablePointer<CChar>?] = typed.map { strdup($0) } + [nil]
    let settings = ["MALLOC_PERTURB_=170", "PATH=/usr/bin:/bin"]
    var environment: [UnsafeMutablePointer<CChar>?] = settings.map { strdup($0) } + [nil]
    defer { for text in arguments + environment { free(text) } }
    var process = pid_t()
    let code = posix_spawn(&process, executable, &actions, nil, &arguments, &environment)
    guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
    var (status, usage) = (Int32(), rusage())
    while wait4(process, &status, 0, &usage) < 0 {
      guard errno == EINTR else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }
    let time = [usage.ru_utime, usage.ru_stime].reduce(0.0) {
      $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1_000_000
    }
    return MeasuredProcess(
      // The low bits are those of a signal.
      status: status & 0x7F == 0 ? status >> 8 & 0xFF : nil, peak: usage.ru_maxrss << 10,
      seconds: time, errors: try scratch.read("errors"))
  }
}
