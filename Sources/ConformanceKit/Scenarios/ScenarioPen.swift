import Synchronization

/// Writes down what happens in a scenario; in a `wait` with the seconds since its beginning.
package final class ScenarioPen: Sendable {
  private struct State {
    var lines: [String] = []
    var stamp = ""
  }

  private let state = Mutex(State())

  /// Creates a pen with nothing written.
  package init() {}

  /// Writes a line.
  /// - Parameter line: The line.
  package func write(_ line: String) {
    state.withLock { $0.lines.append($0.stamp + line) }
  }

  /// Puts the time in front of the lines that follow.
  /// - Parameter nanoseconds: The time since the wait began; nil when there is no wait.
  func stamp(_ nanoseconds: Int64?) {
    let stamp = nanoseconds.map { "+\(Self.seconds($0)) " } ?? ""
    state.withLock { $0.stamp = stamp }
  }

  /// Takes the lines since the last time.
  func take() -> [String] {
    state.withLock { state in
      defer { state.lines = [] }
      return state.lines
    }
  }

  /// Whole seconds, and thousandths where there are any: `2`, `0.5`.
  private static func seconds(_ nanoseconds: Int64) -> String {
    let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    guard rest > 0 else { return "\(whole)" }
    var digits = String(1_000 + rest / 1_000_000).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return digits.isEmpty ? "\(whole)" : "\(whole).\(digits)"
  }
}
