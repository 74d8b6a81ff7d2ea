/// What the bytes of a captured frame begin with (https://www.tcpdump.org/linktypes.html).
public struct LinkType: RawRepresentable, Sendable, Hashable {
  /// The LINKTYPE_ value.
  public let rawValue: UInt16

  /// Creates a link type from its LINKTYPE_ value.
  ///
  /// - Parameter rawValue: The value in the file.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// BSD loopback: the address family in the byte order of the capturing host.
  public static let null = LinkType(rawValue: 0)
  /// Ethernet.
  public static let ethernet = LinkType(rawValue: 1)
  /// PPP, with or without the HDLC address and control bytes.
  public static let ppp = LinkType(rawValue: 9)
  /// Raw IP, as the DLT value that some systems write instead of 101.
  public static let rawBSD = LinkType(rawValue: 12)
  /// Raw IP, as the DLT value that OpenBSD writes.
  public static let rawOpenBSD = LinkType(rawValue: 14)
  /// PPP in HDLC-like framing (RFC 1662), or Cisco HDLC.
  public static let pppHDLC = LinkType(rawValue: 50)
  /// PPPoE: the session header without Ethernet.
  public static let pppEthernet = LinkType(rawValue: 51)
  /// Raw IP; the first half byte is the version.
  public static let raw = LinkType(rawValue: 101)
  /// Cisco HDLC.
  public static let ciscoHDLC = LinkType(rawValue: 104)
  /// A frame of a wireless network (IEEE 802.11).
  public static let wireless = LinkType(rawValue: 105)
  /// A Prism header and a frame of a wireless network.
  public static let prism = LinkType(rawValue: 119)
  /// A Radiotap header and a frame of a wireless network.
  public static let radiotap = LinkType(rawValue: 127)
  /// An AVS header and a frame of a wireless network.
  public static let avs = LinkType(rawValue: 163)
  /// MPLS labels.
  public static let mpls = LinkType(rawValue: 219)
  /// OpenBSD loopback: the address family in network byte order.
  public static let loop = LinkType(rawValue: 108)
  /// Linux "cooked" capture.
  public static let linuxSLL = LinkType(rawValue: 113)
  /// PPP behind one byte that tells the direction.
  public static let pppWithDirection = LinkType(rawValue: 204)
  /// Raw IPv4.
  public static let ipv4 = LinkType(rawValue: 228)
  /// Raw IPv6.
  public static let ipv6 = LinkType(rawValue: 229)
  /// Linux "cooked" capture, version 2.
  public static let linuxSLL2 = LinkType(rawValue: 276)
}

extension LinkType: CustomStringConvertible {
  /// The number, as `link type 147`.
  public var description: String { "link type \(rawValue)" }
}
