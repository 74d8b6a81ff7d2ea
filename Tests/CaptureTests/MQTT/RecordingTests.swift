import RepriseCore
import TestSupport
import Testing

/// A capture written as a recording and read again is the same session, byte for byte.
@Suite struct RecordingTests {
  static let paths =
    (SharedCaptures.names.map(SharedCaptures.path)
    + PackageFolder.captured.map(PackageFolder.capture)).filter { path in
      ((try? EventList.events(of: path))?.events.isEmpty ?? true) == false
    }

  @Test func recordingsAreThere() { #expect(Self.paths.count >= 19) }

  @Test(.capturesOfOthers) func capturesOfOthersAreThere() { #expect(Self.paths.count >= 60) }

  @Test(arguments: paths) func givesTheSameBytes(_ path: String) throws {
    let events = try EventList.events(of: path).events
    var buffer: [UInt8] = []
    var reader = RecordingReader()
    let header = Array(
      #"{"reprise":1,"created":"2026-11-21T00:00:00Z","source":{"kind":"capture"},"redacted":[]}"#
        .utf8)
    _ = try reader.read(line: header.span.bytes, number: 1)
    for (index, event) in events.enumerated() {
      buffer.removeAll()
      event.withView { EventJSONWriter(showsSecrets: true).append($0, to: &buffer) }
      let read = try reader.read(line: buffer.span.bytes, number: index + 2)
      var expected = event
      // In a recording the frame is the line.
      expected.context.frame = index + 2
      #expect(read == expected, "frame \(event.context.frame)")
    }
  }
}
