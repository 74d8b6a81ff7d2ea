/// How often values of a range came: quantiles of any number of them, in memory that does not grow with it.
///
/// The buckets are log-linear, as those of an HDR histogram: below 2^``precision`` each value has one of its own,
/// and above each octave is cut into 2^``precision`` of equal width. A quantile is the middle of the bucket that the
/// value of that rank lies in, so it is off by at most ``relativeError`` of that value. Count, sum, least and
/// greatest value are exact.
package struct Histogram: Sendable, Hashable {
  /// How fine the buckets are: 2^precision of them an octave, 1 to 12.
  let precision: Int
  /// How many values there were.
  package private(set) var count = 0
  /// What they add up to; as much as a number can say, if that is more.
  package private(set) var sum = 0
  /// The least value; 0 without any.
  package private(set) var minimum = 0
  /// The greatest value; 0 without any.
  package private(set) var maximum = 0
  /// The counts of the buckets from ``first`` on, as far as they are used.
  private var buckets: [Int] = []
  private var first = 0

  /// Creates an empty histogram.
  /// - Parameter precision: How fine the buckets are; what is out of 1 to 12 is taken for the nearest of them.
  package init(precision: Int) { self.precision = min(max(1, precision), 12) }

  /// The most that a quantile is off, as a part of the value: 2^-(precision + 1).
  package var relativeError: Double { 1 / Double(2 << precision) }

  /// The mean; 0 without values.
  package var mean: Double { count == 0 ? 0 : Double(sum) / Double(count) }

  /// Counts a value.
  /// - Parameter value: The value; a negative one counts as 0.
  package mutating func add(_ value: Int) {
    let value = max(0, value)
    minimum = count == 0 ? value : min(minimum, value)
    maximum = max(maximum, value)
    count += 1
    sum.addSaturating(value)
    let bucket = index(of: value)
    makeRoom(for: bucket)
    buckets[bucket - first] += 1
  }

  /// Returns the value below or at which a part of all values lie.
  /// - Parameter part: The part, 0 to 1: 0.5 is the median, 1 the greatest value.
  /// - Returns: The value of that rank, off by at most ``relativeError`` of itself; nil without values.
  package func quantile(_ part: Double) -> Int? {
    guard count > 0 else { return nil }
    let rank = (part * Double(count)).rounded(.up)
    guard rank < Double(count) else { return maximum }
    guard rank > 1 else { return minimum }
    var passed = 0
    for (offset, amount) in buckets.enumerated() {
      passed += amount
      if Double(passed) >= rank {
        return min(max(middle(of: first + offset), minimum), maximum)
      }
    }
    return maximum
  }

  private func index(of value: Int) -> Int {
    let octave = value < 1 << precision ? 0 : 63 - value.leadingZeroBitCount - precision
    return octave << precision + value >> octave
  }

  private func middle(of index: Int) -> Int {
    guard index >= 2 << precision else { return index }
    let octave = index >> precision - 1
    let low = (index - octave << precision) << octave
    return low + (1 << octave) / 2
  }

  private mutating func makeRoom(for bucket: Int) {
    if buckets.isEmpty {
      first = bucket
      buckets.append(0)
    } else if bucket < first {
      buckets.insert(contentsOf: repeatElement(0, count: first - bucket), at: 0)
      first = bucket
    } else if bucket >= first + buckets.count {
      buckets.append(contentsOf: repeatElement(0, count: bucket - first - buckets.count + 1))
    }
  }
}

extension Int {
  /// Adds a number that is not negative; what is more than a number can say becomes the greatest.
  mutating func addSaturating(_ other: Int) {
    let (sum, overflow) = addingReportingOverflow(other)
    self = overflow ? .max : sum
  }
}
