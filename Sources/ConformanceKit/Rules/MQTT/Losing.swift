internal import RepriseCore
internal import Wire

// What bytes that are missing do to what is open. What is open stays: its answer may still come, but
// that it never came can't be held against anybody any more.
extension ConnectionState {
  /// Notes that the exchanges of messages may have gone on unseen.
  mutating func loseExchanges(of peer: Peer) {
    exchanges.fromClient.lose(peer)
    exchanges.fromServer.lose(peer)
    // An answer may be among them that came late.
    if peer == .client, exchanges.fromServer.hasOpen { exchanges.fromServer.noteUnknownWait() }
  }

  /// Notes that the answer to a message of a sender may have come unseen.
  mutating func loseAnswer(to id: UInt16, of sender: Peer) {
    if sender == .client {
      exchanges.fromClient.lose(sender.other, answering: id)
    } else {
      exchanges.fromServer.lose(sender.other, answering: id)
    }
  }

  /// Notes that bytes in frames can't be counted, and that packets in them may have been answered unseen.
  mutating func loseCarriage(of peer: Peer, _ hearing: Hearing, _ tally: inout Tally) {
    guard rare != nil else { return }
    ownRare.carriage[peer].lose()
    for _ in 0..<ownRare.carriage.unaligned.lose(of: peer) {
      tally.leave(.receiverCopesWithFrames, .gap(of: peer), hearing)
    }
  }

  /// Notes that requests may have been answered unseen.
  mutating func loseAnswers(_ hearing: Hearing, _ tally: inout Tally) {
    // Where bytes of the client are missing, too, an answer to what it sends next may be among them.
    requests.lost = requests.count + (client.isDeaf ? 1 : 0)
    ending.isReauthenticating = false
    for _ in life.pings.open { tally.leave(.pingIsAnswered, .serverGap, hearing) }
    life.pings.lose()
    guard let refusal = opening.connack, refusal.isRefusalOpen else { return }
    opening.connack?.isRefusalOpen = false
    for rule in refusalRules(refusal.code) { tally.leave(rule, .serverGap, hearing) }
    if opening.hasAsked, !refusal.hasServed {
      tally.leave(.refusedIsNotServed, .serverGap, hearing)
    }
  }
}

extension MQTTPacketView {
  /// Whether what was captured of a cut packet says what it asks for, or what it answers; if not, it is
  /// as good as not captured.
  var saysWhatItSettles: Bool {
    switch type {
    case .connack: reasonCode != nil
    case .puback, .pubrec, .pubrel, .pubcomp, .suback, .unsuback: packetID != nil
    case .publish: qos == 0 || packetID != nil
    // Each filter that is not there may be the one that counts.
    case .subscribe, .unsubscribe: false
    case .connect, .pingreq, .pingresp, .disconnect, .auth, .reserved: true
    }
  }
}
