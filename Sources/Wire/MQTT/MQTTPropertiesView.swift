/// The properties of a packet, read one by one from borrowed bytes.
///
/// Reading ends at the first property that can't be read; the packet's faults say why.
public struct MQTTPropertiesView: ~Escapable {
  private var cursor: ByteCursor

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, in range: ByteRange) {
    let bounds = range.bounds
    cursor = ByteCursor(bytes, from: bounds.lowerBound, to: bounds.upperBound)
  }

  /// Returns the next property, or nil at the end.
  public mutating func next() -> MQTTPropertyView? {
    MQTTPropertyView(&cursor)
  }

  /// Returns the integer value of a property, or nil when it does not stand here.
  /// - Parameter id: A property whose value is an integer.
  /// - Returns: The value where the property first stands.
  public func integer(_ id: MQTTPropertyID) -> Int? {
    var rest = self
    while let property = rest.next() {
      if property.id == id { return property.integer }
    }
    return nil
  }

  /// Copies all properties out.
  public func copied(from bytes: RawSpan) -> [MQTTProperty] {
    var rest = self
    var result: [MQTTProperty] = []
    while let property = rest.next() {
      result.append(property.copied(from: bytes))
    }
    return result
  }
}

/// One property in a packet: its identifier and where its value stands.
public struct MQTTPropertyView: Sendable {
  /// Which property it is.
  public let id: MQTTPropertyID
  /// The value of a property whose kind is a number; 0 for the others.
  public let integer: Int
  /// Where the property starts, in bytes from the first byte of the packet.
  public let offset: Int
  /// The bytes of the identifier; more than 1 is a fault.
  let identifierSize: Int
  let first: ByteRange
  let second: ByteRange

  /// Reads the property at the cursor; nil at the end or when it can't be read.
  init?(_ cursor: inout ByteCursor) {
    offset = cursor.offset
    guard let identifier = Self.readIdentifier(&cursor) else { return nil }
    let id = identifier.id
    self.id = id
    identifierSize = identifier.size
    var integer: Int? = 0
    var first: ByteRange? = .empty
    var second: ByteRange? = .empty
    switch id.kind {
    case .byte: integer = cursor.readByte().map(Int.init)
    case .twoByteInteger: integer = cursor.readUInt16().map(Int.init)
    case .fourByteInteger: integer = cursor.readUInt32().map(Int.init)
    case .variableByteInteger:
      if case .value(let value, _) = cursor.readVariableByteInteger() {
        integer = value
      } else {
        integer = nil
      }
    case .string, .binary: first = cursor.readPrefixed()
    case .stringPair:
      first = cursor.readPrefixed()
      second = first == nil ? nil : cursor.readPrefixed()
    }
    guard let integer, let first, let second else { return nil }
    self.integer = integer
    self.first = first
    self.second = second
  }

  /// Reads an identifier, a Variable Byte Integer below 128; nil at the end and for one that there is not.
  @inline(__always)
  static func readIdentifier(_ cursor: inout ByteCursor) -> (id: MQTTPropertyID, size: Int)? {
    guard !cursor.isAtEnd else { return nil }
    let byte = cursor.bytes.byte(at: cursor.offset)
    if byte < 0x80 {
      cursor.skip(1)
      return MQTTPropertyID(rawValue: byte).map { ($0, 1) }
    }
    guard case .value(let value, let size) = cursor.readVariableByteInteger(),
      let id = UInt8(exactly: value).flatMap(MQTTPropertyID.init)
    else { return nil }
    return (id, size)
  }

  /// The bytes of a string or of binary data; of a pair, the name.
  @_lifetime(copy bytes)
  public func bytes(in bytes: RawSpan) -> RawSpan { bytes.part(first) }

  /// The value of a user property.
  @_lifetime(copy bytes)
  public func secondBytes(in bytes: RawSpan) -> RawSpan { bytes.part(second) }

  /// Copies the property out of the packet that it was read from.
  public func copied(from bytes: RawSpan) -> MQTTProperty {
    switch id.kind {
    case .byte, .twoByteInteger, .fourByteInteger, .variableByteInteger:
      MQTTProperty(id, .integer(integer))
    case .string: MQTTProperty(id, .string(String(copying: self.bytes(in: bytes))))
    case .binary: MQTTProperty(id, .binary(Array(copying: self.bytes(in: bytes))))
    case .stringPair:
      MQTTProperty(
        id, .pair(String(copying: self.bytes(in: bytes)), String(copying: secondBytes(in: bytes))))
    }
  }
}

extension String {
  /// Copies UTF-8 out of borrowed bytes; what is not well-formed becomes U+FFFD.
  public init(copying bytes: RawSpan) {
    self = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }
}

extension [UInt8] {
  /// Copies borrowed bytes.
  public init(copying bytes: RawSpan) {
    self = bytes.withUnsafeBytes { Array($0) }
  }
}
