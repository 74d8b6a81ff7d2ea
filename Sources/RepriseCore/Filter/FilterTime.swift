/// A time as a filter expression writes it.
struct FilterTime {
  let value: FilterValue

  /// Reads `2026-11-21T07:39:01Z`, `07:39`, `07:39:01.5` or `+2s` (`ms`, `s`, `m`, `h`).
  init?(_ text: String) {
    if let moment = Timestamp(text) {
      value = .moment(moment)
    } else if text.hasPrefix("+") {
      guard let nanoseconds = Self.duration(text.dropFirst()) else { return nil }
      value = .sinceStart(nanoseconds)
    } else {
      guard let nanoseconds = Self.timeOfDay(text) else { return nil }
      value = .timeOfDay(nanoseconds)
    }
  }

  private static func duration(_ text: Substring) -> Int64? {
    let units: [(name: String, nanoseconds: Int64)] = [
      ("ms", 1_000_000), ("us", 1_000), ("ns", 1), ("s", 1_000_000_000),
      ("m", 60_000_000_000), ("h", 3_600_000_000_000),
    ]
    for unit in units where text.hasSuffix(unit.name) {
      return scaled(text.dropLast(unit.name.count), by: unit.nanoseconds)
    }
    return nil
  }

  private static func timeOfDay(_ text: String) -> Int64? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2 || parts.count == 3,
      let hour = scaled(parts[0], by: 1), hour < 24, let minute = scaled(parts[1], by: 1),
      minute < 60
    else { return nil }
    let second = parts.count == 3 ? scaled(parts[2], by: 1_000_000_000) : 0
    guard let second, second < 60_000_000_000 else { return nil }
    return (hour * 3_600 + minute * 60) * 1_000_000_000 + second
  }

  /// Reads a decimal number and multiplies it; nil for anything else and for too large ones.
  private static func scaled(_ text: Substring, by unit: Int64) -> Int64? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, let whole = parts.first, isDigits(whole), let value = Int64(whole)
    else { return nil }
    let (scaled, overflow) = value.multipliedReportingOverflow(by: unit)
    guard !overflow else { return nil }
    guard parts.count == 2, let digits = parts.last else { return scaled }
    guard unit > 1, isDigits(digits), digits.count <= 9, let numerator = Int64(digits) else {
      return nil
    }
    var denominator: Int64 = 1
    for _ in 0..<digits.count { denominator *= 10 }
    // The fraction is below one, so the product is below `unit`, in Double's exact range.
    let fraction = Int64(Double(numerator) / Double(denominator) * Double(unit) + 0.5)
    let (sum, sumOverflow) = scaled.addingReportingOverflow(fraction)
    return sumOverflow ? nil : sum
  }

  private static func isDigits(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
  }
}
