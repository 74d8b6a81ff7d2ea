/// Which of the events that match a page has: all of them, or as many as a browser moves through with ease.
///
/// Those that findings are about and rest on come first, then what is around them, and then those from the start on.
struct PageChoice: Equatable {
  /// The most events of a page, unless more or fewer are wanted.
  static let mostEvents = 100_000
  /// How many events before and after one with a finding belong to it.
  static let neighbours = 1_000

  /// The chosen events, as places among those that match, counted from 0; in order, and none touches another.
  private(set) var ranges: [Range<Int>]
  /// How many of them are there for a finding.
  private(set) var nearFindings = 0
  /// The range that the last event asked for was in, or the next one.
  private var current = 0

  /// Takes all events.
  init(all count: Int) { ranges = [0..<count] }

  /// Chooses.
  /// - Parameters:
  ///   - places: The events that have findings, in order.
  ///   - count: How many events match.
  ///   - most: How many may be chosen.
  ///   - neighbours: How many events before and after one with a finding are wanted.
  init(
    around places: [Int], of count: Int, most: Int,
    neighbours: Int = Self.neighbours
  ) {
    let most = max(0, most)
    ranges = Self.around(places, of: count, most: most, neighbours: max(0, neighbours))
    nearFindings = self.count
    fill(most - nearFindings, of: count)
  }

  /// The places with as many neighbours, up to a number, as there is room for: the first ones may have one more.
  private static func around(
    _ places: [Int], of count: Int, most: Int, neighbours: Int
  ) -> [Range<Int>] {
    guard !places.isEmpty else { return [] }
    func ranges(_ steps: Int) -> [Range<Int>] {
      let (reach, longer) = steps.quotientAndRemainder(dividingBy: places.count)
      var joined = PageChoice(all: 0)
      for (index, place) in places.enumerated() {
        let reach = index < longer ? reach + 1 : reach
        joined.append(max(0, place - reach)..<min(count, place + reach + 1))
      }
      return joined.ranges
    }
    func fits(_ steps: Int) -> Bool { ranges(steps).reduce(0) { $0 + $1.count } <= most }
    guard fits(0) else { return Self.first(most, of: places) }
    var (least, beyond) = (0, neighbours * places.count + 1)
    while beyond - least > 1 {
      let middle = (least + beyond) / 2
      if fits(middle) { least = middle } else { beyond = middle }
    }
    return ranges(least)
  }

  /// The first of some places, without neighbours.
  private static func first(_ most: Int, of places: [Int]) -> [Range<Int>] {
    var chosen = PageChoice(all: 0)
    var room = most
    for place in places where room > 0 {
      guard chosen.ranges.last?.contains(place) != true else { continue }
      chosen.append(place..<place + 1)
      room -= 1
    }
    return chosen.ranges
  }

  /// Takes an event.
  /// - Parameter place: Its place among those that match; they are asked for in order.
  /// - Returns: Whether it is chosen.
  mutating func contains(_ place: Int) -> Bool {
    while current < ranges.count, ranges[current].upperBound <= place { current += 1 }
    return current < ranges.count && ranges[current].contains(place)
  }

  /// How many events are chosen.
  var count: Int { ranges.reduce(0) { $0 + $1.count } }

  /// Takes what is free from the start on, until there is no room.
  private mutating func fill(_ room: Int, of count: Int) {
    var room = room
    var start = 0
    let near = ranges
    ranges = []
    for range in near + [count..<count] {
      let end = min(range.lowerBound, start + room)
      if start < end {
        room -= end - start
        append(start..<end)
      }
      if !range.isEmpty { append(range) }
      start = range.upperBound
    }
  }

  private mutating func append(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    if let last = ranges.last, last.upperBound >= range.lowerBound {
      let start = min(last.lowerBound, range.lowerBound)
      ranges[ranges.count - 1] = start..<max(last.upperBound, range.upperBound)
    } else {
      ranges.append(range)
    }
  }
}
