/// What undoes the protection of the records of one direction with one key.
protocol TLSRecordCipher: AnyObject {
  /// How many bytes the fragment of a record has more than what is in it; nil where that differs.
  var overhead: Int? { get }

  /// Undoes the protection of a record.
  /// - Parameters:
  ///   - record: The record with its header, whole.
  ///   - sequence: Its number since the key is in use.
  ///   - plain: Where the plain bytes go, those of 1.3 with their type and padding; at least
  ///     as large as the record.
  /// - Returns: How many plain bytes there are; nil if the record is not authentic, which a wrong key, a wrong
  ///   number and damage have in common.
  func open(_ record: RawSpan, sequence: UInt64, into plain: inout [UInt8]) -> Int?
}

extension TLSRecordCipher {
  /// The beginning of what records of 1.2 and before authenticate besides their content (RFC 5246 section 6.2.3).
  func additional(_ record: RawSpan, sequence: UInt64, count: Int) -> [UInt8] {
    var bytes = Self.bytes(of: sequence)
    for place in 0..<3 { bytes.append(record.uint8(at: place) ?? 0) }
    bytes.append(UInt8(truncatingIfNeeded: count >> 8))
    bytes.append(UInt8(truncatingIfNeeded: count))
    return bytes
  }

  static func bytes(of sequence: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: sequence >> UInt64(56 - 8 * $0)) }
  }
}
