import Foundation
import RepriseCore
import TestSupport
import Testing

@testable import Capture

/// Captures that are written anew, frame by frame.
@Suite struct CaptureCopyTests {
  @Test func `a copy has every byte, and there and back loses none`() throws {
    var compared = 0
    for path in Conversions.paths {
      let bytes = Array(try Data(contentsOf: URL(filePath: path)))
      // What is cut or not read to its end is copied to there, which DamagedFileTests has places for.
      guard let original = try? CaptureReader(ByteSource(bytes: bytes)), isWhole(bytes) else {
        continue
      }
      let copy = try Conversions.converted(path, to: original.format)
      #expect(copy.bytes == bytes, "\(path)")
      #expect(copy.lost == .init(), "\(path)")
      guard original.format == .pcap else { continue }
      let other = try TemporaryCapture(Conversions.converted(path, to: .pcapng).bytes)
      let back = try Conversions.converted(other.path, to: .pcap)
      #expect(back.bytes == bytes, "\(path)")
      #expect(back.lost == .init(), "\(path)")
      compared += 1
    }
    #expect(compared >= PackageFolder.captured.count)
  }

  private func isWhole(_ bytes: [UInt8]) -> Bool {
    guard var reader = try? CaptureReader(ByteSource(bytes: bytes)) else { return false }
    do {
      while try reader.next() != nil {}
      return true
    } catch { return false }
  }

  @Test(arguments: [false, true], [UInt32(0xa1b2_c3d4), 0xa1b2_3c4d])
  func `pcap keeps its order, its clock and its limit on the way through pcapng`(
    _ isBigEndian: Bool, _ magic: UInt32
  ) throws {
    let file = PcapBuilder(
      magic: magic, isBigEndian: isBigEndian, snapshotLength: 96, linkType: 113,
      records: [
        .init(seconds: 1_700_000_000, fraction: 999_999, wire: 1_500, data: [1, 2, 3]),
        .init(seconds: .max, fraction: 1, data: []),
      ])
    let first = try TemporaryCapture(file.bytes)
    let middle = try TemporaryCapture(Conversions.converted(first.path, to: .pcapng).bytes)
    let back = try Conversions.converted(middle.path, to: .pcap)
    #expect(back.bytes == file.bytes)
    #expect(back.lost == .init())
  }

  @Test func `a file without frames keeps its header`() throws {
    let file = PcapBuilder(snapshotLength: 96, linkType: 101)
    let first = try TemporaryCapture(file.bytes)
    let middle = try TemporaryCapture(Conversions.converted(first.path, to: .pcapng).bytes)
    #expect(try Conversions.converted(middle.path, to: .pcap).bytes == file.bytes)
  }

  @Test func `what pcap has no place for is counted`() throws {
    var file = PcapngBuilder()
    file.section()
    file.interface(resolution: 9)
    file.secrets(type: 1, [1, 2])
    file.enhancedPacket(ticks: 1_000_000_001, [7])
    file.simplePacket([8], wire: 1)
    let source = try TemporaryCapture(file.bytes)
    let pcap = try Conversions.converted(source.path, to: .pcap)
    #expect(pcap.lost == .init(blocks: 1, times: 1))
    #expect(try Conversions.frames(pcap.bytes) == [[7], [8]])
    var reader = try CaptureReader(ByteSource(bytes: pcap.bytes))
    #expect(try reader.next()?.time == Timestamp(nanoseconds: 1_000_000_001))
    // Whole microseconds are a file of microseconds.
    #expect(pcap.bytes.prefix(4) == [0x4d, 0x3c, 0xb2, 0xa1])
  }

  @Test func `a file of pcap holds frames of one link type`() throws {
    var file = PcapngBuilder()
    file.section()
    file.interface(linkType: 1)
    file.interface(linkType: 101)
    file.enhancedPacket(interface: 0, [1])
    file.enhancedPacket(interface: 1, [2])
    let source = try TemporaryCapture(file.bytes)
    let error = #expect(throws: CaptureError.self) {
      try Conversions.converted(source.path, to: .pcap)
    }
    #expect(error?.code == .unsupportedLinkType)
    #expect(error?.frame == 2)
    #expect(error?.remedy == "name a file of pcapng: -o FILE.pcapng")
  }

  /// A file with a comment in each kind of block that has room for one, a name, secrets and a block of no known kind.
  private func commented(_ secret: String, isBigEndian: Bool, isWhole: Bool) -> [UInt8] {
    var file = PcapngBuilder()
    func entry(_ code: UInt16, _ value: [UInt8]) -> [UInt8] {
      var writer = ByteWriter(isBigEndian: isBigEndian)
      writer.put(code)
      writer.put(UInt16(value.count))
      writer.put(value)
      writer.pad(to: 4)
      return writer.bytes
    }
    let comment = entry(1, Array("password=\(secret)".utf8)) + entry(0, [])
    file.section(isBigEndian: isBigEndian)
    file.interface()
    let name = entry(1, [10, 0, 0, 1] + Array("token=\(secret)".utf8) + [0]) + entry(0, [])
    file.block(4, name + comment)
    if isWhole {
      file.secrets(type: SecretsBlock.tlsKeyLog, Array("CLIENT_RANDOM".utf8))
      file.block(0xBAD, comment)
    }
    var packet = ByteWriter(isBigEndian: isBigEndian)
    for value: UInt32 in [0, 0, 0, 5, 5] { packet.put(value) }
    packet.put([7, 6, 5, 4, 3, 0, 0, 0] + comment)
    file.block(6, packet.bytes)
    return file.bytes
  }

  @Test(arguments: [false, true])
  func `secrets can be left out of a copy, and hidden in comments`(_ isBigEndian: Bool) throws {
    let source = try TemporaryCapture(
      commented("sEcReT", isBigEndian: isBigEndian, isWhole: true))
    var options = CaptureCopier.Options(application: "test")
    options.hidden = RedactionRules()
    let copy = try Conversions.converted(source.path, to: .pcapng, options)
    #expect(copy.bytes == commented("******", isBigEndian: isBigEndian, isWhole: false))
    #expect(copy.lost == .init(blocks: 1, secrets: 1))
    options.hidden = nil
    let whole = try Conversions.converted(source.path, to: .pcapng, options)
    #expect(whole.bytes == commented("sEcReT", isBigEndian: isBigEndian, isWhole: true))
    #expect(whole.lost == .init())
  }

  @Test func `a cut capture is copied up to the cut`() throws {
    let file = PcapBuilder(records: [.init(data: [1, 2, 3]), .init(data: [4, 5, 6])])
    let source = try TemporaryCapture(file.bytes.dropLast(1))
    let sink = Conversions.Sink()
    let copier = CaptureCopier(to: .pcap, .init(application: "test"), sink)
    let cut = try CaptureConversion(source.path, InputOptions()).write(copier, .init())
    #expect(cut?.isCut == true)
    #expect(try Conversions.frames(sink.bytes) == [[1, 2, 3]])
  }
}
