/// What became of all questions of one kind by one end.
package struct ExchangeTally: Sendable {
  /// How many were asked that were selected.
  package private(set) var asked = 0
  /// How many had no answer when their connection was closed or who asked gave up.
  package private(set) var unanswered = 0
  /// How many had no answer when the capture ended.
  package private(set) var stillOpen = 0
  /// Of how many the capture does not tell.
  package private(set) var undecided = 0
  /// The times to the answers, in nanoseconds.
  package private(set) var times = Histogram(precision: 7)
  /// Where the slowest of them was asked, and on whose connection; nil where there is none, and where that is not known.
  private(set) var slowest: (place: Place, client: Name?)?
  /// Where the first was asked that had no answer when its connection was closed.
  private(set) var firstUnanswered: Place?

  /// Creates an empty tally.
  package init() {}

  mutating func add(_ outcome: ExchangeOutcome, at place: Place, of client: Name?) {
    asked += 1
    switch outcome.result {
    case .answered(let nanoseconds, _):
      if nanoseconds > times.maximum || times.count == 0 { slowest = (place, client) }
      times.add(nanoseconds)
    case .unanswered:
      unanswered += 1
      if firstUnanswered == nil { firstUnanswered = place }
    case .stillOpen: stillOpen += 1
    case .undecided: undecided += 1
    }
  }
}

/// Where something stands.
package struct Place: Sendable, Hashable {
  /// The file, by its place among those that are read.
  var file: Int
  /// The frame; in a recording, the line.
  package var frame: Int
  /// The connection.
  package var connection: Int
}
