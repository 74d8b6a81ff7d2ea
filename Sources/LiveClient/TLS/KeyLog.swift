import CTLS
import Glibc
package import RepriseCore

/// The file that SSLKEYLOGFILE names, to which secrets go by which others decrypt captures of TLS.
///
/// The variable is looked at once. The file is created if it is not there, and only the user may read it then; it is
/// written to its end, a line by one call, so that lines of several threads and processes don't mix, and it stays
/// open as long as the process, which may log at any time.
package enum KeyLog {
  /// What comes of the variable.
  package enum State: Sendable, Hashable {
    /// It is not set, or empty.
    case unwanted
    /// Secrets go to the file of this name.
    case open(path: String)
    /// The file of this name can't be written, for this reason.
    case failed(path: String, reason: String)
  }

  /// What comes of the variable; the first look opens the file.
  package static let state = open()

  /// Whether contexts are seen that are made elsewhere.
  private static let isWatching = ctls_watch_contexts() == 1

  /// Creates the file, if the user wants one, for a library that writes to it by itself.
  package static func create() { _ = state }

  /// Has a context's secrets logged, if the user wants it.
  /// - Parameter context: The context.
  /// - Throws: ``DataClientError`` when the file can't be written.
  package static func attach(_ context: OpaquePointer) throws(DataClientError) {
    switch state {
    case .unwanted: return
    case .open: ctls_log_keys(context)
    case .failed(let path, let reason):
      throw DataClientError(
        .unreadable,
        "SSLKEYLOGFILE \(path) can't be written: \(reason); unset it or name another file")
    }
  }

  /// Calls a library that makes contexts by itself, and has their secrets logged if the user wants it.
  ///
  /// The library stays in charge of what it makes; that the file can't be written is no fault of the connection. A
  /// context of ours would not do: libmosquitto 2.0 takes one together with its own settings only where a file or a
  /// directory of authorities is named, and not where those of the system are trusted.
  /// - Parameters:
  ///   - isSecure: Whether TLS is spoken; otherwise the file is not even opened.
  ///   - call: What makes contexts, on this thread.
  /// - Returns: What it returns; the system's error number is as it left it.
  static func attach<Value>(toContextsIfSecure isSecure: Bool, of call: () -> Value) -> Value {
    guard isSecure, case .open = state, isWatching else { return call() }
    ctls_log_keys_of_new_contexts(1)
    defer { ctls_log_keys_of_new_contexts(0) }
    return call()
  }

  private static func open() -> State {
    guard let path = getenv("SSLKEYLOGFILE").map({ String(cString: $0) }), !path.isEmpty else {
      return .unwanted
    }
    let file = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { return .failed(path: path, reason: systemText(errno).lowercased()) }
    ctls_open_key_log(file)
    return .open(path: path)
  }
}
