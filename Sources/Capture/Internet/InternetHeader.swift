/// What an IP header says about the packet behind it, for both versions.
struct InternetHeader {
  /// Why a header cannot be used.
  enum Flaw: Error {
    /// The captured bytes end inside it.
    case cut
    /// It contradicts itself.
    case malformed
  }

  /// Which part of a datagram a fragment is.
  struct Fragment {
    let identification: UInt32
    let offset: Int
    let hasMore: Bool
  }

  /// The protocol number of TCP.
  static let tcp: UInt8 = 6
  /// The protocol number of IPv4 in IP.
  static let ipv4: UInt8 = 4
  /// The protocol number of IPv6 in IP.
  static let ipv6: UInt8 = 41

  let source: IPAddress
  let destination: IPAddress
  let protocolNumber: UInt8
  /// Where the payload begins.
  let payloadStart: Int
  /// Where the payload ended on the wire; the captured bytes may end before or after it.
  let payloadEnd: Int
  /// Which fragment it is; nil if it is whole.
  let fragment: Fragment?

  /// Reads the header.
  ///
  /// - Parameters:
  ///   - bytes: The packet, and whatever follows it in the frame.
  ///   - wireLength: How many bytes there were on the wire.
  /// - Throws: `Flaw` if the header is cut or contradicts itself.
  @inline(__always)
  init(_ bytes: RawSpan, wireLength: Int) throws(Flaw) {
    guard let first = bytes.uint8(at: 0) else { throw .cut }
    switch first >> 4 {
    case 4: self = try Self.readIPv4(bytes, first, wireLength)
    case 6: self = try Self.readIPv6(bytes, wireLength)
    default: throw .malformed
    }
  }

  private init(
    source: IPAddress, destination: IPAddress, protocolNumber: UInt8, payloadStart: Int,
    payloadEnd: Int, fragment: Fragment?
  ) {
    self.source = source
    self.destination = destination
    self.protocolNumber = protocolNumber
    self.payloadStart = payloadStart
    self.payloadEnd = payloadEnd
    self.fragment = fragment
  }
}

extension InternetHeader {
  /// Reads RFC 791's header; its checksum is not looked at, as offloading leaves it wrong.
  @inline(__always)
  private static func readIPv4(
    _ bytes: RawSpan, _ first: UInt8, _ wireLength: Int
  ) throws(Flaw) -> InternetHeader {
    let headerLength = Int(first & 0x0f) &* 4
    guard headerLength >= 20 else { throw .malformed }
    guard
      let total = bytes.uint16(at: 2), let identification = bytes.uint16(at: 4),
      let flags = bytes.uint16(at: 6), let number = bytes.uint8(at: 9),
      let source = bytes.uint32(at: 12), let destination = bytes.uint32(at: 16)
    else { throw .cut }
    // Segmentation offload hands packets of more than 65,535 bytes to the card with a length of 0.
    let end = total == 0 ? wireLength : Int(total)
    guard end >= headerLength else { throw .malformed }
    let isFragment = flags & 0x3fff != 0
    return InternetHeader(
      source: IPAddress(ipv4: source), destination: IPAddress(ipv4: destination),
      protocolNumber: number, payloadStart: headerLength, payloadEnd: end,
      fragment: isFragment
        ? Fragment(
          identification: UInt32(identification), offset: Int(flags & 0x1fff) &* 8,
          hasMore: flags & 0x2000 != 0) : nil)
  }

  /// RFC 8200 section 3.
  @inline(__always)
  private static func readIPv6(_ bytes: RawSpan, _ wireLength: Int) throws(Flaw) -> InternetHeader {
    guard
      let length = bytes.uint16(at: 4), let next = bytes.uint8(at: 6),
      let sourceHigh = bytes.uint64(at: 8), let sourceLow = bytes.uint64(at: 16),
      let destinationHigh = bytes.uint64(at: 24), let destinationLow = bytes.uint64(at: 32)
    else { throw .cut }
    var chain = ExtensionChain(
      next: next, position: 40, end: length == 0 ? wireLength : 40 &+ Int(length))
    if next != tcp { try chain.follow(bytes, mayBeJumbogram: length == 0) }
    guard chain.position <= chain.end else { throw .malformed }
    return InternetHeader(
      source: IPAddress(high: sourceHigh, low: sourceLow),
      destination: IPAddress(high: destinationHigh, low: destinationLow),
      protocolNumber: chain.next, payloadStart: chain.position, payloadEnd: chain.end,
      fragment: chain.fragment)
  }
}
