import RepriseCore

/// What of a frame may be told that holds no TCP segment: its headers, and what is text behind those of UDP.
///
/// What is behind other headers is read by nobody here, and may hold anything: an ICMP message quotes packets of
/// others, a fragment begins in the midst of a secret.
struct FrameWithoutTCP {
  /// Where the headers end that are understood.
  private(set) var headersEnd: Int
  /// Whether text behind them may be looked through.
  private var mayBeText = false

  private static let icmp: UInt8 = 1
  private static let icmpv6: UInt8 = 58
  /// Of UDP (RFC 768), and of ICMP up to what depends on the message (RFC 792, RFC 4443).
  private static let shortHeader = 8
  private static let addressResolution: UInt16 = 0x0806

  /// Reads the headers of a frame.
  init(_ frame: borrowing Frame) {
    let bytes = frame.bytes
    guard case .ip(let offset) = LinkLayer.content(of: bytes, frame.linkType) else {
      // ARP says which addresses belong together, and nothing else (RFC 826).
      let isARP = frame.linkType == .ethernet && bytes.uint16(at: 12) == Self.addressResolution
      headersEnd = isARP ? 42 : frame.linkType == .ethernet ? 14 : 0
      return
    }
    headersEnd = offset
    let packet = bytes.clamped(offset, bytes.byteCount)
    guard let header = try? InternetHeader(packet, wireLength: frame.wireLength - offset) else {
      return
    }
    headersEnd = offset + header.payloadStart
    guard header.fragment == nil else { return }
    switch header.protocolNumber {
    case Tunnel.udp:
      headersEnd += Self.shortHeader
      mayBeText = true
    case Self.icmp, Self.icmpv6: headersEnd += Self.shortHeader
    default: break
    }
  }

  /// Where the frame ends if nothing of it may be a secret.
  /// - Parameters:
  ///   - bytes: The frame.
  ///   - rules: What is hidden.
  /// - Returns: The place; nil where all of it may be told.
  func end(of bytes: RawSpan, _ rules: RedactionRules) -> Int? {
    let content = bytes.clamped(min(headersEnd, bytes.byteCount), bytes.byteCount)
    // Short frames are filled up.
    guard !content.isAllZeros else { return nil }
    guard mayBeText, Self.isText(content) else { return headersEnd }
    return rules.places(in: content).places.map { headersEnd + $0.offset }.min()
  }

  /// Whether bytes are text in full, down to their last character.
  private static func isText(_ bytes: RawSpan) -> Bool {
    bytes.withUnsafeBytes { bytes in
      guard String(validating: bytes, as: UTF8.self) != nil else { return false }
      return bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || (0x09...0x0D).contains($0) }
    }
  }
}

extension RawSpan {
  /// Whether nothing but zeros is there.
  fileprivate var isAllZeros: Bool { withUnsafeBytes { $0.allSatisfy { $0 == 0 } } }
}
