/// Two sequences laid side by side: which places of one belong to which of the other, in order.
///
/// Three ways, each for what the one before left: what is equal at both ends; what stands once in each (as in patience
/// diff), which takes time and memory by length alone; and the shortest way from one to the other (Myers, 1986), which
/// takes them by how much differs, and is given up where that is very much.
struct Alignment {
  /// A run of places in both that do not belong together, between two that do.
  struct Hunk: Equatable {
    var a: Range<Int>
    var b: Range<Int>
  }

  /// The places that belong together, in order.
  private(set) var pairs: [(a: Int, b: Int)] = []
  /// Whether there was too much that differs to look for the shortest way.
  private(set) var isRough = false
  private let a: [UInt64]
  private let b: [UInt64]
  /// The longest way that is looked for.
  private static let longestWay = 1_000

  /// Lays two sequences side by side.
  init(_ a: [UInt64], _ b: [UInt64]) {
    self.a = a
    self.b = b
    align(Hunk(a: a.indices, b: b.indices), isSplit: false)
  }

  /// What lies between the pairs.
  var hunks: [Hunk] {
    var hunks: [Hunk] = []
    var next = (a: 0, b: 0)
    for pair in pairs + [(a.count, b.count)] {
      if pair.a > next.a || pair.b > next.b {
        hunks.append(Hunk(a: next.a..<pair.a, b: next.b..<pair.b))
      }
      next = (pair.a + 1, pair.b + 1)
    }
    return hunks
  }

  private mutating func align(_ hunk: Hunk, isSplit: Bool) {
    var low = (a: hunk.a.lowerBound, b: hunk.b.lowerBound)
    var high = (a: hunk.a.upperBound, b: hunk.b.upperBound)
    while low.a < high.a, low.b < high.b, a[low.a] == b[low.b] {
      pairs.append(low)
      low = (low.a + 1, low.b + 1)
    }
    var suffix: [(a: Int, b: Int)] = []
    while low.a < high.a, low.b < high.b, a[high.a - 1] == b[high.b - 1] {
      high = (high.a - 1, high.b - 1)
      suffix.append(high)
    }
    if low.a < high.a, low.b < high.b {
      let middle = Hunk(a: low.a..<high.a, b: low.b..<high.b)
      if isSplit { alignShortest(middle) } else { split(middle) }
    }
    pairs += suffix.reversed()
  }

  // MARK: What stands once

  private mutating func split(_ hunk: Hunk) {
    var next = (a: hunk.a.lowerBound, b: hunk.b.lowerBound)
    for anchor in anchors(hunk) + [(hunk.a.upperBound, hunk.b.upperBound)] {
      align(Hunk(a: next.a..<anchor.a, b: next.b..<anchor.b), isSplit: true)
      guard anchor.a < hunk.a.upperBound else { return }
      pairs.append(anchor)
      next = (anchor.a + 1, anchor.b + 1)
    }
  }

  /// The longest series of what stands once in both, in the order of both.
  private func anchors(_ hunk: Hunk) -> [(a: Int, b: Int)] {
    let placesB = Self.once(b, in: hunk.b)
    let once = Self.once(a, in: hunk.a).compactMap { value, index in
      placesB[value].map { (a: index, b: $0) }
    }
    return Self.longestRising(once.sorted { $0.a < $1.a })
  }

  /// What stands once in a part of a sequence, with its place.
  private static func once(_ values: [UInt64], in range: Range<Int>) -> [UInt64: Int] {
    var places: [UInt64: Int?] = [:]
    for index in range { places[values[index]] = .some(places[values[index]] == nil ? index : nil) }
    return places.compactMapValues(\.self)
  }

  /// The longest part of a series that rises in b, too.
  private static func longestRising(_ series: [(a: Int, b: Int)]) -> [(a: Int, b: Int)] {
    // Of each length the end that is lowest in b, as an index of the series.
    var ends: [Int] = []
    var before = [Int?](repeating: nil, count: series.count)
    for (index, place) in series.enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if series[ends[middle]].b < place.b { low = middle + 1 } else { high = middle }
      }
      before[index] = low > 0 ? ends[low - 1] : nil
      if low < ends.count { ends[low] = index } else { ends.append(index) }
    }
    var result: [(a: Int, b: Int)] = []
    var next = ends.last
    while let index = next {
      result.append(series[index])
      next = before[index]
    }
    return result.reversed()
  }

  // MARK: The shortest way

  private mutating func alignShortest(_ hunk: Hunk) {
    let (countA, countB) = (hunk.a.count, hunk.b.count)
    let longest = min(countA + countB, Self.longestWay)
    // Of each diagonal how far a way has come in a, for each number of steps.
    var reached = [Int](repeating: 0, count: 2 * longest + 3)
    var history: [[Int]] = []
    for steps in 0...longest {
      history.append(Array(reached[(longest + 1 - steps - 1)...(longest + 1 + steps + 1)]))
      for diagonal in stride(from: -steps, through: steps, by: 2) {
        let (left, right) = (reached[longest + diagonal], reached[longest + diagonal + 2])
        let goesDown = diagonal == -steps || (diagonal != steps && left < right)
        var x = goesDown ? right : left + 1
        while x < countA, x - diagonal < countB, x >= diagonal,
          a[hunk.a.lowerBound + x] == b[hunk.b.lowerBound + x - diagonal]
        {
          x += 1
        }
        reached[longest + 1 + diagonal] = x
        if x >= countA, x - diagonal >= countB {
          return walkBack(hunk, history)
        }
      }
    }
    isRough = true
  }

  private mutating func walkBack(_ hunk: Hunk, _ history: [[Int]]) {
    var place = (x: hunk.a.count, y: hunk.b.count)
    var found: [(a: Int, b: Int)] = []
    for steps in stride(from: history.count - 1, through: 0, by: -1) {
      let reached = history[steps]
      let diagonal = place.x - place.y
      // The row of this number of steps begins one diagonal before the lowest.
      let (left, right) = (reached[diagonal + steps], reached[diagonal + steps + 2])
      let goesDown = diagonal == -steps || (diagonal != steps && left < right)
      let x = goesDown ? right : left + 1
      let start = steps == 0 ? 0 : x
      while place.x > start, place.y > 0 {
        place = (place.x - 1, place.y - 1)
        found.append((hunk.a.lowerBound + place.x, hunk.b.lowerBound + place.y))
      }
      if steps > 0 { place = goesDown ? (place.x, place.y - 1) : (place.x - 1, place.y) }
    }
    pairs += found.reversed()
  }
}
