import Statistics
import TestSupport
import Testing

/// The most frequent names against a count of all of them.
@Suite struct TopTableTests {
  private static func add(
    _ name: String, weight: Int = 1, to table: inout TopTable<Int>
  ) {
    let bytes = Array(name.utf8)
    table.add(bytes.span.bytes, weight: weight) { $0 += weight }
  }

  private static func text(_ name: Name) -> String { String(decoding: name.start, as: UTF8.self) }

  @Test func isExactWhileThereIsRoom() {
    var random = SplitMix64(seed: 1)
    var table = TopTable(capacity: 50) { 0 }
    var exact: [String: Int] = [:]
    for _ in 0..<5_000 {
      let name = "topic/\(random.int(0...49))"
      Self.add(name, to: &table)
      exact[name, default: 0] += 1
    }
    let top = table.top(.max)
    #expect(table.replacements == 0 && top.count == exact.count)
    for entry in top {
      let count = exact[Self.text(entry.name)]
      #expect(entry.count == count && entry.value == count && entry.error == 0)
    }
    #expect(zip(top, top.dropFirst()).allSatisfy { $0.count >= $1.count })
  }

  /// Metwally's bounds: no count is too small, none too large by more than its error, no error above the total
  /// divided by the entries, and whoever came more often than that is there.
  @Test(arguments: 0..<20) func keepsItsBoundsWhereThereIsNone(_ seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    let capacity = random.int(1...40)
    var table = TopTable(capacity: capacity) { 0 }
    var exact: [String: Int] = [:]
    var total = 0
    for _ in 0..<4_000 {
      // Few names are frequent and many are not.
      let name = "t\(random.int(0...random.int(0...random.int(1...400))))"
      let weight = seed.isMultiple(of: 2) ? 1 : random.int(0...5)
      Self.add(name, weight: weight, to: &table)
      exact[name, default: 0] += weight
      total += weight
    }
    let top = table.top(.max)
    #expect(top.count == min(capacity, exact.count) && table.count == top.count)
    #expect(top.reduce(0) { $0 + $1.count } == total)
    for entry in top {
      let count = exact[Self.text(entry.name)] ?? 0
      #expect(entry.count >= count && entry.count - entry.error <= count)
      #expect(entry.error <= total / capacity)
      #expect(entry.value <= count)
    }
    let known = Set(top.map { Self.text($0.name) })
    for (name, count) in exact where count > total / capacity { #expect(known.contains(name)) }
  }

  @Test func tellsLongNamesApartAndShowsTheirStart() {
    var table = TopTable(capacity: 10) { 0 }
    let start = String(repeating: "a", count: 300)
    Self.add(start + "1", to: &table)
    Self.add(start + "2", to: &table)
    Self.add(start + "2", to: &table)
    Self.add(String(start.prefix(256)), to: &table)
    let top = table.top(.max)
    #expect(top.map(\.count) == [2, 1, 1])
    #expect(Set(top.map { Self.text($0.name) }) == [String(start.prefix(256))])
    #expect(top.filter { $0.name.isCut }.count == 2)
  }
}
