/// The status codes of Close frames (RFC 6455 section 7.4).
public enum WebSocketCloseCode {
  /// Tells whether a code may stand in a Close frame.
  ///
  /// Of 1000 to 2999 only those may that are registered, which today are 1000 to 1003 and 1007 to
  /// 1014; 1005, 1006 and 1015 are for programs to say that there was no frame. Libraries and
  /// applications have 3000 to 4999 (section 7.4.2).
  /// - Parameter code: The first two bytes of the payload.
  /// - Returns: Whether it may.
  public static func mayBeSent(_ code: UInt16) -> Bool {
    switch code {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }
}
