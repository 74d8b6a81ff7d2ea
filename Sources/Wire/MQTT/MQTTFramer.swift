/// Cuts one direction of a connection into control packets, whatever pieces its bytes come in.
///
/// Packets that lie whole in a piece are handed out where they lie; only a packet that spans pieces
/// is copied. No more than ``limit`` bytes of a packet are ever kept: a larger one is handed out with
/// its end missing, as one is whose bytes were lost.
public struct MQTTFramer: Sendable {
  /// The most bytes of one packet that are kept.
  public let limit: Int
  /// Where the current packet starts, in bytes from the start of the stream.
  public private(set) var packetOffset: Int
  /// The kept bytes of the packet that is not complete.
  private var kept: [UInt8] = []
  /// The stream's bytes of the current packet so far, kept or not.
  private var passed = 0
  /// Whether bytes of the current packet were lost, so that what follows must not be joined to them.
  private var isBroken = false

  /// Creates a framer.
  /// - Parameters:
  ///   - limit: The most bytes of one packet to keep, 16 MiB if not stated; at least 5.
  ///   - offset: The place in the stream where the first packet starts.
  public init(limit: Int = 16 << 20, offset: Int = 0) {
    self.limit = max(5, limit)
    packetOffset = offset
  }

  /// Whether the stream stands between two packets.
  public var isAtBoundary: Bool { passed == 0 }

  /// What a loss of bytes does to the stream.
  public enum Loss: Sendable, Hashable {
    /// The lost bytes all belong to the current packet; the next one will be found.
    case insidePacket
    /// So many of the lost bytes lie past the current packet; where the next one starts is unknown.
    case outOfStep(past: Int)
  }

  /// Takes the next piece of the stream.
  /// - Parameters:
  ///   - piece: The bytes.
  ///   - packet: Called for each packet that the piece completes: its bytes, shorter than its size
  ///     when some were lost or over the limit; its header; its offset in the stream.
  /// - Throws: ``MQTTFramingError`` where no packet can be cut; the rest of the piece is not taken.
  public mutating func consume(
    _ piece: RawSpan, _ packet: (RawSpan, MQTTFixedHeader, Int) -> Void
  ) throws(MQTTFramingError) {
    var position = 0
    if passed > 0 { position = try finishPacket(piece, packet) }
    while position < piece.byteCount {
      switch MQTTFixedHeader.read(piece, at: position) {
      case .header(let header) where header.packetSize <= piece.byteCount - position:
        let end = position + header.packetSize
        packet(piece.extracting(position..<end), header, packetOffset)
        packetOffset += header.packetSize
        position = end
      case .header, .needMore:
        keep(piece.extracting(position..<piece.byteCount))
        return
      case .malformedLength: throw MQTTFramingError(.malformedLength, at: packetOffset)
      }
    }
  }

  /// Tells the framer that bytes of the stream are missing.
  /// - Parameters:
  ///   - count: How many.
  ///   - packet: Called for the current packet, if the loss takes the rest of it.
  /// - Returns: Whether the next packet can still be found; if not, ``restart(at:)`` is due.
  public mutating func lose(
    _ count: Int, _ packet: (RawSpan, MQTTFixedHeader, Int) -> Void
  ) -> Loss {
    guard passed > 0, case .header(let header) = MQTTFixedHeader.read(kept.span.bytes) else {
      return .outOfStep(past: count)
    }
    let rest = header.packetSize - passed
    isBroken = true
    passed += min(count, rest)
    if passed == header.packetSize { finish(header, packet) }
    return count <= rest ? .insidePacket : .outOfStep(past: count - rest)
  }

  /// Forgets the current packet and starts with a new one.
  /// - Parameter offset: The place in the stream where it starts.
  public mutating func restart(at offset: Int) {
    reset()
    packetOffset = offset
  }

  /// Hands out the bytes of the packet that the stream's end cut, if there are any.
  /// - Parameter packet: Called with the kept bytes, the header, and the offset in the stream.
  public mutating func flush(_ packet: (RawSpan, MQTTFixedHeader, Int) -> Void) {
    guard case .header(let header) = MQTTFixedHeader.read(kept.span.bytes) else { return reset() }
    finish(header, packet)
  }

  /// Takes bytes for the packet that is begun, and returns how many of the piece it took.
  private mutating func finishPacket(
    _ piece: RawSpan, _ packet: (RawSpan, MQTTFixedHeader, Int) -> Void
  ) throws(MQTTFramingError) -> Int {
    var position = 0
    while true {
      switch MQTTFixedHeader.read(kept.span.bytes) {
      case .header(let header):
        let count = min(header.packetSize - passed, piece.byteCount - position)
        keep(piece.extracting(position..<(position + count)))
        if passed == header.packetSize { finish(header, packet) }
        return position + count
      case .needMore:
        guard position < piece.byteCount else { return position }
        keep(piece.extracting(position..<(position + 1)))
        position += 1
      case .malformedLength: throw MQTTFramingError(.malformedLength, at: packetOffset)
      }
    }
  }

  private mutating func keep(_ bytes: RawSpan) {
    passed += bytes.byteCount
    guard !isBroken else { return }
    let count = min(bytes.byteCount, limit - kept.count)
    bytes.extracting(first: count).withUnsafeBytes { kept.append(contentsOf: $0) }
    if count < bytes.byteCount { isBroken = true }
  }

  private mutating func finish(
    _ header: MQTTFixedHeader, _ packet: (RawSpan, MQTTFixedHeader, Int) -> Void
  ) {
    packet(kept.span.bytes, header, packetOffset)
    packetOffset += header.packetSize
    reset()
  }

  private mutating func reset() {
    passed = 0
    isBroken = false
    // A large packet's memory is given back; a small buffer is worth keeping for the next one.
    kept.removeAll(keepingCapacity: kept.capacity <= 4_096)
  }
}
