/// The header of a TLS record (RFC 8446 section 5.1), which looks like nothing else.
struct TLSRecord {
  static let headerSize = 5
  /// SSL 3.0 to TLS 1.3.
  static let versions = 0x0300...0x0304
  /// A fragment of 2^14 bytes, and what old ciphers add to it (RFC 5246 section 6.2.3).
  private static let longest = 16_384 + 2_048
  /// What a record of 1.3 may hold at most (RFC 8446 section 5.2).
  static let longest13 = 16_384 + 256
  /// The most bytes of a record, its header included.
  static let mostBytes = headerSize + longest

  static let changeCipherSpec: UInt8 = 20
  static let alert: UInt8 = 21
  /// Handshake messages, of which the hellos are the first.
  static let handshake: UInt8 = 22
  static let applicationData: UInt8 = 23

  let type: UInt8
  /// The bytes behind the header.
  let length: Int

  /// All bytes of it, the header included.
  var size: Int { Self.headerSize + length }

  /// Reads a header; nil if it is cut or can't be one.
  init?(_ bytes: RawSpan, at offset: Int = 0) {
    guard let type = bytes.uint8(at: offset), let version = bytes.uint16(at: offset &+ 1),
      let length = bytes.uint16(at: offset &+ 3), (20...24).contains(type),
      Self.versions.contains(Int(version)), (1...Self.longest).contains(Int(length))
    else { return nil }
    self.type = type
    self.length = Int(length)
  }

  /// Counts records that follow one another from a place on; the last one may go on beyond the bytes.
  /// - Parameters:
  ///   - bytes: The bytes of one direction.
  ///   - start: Where the first record would start.
  /// - Returns: How many headers there are, 0 if something else stands where one should, and
  ///   whether the last record ends where the bytes do.
  static func count(_ bytes: RawSpan, from start: Int) -> (headers: Int, isExact: Bool) {
    var headers = 0
    var place = start
    while place < bytes.byteCount, headers < 32 {
      guard bytes.byteCount - place >= headerSize else { return (headers, false) }
      guard let record = TLSRecord(bytes, at: place) else { return (0, false) }
      headers += 1
      place += headerSize + record.length
    }
    return (headers, place == bytes.byteCount)
  }
}
