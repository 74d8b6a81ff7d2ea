/// The extension headers of an IPv6 packet (RFC 8200 section 4).
struct ExtensionChain {
  /// Real packets have two or three; more would only cost time.
  private static let maximumHeaders = 32

  /// The protocol number of what begins at ``position``.
  var next: UInt8
  /// Where the next header, or the payload, begins.
  var position: Int
  /// Where the payload ends on the wire.
  var end: Int
  /// The fragment that the packet is, once it is known to be one.
  var fragment: InternetHeader.Fragment?

  /// Steps over extension headers up to the payload or the first real fragment header.
  ///
  /// - Parameters:
  ///   - bytes: The packet.
  ///   - mayBeJumbogram: Whether the length may be in a hop-by-hop option.
  /// - Throws: `Flaw` if the chain is cut or endless.
  @inline(never)
  mutating func follow(_ bytes: RawSpan, mayBeJumbogram: Bool) throws(InternetHeader.Flaw) {
    for _ in 0..<Self.maximumHeaders {
      // What follows belongs to the reassembled datagram, be it data or more of the chain.
      guard fragment == nil else { return }
      switch next {
      // Hop-by-hop, routing, destination, mobility, HIP, Shim6: counted in units of eight bytes.
      case 0, 43, 60, 135, 139, 140:
        if next == 0, mayBeJumbogram { readJumboLength(bytes) }
        try step(bytes, unit: 8, extra: 1)
      // Authentication is counted in units of four (RFC 4302 section 2.2).
      case 51: try step(bytes, unit: 4, extra: 2)
      case 44: try readFragment(bytes)
      default: return
      }
    }
    throw .malformed
  }

  private mutating func step(_ bytes: RawSpan, unit: Int, extra: Int) throws(InternetHeader.Flaw) {
    guard let following = bytes.uint8(at: position), let length = bytes.uint8(at: position &+ 1)
    else { throw .cut }
    next = following
    position &+= (Int(length) &+ extra) &* unit
  }

  /// Section 4.5; a first fragment without others is whole (RFC 6946).
  private mutating func readFragment(_ bytes: RawSpan) throws(InternetHeader.Flaw) {
    guard
      let following = bytes.uint8(at: position), let place = bytes.uint16(at: position &+ 2),
      let identification = bytes.uint32(at: position &+ 4)
    else { throw .cut }
    next = following
    position &+= 8
    let hasMore = place & 1 != 0
    let offset = Int(place & 0xfff8)
    guard hasMore || offset > 0 else { return }
    fragment = InternetHeader.Fragment(
      identification: identification, offset: offset, hasMore: hasMore)
  }

  /// RFC 2675 section 2: option c2 of the hop-by-hop header holds the length of a jumbogram.
  private mutating func readJumboLength(_ bytes: RawSpan) {
    guard let units = bytes.uint8(at: position &+ 1) else { return }
    var option = position &+ 2
    let limit = position &+ (Int(units) &+ 1) &* 8
    while option < limit, let kind = bytes.uint8(at: option) {
      if kind == 0 {
        option &+= 1
        continue
      }
      guard let length = bytes.uint8(at: option &+ 1) else { return }
      if kind == 0xc2, length == 4, let jumbo = bytes.uint32(at: option &+ 2) {
        // Never more than the frame had: until now the end is that of the frame.
        end = Swift.min(end, 40 &+ Int(jumbo))
        return
      }
      option &+= Int(length) &+ 2
    }
  }
}
