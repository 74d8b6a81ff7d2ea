package import RepriseCore
package import Wire

// What the recorded server does.
extension ReplayedExchanges {
  /// What a server does now.
  package enum Answering: Sendable {
    /// A request is answered.
    case answer(Int, HTTPMessage)
    /// The connection of a request is ended without an answer.
    case end(Int, ConnectionClosing.How)
    /// Nothing before this time, unless something comes.
    case wait(until: Timestamp)
    /// Nothing before something comes.
    case nothing
  }

  /// Takes a request.
  /// - Parameters:
  ///   - request: The request.
  ///   - now: The time.
  /// - Returns: Which one of the session it is.
  package mutating func take(request: HTTPMessage, at now: Timestamp) -> Taken {
    guard let (index, comparison) = find(request) else { return .diverged(refusal(of: request)) }
    let name = Name(exchanges[index].request)
    awaited[name]?.removeAll { $0 == index }
    bind(comparison, at: Self.positions(of: index).request)
    begin(index, at: now)
    switch exchanges[index].answer?.outcome {
    case .response, .end(by: .server, _): unanswered.append(index)
    // Nothing is owed to a client that does not wait for it.
    case .end(by: .client, _): finish(index, at: now)
    case nil: break
    }
    return .matched(index)
  }

  /// Finds a request among all that the session still has to answer: first by what it names, then by what the recorded
  /// one would name in this run.
  private func find(_ request: HTTPMessage) -> (index: Int, comparison: ReplayComparison)? {
    let named = awaited[Name(request)] ?? []
    return best(request, of: named.prefix(Self.reach)) ?? best(request, of: Array(near)[...])
  }

  /// The first of requests that are as the one which came, and have the fewest values otherwise.
  private func best(
    _ request: HTTPMessage, of indices: ArraySlice<Int>
  ) -> (index: Int, comparison: ReplayComparison)? {
    var best: (index: Int, comparison: ReplayComparison)?
    for index in indices {
      let comparison = compare(request, withRequest: index)
      guard comparison.differences.isEmpty else { continue }
      if comparison.changes == 0 { return (index, comparison) }
      if best.map({ comparison.changes < $0.comparison.changes }) != false {
        best = (index, comparison)
      }
    }
    return best
  }

  /// What differs between a request that came and a recorded one, as it was, or as this run would have it.
  func compare(_ request: HTTPMessage, withRequest index: Int) -> ReplayComparison {
    let recorded = exchanges[index].request
    let comparison = compare(request, with: recorded)
    guard !comparison.differences.isEmpty, !bindings.isEmpty else { return comparison }
    let made = made(recorded, at: Self.positions(of: index).request)
    guard made.head != recorded.head else { return comparison }
    let other = compare(request, with: made)
    return other.differences.isEmpty ? other : comparison
  }

  func compare(_ message: HTTPMessage, with recorded: HTTPMessage) -> ReplayComparison {
    var comparison = ReplayComparison(settings.options, isAfterBindings: !bindings.isEmpty)
    comparison.compare(recorded, message)
    return comparison
  }

  /// Answers what is to be answered next.
  /// - Parameter now: The time.
  /// - Returns: What to do; to be asked again where something was done.
  package mutating func answer(at now: Timestamp) -> Answering {
    var soonest: Timestamp?
    for (place, index) in unanswered.enumerated() {
      guard case .asked(let time) = states[index], let answer = exchanges[index].answer else {
        continue
      }
      let due = tempo.due(answer.moment.time, behind: exchanges[index].asked.time, at: time)
      guard due <= now else {
        soonest = min(soonest ?? due, due)
        continue
      }
      unanswered.remove(at: place)
      defer { finish(index, at: now) }
      switch answer.outcome {
      case .response(let message):
        return .answer(index, made(message, at: Self.positions(of: index).answer))
      case .end(_, let how): return .end(index, how)
      }
    }
    return soonest.map { .wait(until: $0) } ?? .nothing
  }

  /// Tells whether the answer to a request is still to be given.
  /// - Parameter index: The exchange.
  /// - Returns: Whether it is.
  package func owes(_ index: Int) -> Bool { unanswered.contains(index) }

  /// Takes note that a client has left without the answer to a request: it can do without.
  /// - Parameters:
  ///   - index: The exchange.
  ///   - now: The time.
  package mutating func leave(_ index: Int, at now: Timestamp) {
    unanswered.removeAll { $0 == index }
    finish(index, at: now)
  }

  /// When it is given up that the next request comes; nil where this end has to answer first.
  package var requestDeadline: Timestamp? {
    guard unanswered.isEmpty, firstAwaited < exchanges.count else { return nil }
    return deadline(of: exchanges[firstAwaited].asked.time)
  }

  func deadline(of recorded: Timestamp) -> Timestamp {
    progress.time.advanced(by: tempo.patience(from: progress.recorded, to: recorded))
      .advanced(by: settings.patience)
  }
}
