/// Which part of a run a report is on.
public struct ReportShard: Sendable, Hashable, CustomStringConvertible {
  /// The number of the part, from 1 to ``count``.
  public let number: Int
  /// How many parts there are, from 1.
  public let count: Int
  /// How many scenarios all parts have, each counted once a world, or cases; nil where there are files, which may differ
  /// from machine to machine.
  public let cases: Int?
  /// Where its files stand among those of all parts, from 0, in the order in which they were named; nil where there are
  /// none, or nobody knows.
  public let places: [Int]?

  /// Creates the name of a part; nil for a number that is none of a part.
  /// - Parameters:
  ///   - number: The number of the part, from 1 to `count`.
  ///   - count: How many parts there are.
  ///   - cases: How many scenarios all parts have, each counted once a world, or cases; nil for files.
  ///   - places: Where its files stand among those of all parts, from 0.
  public init?(_ number: Int, of count: Int, cases: Int? = nil, places: [Int]? = nil) {
    guard number >= 1, number <= count, cases ?? 0 >= 0 else { return nil }
    (self.number, self.count, self.cases, self.places) = (number, count, cases, places)
  }

  /// The part and their number: `part 3 of 16`.
  public var description: String { "part \(number) of \(count)" }

  /// Checks that the parts among some reports are those of one run, each of them once.
  /// - Parameter parts: The reports, with the names of their files; those that are no parts are of no matter.
  /// - Throws: ``ReportError`` for a part that is missing, or twice, or of another run.
  static func check(
    _ parts: [(name: String, report: ConformanceReport)]
  ) throws(ReportError) {
    var names: [Int: String] = [:]
    var first: (name: String, shard: ReportShard)?
    let units = parts.first?.report.cases == nil ? "scenarios" : "cases"
    for (name, report) in parts {
      guard let shard = report.shard else { continue }
      if let first, first.shard.count != shard.count || first.shard.cases != shard.cases {
        throw ReportError(
          name,
          "it is \(shard.words(of: units)), and \(first.name) is \(first.shard.words(of: units))",
          "judge the parts of one run with the same N in --shard I/N, and all else alike")
      }
      if let other = names.updateValue(name, forKey: shard.number) {
        throw ReportError(
          name, "it is \(shard), and so is \(other)", "name the report on each part once")
      }
      first = first ?? (name, shard)
    }
    guard let first else { return }
    // A number that a report claims may be any; the names are as many as there are files.
    let missing = (1...first.shard.count).lazy.filter { names[$0] == nil }.prefix(9)
    guard missing.isEmpty else {
      let count = first.shard.count - names.count
      let numbers = missing.map { "\($0)" }.joined(separator: ", ")
      let isOne = count == 1
      throw ReportError(
        first.name,
        "it is \(first.shard), of which \(numbers)\(count > 9 ? " and others" : "") "
          + "\(isOne ? "is" : "are") missing",
        "name \(isOne ? "its report" : "their reports") as well")
    }
  }

  private func words(of units: String) -> String {
    cases.map { "\(self) with \($0) \(units) in all" } ?? "\(self)"
  }
}

extension ConformanceReport {
  /// The files of parts in the order in which they were named; nil where not every part tells that, or one is missing.
  static func inputsAsNamed(
    _ parts: [(name: String, report: ConformanceReport)]
  ) -> [String]? {
    var all: [(place: Int, input: String)] = []
    for (_, report) in parts {
      guard let places = report.shard?.places, places.count == report.inputs.count else {
        return nil
      }
      all += zip(places, report.inputs).map { ($0, $1) }
    }
    all.sort { $0.place < $1.place }
    return all.map(\.place) == Array(all.indices) ? all.map(\.input) : nil
  }

  /// Returns the report as that on a part of a run, as which it can be joined with those on the others.
  /// - Parameter shard: The part; nil for all.
  /// - Returns: The report.
  public func asPart(_ shard: ReportShard?) -> ConformanceReport {
    var report = self
    report.shard = shard
    return report
  }
}
