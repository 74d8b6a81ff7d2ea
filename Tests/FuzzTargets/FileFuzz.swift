import Capture
import DataClient
import Glibc
import Synchronization
import Wire

/// Files of any bytes.
enum FileFuzz {
  static func runCapture(_ bytes: [UInt8]) {
    guard let path = file(bytes) else { return }
    var keeper = EventKeeper()
    do {
      _ = try SessionInput.read(path, into: &keeper)
    } catch {
      demand(error is CaptureError, "an error of another kind: \(error)")
    }
    RoundTrip.check(keeper.events)
  }

  static func runRecording(_ bytes: [UInt8]) {
    var keeper = EventKeeper()
    var stream = RecordingStream()
    do {
      try stream.consume(bytes.span.bytes.extracting(0..<bytes.count / 2), into: &keeper)
      try stream.consume(bytes.span.bytes.extracting(droppingFirst: bytes.count / 2), into: &keeper)
      try stream.finish(into: &keeper)
    } catch {
      demand(error is RecordingError, "an error of another kind: \(error)")
    }
    RoundTrip.check(keeper.events)
  }

  /// A file without a name that is written anew for every run; nil where the system has none.
  private static let memory = Mutex<Int32>(-1)

  static func file(_ bytes: [UInt8]) -> String? {
    memory.withLock { descriptor in
      if descriptor < 0 {
        var name = Array("/tmp/fuzz-XXXXXX".utf8CString)
        descriptor = mkstemp(&name)
        unlink(name)
      }
      guard descriptor >= 0, ftruncate(descriptor, 0) == 0 else { return nil }
      let count = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
      return count == bytes.count ? "/proc/self/fd/\(descriptor)" : nil
    }
  }
}
