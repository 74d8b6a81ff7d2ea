/// Questions about text on the wire.
public enum UTF8Text {
  /// Tells whether bytes are well-formed UTF-8 (RFC 3629), surrogates and overlong forms excluded.
  @inline(__always)
  public static func isWellFormed(_ bytes: RawSpan) -> Bool {
    TextScan(bytes).invalidUTF8 == nil
  }
}
