/// Takes frames apart down to TCP: link layer, IP in any nesting and in tunnels, fragments, TCP header.
///
/// ```swift
/// var dissector = FrameDissector()
/// while let frame = try reader.next() {
///   dissector.dissect(frame) { segment in print(segment.source, segment.destination) }
/// }
/// ```
///
/// Checksums are not verified: offloading leaves them wrong in most captures of a sending host, and
/// a dropped segment would be a gap that never was.
public struct FrameDissector {
  /// Tunnels in tunnels that are followed; real ones are one or two deep.
  private static let maximumNesting = 4

  private var counts = CaptureStatistics()
  private var reassembler = FragmentReassembler()

  /// The hosts of the last fragment that did not complete its packet; who asks for it sets it to nil before.
  var openFragment: (source: IPAddress, destination: IPAddress)?

  /// Creates a dissector that has seen nothing.
  public init() {}

  /// What became of the frames so far.
  public var statistics: CaptureStatistics {
    var statistics = counts
    statistics.duplicateFragments = reassembler.duplicates
    statistics.malformedFragments = reassembler.malformed
    statistics.evictedDatagrams = reassembler.evicted
    statistics.pendingDatagrams = reassembler.pending
    return statistics
  }

  /// Takes a frame apart, and hands on the TCP segment that is in it or that it completes.
  ///
  /// - Parameters:
  ///   - frame: The frame.
  ///   - body: Receives the segment; not called if there is none.
  /// - Throws: What `body` throws.
  @inline(__always)
  public mutating func dissect<Failure: Error>(
    _ frame: borrowing Frame, _ body: (borrowing TCPSegment) throws(Failure) -> Void
  ) throws(Failure) {
    counts.frames &+= 1
    counts.capturedBytes &+= frame.bytes.byteCount
    counts.wireBytes &+= frame.wireLength
    if frame.isCut { counts.cutFrames &+= 1 }
    switch LinkLayer.content(of: frame.bytes, frame.linkType) {
    case .ip(let offset):
      let packet = frame.bytes.clamped(offset, frame.bytes.byteCount)
      try dissectPacket(packet, wireLength: frame.wireLength &- offset, frame, body)
    case .other: counts.nonIPFrames &+= 1
    case .tooShort: count(.cut, frame)
    case .left(let content): counts.left[content, default: 0] += 1
    case .unsupported: counts.countUnsupported(frame.linkType, frame: frame.number)
    }
  }

  /// Takes an IP packet apart, and the packets that it tunnels.
  @inline(__always)
  private mutating func dissectPacket<Failure: Error>(
    _ packet: RawSpan, wireLength: Int, _ frame: borrowing Frame,
    _ body: (borrowing TCPSegment) throws(Failure) -> Void
  ) throws(Failure) {
    var packet = packet
    var wireLength = wireLength
    var network: UInt32 = 0
    for _ in 0...Self.maximumNesting {
      let header: InternetHeader
      do throws(InternetHeader.Flaw) {
        header = try InternetHeader(packet, wireLength: wireLength)
      } catch { return count(error, frame) }
      let payload = packet.clamped(header.payloadStart, header.payloadEnd)
      let length = header.payloadEnd &- header.payloadStart
      if let fragment = header.fragment {
        return try dissectFragment(header, fragment, payload, length, network, frame, body)
      }
      switch header.protocolNumber {
      case InternetHeader.tcp:
        return try deliver(payload, length, header, network, frame, body)
      case InternetHeader.ipv4, InternetHeader.ipv6:
        packet = payload
        wireLength = length
      case Tunnel.udp, Tunnel.gre:
        guard
          let offset = tunnelled(payload, header.protocolNumber, network: &network, frame)
        else { return }
        packet = payload.clamped(offset, payload.byteCount)
        wireLength = length &- offset
      default:
        counts.nonTCPPackets &+= 1
        return
      }
    }
    count(.malformed, frame)
  }

  /// Returns where in the payload of a packet the one begins that it tunnels; nil if it is none, which
  /// is counted.
  ///
  /// Of tunnels in tunnels the innermost one that has a number names the network.
  @inline(never)
  private mutating func tunnelled(
    _ payload: RawSpan, _ number: UInt8, network: inout UInt32, _ frame: borrowing Frame
  ) -> Int? {
    switch Tunnel.content(of: payload, number) {
    case .ip(let offset):
      let inner = Tunnel.network(of: payload, number)
      if inner != 0 { network = inner }
      return offset
    case .tooShort: count(.cut, frame)
    case .left(let content): counts.left[content, default: 0] += 1
    case .other, .unsupported: counts.nonTCPPackets &+= 1
    }
    return nil
  }

