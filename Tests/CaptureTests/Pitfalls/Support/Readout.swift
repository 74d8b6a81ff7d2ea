import Foundation
import RepriseCore
import TestSupport

@testable import Capture

/// What the reader makes of segments in a file: events, and the notes on what it could not read.
struct Readout {
  let events: [Event]
  let summary: InputSummary

  var notes: [String] { summary.notes }

  init(
    _ segments: [Segment], decode: [UInt16: DecodeRule] = [:],
    memory: Int = InputOptions.defaultMemory, at times: [Double]? = nil
  ) throws {
    var file = PcapBuilder(linkType: 101)
    file.records = segments.enumerated().map { index, segment in
      let packet = Self.packet(segment)
      let missing = (segment.wireLength ?? segment.payload.count) - segment.payload.count
      let time = UInt32(((times?[index] ?? Double(index)) * 1e6).rounded())
      return .init(
        seconds: time / 1_000_000, fraction: time % 1_000_000, wire: UInt32(packet.count + missing),
        data: packet)
    }
    try self.init(file: file.bytes, options: InputOptions(decode: decode, memory: memory))
  }

  init(file: [UInt8], options: InputOptions = InputOptions()) throws {
    let temporary = try TemporaryFile(file)
    (events, summary) = try EventList.events(of: temporary.path, options: options)
  }

  /// The types of all events, as `inspect` prints them.
  var types: [String] { events.compactMap { try? InspectLine($0).type } }

  /// The IPv4 packet that carries a segment.
  static func packet(_ segment: Segment) -> [UInt8] {
    let isClient = segment.sender == .client
    var tcp = ByteWriter()
    tcp.put(isClient ? segment.clientPort : segment.serverPort)
    tcp.put(isClient ? segment.serverPort : segment.clientPort)
    tcp.put(segment.sequence)
    tcp.put(segment.acknowledgment ?? 0)
    tcp.put([0x50, segment.flags.rawValue | (segment.acknowledgment == nil ? 0 : 0x10)])
    tcp.put(UInt16(65_535))
    tcp.put(UInt32(0))
    tcp.put(segment.payload)
    let length = 40 + (segment.wireLength ?? segment.payload.count)
    var packet = PacketBuilder.ipv4(
      tcp.bytes, totalLength: UInt16(truncatingIfNeeded: length))
    if !isClient { packet.replaceSubrange(12..<20, with: [10, 0, 0, 2, 10, 0, 0, 1]) }
    return packet
  }
}
