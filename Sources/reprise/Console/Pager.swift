import Glibc

/// Shows text that is longer than the terminal page by page, by the program that `PAGER` names, or `less`.
///
/// As in git, `LESS` is `FRX` where it is not set: colours are shown, and the text stays on the screen.
struct Pager {
  /// What the shell runs.
  private let command: String

  /// Finds the pager of the user.
  /// - Returns: nil where there is none, or the user wants none: `PAGER` is empty or `cat`.
  init?() {
    guard Self.variable("TERM") != "dumb" else { return nil }
    let chosen = Self.variable("PAGER") ?? (Self.isInstalled("less") ? "less" : "")
    guard !chosen.isEmpty, chosen != "cat" else { return nil }
    command = (Self.variable("LESS") == nil ? "export LESS=FRX; " : "") + chosen
  }

  /// Shows text, and returns when the user has seen enough.
  /// - Returns: Whether it was shown; not if the pager can't be run.
  func show(_ text: String) -> Bool {
    guard let stream = popen(command, "we") else { return false }
    var bytes = Array(text.utf8)
    _ = fwrite(&bytes, 1, bytes.count, stream)
    // A shell ends so where there is no such program, or none that it may run.
    let status = (pclose(stream) >> 8) & 0xFF
    return status != 126 && status != 127
  }

  /// Whether text has more lines than a terminal, as that wraps them.
  static func isLong(_ text: String, on descriptor: Int32) -> Bool {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0 else {
      return false
    }
    let columns = Int(size.ws_col)
    let rows = text.split(separator: "\n", omittingEmptySubsequences: false).reduce(0) {
      $0 + max(1, ($1.count + columns - 1) / columns)
    }
    return rows > Int(size.ws_row)
  }

  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  private static func isInstalled(_ name: String) -> Bool {
    (variable("PATH") ?? "").split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
  }
}
