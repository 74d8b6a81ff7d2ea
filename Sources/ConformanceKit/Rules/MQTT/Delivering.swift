internal import RepriseCore
internal import Wire

// PUBLISH and its acknowledgements: sections 3.3, 4.3, 4.5 and 4.6.
extension ConnectionState {
  @inline(__always)
  mutating func publishes(
    _ packet: borrowing MQTTPacketView, _ content: ContentHash?, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    let sender = event.context.sender
    guard packet.qos > 0 else { return }
    guard packet.qos < 3, let id = packet.packetID else {
      if sender == .client {
        exchanges.fromClient.hasUnreadID = true
      } else {
        exchanges.fromServer.hasUnreadID = true
      }
      return
    }
    judgeIdentifier(id, of: packet, content, event, hearing, &tally)
    let isKept =
      sender == .client
      ? exchanges.fromClient.publish(id, packet, content, event.context)
      : exchanges.fromServer.publish(id, packet, content, event.context)
    guard isKept else {
      return tally.leave(.publishIsAnswered, .tooMany, hearing)
    }
    // Bytes of both sides are missing, and the packet ends in them: so may its answer.
    if packet.missing > 0, self[sender.other].isDeaf { loseAnswer(to: id, of: sender) }
  }

  /// Judges the topic of a message to the client by the filters that it matches.
  @inline(__always)
  mutating func judgeTopic(
    _ topic: RawSpan, _ matching: borrowing Matching, isOfServer: Bool, isDriven: Bool,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    // Nothing is left of it when the capture cut it off.
    guard topic.byteCount > 0 else { return }
    if matching.count > 0 {
      tally.satisfy(.topicMatchesFilter, hearing)
    } else if matching.removed != nil {
      tally.leave(.topicMatchesFilter, .unsubscribed, hearing)
    } else {
      let mayBeGiven = !isDriven && !matching.wereRefused && mayBeGiven(topic)
      judgeStray(
        topic, isOfServer: isOfServer, mayBeGiven: mayBeGiven, event, hearing, &tally)
    }
  }

  /// Whether the server may have subscribed the client by itself: nothing says that only a SUBSCRIBE makes a Subscription
  /// (section 4.1), and rules, plugins and administrators of servers do.
  ///
  /// They leave $SYS to those who ask for it.
  private func mayBeGiven(_ topic: RawSpan) -> Bool {
    !subscribing.subscriptions.matchesLoosely(topic)
      && !(topic.begins(with: "$") && String(copying: topic).hasPrefix("$SYS/"))
  }

  private mutating func judgeStray(
    _ topic: RawSpan, isOfServer: Bool, mayBeGiven: Bool, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    let rule = MQTTRule.topicMatchesFilter
    if let reason = lossReason(of: .client) { return tally.leave(rule, reason, hearing) }
    guard opening.connect != nil else { return tally.leave(rule, .connectNotSeen, hearing) }
    // On another connection the client may have asked for it, whose session this is.
    guard isNewSession == true else {
      return tally.leave(rule, isContinued ? .connectionsUnseen : .sessionResumed, hearing)
    }
    guard !isSaidToBeNew else { return tally.leave(rule, .sessionMayBeOlder, hearing) }
    guard !subscribing.subscriptions.isOverfull else { return tally.leave(rule, .tooMany, hearing) }
    guard !subscribing.subscriptions.hasExtension else {
      return tally.leave(rule, .extensionFilter, hearing)
    }
    guard !subscribing.subscriptions.hasFaultyRequest else {
      return tally.leave(rule, .faultyRequest, hearing)
    }
    // A server may use topics that begin with $ for purposes of its own, which nobody asks for (section 4.7.2); what a client
    // published there is none of those.
    let name = String(copying: topic)
    guard !isOfServer || name.hasPrefix("$SYS/") else {
      return tally.leave(rule, .serverPolicy, hearing)
    }
    guard !mayBeGiven else { return tally.leave(rule, .serverMaySubscribe, hearing) }
    // A level that was hidden is not there to be matched.
    guard !topic.holdsHidden else { return tally.leave(rule, .hidden, hearing) }
    let filters = evidenceOfFilters(hearing)
    ownRare.suspicions.add(
      rule, event, hearing, &tally,
      FindingText(
        "the server sent a message that matches no filter of the client",
        expected: "a topic that matches a subscribed filter", actual: "topic \"\(name)\"",
        evidence: filters))
    guard subscribing.subscriptions.matchesLoosely(topic) else { return }
    ownRare.suspicions.add(
      .matchingIsRaw, event, hearing, &tally,
      FindingText(
        "the server sent a message for a filter that is the same only where characters are taken for "
          + "others",
        expected: "a filter with the very characters of the topic", actual: "topic \"\(name)\"",
        evidence: filters))
  }

  /// The CONNECT that the client's subscriptions begin behind, and what asked for them.
  private func evidenceOfFilters(_ hearing: Hearing) -> [Finding.Evidence] {
    let start = opening.connect.map { hearing.evidence($0.moment, "CONNECT") } ?? []
    return start + subscribing.subscriptions.evidence
  }
}
