public import RepriseCore

/// A temperature in tenths of a degree Celsius: exact, so that the same sums give the same message on every run.
public struct Temperature: Sendable, Hashable {
  /// The tenths of a degree.
  public var tenths: Int

  /// Creates a temperature.
  /// - Parameter tenths: The tenths of a degree.
  public init(tenths: Int) { self.tenths = tenths }

  /// Creates a temperature, to the nearest tenth; nil for what no room has.
  /// - Parameter degrees: The degrees, −100 to 100.
  public init?(degrees: Double) {
    guard (-100...100).contains(degrees) else { return nil }
    tenths = Int((degrees * 10).rounded())
  }

  /// The degrees.
  public var degrees: Double { Double(tenths) / 10 }
}

extension Temperature: Comparable {
  /// Tells whether one is colder than another.
  public static func < (lhs: Temperature, rhs: Temperature) -> Bool { lhs.tenths < rhs.tenths }
}

extension Temperature: ExpressibleByFloatLiteral {
  /// Creates a temperature that is written in the code: `20.5`.
  public init(floatLiteral degrees: Double) { tenths = Int((degrees * 10).rounded()) }
}

extension Temperature: JSONRepresentable {
  /// The degrees as a number.
  public var json: JSONValue { degrees.json }
}

extension Temperature: CustomStringConvertible {
  /// The degrees with their unit.
  public var description: String { "\(degrees) °C" }
}
