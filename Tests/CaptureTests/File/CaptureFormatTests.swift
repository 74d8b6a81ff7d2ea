import Capture
import Testing

@Suite struct CaptureFormatTests {
  private static let known: [([UInt8], CaptureFormat)] = [
    ([0xa1, 0xb2, 0xc3, 0xd4], .pcap), ([0xd4, 0xc3, 0xb2, 0xa1], .pcap),
    ([0xa1, 0xb2, 0x3c, 0x4d], .pcap), ([0x4d, 0x3c, 0xb2, 0xa1], .pcap),
    ([0xa1, 0xb2, 0xcd, 0x34], .pcap), ([0x34, 0xcd, 0xb2, 0xa1], .pcap),
    ([0x0a, 0x0d, 0x0d, 0x0a], .pcapng), (Array("{\"reprise\":1}".utf8), .recording),
    (Array(" \r\n{".utf8), .recording),
  ]

  @Test(arguments: known)
  func recognisesContent(bytes: [UInt8], format: CaptureFormat) throws {
    var source = ByteSource(bytes: bytes)
    #expect(try CaptureFormat.detect(in: &source) == format)
    #expect(source.offset == 0)
    var compressed = ByteSource(bytes: GzipBuilder.member(bytes))
    #expect(try CaptureFormat.detect(in: &compressed) == format)
  }

  private static let strangers: [([UInt8], String)] = [
    ([], "the file is empty; name a capture or a recording"),
    ([0x89, 0x50, 0x4e, 0x47, 0x0d], "this is a PNG image\(neither); \(name)"),
    (Array("Dear diary".utf8), "this is text\(neither); \(name)"),
    (
      [0x28, 0xb5, 0x2f, 0xfd, 0],
      "this is zstd-compressed data\(neither); decompress it with zstd -d first"
    ),
    (
      Array("XCP\0002.002".utf8),
      "this is a NetXRay or Sniffer capture\(neither); convert it with editcap -F pcapng first"
    ),
    (
      Array("[{}]".utf8),
      "this is a JSON array\(neither); write one object a line, as in a recording"
    ),
    ([0, 0, 0, 0], "this is of no known format\(neither); \(name)"),
  ]
  private static let neither = ", neither a capture nor a recording, at byte offset 0"
  private static let name = "name a pcap or pcapng capture, or a .jsonl recording"

  @Test(arguments: strangers)
  func saysWhatElseItIs(bytes: [UInt8], message: String) {
    let error = #expect(throws: CaptureError.self) { try Reading(bytes) }
    #expect(error?.description == message)
  }

  @Test func doesNotTakeRecordingsForCaptures() {
    let error = #expect(throws: CaptureError.self) { try Reading(Array("{}".utf8)) }
    #expect(error?.code == .unknownFormat)
  }
}
