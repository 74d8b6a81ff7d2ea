package import RepriseCore

/// Writes a connection of TCP as the packets that a capture would have of it, from what its ends said.
///
/// The packets are raw IP (``LinkType/raw``) of the version of the addresses: a handshake, segments with right numbers
/// and checksums, acknowledgements of what is on its way for too long, and the ends.
package struct SyntheticTCP {
  /// Takes a packet in two pieces, its headers and its payload, which are valid during the call only.
  package typealias Taker = (_ header: RawSpan, _ payload: RawSpan) -> Void

  /// Where a capture would have been taken that has the times of the packets: it has what an end says there when that
  /// end says it.
  package enum Vantage {
    /// Between two ends that no network parts.
    case everywhere
    /// Beside the client.
    case client
    /// Beside neither: nobody knows when something was sent, or how soon it arrived.
    case nowhere
  }

  private struct End {
    let endpoint: Endpoint
    /// The sequence number of the next byte.
    var next: UInt32
    /// The number up to which the other end has acknowledged.
    var acknowledged: UInt32
    var hasFinished = false
    /// Whether the other end does not get what it sends any more, but something else.
    var isAltered = false

    init(_ endpoint: Endpoint, _ start: UInt32) {
      self.endpoint = endpoint
      next = start
      acknowledged = start
    }

    var unacknowledged: UInt32 { next &- acknowledged }
  }

  private var client: End
  private var server: End
  private var isOver = false
  private var hasBegun = false
  private var vantage = Vantage.everywhere
  private let isIPv4: Bool

  /// The most bytes of a segment: what one IP packet holds, whose length has 16 bits.
  private let largestSegment: Int
  /// How many bytes may be on their way before they are acknowledged without an answer to do that with.
  private static let delay: UInt32 = 1 << 15
  /// The most bytes that are left out in one step, and in all.
  private static let skip = 1 << 20
  private static let mostSkipped = 1 << 28
  /// Windows are 65,535 times 2 to the power of this.
  private static let windowScale: UInt8 = 7

  /// Prepares a connection.
  /// - Parameters:
  ///   - client: The end that opens it.
  ///   - server: The other end; where one of both has an address of IPv6, the packets are of IPv6.
  ///   - clientStart: The client's initial sequence number.
  ///   - serverStart: The server's.
  package init(
    client: Endpoint, server: Endpoint, clientStart: UInt32, serverStart: UInt32
  ) {
    self.client = End(client, clientStart)
    self.server = End(server, serverStart)
    isIPv4 = client.address.isIPv4 && server.address.isIPv4
    largestSegment = 65_535 - (isIPv4 ? 40 : 60)
  }

  /// Prepares a connection by whose windows ``vantage(of:)`` knows where it was seen from.
  /// - Parameters:
  ///   - client: The end that opens it.
  ///   - server: The other end.
  ///   - start: The client's initial sequence number.
  ///   - vantage: Where it was seen from.
  package init(client: Endpoint, server: Endpoint, start: UInt32, seenFrom vantage: Vantage) {
    self.init(client: client, server: server, clientStart: start, serverStart: ~start)
    self.vantage = vantage
  }

  // Windows tell it in each segment, so that what is cut out of a file, or goes on in the next one, tells it as well.
  private static let nowhereWindow = UInt16.max - 2
  private static let clientsWindow = UInt16.max - 3
  private static let serversWindow = UInt16.max - 4

  /// The window of the segment by which an end says that nothing of the connection was late, and that all was seen
  /// beside its ends.
  static let promptWindow = UInt16.max - 1

  private func window(of sender: Peer) -> UInt16 {
    switch vantage {
    case .everywhere: .max
    case .client: sender == .client ? Self.clientsWindow : Self.serversWindow
    case .nowhere: Self.nowhereWindow
    }
  }

  // RFC 6994: an option for experiments, with a name of four bytes and one byte of its own. It stands in each segment from
  // where the ends differ on, so that what is cut out of a file, or went through other tools, tells it as well.
  private static let alterationOption: [UInt8] = [253, 7, 0x52, 0x50, 0x72, 0x73]
  private static let alteredSender: UInt8 = 1
  private static let alteredReceiver: UInt8 = 2

  /// Notes that from now on the other end does not get what an end sends, but something else.
  package mutating func alter(_ sender: Peer) { self[sender].isAltered = true }

  /// Reads from the options of a segment whose bytes its receiver did not get as they were sent.
  /// - Parameter options: The 8 bytes behind the 20 that each header has.
  /// - Returns: Whether those of the segment's sender, and whether those of its receiver; nil without the option.
  static func alteration(_ options: RawSpan) -> (ofSender: Bool, ofReceiver: Bool)? {
    guard options.byteCount >= 8, options.uint32(at: 0) == 0xFD07_5250,
      options.uint16(at: 4) == 0x7273, let who = options.uint8(at: 6)
    else { return nil }
    return (who & alteredSender != 0, who & alteredReceiver != 0)
  }

  private func alterationOption(of sender: Peer) -> [UInt8] {
    guard client.isAltered || server.isAltered else { return [] }
    let who =
      (self[sender].isAltered ? Self.alteredSender : 0)
      | (self[sender.other].isAltered ? Self.alteredReceiver : 0)
    // NOP behind it: a header is words of four bytes.
    return Self.alterationOption + [who, 1]
  }

  /// Where a connection was seen from that was written here, by its first segment; nil for others.
  ///
  /// One in some ten thousand others has such a window, of which then nothing is held against anybody for its time.
  /// - Parameter segment: The segment.
  /// - Returns: Where it was seen from, and who sent the segment where that counts.
  static func vantage(of segment: borrowing TCPSegment) -> (vantage: Vantage, sender: Peer)? {
    switch segment.window {
    case nowhereWindow: (.nowhere, .client)
    case clientsWindow: (.client, .client)
    case serversWindow: (.client, .server)
    default: nil
    }
  }

  /// Writes the handshake.
  package mutating func open(_ take: Taker) {
    packet(from: .client, .syn, take: take)
    packet(from: .server, [.syn, .acknowledgment], take: take)
    packet(from: .client, .acknowledgment, take: take)
  }

  /// Writes bytes that an end sends, in as many segments as they need; none behind its end.
  /// - Parameters:
  ///   - sender: The end.
  ///   - bytes: The bytes.
  ///   - take: Takes the packets.
  package mutating func send(from sender: Peer, _ bytes: RawSpan, _ take: Taker) {
    guard !isOver, !self[sender].hasFinished else { return }
    let most = largestSegment - alterationOption(of: sender).count
    var offset = 0
    while offset < bytes.byteCount {
      let end = min(bytes.byteCount, offset + most)
      let isLast = end == bytes.byteCount
      packet(
        from: sender, isLast ? [.acknowledgment, .push] : .acknowledgment,
        bytes.extracting(offset..<end), take: take)
      if self[sender].unacknowledged >= Self.delay { acknowledge(sender.other, take) }
      offset = end
    }
  }

  /// Writes that bytes of an end came, and were not captured: the other end acknowledges them.
  /// - Parameters:
  ///   - count: How many bytes.
  ///   - sender: The end that sent them.
  ///   - take: Takes the packet.
  package mutating func skip(_ count: Int, from sender: Peer, _ take: Taker) {
    // In front of the first segment nobody sees what is missing.
    guard hasBegun, !isOver, !self[sender].hasFinished, count > 0 else { return }
    var left = min(count, Self.mostSkipped)
    while left > 0 {
      // More than a window at once would be no part of the stream to a reader.
      let step = min(left, Self.skip)
      self[sender].next &+= UInt32(truncatingIfNeeded: step)
      acknowledge(sender.other, take)
      left -= step
    }
  }

  /// Writes that an end sends nothing more.
  /// - Parameters:
  ///   - sender: The end.
  ///   - isPrompt: Whether it is known that nothing was late.
  ///   - take: Takes the packets.
  package mutating func finish(from sender: Peer, isPrompt: Bool = false, _ take: Taker) {
    guard !isOver, !self[sender].hasFinished else { return }
    packet(from: sender, [.fin, .acknowledgment], isPrompt: isPrompt, take: take)
    self[sender].hasFinished = true
    acknowledge(sender.other, take)
  }

  /// Writes that an end breaks the connection off.
  /// - Parameters:
  ///   - sender: The end.
  ///   - isPrompt: Whether it is known that nothing was late.
  ///   - take: Takes the packet.
  package mutating func reset(from sender: Peer, isPrompt: Bool = false, _ take: Taker) {
    guard !isOver else { return }
    packet(from: sender, [.reset, .acknowledgment], isPrompt: isPrompt, take: take)
    isOver = true
  }

  /// Writes that an end acknowledges what it has received.
  /// - Parameters:
  ///   - sender: The end.
  ///   - isPrompt: Whether it is known that nothing was late.
  ///   - take: Takes the packet.
  package mutating func acknowledge(_ sender: Peer, isPrompt: Bool = false, _ take: Taker) {
    guard !isOver else { return }
    packet(from: sender, .acknowledgment, isPrompt: isPrompt, take: take)
  }

  private subscript(peer: Peer) -> End {
    get { peer == .client ? client : server }
    set { if peer == .client { client = newValue } else { server = newValue } }
  }

  // MARK: Packets

  private mutating func packet(
    from sender: Peer, _ flags: TCPFlags, _ payload: RawSpan = RawSpan(), isPrompt: Bool = false,
    take: Taker
  ) {
    let header = header(
      from: sender, flags, window: isPrompt ? Self.promptWindow : window(of: sender), payload)
    take(header.span.bytes, payload)
    hasBegun = true
    let numbers = UInt32(truncatingIfNeeded: payload.byteCount)
    self[sender].next &+= numbers &+ (flags.isDisjoint(with: [.syn, .fin]) ? 0 : 1)
    if flags.contains(.acknowledgment) { self[sender.other].acknowledged = self[sender.other].next }
  }

  private func header(
    from sender: Peer, _ flags: TCPFlags, window: UInt16, _ payload: RawSpan
  ) -> [UInt8] {
    let (source, destination) = (self[sender], self[sender.other])
    // RFC 9293 section 3.2 and RFC 7323 section 2: the maximum segment size, and the scale of windows.
    let options: [UInt8] =
      flags.contains(.syn)
      ? [2, 4] + Self.big(UInt16(truncatingIfNeeded: largestSegment)) + [1, 3, 3, Self.windowScale]
      : alterationOption(of: sender)
    var tcp = Self.big(source.endpoint.port) + Self.big(destination.endpoint.port)
    tcp += Self.big(source.next)
    tcp += Self.big(flags.contains(.acknowledgment) ? destination.next : 0)
    tcp += [UInt8(truncatingIfNeeded: (20 + options.count) << 2), flags.rawValue]
    tcp += Self.big(window) + [0, 0, 0, 0] + options
    let addresses =
      Self.bytes(source.endpoint.address, isIPv4) + Self.bytes(destination.endpoint.address, isIPv4)
    let length = tcp.count + payload.byteCount
    var checksum = InternetChecksum()
    // RFC 9293 section 3.1 and RFC 8200 section 8.1: the pseudo-header.
    let pseudoHeader = addresses + Self.big(UInt32(truncatingIfNeeded: length)) + [0, 0, 0, 6]
    for part in [pseudoHeader, tcp] { checksum.add(part.span.bytes) }
    checksum.add(payload)
    tcp.replaceSubrange(16..<18, with: checksum.bytes)
    return (isIPv4 ? Self.ipv4(addresses, length) : Self.ipv6(addresses, length)) + tcp
  }

  /// RFC 791 section 3.1; never fragmented, so it needs no identification (RFC 6864).
  private static func ipv4(_ addresses: [UInt8], _ length: Int) -> [UInt8] {
    var header: [UInt8] = [0x45, 0] + big(UInt16(truncatingIfNeeded: 20 + length))
    header += [0, 0, 0x40, 0, 64, 6, 0, 0] + addresses
    var checksum = InternetChecksum()
    checksum.add(header.span.bytes)
    header.replaceSubrange(10..<12, with: checksum.bytes)
    return header
  }

  /// RFC 8200 section 3.
  private static func ipv6(_ addresses: [UInt8], _ length: Int) -> [UInt8] {
    [0x60, 0, 0, 0] + big(UInt16(truncatingIfNeeded: length)) + [6, 64] + addresses
  }

  private static func bytes(_ address: IPAddress, _ isIPv4: Bool) -> [UInt8] {
    guard !isIPv4 else { return big(UInt32(truncatingIfNeeded: address.low)) }
    return big(address.high) + big(address.low)
  }

  private static func big(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }
}
