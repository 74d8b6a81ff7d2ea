/// Numbers with their units, for people.
enum Quantities {
  /// A whole number, its thousands apart: 852,932.
  static func count(_ value: Int) -> String {
    let digits = String(value.magnitude)
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
      text.append(digit)
    }
    return value < 0 ? "-" + text : text
  }

  /// The same, with a dot in the middle for none.
  static func countOrNone(_ value: Int) -> String { value == 0 ? "·" : count(value) }

  /// A number of bytes: 812 B, 2.1 KiB.
  static func bytes(_ value: Int) -> String {
    scaled(Double(value), by: 1_024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"])
  }

  /// A time: 71 µs, 1.21 s, 2 min 05 s, 3 h 02 min.
  static func duration(_ nanoseconds: Int) -> String {
    let seconds = Double(nanoseconds) / 1e9
    guard seconds >= 99.95 else {
      return scaled(Double(nanoseconds), by: 1_000, ["ns", "µs", "ms", "s"])
    }
    let whole = Int(seconds.rounded())
    guard whole >= 6_000 else { return "\(whole / 60) min \(twoDigits(whole % 60)) s" }
    let minutes = whole / 60
    guard minutes >= 6_000 else { return "\(minutes / 60) h \(twoDigits(minutes % 60)) min" }
    return "\(minutes / 1_440) d \(twoDigits(minutes / 60 % 24)) h"
  }

  /// A time in at most six columns, where it is shorter than a minute and a half: 71 µs, 1.2 ms, 12 s.
  static func shortDuration(_ nanoseconds: Int) -> String {
    guard nanoseconds < 99_500_000_000 else { return duration(nanoseconds) }
    var value = Double(nanoseconds)
    var unit = 0
    while value >= 999.5, unit < 3 {
      value /= 1_000
      unit += 1
    }
    let places = unit > 0 && value < 9.95 ? 1 : 0
    return "\(decimal(value, places: places)) \(["ns", "µs", "ms", "s"][unit])"
  }

  /// How many a second: 53.7/s, 2/min.
  static func rate(_ count: Int, in nanoseconds: Int) -> String {
    guard nanoseconds > 0, count > 0 else { return "·" }
    let perSecond = Double(count) * 1e9 / Double(nanoseconds)
    if perSecond >= 1 { return digits(perSecond) + "/s" }
    if perSecond * 60 >= 1 { return digits(perSecond * 60) + "/min" }
    return digits(perSecond * 3_600) + "/h"
  }

  /// Seconds as a decimal number with all digits of the nanoseconds: 0.000071.
  static func seconds(_ nanoseconds: Int) -> String {
    let magnitude = nanoseconds.magnitude
    let fraction = String(magnitude % 1_000_000_000)
    var text = String(repeating: "0", count: 9 - fraction.count) + fraction
    while text.last == "0" { text.removeLast() }
    let sign = nanoseconds < 0 ? "-" : ""
    return sign + String(magnitude / 1_000_000_000) + (text.isEmpty ? "" : "." + text)
  }

  /// A number with a point and at most so many digits behind it.
  static func decimal(_ value: Double, places: Int) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return "0" }
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    let scaled = Int((abs(value) * scale).rounded())
    let whole = scaled / Int(scale)
    let rest = String(scaled % Int(scale))
    guard places > 0 else { return (value < 0 ? "-" : "") + String(whole) }
    let fraction = String(repeating: "0", count: places - rest.count) + rest
    return (value < 0 ? "-" : "") + "\(whole).\(fraction)"
  }

  private static func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }

  /// Three digits, or as many as are in front of the point.
  private static func digits(_ value: Double) -> String {
    switch value {
    case ..<9.995: decimal(value, places: 2)
    case ..<99.95: decimal(value, places: 1)
    default: count(Int(value.rounded()))
    }
  }

  private static func scaled(_ value: Double, by factor: Double, _ units: [String]) -> String {
    var value = value
    var unit = 0
    while value >= factor - 0.5, unit < units.count - 1 {
      value /= factor
      unit += 1
    }
    let number = unit == 0 ? count(Int(value.rounded())) : digits(value)
    return "\(number) \(units[unit])"
  }
}
