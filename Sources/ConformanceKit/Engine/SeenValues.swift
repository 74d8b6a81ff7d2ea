import DataClient

// Values as findings show them.
extension UInt8 {
  /// The byte as 0x1F.
  var hexadecimal: String {
    (self < 16 ? "0x0" : "0x") + String(self, radix: 16, uppercase: true)
  }
}

extension Timestamp {
  /// The time since an earlier moment as text, to the millisecond: `61.204 s`.
  func seconds(since earlier: Timestamp) -> String {
    Self.seconds(nanoseconds(since: earlier))
  }

  /// A number of nanoseconds as seconds, to the millisecond.
  static func seconds(_ nanoseconds: Int64) -> String {
    "\((Double(nanoseconds) / 1_000_000).rounded() / 1_000) s"
  }
}
