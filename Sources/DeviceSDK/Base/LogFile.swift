public import RepriseCore
import Synchronization

/// A file that log entries are written to, a line each, which keeps to a size.
///
/// When the next line would make it larger than its limit, what is there becomes the file `PATH.1`, in the place of the one
/// before, and the log goes on in an empty file: the two together have up to twice the limit. Only the user whose
/// application it is may read them. A line has the time (UTC), the level, the system with its part, and the message.
public final class LogFile: Sendable {
  private struct State {
    var sink: FileSink?
    var size: Int
    var lost: UInt64 = 0
  }

  /// The file.
  public let path: String
  /// The file that what was written before is in.
  public var pathBefore: String { path + ".1" }
  /// How large the file may get, in bytes.
  public let limit: Int
  private let state: Mutex<State>

  /// Opens a file, or creates it; what is in it stays.
  /// - Parameters:
  ///   - path: The file.
  ///   - limit: How large it may get, in KiB, from 1; ``LinkConfiguration/logToFile(_:level:)`` takes the
  ///     configuration's.
  /// - Throws: `DataClientError.Code.notRecorded` when it can't be written to.
  public init(_ path: String, limitInKB limit: Int = 1_024) throws(DataClientError) {
    self.path = path
    let (bytes, overflow) = max(1, limit).multipliedReportingOverflow(by: 1_024)
    self.limit = overflow ? .max : bytes
    let sink = try FileSink(appendingTo: path)
    state = Mutex(State(sink: sink, size: sink.size))
  }

  /// How many entries could not be written, as the disk is full or the folder is gone; the application goes on.
  public var lostEntries: UInt64 { state.withLock(\.lost) }

  /// Writes an entry.
  /// - Parameter entry: The entry.
  public func write(_ entry: DeviceLog.Entry) {
    let line = Array("\(entry)\n".utf8)
    state.withLock { state in
      do {
        if state.size > 0, state.size + line.count > limit || state.sink == nil {
          try turnOver(&state)
        }
        try state.sink?.write(line.span.bytes)
        state.size += line.count
      } catch {
        state.lost += 1
      }
    }
  }

  /// Goes on in an empty file.
  private func turnOver(_ state: inout State) throws(DataClientError) {
    // Without a file, what could be written last is tried again with the next entry.
    state.sink = nil
    try FileSink.move(path, to: pathBefore)
    state.sink = try FileSink(appendingTo: path)
    state.size = 0
  }
}
