/// What a proxy puts in front of a connection that it passes on, to name its client: the header of the PROXY protocol,
/// version 1 (a line of text) or 2 (binary), as haproxy's proxy-protocol.txt has it in sections 2.1 and 2.2.
struct ProxyHeader {
  /// Its bytes.
  let size: Int
  /// The client that it names, as address and port; nil where it names none.
  let client: String?

  /// The most bytes that a line of version 1 takes, with its end.
  private static let longestLine = 107
  /// As many bytes tell all that is asked for: in version 2 more may follow, which the size counts.
  private static let mostRead = 128
  /// The first twelve bytes of version 2.
  private static let signature: [UInt8] = [
    0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
  ]

  /// Reads the header that some bytes begin with; nil where there is none, or not all of it: it is sent at once.
  init?(_ bytes: RawSpan) {
    guard bytes.byteCount > 12 else { return nil }
    let first = bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
    guard first == UInt8(ascii: "P") || first == Self.signature[0] else { return nil }
    let start = bytes.extracting(first: min(bytes.byteCount, Self.mostRead))
      .withUnsafeBytes { [UInt8]($0) }
    if first == Self.signature[0] {
      self.init(binary: start, of: bytes.byteCount)
    } else {
      self.init(line: start)
    }
  }

  /// What is said of the connection behind it, with what else there is to say.
  func evidence(_ other: String?) -> String {
    let own = "behind a PROXY header" + (client.map { ", which names the client \($0)" } ?? "")
    return other.map { "\(own); \($0)" } ?? own
  }

  private init?(line start: [UInt8]) {
    guard let end = start.prefix(Self.longestLine).firstIndex(of: 0x0D),
      start.dropFirst(end + 1).first == 0x0A
    else { return nil }
    let words = String(decoding: start[..<end], as: UTF8.self)
      .split(separator: " ", omittingEmptySubsequences: false)
    guard words.count > 1, words[0] == "PROXY" else { return nil }
    size = end + 2
    switch (words[1], words.count) {
    case ("TCP4", 6): client = "\(words[2]):\(words[4])"
    case ("TCP6", 6): client = "[\(words[2])]:\(words[4])"
    case ("UNKNOWN", _):
      client = nil
      return
    default: return nil
    }
    // What is no address is not to be told as one.
    let isAddress = words[2].allSatisfy { $0.isASCII && ($0.isHexDigit || $0 == "." || $0 == ":") }
    guard isAddress, UInt16(words[4]) != nil else { return nil }
  }

  private init?(binary start: [UInt8], of count: Int) {
    guard start.count >= 16, start.starts(with: Self.signature), start[12] >> 4 == 2 else {
      return nil
    }
    let length = Int(start[14]) << 8 | Int(start[15])
    guard count >= 16 + length else { return nil }
    size = 16 + length
    let octets = start[13] == 0x11 ? 4 : start[13] == 0x21 ? 16 : 0
    // A proxy that looks after the server itself names nobody: that is the command LOCAL, 0.
    guard start[12] & 0x0F == 1, octets > 0, length >= 2 * octets + 4,
      start.count >= 16 + 2 * octets + 2
    else {
      client = nil
      return
    }
    let port = start[(16 + 2 * octets)...].prefix(2).reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
    client = Endpoint(octets: Array(start[16..<(16 + octets)]), port: port)?.description
  }
}
