/// Bytes written as hex digits, with spaces wherever they help a reader.
func hex(_ text: String) -> [UInt8] {
  let digits = text.compactMap(\.hexDigitValue)
  precondition(digits.count % 2 == 0, "an odd number of hex digits: \(text)")
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

extension [UInt8] {
  /// The bytes as hex digits, for messages of failures.
  var hexDescription: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: " ")
  }
}
