internal import RepriseCore
internal import Wire

// What is kept for a client that is away, and what is given up meanwhile: sections 3.1.2.4 (3.1.1), 3.1.2.11.4 and
// 3.3.2.3.3 (5.0).
extension BrokerJudge {
  /// Whether a message was published while the client of a connection was away.
  func isOfAbsence(
    _ source: Publication, _ connection: Int, _ state: borrowing ConnectionState
  ) -> Bool {
    guard source.qos > 0, source.isSingle, let since = absences[connection],
      let connect = state.opening.connect
    else { return false }
    return isSurely(source.first.time, after: since.nanoseconds)
      && isSurely(connect.moment.time, after: source.last.nanoseconds)
  }

  /// Judges a message by whether it was published while its receiver was away.
  mutating func judgeKeeping(
    _ packet: borrowing MQTTPacketView, _ source: Publication, _ delivery: borrowing Delivery,
    _ event: borrowing EventView, _ state: inout ConnectionState, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let connection = event.context.connection
    guard !packet.retain, !packet.dup, packet.qos > 0, delivery.matching.count > 0,
      isOfAbsence(source, connection, state), isEstablished(delivery, source)
    else { return }
    tally.satisfy(.messagesAreKept, hearing)
  }

  // MARK: What is given up

  /// How much a message must have outlived its expiry to be accused, in nanoseconds: it may have come late to the server,
  /// but not where the server is driven and said that it had it.
  private func lateness(of source: borrowing Publication) -> Int64 {
    isDriven && source.taken != nil ? Self.tolerance : 10_000_000_000
  }
  /// How much a server may be late with it.
  private static let tolerance: Int64 = 2_000_000_000

  /// How long a message had expired when its receiver came back, in nanoseconds; nil where it can't expire.
  private func age(
    of source: Publication, since time: Timestamp, beyondExpiryIn state: borrowing ConnectionState
  ) -> Int64? {
    guard let expiry = source.forwarded.expiry, let connect = state.opening.connect else {
      return nil
    }
    let ends = time.nanoseconds.addingSaturating(Int64(expiry) * 1_000_000_000)
    return connect.moment.time.nanoseconds(since: Timestamp(nanoseconds: ends))
      .addingSaturating(-latencies.lead(from: source.connection, to: state.identity.host))
  }

  /// Judges a message by whether it had expired before its receiver connected, so that its delivery had not begun.
  ///
  /// Had it begun on a connection before, which need not be in the capture, the message would come with DUP.
  mutating func judgeExpired(
    _ packet: borrowing MQTTPacketView, _ source: Publication, _ delivery: borrowing Delivery,
    _ event: borrowing EventView,
    _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let rule = MQTTRule.expiredIsDeleted
    guard let age = age(of: source, since: source.last, beyondExpiryIn: state),
      age > Self.tolerance, source.isSingle,
      !source.retain, !packet.retain, !packet.dup, packet.qos > 0
    else { return }
    guard !state.clocks.differ else { return tally.leave(rule, state.clocks.doubt, hearing) }
    guard !state.hasOlderSession else {
      return tally.leave(rule, .earlierSessionNotSeen, hearing)
    }
    guard let known = self.age(of: source, since: source.read, beyondExpiryIn: state),
      known > lateness(of: source)
    else { return tally.leave(rule, .onItsWay, hearing) }
    // One without is another one, of somebody who is not in the capture.
    guard hasOwnMessages || Forwarded(packet).expiry != nil else {
      return tally.leave(rule, .publishersUnseen, hearing)
    }
    add(
      rule, delivery, event, hearing, needsAnother: true, &tally,
      FindingText(
        "the server delivered the message of frame \(source.first.frame), which had expired before its "
          + "receiver connected",
        expected: "no delivery of it", actual: "\(Timestamp.seconds(age)) late",
        evidence: source.evidence + delivery.matching.evidence))
  }

  /// Whether a message that was left out had expired before its receiver came back.
  func isExpired(
    _ skipped: Publication, _ delivery: borrowing Delivery, _ state: borrowing ConnectionState
  ) -> Bool {
    guard skipped.isSingle, isEstablished(delivery, skipped), !state.clocks.differ,
      let age = age(of: skipped, since: skipped.last, beyondExpiryIn: state)
    else { return false }
    return age > Self.tolerance
  }

  /// Whether a message that was left out was larger than its receiver takes, whatever the server adds to it.
  func isTooLarge(
    _ skipped: Publication, _ delivery: borrowing Delivery, _ state: borrowing ConnectionState
  ) -> Bool {
    guard let limits = state.terms?.value.client, limits.hasPacketSize,
      let most = limits.maximumPacketSize, skipped.isSingle, isEstablished(delivery, skipped)
    else { return false }
    return skipped.size > most
  }
}
