/// The fixed header of a control packet: type, flags and Remaining Length (MQTT 5.0 section 2.1).
public struct MQTTFixedHeader: Sendable, Hashable {
  /// The first byte: type in the upper, flags in the lower four bits.
  public let firstByte: UInt8
  /// The packet type, as the first byte names it.
  public let type: MQTTPacketType
  /// The size of the fixed header itself in bytes (2...5).
  public let size: Int
  /// The number of bytes that follow the fixed header (0...268,435,455).
  public let remainingLength: Int

  /// Creates a header from its parts.
  public init(firstByte: UInt8, size: Int, remainingLength: Int) {
    self.firstByte = firstByte
    type = MQTTPacketType(firstByte: firstByte)
    self.size = size
    self.remainingLength = remainingLength
  }

  /// What stands at the start of some bytes.
  public enum Reading: Sendable, Hashable {
    /// A complete fixed header.
    case header(MQTTFixedHeader)
    /// The bytes end inside the fixed header.
    case needMore
    /// The Remaining Length does not end within four bytes: the stream can't be cut into packets.
    case malformedLength
  }

  /// Reads the header at an offset.
  /// - Parameters:
  ///   - bytes: The bytes to read from.
  ///   - offset: Where the packet starts.
  /// - Returns: The header, or why there is none.
  @inline(__always)
  public static func read(_ bytes: RawSpan, at offset: Int = 0) -> Reading {
    guard offset >= 0, offset < bytes.byteCount else { return .needMore }
    switch VariableByteInteger.read(bytes, at: offset + 1, end: bytes.byteCount) {
    case .value(let length, let size):
      return .header(
        MQTTFixedHeader(
          firstByte: bytes.byte(at: offset), size: 1 + size, remainingLength: length))
    case .needMore: return .needMore
    case .tooLong: return .malformedLength
    }
  }

  /// The lower four bits of the first byte.
  public var flags: UInt8 { firstByte & 0x0F }
  /// The size of the whole packet in bytes.
  public var packetSize: Int { size + remainingLength }
  /// Whether the Remaining Length takes no more bytes than it needs.
  public var isShortest: Bool { size == 1 + VariableByteInteger.size(of: remainingLength) }
}

extension MQTTFixedHeader: StreamUnitHeader {
  /// The most bytes that a header takes: one, and four of a Remaining Length.
  public static var largestSize: Int { 5 }
  /// The size of the packet in bytes.
  public var unitSize: Int { packetSize }

  /// Reads the header at an offset.
  @inline(__always)
  public static func readUnit(
    _ bytes: RawSpan, at offset: Int
  ) -> StreamUnitReading<MQTTFixedHeader> {
    switch read(bytes, at: offset) {
    case .header(let header): .header(header)
    case .needMore: .needMore
    case .malformedLength: .unbounded(nil)
    }
  }

  /// The error for a packet whose Remaining Length does not end.
  public static func endlessUnit(at offset: Int) -> MQTTFramingError {
    MQTTFramingError(.malformedLength, at: offset)
  }
}
