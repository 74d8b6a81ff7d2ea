import Capture
import Glibc
import RepriseCore

/// Files of any bytes.
enum FileFuzz {
  static func runCapture(_ bytes: [UInt8]) {
    var keeper = EventKeeper()
    do {
      try read(bytes, into: &keeper)
    } catch {
      // What begins as JSON is read as a recording.
      demand(
        error is CaptureError || error is RecordingError, "an error of another kind: \(error)")
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

  /// Reads bytes as a file; a system that has no room for one reads nothing.
  ///
  /// Each reading has a file of its own, as tests of several targets run at once.
  static func read(
    _ bytes: [UInt8], _ options: InputOptions = InputOptions(), into keeper: inout EventKeeper
  ) throws {
    var name = Array("/tmp/fuzz-XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    unlink(name)
    let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    guard count == bytes.count else { return }
    _ = try SessionInput.read(
      "/proc/self/fd/\(descriptor)", options: options, into: &keeper)
  }
}
