import Foundation
import Glibc
import TestSupport
import Testing

/// A terminal of a test's own, which tmux is: what a program paints there can be read, and keys be typed.
final class Tmux {
  private static let program = "/usr/bin/tmux"
  /// The longest time that anything may take; the machine may have much else to do.
  private static let patience: TimeInterval = 120

  private let scratch = Scratch()
  private let socket: String

  /// Starts a shell in a terminal.
  /// - Parameters:
  ///   - width: The columns.
  ///   - height: The rows.
  ///   - environment: What is set besides what a shell needs.
  /// - Throws: What says that there is no tmux.
  init(
    width: Int = 80, height: Int = 24, environment: [String: String] = [:]
  ) throws {
    try #require(
      FileManager.default.isExecutableFile(atPath: Self.program),
      "tmux is needed: make setup installs it")
    socket = scratch.file("tmux")
    var words = ["-f", "/dev/null", "new-session", "-d", "-x", "\(width)", "-y", "\(height)"]
    let all = environment.merging(["reprise": RepriseProcess.executable.path]) { own, _ in own }
    // Of the environment a shell does not take it.
    try scratch.write("PS1='$ '\n", to: "rc")
    for (name, value) in all { words += ["-e", "\(name)=\(value)"] }
    try run(words + ["/bin/bash --noprofile --rcfile \(scratch.file("rc")) -i"])
    try wait("a prompt") { $0.hasPrefix("$") }
  }

  deinit { _ = try? run(["kill-server"]) }

  /// Runs tmux, which leaves its server behind: that must not inherit what others wait for to be closed.
  @discardableResult
  private func run(_ words: [String]) throws -> String {
    let output = try scratch.write([], to: "output")
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output.path, O_WRONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    for file in Int32(3)..<512 { posix_spawn_file_actions_addclose(&actions, file) }
    // Threads of the runtime block signals, and a program inherits that.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let environment = ["PATH=/usr/bin:/bin", "TERM=xterm-256color"]
    var arguments = (["tmux", "-u", "-S", socket] + words).map { strdup($0) } + [nil]
    var variables = environment.map { strdup($0) } + [nil]
    defer { for text in arguments + variables { free(text) } }
    var pid = pid_t()
    let code = posix_spawn(&pid, Self.program, &actions, &attributes, &arguments, &variables)
    try #require(code == 0, "tmux can't be run: \(code)")
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    return try scratch.read("output")
  }

  /// Types text as it is.
  func type(_ text: String) throws { try run(["send-keys", "-l", "--", text]) }

  /// Presses keys by their names in tmux: `Enter`, `C-z`.
  func press(_ keys: String...) throws { try run(["send-keys"] + keys) }

  /// Types a line of the shell.
  func enter(_ line: String) throws {
    try type(line)
    try press("Enter")
  }

  /// Makes the terminal larger or smaller.
  func resize(_ width: Int, _ height: Int) throws {
    try run(["resize-window", "-x", "\(width)", "-y", "\(height)"])
  }

  /// What tmux knows of the terminal, in its own language.
  func ask(_ format: String) throws -> String {
    try run(["display-message", "-p", format]).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The rows of the terminal as they are.
  /// - Parameter hasStyles: Whether sequences for styles are among them.
  /// - Returns: The rows.
  /// - Throws: What says that tmux can't be run.
  func rows(hasStyles: Bool = false) throws -> [String] {
    let text = try run(["capture-pane", "-p"] + (hasStyles ? ["-e"] : []))
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
  }

  /// Waits until the rows are as they should be; fails with what is there instead.
  /// - Parameters:
  ///   - what: What is waited for.
  ///   - location: Where in the test.
  ///   - condition: Takes all rows as one text.
  /// - Returns: The rows.
  /// - Throws: What fails the test.
  @discardableResult
  func wait(
    _ what: String, at location: SourceLocation = #_sourceLocation,
    until condition: (String) throws -> Bool
  ) throws -> [String] {
    let end = Date.now + Self.patience
    var rows: [String] = []
    while Date.now < end {
      rows = try self.rows()
      if try condition(rows.joined(separator: "\n")) { return rows }
      // tmux tells nobody when a program has painted.
      Thread.sleep(forTimeInterval: 0.02)
    }
    try #require(
      Bool(false), "\(what) did not come:\n\(rows.joined(separator: "\n"))",
      sourceLocation: location)
    return rows
  }
}
