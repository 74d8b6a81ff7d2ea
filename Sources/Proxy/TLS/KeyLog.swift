import CTLS
import Glibc
import RepriseCore

/// The file that SSLKEYLOGFILE names, to which secrets go by which others decrypt captures of TLS.
enum KeyLog {
  /// Has a context's secrets logged, if the user wants it.
  /// - Parameter context: The context.
  /// - Throws: ``DataClientError`` when the file can't be written.
  static func attach(_ context: OpaquePointer) throws(DataClientError) {
    guard let path = getenv("SSLKEYLOGFILE").map({ String(cString: $0) }), !path.isEmpty else {
      return
    }
    // It stays open as long as the process, which may log at any time.
    let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw DataClientError(
        .unreadable,
        "SSLKEYLOGFILE \(path) can't be written: \(systemText(errno).lowercased()); unset it or name "
          + "another file")
    }
    ctls_log_keys(context, file)
  }
}
