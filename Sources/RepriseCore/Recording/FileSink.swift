public import Wire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file that a recording is written to, line by line, so that it is whole up to its last event at any moment.
///
/// Only the user who makes it may read it, as what is hidden of a session is not all that is private in it.
public final class FileSink: ByteSink, Sendable {
  /// The file.
  public let path: String
  /// What is written goes behind what is there, whoever writes at the same time.
  private let descriptor: Int32

  /// Creates the file.
  /// - Parameters:
  ///   - path: The file.
  ///   - replaces: Whether a file that exists is emptied; otherwise it stays as it is.
  /// - Throws: ``DataClientError/Code/notRecorded`` when it exists, or can't be made.
  public init(_ path: String, replacing replaces: Bool = false) throws(DataClientError) {
    self.path = path
    let isNew = replaces ? O_TRUNC : O_EXCL
    descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | isNew, 0o600)
    guard descriptor >= 0 else {
      // Anything that is called from here on may change it.
      let code = errno
      throw DataClientError(
        .notRecorded,
        code == EEXIST
          ? "\(path): it exists; name another file, or replace it by replacing: true"
          : "\(path): can't be written: \(systemText(code).lowercased()); check the path")
    }
    // A file that is replaced keeps its mode otherwise; what is no file of a disk is everybody's.
    var status = stat()
    if replaces, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      fchmod(descriptor, 0o600)
    }
  }

  /// Opens a file to write behind what is in it, or creates it.
  /// - Parameter path: The file.
  /// - Throws: ``DataClientError/Code/notRecorded`` when it can't be written to.
  package init(appendingTo path: String) throws(DataClientError) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let code = errno
      throw DataClientError(
        .notRecorded, "\(path): can't be written: \(systemText(code).lowercased()); check the path")
    }
  }

  /// How large the file is, in bytes; 0 of what is no file of a disk.
  package var size: Int {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Gives a file another name, in the place of a file that has it.
  /// - Parameters:
  ///   - path: The file.
  ///   - name: Its new name, in the same folder.
  /// - Throws: ``DataClientError/Code/notRecorded`` when that can't be done.
  package static func move(_ path: String, to name: String) throws(DataClientError) {
    guard rename(path, name) != 0 else { return }
    let code = errno
    throw DataClientError(
      .notRecorded,
      "\(path): can't become \(name): \(systemText(code).lowercased()); check the folder")
  }

  deinit { close(descriptor) }

  /// Writes bytes behind those that are there.
  /// - Throws: ``DataClientError/Code/notRecorded``; what was written before stays.
  public func write(_ bytes: RawSpan) throws {
    var rest = bytes
    while rest.byteCount > 0 {
      let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
      let code = count < 0 ? errno : 0
      if count > 0 {
        rest = rest.extracting(droppingFirst: count)
      } else if code != EINTR {
        throw DataClientError(
          .notRecorded,
          "\(path): can't be written on: \(systemText(code).lowercased()); what was written before stays"
        )
      }
    }
  }
}

/// The system's function, which has the name of a sink's.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}

extension RecordingClient where Sink == FileSink {
  /// Wraps a client, and records it in a new file; `ReplayClient(contentsOf:)` replays that.
  /// - Parameters:
  ///   - client: The client to record.
  ///   - path: The file.
  ///   - replaces: Whether a file that exists is replaced.
  ///   - url: What the client talks to, for the header; without a password.
  ///   - version: The version of MQTT that the client speaks; nil tells it from what the client can do.
  ///   - redaction: What is not written.
  /// - Throws: ``DataClientError/Code/notRecorded`` when the file exists, or can't be made.
  public convenience init(
    _ client: Client, toFile path: String, replacing replaces: Bool = false, url: String? = nil,
    version: MQTTVersion? = nil, redaction: RedactionRules = RedactionRules()
  ) throws {
    try self.init(
      client, to: FileSink(path, replacing: replaces), url: url, version: version,
      redaction: redaction)
  }
}
