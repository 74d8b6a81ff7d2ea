internal import RepriseCore
internal import Wire

/// A copy of a message that several filters match, with the number of one.
struct NumberedCopy {
  /// What tells the message.
  var key: UInt64
  var number: UInt32
}

// Subscription Identifiers in what is delivered: section 3.3.4 of 5.0.
extension BrokerJudge {
  /// Judges the Subscription Identifiers of a message by those that the client gave.
  mutating func judgeNumbers(
    _ packet: borrowing MQTTPacketView, _ delivery: borrowing Delivery,
    _ event: borrowing EventView,
    _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard hearing.version == .v5_0, packet.propertySet.isWhole || !packet.hasProperties else {
      return
    }
    let numbers = packet.subscriptionIdentifiers
    judgeStrange(numbers, delivery, event, &state, hearing, &tally)
    judgeCopy(numbers, delivery, &state, hearing, &tally)
    guard delivery.matching.count > 1, delivery.matching.areNumbered, delivery.matching.isCertain
    else { return }
    guard numbers.isEmpty else { return tally.satisfy(.overlapsAreNumbered, hearing) }
    guard delivery.isKnown, !state.isContinued else {
      return tally.leave(
        .overlapsAreNumbered, state.isContinued ? .connectionsUnseen : state.doubtOfSubscriptions,
        hearing)
    }
    guard !state.deniesNumbers else {
      return tally.leave(.overlapsAreNumbered, .otherAtFault, hearing)
    }
    // What a server says to one client by itself comes of no subscription.
    guard hasOwnMessages || source(of: delivery) != nil else {
      return tally.leave(.overlapsAreNumbered, .serverMaySayIt, hearing)
    }
    state.ownRare.suspicions.add(
      .overlapsAreNumbered, event, hearing, &tally,
      FindingText(
        "the server sent a message without Subscription Identifier, though each filter that matches "
          + "has one",
        expected: "one of \(delivery.matching.numbers)", actual: "none",
        evidence: delivery.matching.evidence))
  }

  /// Looks for copies of one message that come one behind the other, each with the number of another filter.
  ///
  /// Two copies with one number are no fault, as they may be two messages.
  private func judgeCopy(
    _ numbers: [UInt32], _ delivery: borrowing Delivery, _ state: inout ConnectionState,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    let last = state.rare?.value.lastCopy
    guard numbers.count == 1, let number = numbers.first, delivery.matching.count > 1,
      delivery.matching.areNumbered, delivery.matching.numbers.contains(number)
    else {
      if last != nil { state.ownRare.lastCopy = nil }
      return
    }
    if let last, last.key == delivery.key, last.number != number {
      tally.satisfy(.copiesHaveOwnNumbers, hearing)
    }
    state.ownRare.lastCopy = NumberedCopy(key: delivery.key, number: number)
  }

  /// Looks for numbers that no filter that matches was asked for with.
  ///
  /// In a session that goes on one tells of a connection that is not in the capture: no server has it of its own.
  private mutating func judgeStrange(
    _ numbers: [UInt32], _ delivery: borrowing Delivery, _ event: borrowing EventView,
    _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard !numbers.isEmpty else { return }
    let rule = MQTTRule.numbersAreOfSubscriptions
    let list = state.subscribing.subscriptions
    // What a filter had before may be of a message on its way.
    let strange = numbers.first { number in
      !delivery.matching.numbers.contains(number)
        && (!list.wasGiven(number) || !list.hasChangedNumbers)
    }
    guard let strange else { return tally.satisfy(rule, hearing) }
    if state.isNewSession == false, !list.wasGiven(strange) {
      noteConnectionUnseen(event.context, state, hearing, &tally)
    }
    guard !state.isContinued else { return tally.leave(rule, .connectionsUnseen, hearing) }
    guard delivery.isKnown, !list.hasForgottenNumbers, !delivery.matching.hasMoreNumbers else {
      return tally.leave(
        rule, delivery.isKnown ? .tooMany : state.doubtOfSubscriptions, hearing)
    }
    state.ownRare.suspicions.add(
      rule, event, hearing, &tally,
      FindingText(
        "the server sent a message with Subscription Identifier \(strange), which no filter that "
          + "matches was subscribed to with",
        expected: delivery.matching.numbers.isEmpty
          ? "no Subscription Identifier" : "those of \(delivery.matching.numbers)",
        actual: "\(strange)", evidence: delivery.matching.evidence))
  }

  /// Judges one copy, which must have the numbers of all filters that match.
  mutating func judgeMerged(
    _ packet: borrowing MQTTPacketView, _ source: Publication, _ delivery: borrowing Delivery,
    _ event: borrowing EventView,
    _ state: borrowing ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard hearing.version == .v5_0, !packet.retain, packet.propertySet.isWhole else { return }
    let numbers = packet.subscriptionIdentifiers
    // A copy for some of the filters may stand beside one for the others.
    let connection = event.context.connection
    let hasOther =
      pending.isSettled(.mergedCopyHasAllNumbers, on: connection, key: delivery.key)
    pending.takeBack(.mergedCopyHasAllNumbers, on: connection, key: delivery.key, hearing)
    let isOfOne = delivery.matching.count == 1 && delivery.matching.areNumbered
    // One alone may be that of one of several copies, and a filter that is No Local matches none of the client's own.
    if !isOfOne, !numbers.isEmpty, numbers.count < delivery.matching.count {
      pending.settle(.mergedCopyHasAllNumbers, on: connection, key: delivery.key, hearing)
    }
    guard numbers.count > 1 || isOfOne, source.isSingle, isEstablished(delivery, source),
      !delivery.matching.isShared, delivery.matching.areKept, !delivery.matching.isPartlyDeaf
    else { return }
    let missing = delivery.matching.numbers.filter { !numbers.contains($0) }
    guard !missing.isEmpty else { return tally.satisfy(.mergedCopyHasAllNumbers, hearing) }
    let doubt: UndecidedReason? =
      if hasOther {
        .ambiguousMessage
      } else {
        state.isContinued ? .connectionsUnseen : state.deniesNumbers ? .otherAtFault : nil
      }
    if let doubt { return tally.leave(.mergedCopyHasAllNumbers, doubt, hearing) }
    add(
      .mergedCopyHasAllNumbers, delivery, event, hearing, isTakenBack: true, &tally,
      FindingText(
        "the server sent "
          + (isOfOne ? "" : "one copy of ")
          + "the message of frame \(source.first.frame) "
          + (isOfOne
            ? "without the Subscription Identifier of the one filter that matches"
            : "for several filters without the Subscription Identifiers of all of them"),
        expected: "\(delivery.matching.numbers)",
        actual: numbers.isEmpty ? "none" : "\(numbers)",
        evidence: source.evidence + delivery.matching.evidence))
  }
}

extension ConnectionState {
  /// Whether the server has said that it takes no Subscription Identifiers, or may have: one who gives it some all the
  /// same need get none (section 3.2.2.3.12).
  fileprivate var deniesNumbers: Bool { terms?.value.identifiersAvailable != 1 }
}

extension MQTTPacketView {
  /// The Subscription Identifiers of a PUBLISH.
  fileprivate var subscriptionIdentifiers: [UInt32] {
    guard propertySet.contains(.subscriptionIdentifier) else { return [] }
    var numbers: [UInt32] = []
    var properties = properties
    while let property = properties.next() {
      if property.id == .subscriptionIdentifier {
        numbers.append(UInt32(clamping: property.integer))
      }
    }
    return numbers
  }
}
