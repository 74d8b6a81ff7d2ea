internal import RepriseCore
internal import Wire

/// The answer by which a peer shows that it took a certain packet of the other side.
struct AwaitedAnswer {
  /// The type of the packet that is answered.
  var request: MQTTPacketType
  var packetID: UInt16?
  /// How many answers like it may still come for packets before that one.
  var earlier: Int

  /// Takes a packet of the peer; true when it can't be the answer to anything before that packet.
  mutating func take(_ packet: borrowing MQTTPacketView) -> Bool {
    switch (request, packet.type) {
    case (.publish, .puback), (.publish, .pubrec), (.subscribe, .suback),
      (.unsubscribe, .unsuback), (.pubrel, .pubcomp):
      guard packetID == packet.packetID else { return false }
    case (.pingreq, .pingresp): break
    default: return false
    }
    guard earlier > 0 else { return true }
    earlier -= 1
    return false
  }
}

/// What shows that a peer took anything that the other side sent from a certain packet on.
///
/// That it sends something later shows nothing: how long its packets were on their way, and how long
/// the other side's, the time of a capture does not tell.
struct AwaitedAnswers {
  private var answers: [AwaitedAnswer] = []
  /// The first few packets are enough to tell.
  private static let maximum = 8

  mutating func add(_ answer: AwaitedAnswer?) {
    guard let answer, answers.count < Self.maximum else { return }
    answers.append(answer)
  }

  /// Takes a packet of the peer; true when it answers one of them.
  mutating func take(_ packet: borrowing MQTTPacketView) -> Bool {
    for index in answers.indices where answers[index].take(packet) { return true }
    return false
  }
}

extension ConnectionState {
  /// Returns the answer that is due to a packet, if it can be told from the answers to others.
  ///
  /// To be asked before the packet is taken note of. What is open must be known for it: neither the
  /// start of the connection nor bytes of the side that asks may be missing.
  func awaitedAnswer(
    to packet: borrowing MQTTPacketView, from sender: Peer
  ) -> AwaitedAnswer? {
    guard isFromStart, !self[sender].hasGap, let earlier = openRequests(like: packet, sender) else {
      return nil
    }
    return AwaitedAnswer(request: packet.type, packetID: packet.packetID, earlier: earlier)
  }

  /// How many packets of a sender may still get an answer like that to another; nil if nobody knows.
  private func openRequests(like packet: borrowing MQTTPacketView, _ sender: Peer) -> Int? {
    if packet.type == .pingreq {
      // Those that a loss may have answered are forgotten.
      return server.hasGap ? nil : life.pings.unanswered
    }
    guard let id = packet.packetID else { return nil }
    switch packet.type {
    case .subscribe:
      return subscribing.open.isFull || requests.hasReusedIDs
        ? nil : subscribing.open[id] == nil ? 0 : 1
    case .unsubscribe:
      return unsubscribing.open.isFull || requests.hasReusedIDs
        ? nil : unsubscribing.open[id] == nil ? 0 : 1
    case .publish, .pubrel:
      // In a resumed session it may be the answer to an older message of the same identifier.
      guard isNewSession == true else { return nil }
      return sender == .client
        ? exchanges.fromClient.openRequests(like: packet.type, id)
        : exchanges.fromServer.openRequests(like: packet.type, id)
    default: return nil
    }
  }
}

extension Exchanges {
  /// How many PUBLISHs or PUBRELs with an identifier may still get an answer; nil if nobody knows.
  fileprivate func openRequests(like type: MQTTPacketType, _ id: UInt16) -> Int? {
    guard !hasRepeats, !open.isFull else { return nil }
    guard let exchange = self[id] else { return 0 }
    if type == .publish || exchange.phase == .pubcomp { return 1 }
    // A PUBREC that is missing may have let its PUBREL come, which was answered or not.
    return exchange.lost == nil ? 0 : nil
  }
}
