import Glibc
import RepriseCore
import Synchronization

/// A line on standard error that changes, and what is said in it, where somebody looks at it.
final class StatusLine: Sendable {
  private let isDrawn = Mutex(false)
  /// Whether somebody looks.
  let isShown: Bool

  init(_ console: Console) { isShown = !console.isQuiet && isatty(STDERR_FILENO) == 1 }

  /// Shows a text in place of the one before.
  func draw(_ text: String) {
    guard isShown else { return }
    var line = Array("\r\u{1B}[K".utf8)
    let shown = Array(text.utf8)
    TerminalText.append(shown.span.bytes, to: &line)
    isDrawn.withLock { $0 = true }
    Console.write(line)
  }

  /// Takes the line away, before anything else is shown.
  func clear() {
    let wasDrawn = isDrawn.withLock { isDrawn in
      defer { isDrawn = false }
      return isDrawn
    }
    if wasDrawn { Console.write(Array("\r\u{1B}[K".utf8)) }
  }

  /// How long something has run, or runs still, as in `12 s` and `48 s left`.
  static func time(since start: Double, of duration: Duration?) -> String {
    let seconds = Monotonic.seconds - start
    guard let duration else { return "\(Int(seconds)) s" }
    let left = Double(duration.components.seconds) - seconds
    return "\(Int(max(0, left.rounded(.up)))) s left"
  }

  /// A number of things, as in `2 messages`.
  static func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }

  /// A number of bytes, as in `1.5 MiB`.
  static func size(_ bytes: Int) -> String {
    var value = Double(bytes)
    for unit in ["bytes", "KiB", "MiB", "GiB"] {
      guard value >= 1_024, unit != "GiB" else {
        let rounded = unit == "bytes" ? "\(bytes)" : "\((value * 10).rounded() / 10)"
        return "\(rounded) \(unit)"
      }
      value /= 1_024
    }
    return "\(bytes) bytes"
  }
}
