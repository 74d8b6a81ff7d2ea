import Capture
import Foundation
import RepriseCore
import TestSupport
import Testing
import Wire

/// Damaged captures on their whole way from the file to the events: no trap, an end, and not more
/// events than the bytes can hold.
@Suite struct FuzzTests {
  /// Recordings of ours, and captures of others where they are.
  private static let captures =
    ["qos-levels-v311", "qos-levels-v5", "mqtt-over-websocket", "session-taken-over"]
    .map(PackageFolder.capture)
    + [
      "made-here/g01_mqtt311_qos012.pcap", "made-here/g02_mqtt5_rpc_props.pcap",
      "made-here/g10_snaplen120.pcap", "made-here/g12_port_reuse.pcap",
      "made-here/g17j_ip_fragmented_last_first.pcap", "arkime/mqtt_synthetic.pcap",
      "suricata-verify/mqtt31-pub-qos2.pcap", "suricata-verify/mqtt-events-invalid-qos.pcap",
      "gopacket/pcapgo_tests_le_test901.pcapng", "made-here/g05_mqtt311_ws.pcap",
      "made-here/g14b_ws_json_deflate.pcap", "suricata-verify/websocket-control-frag.pcap",
    ].filter(SharedCaptures.names.contains).map(SharedCaptures.path)

  @Test(.capturesOfOthers) func capturesOfOthersAreThere() { #expect(Self.captures.count == 16) }

  private static func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: path)))
  }

  /// Counts events and reads each packet to its last field.
  private struct Toucher: EventConsumer {
    var events = 0

    mutating func consume(_ event: borrowing EventView) {
      events += 1
      switch event.body {
      case .mqtt(let packet): _ = try? MQTTPacket(packet)?.encoded()
      case .webSocket(let frame): _ = WebSocketFrame(copying: frame).encoded()
      default: return
      }
    }
  }

  private static func check(_ bytes: [UInt8], _ comment: Comment) throws {
    let file = try TemporaryFile(bytes)
    var toucher = Toucher()
    do {
      let summary = try SessionInput.read(file.path, into: &toucher)
      #expect(summary.frames <= bytes.count / 16 + 1, comment)
    } catch {
      #expect(error is CaptureError, comment)
    }
    // No event takes less than two bytes, but a connection has two of its own, and a loss a few.
    #expect(toucher.events <= bytes.count, comment)
  }

  @Test(arguments: captures) func flippedBytes(_ path: String) throws {
    let bytes = try Self.bytes(path)
    var random = SplitMix64(seed: UInt64(bytes.count))
    for round in 0..<60 {
      var damaged = bytes
      for _ in 0..<(1 << random.int(0...8)) {
        // The file's header is hit less often: behind it lies what is read with it.
        let index = random.int((round % 8 == 0 ? 0 : 24)...damaged.count - 1)
        damaged[index] = UInt8(truncatingIfNeeded: random.next())
      }
      try Self.check(damaged, "\(path) round \(round)")
    }
  }

  @Test(arguments: captures) func truncated(_ path: String) throws {
    let bytes = try Self.bytes(path)
    for count in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 60)) {
      try Self.check(Array(bytes.prefix(count)), "\(path) cut at \(count)")
    }
  }

  @Test(arguments: captures) func spliced(_ path: String) throws {
    let bytes = try Self.bytes(path)
    var random = SplitMix64(seed: UInt64(bytes.count) + 1)
    for round in 0..<40 {
      let other = try Self.bytes(Self.captures[random.int(0...Self.captures.count - 1)])
      var spliced = Array(bytes.prefix(random.int(24...bytes.count)))
      spliced += other.suffix(random.int(0...other.count - 24))
      try Self.check(spliced, "\(path) round \(round)")
    }
  }

  /// Only the payloads of segments are hit, so that all of the damage reaches the packets.
  @Test(arguments: [UInt64](1...40)) func damagedStreams(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let session = Session.all(seed % 2 == 0 ? .v5_0 : .v3_1_1)
    for _ in 0..<10 {
      var segments = session.dialogue(pieces: random.int(1...2_000)).segments
      for _ in 0..<(1 << random.int(0...5)) {
        let index = random.int(3...segments.count - 1)
        switch random.int(0...5) {
        case 0: segments.remove(at: index)
        case 1: segments.insert(segments[random.int(0...segments.count - 1)], at: index)
        case 2: segments.swapAt(index, random.int(3...segments.count - 1))
        case 3: segments[index].sequence = UInt32(truncatingIfNeeded: random.next())
        case 4: segments[index].wireLength = segments[index].payload.count + random.int(0...70_000)
        default:
          for offset in segments[index].payload.indices where random.int(0...9) == 0 {
            segments[index].payload[offset] = UInt8(truncatingIfNeeded: random.next())
          }
        }
        if segments.count < 8 { break }
      }
      let tap = Tap(segments)
      let bytes = segments.reduce(0) { $0 + $1.payload.count }
      #expect(tap.events.count <= bytes + 4 * segments.count)
      #expect(tap.openings.count == tap.closings.count)
      #expect(tap.gaps.allSatisfy { $0.bytes > 0 })
      for event in tap.events { _ = try? event.packet?.encoded() }
    }
  }
}
