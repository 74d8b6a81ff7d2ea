/// Puts the sentences of a story in the order of what they tell.
///
/// An end of a connection that the other side does not answer is known only where the capture ends, and yet stands where it
/// happened: before the client came again.
package struct StoryOrder {
  /// So many sentences wait for an end that belongs in front of them.
  private static let mostWaiting = 20_000

  private var waiting: [Sentence] = []
  private var lastEnd: Sentence?

  /// Begins a story.
  package init() {}

  /// Takes the next sentence.
  /// - Parameters:
  ///   - sentence: The sentence.
  ///   - tell: Takes the sentences that nothing comes in front of any more.
  /// - Throws: What `tell` throws.
  package mutating func add(_ sentence: Sentence, _ tell: Storyteller.Tell) throws {
    var place = waiting.endIndex
    if sentence.role == .ending {
      while place > 0, waiting[place - 1].frame > sentence.frame { place -= 1 }
    }
    waiting.insert(sentence, at: place)
    if waiting.count > Self.mostWaiting { try flush(Self.mostWaiting / 2, tell) }
  }

  /// Hands on what waits.
  /// - Parameter tell: Takes the sentences.
  /// - Throws: What `tell` throws.
  package mutating func finish(_ tell: Storyteller.Tell) throws { try flush(waiting.count, tell) }

  private mutating func flush(_ count: Int, _ tell: Storyteller.Tell) throws {
    for sentence in waiting.prefix(count) {
      var sentence = sentence
      if sentence.role == .opening, let lastEnd,
        let time = StoryWords.after(lastEnd.time, sentence.time)
      {
        sentence.text += ", \(time) after the end of connection \(lastEnd.connection)"
      }
      if sentence.role == .ending { lastEnd = sentence }
      try tell(sentence)
    }
    waiting.removeFirst(min(count, waiting.count))
  }
}
