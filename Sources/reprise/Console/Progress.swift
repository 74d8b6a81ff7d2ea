import Glibc
import RepriseCore

/// A line on standard error that shows how far a long work has come, if someone is looking.
struct Progress {
  private let isShown: Bool
  private let start: Double
  private var nextUpdate: Double
  private var isDrawn = false
  private var count = 0

  /// Creates a line that appears after a second.
  /// - Parameter isWanted: Whether it appears at all; it never does when no terminal is there.
  init(isWanted: Bool) {
    isShown = isWanted && isatty(STDERR_FILENO) == 1
    start = Monotonic.seconds
    nextUpdate = start + 1
  }

  /// Counts one event of a file.
  @inline(__always)
  mutating func advance(_ file: String) {
    count &+= 1
    // The clock is read once in 1,024 events; even slow work passes that often.
    if isShown, count & 0x3FF == 0 { update(file) }
  }

  private mutating func update(_ file: String) {
    let now = Monotonic.seconds
    guard now >= nextUpdate else { return }
    nextUpdate = now + 0.25
    isDrawn = true
    let seconds = now - start
    let rate = Int(Double(count) / seconds)
    var line = Array("\r\u{1B}[K".utf8)
    let text = Array("\(file): \(count) events, \(rate) a second, \(Int(seconds)) s".utf8)
    TerminalText.append(text.span.bytes, to: &line)
    Console.write(line)
  }

  /// Takes the line away, before anything else is shown.
  mutating func clear() {
    guard isDrawn else { return }
    isDrawn = false
    Console.write(Array("\r\u{1B}[K".utf8))
  }
}
