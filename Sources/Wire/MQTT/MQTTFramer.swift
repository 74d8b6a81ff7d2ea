/// Cuts one direction of a connection into control packets, whatever pieces its bytes come in.
///
/// Packets that lie whole in a piece are handed out where they lie; only a packet that spans pieces
/// is copied. No more than ``limit`` bytes of a packet are ever kept: a larger one is handed out with
/// its end missing, as one is whose bytes were lost.
public struct MQTTFramer: Sendable {
  private var cutter: StreamCutter<MQTTFixedHeader>

  /// Creates a framer.
  /// - Parameters:
  ///   - limit: The most bytes of one packet to keep, 16 MiB if not stated; at least 5.
  ///   - offset: The place in the stream where the first packet starts.
  public init(limit: Int = 16 << 20, offset: Int = 0) {
    cutter = StreamCutter(limit: limit, offset: offset)
  }

  /// The most bytes of one packet that are kept.
  public var limit: Int { cutter.limit }

  /// Where the current packet starts, in bytes from the start of the stream.
  public var packetOffset: Int { cutter.unitOffset }

  /// Whether the stream stands between two packets.
  public var isAtBoundary: Bool { cutter.passed == 0 }

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
  /// - Returns: Whether bytes are kept, or memory is held ready for them.
  /// - Throws: ``MQTTFramingError`` where no packet can be cut; the rest of the piece is not taken.
  @discardableResult
  public mutating func consume(
    _ piece: RawSpan, _ packet: (RawSpan, MQTTFixedHeader, Int) -> Void
  ) throws(MQTTFramingError) -> Bool {
    do throws(StreamCutterError) {
      try cutter.consume(piece, packet)
      return cutter.reserved > 0
    } catch {
      throw MQTTFramingError(.malformedLength, at: error.offset)
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
    cutter.lose(count, packet).map { .outOfStep(past: $0) } ?? .insidePacket
  }

  /// Forgets the current packet and starts with a new one.
  /// - Parameter offset: The place in the stream where it starts.
  public mutating func restart(at offset: Int) { cutter.restart(at: offset) }

  /// The memory that is taken by kept bytes, or held ready for them, in bytes.
  @inline(__always)
  package var reserved: Int { cutter.reserved }

  /// Gives memory back: all but the first bytes of the packet that is begun are forgotten, and it is
  /// handed out with its end missing.
  /// - Returns: How many bytes that were kept are missing from it now; 0 when none are.
  package mutating func giveUp() -> Int { cutter.giveUp() }

  /// Hands out the bytes of the packet that the stream's end cut, if there are any.
  /// - Parameter packet: Called with the kept bytes, the header, and the offset in the stream.
  public mutating func flush(_ packet: (RawSpan, MQTTFixedHeader, Int) -> Void) {
    cutter.flush(packet)
  }
}

extension MQTTFixedHeader: StreamUnitHeader {
  static var largestSize: Int { 5 }
  var unitSize: Int { packetSize }

  @inline(__always)
  static func readUnit(_ bytes: RawSpan, at offset: Int) -> StreamUnitReading<MQTTFixedHeader> {
    switch read(bytes, at: offset) {
    case .header(let header): .header(header)
    case .needMore: .needMore
    case .malformedLength: .unbounded(nil)
    }
  }
}
