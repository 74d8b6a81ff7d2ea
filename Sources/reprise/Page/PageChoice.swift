/// Which of the events that match a page has: all of them, or as many as a browser moves through with ease.
///
/// Those around findings come first, and then those from the start on.
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
    ranges = []
    var room = max(0, most)
    for place in places where room > 0 {
      let start = max(place - neighbours, ranges.last?.upperBound ?? 0)
      let end = min(place + neighbours + 1, count, start + room)
      guard start < end else { continue }
      room -= end - start
      append(start..<end)
    }
    nearFindings = max(0, most) - room
    fill(room, of: count)
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
    if let last = ranges.last, last.upperBound >= range.lowerBound {
      ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
    } else {
      ranges.append(range)
    }
  }
}
