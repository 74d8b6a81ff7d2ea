import CTLS
import RepriseCore

/// What OpenSSL says that went wrong.
enum TLSError {
  /// Forgets what was said before, which would be taken for news otherwise.
  static func clear() { ERR_clear_error() }

  /// What was said last, for people; nil when nothing was.
  static func text() -> String? {
    let code = ERR_peek_last_error()
    guard code != 0 else { return nil }
    guard let reason = ERR_reason_error_string(code) else { return "error \(code)" }
    return String(cString: reason)
  }

  /// What was said last, as an error.
  /// - Parameter what: What can't be done.
  /// - Returns: The error.
  static func failure(_ what: String) -> DataClientError {
    DataClientError(.unreadable, what + (text().map { ": \($0)" } ?? ""))
  }
}
