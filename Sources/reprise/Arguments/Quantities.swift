import Capture

/// Sizes, durations and numbers as they are typed.
extension Arguments {
  /// The value of an option that is a number of bytes: `4096`, `64K`, `50M`, `2G`.
  /// - Throws: ``UsageError`` for anything else.
  func size(_ option: OptionSpec) throws(UsageError) -> Int? {
    guard let text = value(option) else { return nil }
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let shifts: [Substring: Int] = ["": 0, "K": 10, "M": 20, "G": 30, "T": 40]
    guard let number = Int(digits),
      let shift = shifts[Substring(text[digits.endIndex...].uppercased())]
    else {
      throw UsageError(
        "--\(option.name) can't be '\(text)'", "type a number of bytes, or one with K, M or G: 50M")
    }
    let (bytes, overflow) = number.multipliedReportingOverflow(by: 1 << shift)
    guard !overflow else {
      throw UsageError("--\(option.name) \(text) is too large", "type a smaller size: 50M")
    }
    return bytes
  }

  /// The memory that there is for what grows with the input, in bytes: all that the process may take, without its own
  /// pages and what has one size whatever is read.
  /// - Throws: ``UsageError`` for a `--memory` that is no size.
  func memory() throws(UsageError) -> Int {
    let all = try size(.memory) ?? InputOptions.defaultMemory
    return all < 2 * Self.ofProcess ? all / 2 : all - Self.ofProcess
  }

  private static let ofProcess = 48 << 20

  /// The value of an option that is a time: `500ms`, `90s`, `10m`, `1h30m`, `2d`.
  /// - Throws: ``UsageError`` for anything else, and for no time at all.
  func duration(_ option: OptionSpec) throws(UsageError) -> Duration? {
    guard let text = value(option) else { return nil }
    guard let milliseconds = Self.milliseconds(text) else {
      throw UsageError(
        "--\(option.name) can't be '\(text)'",
        "type numbers with their units, ms, s, m, h or d: 90s, 10m, 1h30m")
    }
    guard milliseconds > 0 else {
      throw UsageError("--\(option.name) can't be '\(text)'", "type a time longer than 0: 90s")
    }
    return .milliseconds(milliseconds)
  }

  /// The value of an option that is a whole number from 1.
  /// - Throws: ``UsageError`` for anything else.
  func count(_ option: OptionSpec) throws(UsageError) -> Int? {
    guard let text = value(option) else { return nil }
    guard let number = Int(text), number > 0, text.first != "+" else {
      throw UsageError(
        "--\(option.name) can't be '\(text)'", "type a whole number, 1 or more: 1000")
    }
    return number
  }

  /// The milliseconds of a time as it is typed; nil for anything else.
  static func milliseconds(_ text: String) -> Int? {
    let units: [Substring: Int] = [
      "ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000,
    ]
    var rest = text[...]
    var sum = 0
    repeat {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      rest = rest[digits.endIndex...]
      let name = rest.prefix { $0.isLetter }
      rest = rest[name.endIndex...]
      guard let number = Int(digits), let unit = units[name] else { return nil }
      let (product, overflow) = number.multipliedReportingOverflow(by: unit)
      let (total, sumOverflow) = sum.addingReportingOverflow(product)
      guard !overflow, !sumOverflow else { return nil }
      sum = total
    } while !rest.isEmpty
    return sum
  }
}
