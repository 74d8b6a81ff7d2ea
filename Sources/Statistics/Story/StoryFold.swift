/// Tells connections that go as one before them in one line: a client that comes again and again fills no screen.
package struct StoryFold {
  /// Connections one behind the other that all go as some before them.
  package struct Repetition: Sendable, Hashable {
    /// The first sentence and the last that are left out.
    package var first: Sentence
    package var last: Sentence
    /// How many connections go as each of those before, by its number.
    var counts: [Int: Int]

    /// What there is to say of it, without a full stop.
    package var text: String {
      let count = counts.values.reduce(0, +)
      guard count > 1 else {
        return "goes as connection \(counts.keys.first ?? 0)"
      }
      let numbers = counts.keys.sorted()
      guard numbers.count > 1 else {
        return "\(count) connections go as connection \(numbers[0])"
      }
      let parts = numbers.map { "\(counts[$0] ?? 0) as \($0)" }
      return "\(count) connections go as others before: \(parts.joined(separator: ", "))"
    }
  }

  /// A line of a story.
  package enum Line: Sendable, Hashable {
    case sentence(Sentence)
    case repetition(Repetition)
  }

  /// A connection from its opening to its end, between which nothing of another one is told.
  private struct Course {
    var range: Range<Int>
    var shape: [Substring]
  }

  /// Folds a story.
  /// - Parameter sentences: Its sentences, in their order.
  /// - Returns: Its lines; the last connection is always told.
  package static func fold(_ sentences: [Sentence]) -> [Line] {
    var lines: [Line] = []
    var known: [[Substring]: Int] = [:]
    var place = 0
    for course in courses(of: sentences) {
      lines += sentences[place..<course.range.lowerBound].map { .sentence($0) }
      place = course.range.upperBound
      let (first, last) = (sentences[course.range.lowerBound], sentences[place - 1])
      let isLast = place == sentences.count
      guard let model = known[course.shape], !isLast else {
        if known[course.shape] == nil { known[course.shape] = first.connection }
        lines += sentences[course.range].map { .sentence($0) }
        continue
      }
      var repetition = Repetition(first: first, last: last, counts: [:])
      if case .repetition(let before)? = lines.last {
        repetition = before
        repetition.last = last
        lines.removeLast()
      }
      repetition.counts[model, default: 0] += 1
      lines.append(.repetition(repetition))
    }
    return lines + sentences[place...].map { .sentence($0) }
  }

  private static func courses(of sentences: [Sentence]) -> [Course] {
    var courses: [Course] = []
    var start: Int?
    for (index, sentence) in sentences.enumerated() {
      if sentence.role == .opening { start = index }
      guard let begin = start else { continue }
      guard sentences[begin].connection == sentence.connection else {
        start = nil
        continue
      }
      // An end may be told in several sentences.
      let goesOn =
        index + 1 < sentences.count && sentences[index + 1].role == .ending
        && sentences[index + 1].connection == sentence.connection
      guard sentence.role == .ending, !goesOn else { continue }
      let range = begin..<index + 1
      courses.append(Course(range: range, shape: sentences[range].flatMap(shape)))
      start = nil
    }
    return courses
  }

  /// The words of a sentence without its numbers and what they count.
  private static func shape(of sentence: Sentence) -> [Substring] {
    sentence.text.split(separator: " ").filter { word in
      guard let first = word.first(where: { $0 != "(" }) else { return false }
      return !first.isNumber && !units.contains(word.filter(\.isLetter))
    } + ["\n"]
  }

  private static let units: Set<String> = [
    "ns", "µs", "ms", "s", "min", "h", "d", "B", "KiB", "MiB",
  ]
}
