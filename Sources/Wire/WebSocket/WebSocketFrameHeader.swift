/// The header of a frame (RFC 6455 section 5.2).
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-------+-+-------------+-------------------------------+
///     |F|R|R|R| opcode|M| Payload len |    Extended payload length    |
///     |I|S|S|S|  (4)  |A|     (7)     |             (16/64)           |
///     |N|V|V|V|       |S|             |   (if payload len==126/127)   |
///     | |1|2|3|       |K|             |                               |
///     +-+-+-+-+-------+-+-------------+ - - - - - - - - - - - - - - - +
///     |     Masking key (32, if MASK set)                             |
///     +---------------------------------------------------------------+
public struct WebSocketFrameHeader: Sendable, Hashable {
  /// FIN, the three reserved bits and the opcode.
  public var firstByte: UInt8
  /// The payload length as it stands in the header; more than 2^63 - 1 is a fault.
  public var payloadLength: UInt64
  /// In which form the length stands.
  public var lengthForm: LengthForm
  /// The masking key, its first byte the highest; nil in a frame that is not masked.
  public var maskingKey: UInt32?

  /// The forms of the payload length, by the bytes that it takes besides the first seven bits.
  public enum LengthForm: Int, Sendable, Hashable {
    /// Seven bits, up to 125.
    case short = 0
    /// Two bytes more.
    case medium = 2
    /// Eight bytes more.
    case long = 8

    /// The shortest form of a length, which is the required one.
    public init(shortestFor length: UInt64) {
      self = length <= 125 ? .short : length <= 0xFFFF ? .medium : .long
    }
  }

  /// Creates a header with its length in the shortest form.
  /// - Parameters:
  ///   - opcode: What the frame is.
  ///   - isFinal: FIN: whether the message ends with it.
  ///   - reservedBits: RSV1 to RSV3 as a number (0...7), RSV1 the highest.
  ///   - payloadLength: The length of the payload in bytes.
  ///   - maskingKey: The masking key; nil for a frame that is not masked.
  public init(
    _ opcode: WebSocketOpcode, isFinal: Bool = true, reservedBits: UInt8 = 0,
    payloadLength: UInt64, maskingKey: UInt32? = nil
  ) {
    firstByte = (isFinal ? 0x80 : 0) | (reservedBits & 0b111) << 4 | opcode.rawValue
    self.payloadLength = payloadLength
    lengthForm = LengthForm(shortestFor: payloadLength)
    self.maskingKey = maskingKey
  }

  private init(
    firstByte: UInt8, payloadLength: UInt64, lengthForm: LengthForm, maskingKey: UInt32?
  ) {
    self.firstByte = firstByte
    self.payloadLength = payloadLength
    self.lengthForm = lengthForm
    self.maskingKey = maskingKey
  }

  /// What stands at the start of some bytes.
  public enum Reading: Sendable, Hashable {
    /// A complete header.
    case header(WebSocketFrameHeader)
    /// The bytes end inside the header.
    case needMore
  }

  /// Reads the header at an offset.
  /// - Parameters:
  ///   - bytes: The bytes to read from.
  ///   - offset: Where the frame starts.
  /// - Returns: The header, or why there is none. Any bytes are one, be it a faulty one.
  @inline(__always)
  public static func read(_ bytes: RawSpan, at offset: Int = 0) -> Reading {
    guard offset >= 0 else { return .needMore }
    var cursor = ByteCursor(bytes, from: offset, to: bytes.byteCount)
    guard let firstByte = cursor.readByte(), let second = cursor.readByte() else {
      return .needMore
    }
    var length = UInt64(second & 0x7F)
    var form = LengthForm.short
    if length == 126 {
      guard let value = cursor.readUInt16() else { return .needMore }
      length = UInt64(value)
      form = .medium
    } else if length == 127 {
      guard let high = cursor.readUInt32(), let low = cursor.readUInt32() else { return .needMore }
      length = UInt64(high) << 32 | UInt64(low)
      form = .long
    }
    var key: UInt32?
    if second & 0x80 != 0 {
      guard let value = cursor.readUInt32() else { return .needMore }
      key = value
    }
    return .header(
      WebSocketFrameHeader(
        firstByte: firstByte, payloadLength: length, lengthForm: form, maskingKey: key))
  }

  /// FIN: whether the message ends with this frame.
  public var isFinal: Bool { firstByte & 0x80 != 0 }
  /// RSV1 to RSV3 as a number (0...7), RSV1 the highest.
  public var reservedBits: UInt8 { firstByte >> 4 & 0b111 }
  /// What the frame is.
  public var opcode: WebSocketOpcode { WebSocketOpcode(rawValue: firstByte) }
  /// Whether the payload is masked.
  public var isMasked: Bool { maskingKey != nil }
  /// The size of the header itself in bytes (2...14).
  public var size: Int { 2 + lengthForm.rawValue + (isMasked ? 4 : 0) }
  /// Whether the length is in its shortest form.
  public var isShortest: Bool { lengthForm == LengthForm(shortestFor: payloadLength) }

  /// The size of the whole frame in bytes; nil when the length is more than the 2^63 - 1 of the RFC,
  /// or so near to it that the size is.
  public var frameSize: Int? {
    guard let length = Int(exactly: payloadLength) else { return nil }
    let (size, overflow) = length.addingReportingOverflow(self.size)
    return overflow ? nil : size
  }

  /// Appends the header as it stands on the wire.
  /// - Parameter bytes: Where to append.
  public func append(to bytes: inout [UInt8]) {
    bytes.append(firstByte)
    let mask: UInt8 = isMasked ? 0x80 : 0
    switch lengthForm {
    case .short: bytes.append(mask | UInt8(truncatingIfNeeded: payloadLength & 0x7F))
    case .medium: bytes.append(mask | 126)
    case .long: bytes.append(mask | 127)
    }
    for index in (0..<lengthForm.rawValue).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: payloadLength >> UInt64(8 * index)))
    }
    guard let maskingKey else { return }
    for shift: UInt32 in [24, 16, 8, 0] {
      bytes.append(UInt8(truncatingIfNeeded: maskingKey >> shift))
    }
  }
}

extension WebSocketFrameHeader: StreamUnitHeader {
  /// The most bytes that a header takes: two, eight of a length, and four of a key.
  public static var largestSize: Int { 14 }
  /// The size of the frame in bytes; `Int.max` where that is more than a stream can have.
  public var unitSize: Int { frameSize ?? Int.max }

  /// Reads the header at an offset.
  @inline(__always)
  public static func readUnit(
    _ bytes: RawSpan, at offset: Int
  ) -> StreamUnitReading<WebSocketFrameHeader> {
    switch read(bytes, at: offset) {
    case .header(let header): header.frameSize == nil ? .unbounded(header) : .header(header)
    case .needMore: .needMore
    }
  }

  /// The error for a frame whose length can't be.
  public static func endlessUnit(at offset: Int) -> WebSocketFramingError {
    WebSocketFramingError(.impossibleLength, at: offset)
  }
}