  /// Takes a fragment, and the datagram apart if this completes it.
  @inline(never)
  private mutating func dissectFragment<Failure: Error>(
    _ header: InternetHeader, _ fragment: InternetHeader.Fragment, _ payload: RawSpan,
    _ length: Int, _ network: UInt32, _ frame: borrowing Frame,
    _ body: (borrowing TCPSegment) throws(Failure) -> Void
  ) throws(Failure) {
    var network = network
    counts.fragments &+= 1
    let completed = reassembler.add(
      header, fragment, payload, wireLength: length, network: network, time: frame.time)
    guard let completed else {
      openFragment = (header.source, header.destination)
      return
    }
    counts.reassembledDatagrams &+= 1
    let bytes = completed.bytes.span.bytes
    var chain = ExtensionChain(
      next: completed.protocolNumber, position: 0, end: completed.wireLength)
    if !header.source.isIPv4 {
      do throws(InternetHeader.Flaw) {
        try chain.follow(bytes, mayBeJumbogram: false)
      } catch { return count(error, frame) }
    }
    let content = bytes.clamped(chain.position, bytes.byteCount)
    let contentLength = completed.wireLength - chain.position
    switch chain.next {
    case InternetHeader.tcp where chain.fragment == nil && contentLength >= 0:
      try deliver(content, contentLength, header, network, frame, body)
    case InternetHeader.ipv4, InternetHeader.ipv6:
      try dissectTunnelled(content, contentLength, network, frame, body)
    case Tunnel.udp where chain.fragment == nil, Tunnel.gre where chain.fragment == nil:
      guard let offset = tunnelled(content, chain.next, network: &network, frame) else { return }
      let packet = content.clamped(offset, content.byteCount)
      try dissectTunnelled(packet, contentLength - offset, network, frame, body)
    default:
      counts.nonTCPPackets &+= 1
    }
  }

  /// Takes apart the one packet that a reassembled datagram tunnels.
  private mutating func dissectTunnelled<Failure: Error>(
    _ packet: RawSpan, _ wireLength: Int, _ network: UInt32, _ frame: borrowing Frame,
    _ body: (borrowing TCPSegment) throws(Failure) -> Void
  ) throws(Failure) {
    let header: InternetHeader
    do throws(InternetHeader.Flaw) {
      header = try InternetHeader(packet, wireLength: wireLength)
    } catch { return count(error, frame) }
    // Fragments of a packet inside a fragmented packet are not followed: nobody sends them.
    guard header.fragment == nil, header.protocolNumber == InternetHeader.tcp else {
      counts.nonTCPPackets &+= 1
      return
    }
    let payload = packet.clamped(header.payloadStart, header.payloadEnd)
    try deliver(payload, header.payloadEnd &- header.payloadStart, header, network, frame, body)
  }

  /// Reads a TCP header (RFC 9293 section 3.1) and hands on the segment.
  @inline(__always)
  private mutating func deliver<Failure: Error>(
    _ bytes: RawSpan, _ wireLength: Int, _ header: InternetHeader, _ network: UInt32,
    _ frame: borrowing Frame, _ body: (borrowing TCPSegment) throws(Failure) -> Void
  ) throws(Failure) {
    guard
      bytes.byteCount >= 20, let sourcePort = bytes.uint16(at: 0),
      let destinationPort = bytes.uint16(at: 2), let sequence = bytes.uint32(at: 4),
      let acknowledgment = bytes.uint32(at: 8), let layout = bytes.uint16(at: 12),
      let window = bytes.uint16(at: 14)
    else { return count(wireLength < 20 ? .malformed : .cut, frame) }
    let headerLength = Int(layout >> 12) &* 4
    guard headerLength >= 20, headerLength <= wireLength else { return count(.malformed, frame) }
    counts.segments &+= 1
    let flags = TCPFlags(rawValue: UInt8(truncatingIfNeeded: layout))
    // NOP, NOP, kind 8, length 10.
    let hasClock = headerLength >= 32 && bytes.uint32(at: 20) == 0x0101_080A
    let clock =
      hasClock
      ? bytes.uint32(at: 24) : flags.contains(.syn) ? Self.clock(in: bytes, headerLength) : nil
    let alteration =
      headerLength == 28 && bytes.uint8(at: 20) == 253
      ? SyntheticTCP.alteration(bytes.clamped(20, 28)) : nil
    let segment = TCPSegment(
      frame: frame.number, time: frame.time,
      source: Endpoint(address: header.source, port: sourcePort),
      destination: Endpoint(address: header.destination, port: destinationPort),
      sequenceNumber: sequence, acknowledgmentNumber: acknowledgment,
      flags: flags, window: window,
      payload: bytes.clamped(headerLength, bytes.byteCount),
      payloadWireLength: wireLength &- headerLength, network: network,
      headerLength: headerLength, timestampValue: clock, alteration: alteration)
    try body(segment)
  }

  /// Looks for the sender's clock among the options of a SYN, where it stands in any place (RFC 9293 section 3.1).
  @inline(never)
  private static func clock(in bytes: RawSpan, _ headerLength: Int) -> UInt32? {
    var place = 20
    while place < headerLength, let kind = bytes.uint8(at: place), kind != 0 {
      if kind == 8 { return bytes.uint32(at: place + 2) }
      guard kind != 1 else {
        place += 1
        continue
      }
      guard let length = bytes.uint8(at: place + 1), length >= 2 else { return nil }
      place += Int(length)
    }
    return nil
  }

  /// Counts a header that cannot be used.
  @inline(never)
  private mutating func count(_ flaw: InternetHeader.Flaw, _ frame: borrowing Frame) {
    switch flaw {
    // Captured whole, and yet too short: that is not the capture's fault.
    case .cut where !frame.isCut, .malformed: counts.malformedHeaders += 1
    case .cut: counts.cutHeaders += 1
    }
    counts.firstUnreadableFrame = counts.firstUnreadableFrame ?? frame.number
  }
}
