/// A moment on the wire, in nanoseconds since 1970-01-01T00:00:00Z.
///
/// Captures resolve at best nanoseconds, so nothing is lost in it. The range reaches from the year
/// 1677 to 2262.
public struct Timestamp: Sendable, Hashable, Comparable {
  /// Nanoseconds since 1970-01-01T00:00:00Z; negative before.
  public var nanoseconds: Int64

  /// Creates a moment from nanoseconds since 1970-01-01T00:00:00Z.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Tells whether one moment is before another.
  public static func < (lhs: Timestamp, rhs: Timestamp) -> Bool {
    lhs.nanoseconds < rhs.nanoseconds
  }

  /// Returns the nanoseconds from an earlier moment to this one; clamped, never overflowing.
  public func nanoseconds(since earlier: Timestamp) -> Int64 {
    let (difference, overflow) = nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
    guard overflow else { return difference }
    return nanoseconds < 0 ? .min : .max
  }
}

extension Timestamp: CustomStringConvertible {
  /// The moment as RFC 3339 in UTC with six digits of a second, or nine where they are needed.
  public var description: String {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends the description's ASCII to a buffer, without making a string of it.
  public func append(to bytes: inout [UInt8]) { bytes.appendShort(atMost: 30) { append(to: &$0) } }

  /// Appends the description's ASCII: at most 30 bytes.
  func append(to text: inout OutputSpan<UInt8>) {
    let (second, fraction) = Self.floorDivide(nanoseconds, by: 1_000_000_000)
    let (day, secondOfDay) = Self.floorDivide(second, by: 86_400)
    let (year, month, dayOfMonth) = Self.civil(fromDays: day)
    // At places that are known beforehand: each byte that is appended looks for its room.
    var digits = InlineArray<30, UInt8>(repeating: UInt8(ascii: "-"))
    Self.put(UInt64(year / 100), at: 0, in: &digits)
    Self.put(UInt64(year), at: 2, in: &digits)
    Self.put(UInt64(month), at: 5, in: &digits)
    Self.put(UInt64(dayOfMonth), at: 8, in: &digits)
    digits[10] = UInt8(ascii: "T")
    Self.put(UInt64(secondOfDay / 3_600), at: 11, in: &digits)
    digits[13] = UInt8(ascii: ":")
    Self.put(UInt64(secondOfDay / 60 % 60), at: 14, in: &digits)
    digits[16] = UInt8(ascii: ":")
    Self.put(UInt64(secondOfDay % 60), at: 17, in: &digits)
    digits[19] = UInt8(ascii: ".")
    let microsecond = UInt64(fraction / 1_000)
    Self.put(microsecond / 10_000, at: 20, in: &digits)
    Self.put(microsecond / 100, at: 22, in: &digits)
    Self.put(microsecond, at: 24, in: &digits)
    let rest = UInt64(fraction % 1_000)
    var end = 26
    if rest != 0 {
      digits[26] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / 100)
      Self.put(rest, at: 27, in: &digits)
      end = 29
    }
    digits[end] = UInt8(ascii: "Z")
    digits.span.bytes.extracting(first: end + 1).withUnsafeBytes { text.append(copying: $0) }
  }

  /// Writes the last two digits of a number in decimal.
  @inline(__always)
  private static func put(
    _ value: UInt64, at place: Int, in digits: inout InlineArray<30, UInt8>
  ) {
    let rest = UInt8(truncatingIfNeeded: value % 100)
    digits[place] = UInt8(ascii: "0") + rest / 10
    digits[place + 1] = UInt8(ascii: "0") + rest % 10
  }

  private static func floorDivide(_ value: Int64, by divisor: Int64) -> (Int64, Int64) {
    var (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    if remainder < 0 {
      quotient -= 1
      remainder += divisor
    }
    return (quotient, remainder)
  }

  /// The proleptic Gregorian date of a day counted from 1970-01-01.
  private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    // Days are counted from 0000-03-01, so that a leap day ends its year; 146,097 days make 400 years.
    let (era, dayOfEra) = floorDivide(days + 719_468, by: 146_097)
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }

  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let marchYear = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = floorDivide(marchYear, by: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}

extension Timestamp: LosslessStringConvertible {
  /// Reads what ``description`` writes: `2026-11-21T07:39:01.123456Z`.
  ///
  /// Any number of digits of a second up to nine is taken, and none too; the zone is `Z`.
  /// Returns nil for anything else, and for a date that does not exist or is out of range.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    func number(_ range: Range<Int>) -> Int64? {
      guard range.upperBound <= bytes.count else { return nil }
      var value: Int64 = 0
      for byte in bytes[range] {
        guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
        value = value * 10 + Int64(byte - UInt8(ascii: "0"))
      }
      return value
    }
    func has(_ character: Unicode.Scalar, at index: Int) -> Bool {
      index < bytes.count && bytes[index] == UInt8(ascii: character)
    }
    guard
      has("-", at: 4), has("-", at: 7), has("T", at: 10), has(":", at: 13), has(":", at: 16),
      let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
      let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
      (1...12).contains(month), hour < 24, minute < 60, second < 60, has("Z", at: bytes.count - 1)
    else { return nil }
    var fraction: Int64 = 0
    if bytes.count > 20 {
      let digits = bytes.count - 21
      guard has(".", at: 19), (1...9).contains(digits), let value = number(20..<(20 + digits))
      else { return nil }
      fraction = value
      for _ in digits..<9 { fraction *= 10 }
    }
    let days = Self.days(year: year, month: month, day: day)
    let (sameYear, sameMonth, sameDay) = Self.civil(fromDays: days)
    guard sameYear == year, sameMonth == month, sameDay == day else { return nil }
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, sumOverflow) = scaled.addingReportingOverflow(fraction)
    guard !overflow, !sumOverflow else { return nil }
    nanoseconds = sum
  }
}
