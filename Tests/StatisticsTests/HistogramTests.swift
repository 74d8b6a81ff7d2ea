import Statistics
import TestSupport
import Testing

/// Quantiles against those of the sorted values.
@Suite struct HistogramTests {
  /// The value of a rank, as its definition says: the least that so large a part of all is not greater than.
  private static func exact(_ part: Double, of sorted: [Int]) -> Int {
    let rank = max(1, min(sorted.count, Int((part * Double(sorted.count)).rounded(.up))))
    return sorted[rank - 1]
  }

  private static let parts = [0, 0.001, 0.1, 0.25, 0.5, 0.9, 0.99, 0.999, 1]

  /// Values of one size, of all sizes, few and equal ones, and the greatest that there are.
  private static func values(_ kind: Int, _ random: inout SplitMix64) -> [Int] {
    let count = random.int(1...2_000)
    return (0..<count).map { _ in
      switch kind {
      case 0: random.int(0...1_000)
      case 1: Int.random(in: 0...Int.max, using: &random) >> random.int(0...62)
      case 2: random.pick([0, 7, 1_000_000, 1_000_001])
      default: Int.max - random.int(0...3)
      }
    }
  }

  @Test(arguments: [4, 6, 7], 0..<4)
  func isOffByNoMoreThanItSays(_ precision: Int, _ kind: Int) {
    var random = SplitMix64(seed: UInt64(precision * 10 + kind))
    for _ in 0..<40 {
      let values = Self.values(kind, &random)
      var histogram = Histogram(precision: precision)
      for value in values { histogram.add(value) }
      let sorted = values.sorted()
      #expect(histogram.count == values.count)
      #expect(histogram.minimum == sorted.first && histogram.maximum == sorted.last)
      for part in Self.parts {
        let exact = Self.exact(part, of: sorted)
        let told = histogram.quantile(part) ?? -1
        let error = abs(Double(told) - Double(exact))
        let most = histogram.relativeError * Double(exact) + 1e-9
        #expect(error <= most, "\(part): \(told), not \(exact)")
      }
    }
  }

  /// The bound is the best: some value is off by nearly as much.
  @Test func isOffByNearlyAsMuchAsItSays() {
    var histogram = Histogram(precision: 4)
    for value in [1, 32 << 20, 1 << 40] { histogram.add(value) }
    let told = histogram.quantile(0.5) ?? 0
    let error = Double(told - 32 << 20) / Double(32 << 20)
    #expect(error > histogram.relativeError * 0.9 && error <= histogram.relativeError)
  }

  @Test func isExactBelowItsBuckets() {
    var histogram = Histogram(precision: 4)
    for value in 0..<32 { histogram.add(value) }
    for rank in 1...32 { #expect(histogram.quantile(Double(rank) / 32) == rank - 1) }
    #expect(histogram.sum == 496 && histogram.mean == 15.5)
  }

  @Test func isNothingWithoutValues() {
    let histogram = Histogram(precision: 7)
    #expect(histogram.quantile(0.5) == nil && histogram.count == 0 && histogram.mean == 0)
  }

  @Test func takesNegativeOnesForNothingAndNeverOverflows() {
    var histogram = Histogram(precision: 7)
    histogram.add(-5)
    #expect(histogram.minimum == 0 && histogram.maximum == 0)
    for _ in 0..<3 { histogram.add(.max) }
    #expect(histogram.sum == .max && histogram.maximum == .max && histogram.count == 4)
  }
}
