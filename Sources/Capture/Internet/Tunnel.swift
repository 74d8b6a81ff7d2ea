/// Finds the packet that a packet of the network carries, where it is a tunnel.
enum Tunnel {
  /// The protocol number of UDP.
  static let udp: UInt8 = 17
  /// The protocol number of GRE.
  static let gre: UInt8 = 47

  /// The ports that IANA gave to GTP-U and VXLAN, and the one that Linux took before.
  private static let gtpUser: UInt16 = 2_152
  private static let vxlan: UInt16 = 4_789
  private static let vxlanOfLinux: UInt16 = 8_472
  /// Extension headers that are followed; real packets have one or two.
  private static let maximumExtensions = 16

  /// Returns what the payload of an IP packet carries.
  ///
  /// - Parameters:
  ///   - bytes: The captured part of the payload.
  ///   - number: The protocol number in the IP header.
  /// - Returns: Where an IP packet begins in it, if one does.
  @inline(never)
  static func content(of bytes: RawSpan, _ number: UInt8) -> LinkLayer.Content {
    switch number {
    case gre: greContent(bytes)
    case udp: udpContent(bytes)
    default: .other
    }
  }

  /// Returns the number of the network that a packet of it is tunnelled through; 0 where there is none.
  ///
  /// The TEID of GTP-U is no such number: it names a way to one subscriber, and changes with the cell
  /// while connections go on. Neither is the key of PPTP, which holds the length of the packet.
  ///
  /// - Parameters:
  ///   - bytes: The captured part of the payload of the packet that is the tunnel.
  ///   - number: The protocol number in its IP header.
  /// - Returns: The identifier of VXLAN (RFC 7348 section 5) or the key of GRE (RFC 2890 section 2.1).
  static func network(of bytes: RawSpan, _ number: UInt8) -> UInt32 {
    switch number {
    case udp:
      guard let port = bytes.uint16(at: 2), port == vxlan || port == vxlanOfLinux else { return 0 }
      return (bytes.uint32(at: 12) ?? 0) >> 8
    case gre:
      guard let flags = bytes.uint16(at: 0), flags & 7 == 0, flags & 0x2000 != 0 else { return 0 }
      return bytes.uint32(at: flags & 0x8000 == 0 ? 4 : 8) ?? 0
    default: return 0
    }
  }

  /// UDP (RFC 768): eight bytes, and what the port of the receiver stands for.
  private static func udpContent(_ bytes: RawSpan) -> LinkLayer.Content {
    guard let source = bytes.uint16(at: 0), let destination = bytes.uint16(at: 2) else {
      return .other
    }
    switch destination {
    case vxlan, vxlanOfLinux: return vxlanContent(bytes, at: 8)
    case gtpUser: return gtpContent(bytes, at: 8)
    default: return source == gtpUser ? gtpContent(bytes, at: 8) : .other
    }
  }

  /// VXLAN (RFC 7348 section 5): a flag for the network's number, the number, an Ethernet frame.
  private static func vxlanContent(_ bytes: RawSpan, at offset: Int) -> LinkLayer.Content {
    guard let flags = bytes.uint8(at: offset) else { return .tooShort }
    // Bit 2 is of the generic extension, whose payload may be something else.
    guard flags & 0x08 != 0, flags & 0x04 == 0 else { return .other }
    return ethernet(bytes, at: offset &+ 8)
  }

  /// GTP-U (3GPP TS 29.281 section 5.1): only its message 255 carries a packet.
  private static func gtpContent(_ bytes: RawSpan, at offset: Int) -> LinkLayer.Content {
    guard let flags = bytes.uint8(at: offset), let type = bytes.uint8(at: offset &+ 1) else {
      return .tooShort
    }
    guard flags >> 4 == 0b0011, type == 255 else { return .other }
    var start = offset &+ 8
    if flags & 0b111 != 0 {
      start &+= 4
      guard var next = bytes.uint8(at: start &- 1) else { return .tooShort }
      if flags & 0b100 == 0 { next = 0 }
      var extensions = 0
      while next != 0 {
        guard let units = bytes.uint8(at: start) else { return .tooShort }
        extensions &+= 1
        guard units > 0, extensions <= maximumExtensions else { return .other }
        start &+= Int(units) &* 4
        guard let following = bytes.uint8(at: start &- 1) else { return .tooShort }
        next = following
      }
    }
    return version(bytes, at: start)
  }

  /// GRE (RFC 2784 and 2890), and the version of PPTP (RFC 2637).
  private static func greContent(_ bytes: RawSpan) -> LinkLayer.Content {
    guard let flags = bytes.uint16(at: 0), let type = bytes.uint16(at: 2) else { return .tooShort }
    // Routing (RFC 1701) is of no use any more, and is laid out in a way of its own.
    guard flags & 0x4000 == 0 else { return .other }
    var start = 4
    if flags & 0x8000 != 0 { start &+= 4 }
    if flags & 0x2000 != 0 { start &+= 4 }
    if flags & 0x1000 != 0 { start &+= 4 }
    switch flags & 7 {
    case 0: break
    case 1:
      // Without a sequence number it is an acknowledgement, which carries nothing (section 4.1).
      guard flags & 0x1000 != 0 else { return .other }
      if flags & 0x0080 != 0 { start &+= 4 }
      return type == 0x880b ? LinkLayer.pppContent(bytes, at: start) : .other
    default: return .other
    }
    switch type {
    // Transparent Ethernet bridging.
    case 0x6558: return ethernet(bytes, at: start)
    // The second version of Cisco's mirror has eight bytes of its own before the frame; without a
    // sequence number it is the first, which has none.
    case 0x88be: return ethernet(bytes, at: flags & 0x1000 == 0 ? start : start &+ 8)
    default: return LinkLayer.content(ofType: type, bytes, at: start)
    }
  }

  private static func ethernet(_ bytes: RawSpan, at offset: Int) -> LinkLayer.Content {
    LinkLayer.content(ofType: nil, bytes, at: offset)
  }

  /// IP of the version that the first half byte names; what else a tunnel carries is not IP.
  private static func version(_ bytes: RawSpan, at offset: Int) -> LinkLayer.Content {
    switch bytes.uint8(at: offset).map({ $0 >> 4 }) {
    case nil: .tooShort
    case 4, 6: .ip(at: offset)
    default: .other
    }
  }
}
