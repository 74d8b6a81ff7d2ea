/// Finds the IP packet in a frame, whatever link it was captured on.
enum LinkLayer {
  /// What a frame carries.
  enum Content {
    /// An IP packet begins at this offset; its first half byte tells the version.
    case ip(at: Int)
    /// Something that is not IP, such as ARP.
    case other
    /// The captured bytes end before it is clear what the frame carries.
    case tooShort
    /// Something that may be IP but can't be read, for a reason that is counted.
    case left(LeftContent)
    /// Frames of this link type are not understood.
    case unsupported
  }

  /// Tags that may stand one in another; more than this is an attack, not a network.
  private static let maximumTags = 8

  /// Returns what a frame carries.
  @inline(__always)
  static func content(of bytes: RawSpan, _ linkType: LinkType) -> Content {
    // One comparison settles nearly every frame.
    if linkType == .ethernet { return etherType(bytes, at: 12) }
    return rarerContent(of: bytes, linkType)
  }

  @inline(never)
  private static func rarerContent(of bytes: RawSpan, _ linkType: LinkType) -> Content {
    switch linkType {
    case .raw, .rawBSD, .rawOpenBSD, .ipv4, .ipv6: .ip(at: 0)
    case .linuxSLL: etherType(bytes, at: 14)
    case .linuxSLL2: etherType(bytes, at: 0, next: 20)
    case .null: nullFamily(bytes)
    case .loop: family(bytes.uint32(at: 0))
    case .ppp: ppp(bytes, at: 0)
    case .pppHDLC, .ciscoHDLC: hdlc(bytes)
    case .pppWithDirection: ppp(bytes, at: 1)
    case .pppEthernet: pppoe(bytes, at: 0)
    case .mpls: mpls(bytes, at: 0)
    default: WirelessLink.content(of: bytes, linkType)
    }
  }

  /// Follows an EtherType through any number of VLAN tags (IEEE 802.1Q).
  ///
  /// - Parameters:
  ///   - bytes: The frame.
  ///   - offset: Where the EtherType stands.
  ///   - next: Where what it names begins, if not right behind it.
  /// - Returns: What the frame carries.
  @inline(__always)
  private static func etherType(_ bytes: RawSpan, at offset: Int, next: Int? = nil) -> Content {
    guard let type = bytes.uint16(at: offset) else { return .tooShort }
    let payload = next ?? offset &+ 2
    if type == 0x0800 || type == 0x86dd { return .ip(at: payload) }
    return rarerEtherType(bytes, type, payload)
  }

  /// Returns what a tunnel carries.
  ///
  /// - Parameters:
  ///   - type: The EtherType of what begins at `offset`; nil for an Ethernet frame.
  ///   - bytes: The payload of the packet that is the tunnel.
  ///   - offset: Where its own header ends.
  /// - Returns: What is in the frame.
  static func content(ofType type: UInt16?, _ bytes: RawSpan, at offset: Int) -> Content {
    guard let type else { return etherType(bytes, at: offset &+ 12) }
    return rarerEtherType(bytes, type, offset)
  }

  /// Returns what stands behind an LLC header, as in frames of a wireless network.
  static func content(behindLLC bytes: RawSpan, at offset: Int) -> Content {
    guard bytes.byteCount >= offset &+ 8 else { return .tooShort }
    guard let type = snapType(bytes, at: offset) else { return .other }
    return rarerEtherType(bytes, type, offset &+ 8)
  }

  /// Returns what a PPP frame carries.
  static func pppContent(_ bytes: RawSpan, at offset: Int) -> Content { ppp(bytes, at: offset) }

