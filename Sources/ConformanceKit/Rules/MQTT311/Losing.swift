internal import DataClient

// What bytes that are missing do to what is open.
extension ConnectionState {
  /// Gives up on the exchanges that what is missing may have answered.
  mutating func loseExchanges(of peer: Peer, _ tally: inout Tally) {
    let reason = UndecidedReason.gap(of: peer)
    if peer == .client {
      Self.loseAnswers(&fromServer, reason, isFromClient: true, &tally)
      fromClient.open.removeAll { $0.phase == .pubrel || $0.phase == .pubcomp }
    } else {
      Self.loseAnswers(&fromClient, reason, isFromClient: false, &tally)
      fromServer.open.removeAll { $0.phase == .pubrel || $0.phase == .pubcomp }
    }
  }

  private static func loseAnswers(
    _ exchanges: inout Exchanges, _ reason: UndecidedReason, isFromClient: Bool,
    _ tally: inout Tally
  ) {
    for (_, exchange) in exchanges.open.entries
    where exchange.phase == .puback || exchange.phase == .pubrec {
      tally.leave(.publishIsAnswered, reason)
      if isFromClient { tally.leave(.clientAnswersPublish, reason) }
    }
    exchanges.open.removeAll { _ in true }
  }

  /// Gives up on the requests that missing bytes of the server may have answered.
  mutating func loseAnswers(_ tally: inout Tally) {
    for _ in subscribes.entries { tally.leave(.subscribeIsAnswered, .serverGap) }
    subscribes.removeAll { _ in true }
    for (_, request) in unsubscribes.entries {
      for rule in request.rules { tally.leave(rule, .serverGap) }
    }
    unsubscribes.removeAll { _ in true }
    for _ in pings.open { tally.leave(.pingIsAnswered, .serverGap) }
    pings.removeAll()
    if connack?.isRefusalOpen == true {
      connack?.isRefusalOpen = false
      for rule in Self.refusalRules(connack?.code ?? 0) { tally.leave(rule, .serverGap) }
    }
  }
}
