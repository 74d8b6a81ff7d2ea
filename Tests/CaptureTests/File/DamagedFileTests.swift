import Capture
import TestSupport
import Testing

/// Whatever is done to a file, reading it ends, without a trap, and the loss is said.
@Suite struct DamagedFileTests {
  private static let names = [
    "suricata-verify/mqtt-ping.pcap", "suricata-verify/mqtt5-pub-qos1.pcap",
    "arkime/dot1ad.pcap", "arkime/bigendian.pcap",
    "suricata-verify/defrag_bug-6887-defrag-ppp-ipv6-tcp.pcap",
    "suricata-verify/decode-sll2-01.pcap",
    "pcapng-test-generator/output_be_basic_test005.pcapng",
    "pcapng-test-generator/output_le_difficult_test202.pcapng",
    "gopacket/pcapgo_tests_le_test902.pcapng",
  ]

  @Test(.capturesOfOthers, arguments: names, [false, true])
  func survivesEveryCut(name: String, isCompressed: Bool) throws {
    let plain = try SharedCaptures.bytes(name)
    let whole = try Reading(plain)
    let bytes = isCompressed ? GzipBuilder.member(plain) : plain
    for length in stride(from: 0, to: bytes.count, by: bytes.count > 4_000 ? 7 : 1) {
      do throws(CaptureError) {
        let cut = try Reading(Array(bytes[..<length]))
        #expect(cut.frames == Array(whole.frames.prefix(cut.frames.count)))
        #expect(cut.frames.count <= whole.frames.count)
        if isCompressed { #expect(cut.error?.isCut == true) }
        if let error = cut.error { #expect(error.isCut) }
      } catch {
        let codes: [CaptureError.Code] = [.truncated, .empty, .unknownFormat]
        #expect(codes.contains(error.code))
      }
    }
  }

  @Test(.capturesOfOthers, arguments: names)
  func survivesEveryChangedByte(name: String) throws {
    let bytes = try SharedCaptures.bytes(name)
    for index in bytes.indices {
      for change: UInt8 in [0xff, 0x01, 0x80] {
        var damaged = bytes
        damaged[index] ^= change
        let reading = try? Reading(damaged)
        #expect((reading?.frames.count ?? 0) < 1_000)
      }
    }
  }

  @Test(.capturesOfOthers, arguments: names)
  func survivesEveryChangedByteOfCompressedFiles(name: String) throws {
    let bytes = GzipBuilder.member(try SharedCaptures.bytes(name))
    for index in bytes.indices {
      var damaged = bytes
      damaged[index] ^= 0x55
      let reading = try? Reading(damaged)
      #expect((reading?.frames.count ?? 0) < 1_000)
    }
  }
}
