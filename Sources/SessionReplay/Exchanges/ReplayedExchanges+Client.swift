package import RepriseCore
package import Wire

// What the recorded clients do.
extension ReplayedExchanges {
  /// What a client does now.
  package enum Asking: Sendable {
    /// Something is asked.
    case ask(Int, HTTPMessage)
    /// The connection of a request is ended, as its client does not wait any more.
    case leave(Int, ConnectionClosing.How)
    /// Nothing before this time, unless something comes.
    case wait(until: Timestamp)
    /// Nothing before something comes.
    case nothing
  }

  /// Asks what is to be asked next.
  /// - Parameter now: The time.
  /// - Returns: What to do; to be asked again where something was done.
  package mutating func ask(at now: Timestamp) -> Asking {
    guard first < steps.count else { return .nothing }
    let step = steps[first]
    let exchange = exchanges[step.exchange]
    guard step.isAnswer else {
      let due = tempo.due(exchange.asked.time)
      guard due <= now else { return .wait(until: due) }
      begin(step.exchange, at: now)
      return .ask(
        step.exchange, made(exchange.request, at: Self.positions(of: step.exchange).request))
    }
    guard let answer = exchange.answer, case .end(by: .client, let how) = answer.outcome else {
      return .nothing
    }
    let due = tempo.due(answer.moment.time)
    guard due <= now else { return .wait(until: due) }
    finish(step.exchange, at: now)
    return .leave(step.exchange, how)
  }

  /// Takes the answer to a request.
  /// - Parameters:
  ///   - message: The answer.
  ///   - index: The exchange.
  ///   - now: The time.
  /// - Returns: What came of it.
  package mutating func take(
    answer message: HTTPMessage, to index: Int, at now: Timestamp
  ) -> Taken {
    // A session that ends before that says nothing of it.
    guard let answer = exchanges[index].answer, states[index] != .done else { return .passed }
    guard case .response(let recorded) = answer.outcome else {
      return .diverged(surplus(message, to: index))
    }
    let comparison = compare(message, with: recorded)
    guard comparison.differences.isEmpty else {
      return .diverged(other(message, than: index, comparison.differences))
    }
    bind(comparison, at: Self.positions(of: index).answer)
    finish(index, at: now)
    return .matched(index)
  }

  /// Whether the session has the end of a request's connection in the place of its answer.
  package func endsWithoutAnswer(_ index: Int) -> Bool {
    if case .end = exchanges[index].answer?.outcome { true } else { false }
  }

  /// Takes the end of a request's connection, which the server has made without an answer.
  /// - Parameters:
  ///   - index: The exchange.
  ///   - now: The time.
  /// - Returns: The divergence where the session has an answer; nil where it has none.
  package mutating func takeEnd(of index: Int, at now: Timestamp) -> ReplayDivergence? {
    if let answer = exchanges[index].answer, states[index] != .done,
      case .response = answer.outcome
    {
      return missingAnswer(to: index, "ends the connection")
    }
    finish(index, at: now)
    return nil
  }

  /// When it is given up that the next answer comes; nil where this end has to ask first.
  package var answerDeadline: Timestamp? {
    guard first < steps.count, steps[first].isAnswer,
      let answer = exchanges[steps[first].exchange].answer
    else { return nil }
    if case .end(by: .client, _) = answer.outcome { return nil }
    return deadline(of: answer.moment.time)
  }
}
