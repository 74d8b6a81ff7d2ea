import Capture
import RepriseCore

/// A capture of raw IP in the making.
final class PacketFile {
  private let output: OutputFile
  private var pcapng: PcapngWriter?
  private var interface: UInt32 = 0
  private var pcap = PcapWriter()
  private var packets: UInt64 = 0

  private static let largestBuffer = 1 << 18

  /// Begins a file.
  init(_ format: CaptureFormat, application: String, _ output: OutputFile) {
    self.output = output
    guard format == .pcapng else { return }
    var writer = PcapngWriter(application: application)
    interface = writer.addInterface(
      .raw, name: "recording", description: "Packets made of the events of a recording")
    pcapng = writer
  }

  /// Adds a packet.
  func add(_ time: Timestamp, _ comments: [String], _ header: RawSpan, _ payload: RawSpan) {
    packets += 1
    pcapng?.addPacket(on: interface, at: time, comments: comments, header, payload)
    if pcapng == nil { pcap.addPacket(at: time, header, payload) }
  }

  /// Writes what has gathered, if it is much.
  /// - Throws: ``OutputError``.
  func flush(all: Bool = false) throws {
    let count = pcapng?.bytes.count ?? pcap.bytes.count
    guard count >= (all ? 1 : Self.largestBuffer) else { return }
    let bytes = pcapng?.bytes ?? pcap.bytes
    try output.write(bytes.span.bytes)
    pcapng?.removeAll()
    pcap.removeAll()
  }
}

/// Writes the events of a recording as packets.
struct RecordingPackets: EventConsumer {
  private let chosen: Set<Int>?
  private let window: TimeWindow
  private let file: PacketFile
  private var packets: SessionPackets

  /// Prepares to write.
  /// - Parameters:
  ///   - chosen: The connections to write; nil for all.
  ///   - window: The time to write.
  ///   - usesKnownPorts: Whether servers have the ports by which Wireshark knows what they speak.
  ///   - halfCloses: The ends in front of what the other ends went on to say.
  ///   - file: Takes the packets.
  init(
    chosen: Set<Int>?, window: TimeWindow, usesKnownPorts: Bool, _ halfCloses: HalfCloses,
    _ file: PacketFile
  ) {
    self.chosen = chosen
    self.window = window
    self.file = file
    packets = SessionPackets(usesKnownPorts: usesKnownPorts, halfCloses) {
      file.add($0, $1, $2, $3)
    }
  }

  mutating func consume(_ event: borrowing EventView) throws {
    try Interruption.check()
    guard chosen?.contains(event.context.connection) ?? true else { return }
    if window.contains(event.context.time) {
      packets.consume(event)
    } else {
      packets.leaveOut(event)
    }
    try file.flush()
  }

  /// Writes what is left.
  /// - Throws: ``OutputError``.
  func finish() throws { try file.flush(all: true) }

  /// What could not be written as it was.
  var notes: [String] {
    let losses = packets.losses
    var notes: [String] = []
    if packets.count == 0 { notes.append("no connection was written") }
    if losses.gaps > 0 {
      notes.append(
        "bytes are missing in \(losses.gaps) places that the recording does not have them in")
    }
    if losses.bodies > 0 {
      notes.append(
        "\(losses.bodies) bodies of HTTP are written without the chunks or the coding that they "
          + "were sent in")
    }
    if losses.attempts > 0 {
      notes.append(
        "\(losses.attempts) attempts to connect are left out: nothing of them was on a wire")
    }
    if losses.decrypted > 0 {
      notes.append("\(losses.decrypted) connections had been decrypted, and are written in plain")
    }
    if losses.encrypted > 0 {
      notes.append("\(losses.encrypted) connections are left out: they were encrypted")
    }
    if losses.unknownPorts > 0 {
      notes.append(
        "Wireshark does not know the ports of \(losses.unknownPorts) connections: name them by its "
          + "option -d, or add --known-ports")
    }
    return notes
  }
}
