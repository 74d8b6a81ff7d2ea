package import RepriseCore
import Wire

// What is said where the other end leaves the session.
extension ReplayedExchanges {
  /// A request that is none of those which the session still has to answer.
  func refusal(of request: HTTPMessage) -> ReplayDivergence {
    var nearest: (index: Int, differences: [ReplayDifference])?
    var count = 0
    for index in near {
      count += 1
      let differences = compare(request, withRequest: index).differences
      let isNearer = nearest.map { Self.distance(differences) < Self.distance($0.differences) }
      if isNearer != false { nearest = (index, differences) }
    }
    guard let nearest else { return surplusRequest(request) }
    let recorded = exchanges[nearest.index]
    return ReplayDivergence(
      kind: .otherAction, place: recorded.asked.place,
      expected: recorded.summary(of: recorded.request), actual: recorded.summary(of: request),
      differences: nearest.differences, alternatives: count - 1,
      remedy: inspection(recorded.asked.place), advice: advice(nearest.differences))
  }

  private func surplusRequest(_ request: HTTPMessage) -> ReplayDivergence {
    let last = exchanges.last
    return ReplayDivergence(
      kind: .extraAction, place: last?.asked.place, expected: nil,
      actual: last?.summary(of: request) ?? "", differences: [],
      remedy: last.map { inspection($0.asked.place) } ?? "", advice: [anew])
  }

  /// An answer that is none of the session's.
  func other(
    _ message: HTTPMessage, than index: Int, _ differences: [ReplayDifference]
  ) -> ReplayDivergence {
    let recorded = exchanges[index]
    let place = recorded.answer?.moment.place ?? recorded.asked.place
    var advice = advice(differences)
    if let status = message.status, [401, 403].contains(status) {
      advice.insert(
        "if the server wants to know who asks: add --header 'Authorization: ...'", at: 0)
    }
    return ReplayDivergence(
      kind: .otherAction, place: place, expected: recorded.answerSummary,
      actual: recorded.summary(of: message), differences: differences,
      remedy: inspection(place), advice: advice)
  }

  /// An answer where the session has none.
  func surplus(_ message: HTTPMessage, to index: Int) -> ReplayDivergence {
    other(message, than: index, [])
  }

  /// What is said of an answer that does not come.
  /// - Parameters:
  ///   - index: The exchange.
  ///   - why: What is seen of the server instead.
  /// - Returns: The divergence.
  package func missingAnswer(to index: Int, _ why: String) -> ReplayDivergence {
    let recorded = exchanges[index]
    let place = recorded.answer?.moment.place ?? recorded.asked.place
    return missing(recorded.answerSummary, at: place, "the \(own.other.rawValue) \(why)")
  }

  /// Gives up waiting for the other end.
  /// - Parameter why: What is seen of it instead.
  /// - Returns: The divergence; nil where all has happened.
  package func givingUp(_ why: String) -> ReplayDivergence? {
    if own == .client, first < steps.count { return missingAnswer(to: steps[first].exchange, why) }
    return absence("the \(own.other.rawValue) \(why)")
  }

  /// What is said where nobody sends the next request any more.
  /// - Parameter why: Why nobody does.
  /// - Returns: The divergence; nil where all requests have come.
  package func absence(_ why: String) -> ReplayDivergence? {
    guard firstAwaited < exchanges.count else { return nil }
    let next = exchanges[firstAwaited]
    return missing(next.summary(of: next.request), at: next.asked.place, why)
  }

  private func missing(
    _ expected: String?, at place: ReplayPlace, _ why: String
  ) -> ReplayDivergence {
    ReplayDivergence(
      kind: .missingAction, place: place, expected: expected, actual: why, differences: [],
      remedy: inspection(place), advice: [anew])
  }

  // MARK: Words

  private func inspection(_ place: ReplayPlace) -> String {
    place.inspection(of: settings.options.source ?? "FILE")
  }

  private var anew: String {
    "if the \(own.other.rawValue) is right: record the session anew"
  }

  private func advice(_ differences: [ReplayDifference]) -> [String] {
    let counts = differences.contains { ["method", "path", "status"].contains($0.place) }
    guard settings.options.match != .topic, !counts, !differences.isEmpty else { return [anew] }
    let names = own == .server ? "methods and paths" : "statuses"
    return ["if \(names) alone matter: add --match topic", anew]
  }

  /// How much two requests differ: another path more than another method, and that more than another body.
  private static func distance(_ differences: [ReplayDifference]) -> Int {
    differences.reduce(0) { sum, difference in
      switch difference.place {
      case "path", "target": sum + 1_000_000
      case "method": sum + 1_000
      default: sum + 1
      }
    }
  }
}
