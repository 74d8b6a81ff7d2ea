import RepriseCore
import TestSupport
import Wire

@testable import Capture

/// What conversions are tried with.
enum Conversions {
  /// Keeps what a copier writes.
  final class Sink: ByteSink {
    var bytes: [UInt8] = []

    func write(_ bytes: RawSpan) { self.bytes += Array(copying: bytes) }
  }

  /// The captures of this package, and those of others where they are.
  static let paths =
    PackageFolder.captured.map(PackageFolder.capture)
    + SharedCaptures.names.map(SharedCaptures.path)

  /// Converts a file.
  /// - Returns: The new file, and what was lost on the way to it.
  /// - Throws: What the conversion throws.
  static func converted(
    _ path: String, to format: CaptureFormat, options: InputOptions = InputOptions(),
    _ copying: CaptureCopier.Options = .init(application: "test"),
    _ plan: CaptureConversion.Plan = .init()
  ) throws -> (bytes: [UInt8], lost: CaptureCopier.Lost) {
    let sink = Sink()
    let copier = CaptureCopier(to: format, copying, sink)
    _ = try CaptureConversion(path, options).write(copier, plan)
    return (sink.bytes, copier.lost)
  }

  /// The numbers and the bytes of the frames of a file.
  static func frames(_ bytes: [UInt8]) throws -> [[UInt8]] {
    var reader = try CaptureReader(ByteSource(bytes: bytes))
    var frames: [[UInt8]] = []
    while let frame = try reader.next() { frames.append(Array(copying: frame.bytes)) }
    return frames
  }

  /// The events of a file's bytes.
  static func events(_ bytes: [UInt8], _ options: InputOptions = .init()) throws -> [Event] {
    let file = try TemporaryCapture(bytes)
    return try EventList.events(of: file.path, options: options).events
  }

  /// Writes the events of a session as packets, and those as pcapng.
  static func packets(
    of events: [Event], usesKnownPorts: Bool = false
  ) -> (bytes: [UInt8], losses: SessionPackets.Losses) {
    final class Box { var writer = PcapngWriter(application: "test") }
    let box = Box()
    let interface = box.writer.addInterface(.raw, name: "test", description: "")
    var halfCloses = HalfCloses()
    for event in events { event.withView { halfCloses.consume($0) } }
    var packets = SessionPackets(usesKnownPorts: usesKnownPorts, halfCloses) {
      box.writer.addPacket(on: interface, at: $0, comments: $1, $2, $3)
    }
    for event in events { event.withView { packets.consume($0) } }
    return (box.writer.bytes, packets.losses)
  }
}
