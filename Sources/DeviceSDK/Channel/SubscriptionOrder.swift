import DataClient

/// Which of the SUBSCRIBEs that are under way have been overtaken: an UNSUBSCRIBE of the same filter was sent behind
/// them, and so what their SUBACK grants is taken back again (MQTT 3.1.1 section 3.10.4).
struct SubscriptionOrder: Sendable {
  private struct Sent {
    let filter: String
    /// When it was sent, in the order of what was.
    let place: UInt64
  }

  private var lastPlace: UInt64 = 0
  private var sent: [ClientAction.ID: Sent] = [:]
  /// How many SUBSCRIBEs of a filter are under way.
  private var underWay: [String: Int] = [:]
  /// The place of the last UNSUBSCRIBE of filters that have SUBSCRIBEs under way.
  private var revoked: [String: UInt64] = [:]
  /// What was granted although it is being taken back, and whether the application asked for it.
  private var overtaken: [String: Bool] = [:]

  /// A SUBSCRIBE is sent.
  mutating func noteSubscribe(_ filter: String, _ action: ClientAction.ID) {
    lastPlace += 1
    sent[action] = Sent(filter: filter, place: lastPlace)
    underWay[filter, default: 0] += 1
  }

  /// An UNSUBSCRIBE is sent.
  mutating func noteUnsubscribe(_ filter: String) {
    lastPlace += 1
    if underWay[filter] != nil { revoked[filter] = lastPlace }
  }

  /// A SUBSCRIBE is answered, or came to nothing.
  /// - Returns: Whether it has been overtaken.
  mutating func takeAnswer(to action: ClientAction.ID) -> Bool {
    guard let answered = sent.removeValue(forKey: action) else { return false }
    let filter = answered.filter
    let isOvertaken = revoked[filter].map { answered.place < $0 } ?? false
    underWay[filter] = underWay[filter].flatMap { $0 > 1 ? $0 - 1 : nil }
    if underWay[filter] == nil { revoked[filter] = nil }
    return isOvertaken
  }

  /// Remembers a grant that is being taken back, should that fail.
  mutating func noteOvertakenGrant(of filter: String, isForApplication: Bool) {
    overtaken[filter] = isForApplication || overtaken[filter] ?? false
  }

  /// An UNSUBSCRIBE is answered, or came to nothing.
  /// - Returns: For whom a SUBSCRIBE before it was granted: true is the application; nil when none was.
  mutating func takeOvertakenGrant(of filter: String) -> Bool? {
    overtaken.removeValue(forKey: filter)
  }
}
