/// Questions about text on the wire.
public enum UTF8Text {
  /// Tells whether bytes are well-formed UTF-8 (RFC 3629), surrogates and overlong forms excluded.
  @inline(__always)
  public static func isWellFormed(_ bytes: RawSpan) -> Bool {
    firstInvalidByte(in: bytes) == nil
  }

  /// Finds where bytes stop being well-formed UTF-8.
  /// - Parameter bytes: The bytes.
  /// - Returns: The offset of the first byte of what is none; nil where all of it is.
  @inline(__always)
  public static func firstInvalidByte(in bytes: RawSpan) -> Int? { TextScan(bytes).invalidUTF8 }
}