  /// Follows labels (RFC 3032 section 2.1) up to the one at the bottom.
  ///
  /// Nothing names what follows: IP, or an Ethernet frame, with or without a control word, which begins
  /// with four bits of 0 (RFC 4448 section 4.6).
  private static func mpls(_ bytes: RawSpan, at offset: Int) -> Content {
    var start = offset
    for _ in 0...maximumTags {
      guard let label = bytes.uint32(at: start) else { return .tooShort }
      start &+= 4
      guard label & 0x100 != 0 else { continue }
      guard let first = bytes.uint8(at: start) else { return .tooShort }
      switch first >> 4 {
      case 4, 6: return .ip(at: start)
      case let bits:
        for frame in bits == 0 ? [start &+ 4, start] : [start] {
          if case .ip(let place) = etherType(bytes, at: frame &+ 12) { return .ip(at: place) }
        }
        return .left(.labelled)
      }
    }
    return .other
  }

  @inline(never)
  private static func rarerEtherType(
    _ bytes: RawSpan, _ first: UInt16, _ start: Int
  ) -> Content {
    var type = first
    var payload = start
    for _ in 0...maximumTags {
      switch type {
      case 0x0800, 0x86dd: return .ip(at: payload)
      // 802.1Q, 802.1ad, and the numbers that switches used before 802.1ad.
      case 0x8100, 0x88a8, 0x9100, 0x9200, 0x9300:
        guard let inner = bytes.uint16(at: payload &+ 2) else { return .tooShort }
        type = inner
        payload &+= 4
      case 0x8864: return pppoe(bytes, at: payload)
      // MPLS, unicast and multicast (RFC 5332).
      case 0x8847, 0x8848: return mpls(bytes, at: payload)
      // SLL names LLC by 4, Ethernet by a length instead of a type.
      case 0...1_500:
        guard let inner = snapType(bytes, at: payload) else { return .other }
        type = inner
        payload &+= 8
      default: return .other
      }
    }
    return .other
  }

  /// RFC 1042: the EtherType behind an LLC header for SNAP.
  private static func snapType(_ bytes: RawSpan, at offset: Int) -> UInt16? {
    guard
      bytes.uint32(at: offset) == 0xaaaa_0300, bytes.uint16(at: offset &+ 4) == 0,
      let type = bytes.uint16(at: offset &+ 6), type > 1_500
    else { return nil }
    return type
  }

  /// The family is in the byte order of the capturing host, which the file does not tell.
  private static func nullFamily(_ bytes: RawSpan) -> Content {
    guard let value = bytes.uint32(at: 0) else { return .tooShort }
    return family(value > 0xffff ? value.byteSwapped : value)
  }

  private static func family(_ value: UInt32?) -> Content {
    switch value {
    case nil: .tooShort
    // AF_INET is 2 everywhere; AF_INET6 is 10 on Linux, 24 on NetBSD, OpenBSD and Windows with
    // Npcap, 28 on FreeBSD, 30 on macOS.
    case 2, 10, 24, 28, 30: .ip(at: 4)
    default: .other
    }
  }
}

extension LinkLayer {
  /// RFC 2516 section 4: six bytes, of which the second is 0 in a session.
  private static func pppoe(_ bytes: RawSpan, at offset: Int) -> Content {
    guard let code = bytes.uint8(at: offset &+ 1) else { return .tooShort }
    return code == 0 ? ppp(bytes, at: offset &+ 6) : .other
  }

  /// RFC 1661 and 1662: address and control may be left out, and so may the protocol's first byte.
  private static func ppp(_ bytes: RawSpan, at offset: Int) -> Content {
    let start = bytes.uint16(at: offset) == 0xff03 ? offset &+ 2 : offset
    guard let first = bytes.uint8(at: start) else { return .tooShort }
    let isCompressed = first & 1 == 1
    let wide = bytes.uint16(at: start)
    guard let number = isCompressed ? UInt16(first) : wide else { return .tooShort }
    // 0021 is IPv4, 0057 IPv6.
    guard number == 0x21 || number == 0x57 else { return .other }
    return .ip(at: start &+ (isCompressed ? 1 : 2))
  }

  /// Cisco HDLC begins with unicast 0f or multicast 8f and names an EtherType; else it is PPP.
  private static func hdlc(_ bytes: RawSpan) -> Content {
    switch bytes.uint8(at: 0) {
    case nil: .tooShort
    case 0x0f, 0x8f: etherType(bytes, at: 2)
    default: ppp(bytes, at: 0)
    }
  }
}
