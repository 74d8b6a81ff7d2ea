/// Finds the packet in a frame of a wireless network (IEEE 802.11-2020 section 9.2), and what
/// drivers put before it.
enum WirelessLink {
  /// Returns what a frame with any of the headers before it carries.
  static func content(of bytes: RawSpan, _ linkType: LinkType) -> LinkLayer.Content {
    switch linkType {
    case .wireless: return frame(bytes, at: 0)
    case .radiotap: return radiotap(bytes)
    // AVS and Prism say how long they are, in the byte orders of their inventors.
    case .avs:
      guard let length = bytes.uint32(at: 4) else { return .tooShort }
      return length < 64 || length > 1_024 ? .other : frame(bytes, at: Int(length))
    case .prism:
      // Some drivers write AVS under this number; its first two bytes are 8021.
      if bytes.uint16(at: 0) == 0x8021 { return content(of: bytes, .avs) }
      guard let length = bytes.uint32(at: 4) else { return .tooShort }
      let size = length > 0xffff ? length.byteSwapped : length
      return size < 24 || size > 1_024 ? .other : frame(bytes, at: Int(size))
    default: return .unsupported
    }
  }

  /// Radiotap (radiotap.org): its length and its flags decide where the frame lies.
  private static func radiotap(_ bytes: RawSpan) -> LinkLayer.Content {
    guard let version = bytes.uint8(at: 0), let length = bytes.uint16(at: 2, .little),
      var present = bytes.uint32(at: 4, .little)
    else { return .tooShort }
    guard version == 0, length >= 8 else { return .other }
    let first = present
    var fields = 8
    // Bit 31 says that another word of such bits follows.
    while present & 0x8000_0000 != 0, fields < Int(length) {
      guard let more = bytes.uint32(at: fields, .little) else { return .tooShort }
      present = more
      fields &+= 4
    }
    var isPadded = false
    if first & 0b10 != 0 {
      // The time stands before the flags, at a multiple of its size.
      if first & 0b01 != 0 { fields = (fields &+ 7) / 8 &* 8 &+ 8 }
      guard let flags = bytes.uint8(at: fields) else { return .tooShort }
      isPadded = flags & 0x20 != 0
      // What failed its check sequence can't be believed.
      if flags & 0x40 != 0 { return .left(.badWireless) }
    }
    return frame(bytes, at: Int(length), isPadded: isPadded)
  }

  /// A frame: of all types only data carries packets.
  private static func frame(
    _ bytes: RawSpan, at offset: Int, isPadded: Bool = false
  ) -> LinkLayer.Content {
    guard let control = bytes.uint8(at: offset), let flags = bytes.uint8(at: offset &+ 1) else {
      return .tooShort
    }
    // Version 0, type 2; the subtypes with bit 6 have no data.
    guard control & 0b1111 == 0b1000, control & 0x40 == 0 else { return .other }
    guard let sequence = bytes.uint16(at: offset &+ 22, .little) else { return .tooShort }
    if flags & 0x40 != 0 { return .left(.encryptedWireless) }
    if flags & 0x04 != 0 || sequence & 0x0f != 0 { return .left(.fragmentedWireless) }
    var length = 24
    if flags & 0b11 == 0b11 { length &+= 6 }
    if control & 0x80 != 0 {
      guard let quality = bytes.uint8(at: offset &+ length) else { return .tooShort }
      if quality & 0x80 != 0 { return .left(.aggregatedWireless) }
      length &+= 2
      if flags & 0x80 != 0 { length &+= 4 }
    }
    if isPadded { length = (length &+ 3) / 4 &* 4 }
    return LinkLayer.content(behindLLC: bytes, at: offset &+ length)
  }
}
