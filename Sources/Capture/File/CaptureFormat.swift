/// What a file holds, recognised by its content and never by its name.
public enum CaptureFormat: Sendable, Hashable {
  /// pcap, in any of its variants.
  case pcap
  /// pcapng.
  case pcapng
  /// A recording: one JSON object a line.
  case recording

  /// Tells what a file holds, without consuming anything.
  ///
  /// - Parameter source: The file, at its beginning.
  /// - Returns: The format.
  /// - Throws: `CaptureError` if it is none of them, saying what it looks like instead.
  public static func detect(in source: inout ByteSource) throws(CaptureError) -> CaptureFormat {
    // First only what is needed: more may not come through a pipe for a while.
    guard source.load(4) > 0 else {
      if let failure = source.failure { throw failure }
      throw CaptureError(.empty, "the file is empty", remedy: "name a capture or a recording")
    }
    if let magic = source.loaded(4).uint32(at: 0) {
      if PcapReader.isMagic(magic) { return .pcap }
      if magic == PcapngReader.sectionHeader { return .pcapng }
    }
    if source.loaded(4).firstNonSpace == UInt8(ascii: "{") { return .recording }
    let head = source.peek(512)
    if head.firstNonSpace == UInt8(ascii: "{") { return .recording }
    let (content, remedy) = describe(head)
    throw CaptureError(
      .unknownFormat, "this is \(content), neither a capture nor a recording", offset: 0,
      remedy: remedy)
  }

  /// Files that are easily taken for captures, and what helps.
  private static let strangers: [(magic: [UInt8], content: String, remedy: String?)] = [
    ([0x89, 0x50, 0x4e, 0x47], "a PNG image", nil),
    ([0xff, 0xd8, 0xff], "a JPEG image", nil),
    (Array("GIF8".utf8), "a GIF image", nil),
    (Array("%PDF".utf8), "a PDF document", nil),
    ([0x7f, 0x45, 0x4c, 0x46], "an ELF program", nil),
    ([0x50, 0x4b, 0x03, 0x04], "a ZIP archive", "unpack it first"),
    ([0x28, 0xb5, 0x2f, 0xfd], "zstd-compressed data", "decompress it with zstd -d first"),
    ([0xfd, 0x37, 0x7a, 0x58, 0x5a], "xz-compressed data", "decompress it with xz -d first"),
    ([0x04, 0x22, 0x4d, 0x18], "lz4-compressed data", "decompress it with lz4 -d first"),
    (Array("BZh".utf8), "bzip2-compressed data", "decompress it with bzip2 -d first"),
    (Array("snoop\0".utf8), "a snoop capture", convert),
    (Array("RTSS".utf8), "a Network Monitor 1 capture", convert),
    (Array("GMBU".utf8), "a Network Monitor 2 capture", convert),
    (Array("XCP\0".utf8), "a NetXRay or Sniffer capture", convert),
    (Array("TRSNIFF".utf8), "a Sniffer capture", convert),
    (Array("iptrace ".utf8), "an AIX iptrace capture", convert),
    (Array("SQLite format 3".utf8), "an SQLite database", nil),
  ]

  private static let name = "name a pcap or pcapng capture, or a .jsonl recording"
  private static let convert = "convert it with editcap -F pcapng first"

  private static func describe(_ head: RawSpan) -> (content: String, remedy: String?) {
    for stranger in strangers where head.starts(with: stranger.magic) {
      return (stranger.content, stranger.remedy ?? name)
    }
    if head.firstNonSpace == UInt8(ascii: "[") {
      return ("a JSON array", "write one object a line, as in a recording")
    }
    if head.starts(with: [0xef, 0xbb, 0xbf]) || head.looksLikeText { return ("text", name) }
    return ("of no known format", name)
  }
}

extension RawSpan {
  /// The first byte that is not white space in JSON.
  fileprivate var firstNonSpace: UInt8? {
    var index = 0
    while let byte = uint8(at: index) {
      guard byte == 0x20 || (0x09...0x0d).contains(byte) else { return byte }
      index += 1
    }
    return nil
  }

  /// Whether there are no control characters in it but those that lay out text.
  fileprivate var looksLikeText: Bool {
    var index = 0
    while let byte = uint8(at: index) {
      guard byte >= 0x20 && byte != 0x7f || (0x09...0x0d).contains(byte) else { return false }
      index += 1
    }
    return true
  }

  fileprivate func starts(with magic: [UInt8]) -> Bool {
    for index in magic.indices where uint8(at: index) != magic[index] { return false }
    return true
  }
}
