import RepriseCore

/// What a storyteller knows of a connection that is open.
final class StoryConnection {
  @exclusivity(unchecked) var course = ConnectionCourse()
  @exclusivity(unchecked) var exchanges: ConnectionExchanges
  /// The questions that have no answer for certain, or of which nobody can tell, at most ``most``.
  var unanswered: [ExchangeOutcome] = []
  /// How many of them there are besides.
  var moreUnanswered = 0
  /// When CONNECT came.
  var connectTime: Timestamp?
  /// The hashes of topic and payload of the will.
  var will: (topic: UInt64, payload: UInt64)?
  /// The topics behind aliases, by sender and alias.
  var aliases: [Int: Name] = [:]

  /// The most outcomes that are kept, and the most questions that are open.
  private static let most = 64
  private static let mostQuestions = 16_384

  init(_ requestKeys: RequestKeys) {
    exchanges = ConnectionExchanges(requestKeys: requestKeys)
  }

  /// Keeps what is kept within its limits.
  func limit() {
    while unanswered.count > Self.most {
      unanswered.removeLast()
      moreUnanswered += 1
    }
    guard exchanges.count > Self.mostQuestions else { return }
    exchanges.giveUpAll { _ in moreUnanswered += 1 }
  }
}
