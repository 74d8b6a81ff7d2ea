import CTLS

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
}
