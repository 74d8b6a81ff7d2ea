/// The user's own temporary states by channel, as far as the server has them, or will get them.
struct TemporaryStates: Sendable, Hashable {
  /// How many channels may have states.
  static let channelLimit = 100
  /// How many states a channel may have.
  static let stateLimit = 32

  private(set) var channels: [String: [String: String]] = [:]
  /// What is not acknowledged yet, the newest last; later changes are made to it.
  private var underway: [String: [Change]] = [:]
  /// The newest change of a channel that is acknowledged while older ones are under way.
  private var newest: [String: UInt64] = [:]
  private var lastChange: UInt64 = 0

  /// Names a change from its beginning to its end.
  struct ChangeID: Sendable, Hashable {
    fileprivate let number: UInt64
  }

  /// All states of a channel as a change has them.
  private struct Change: Sendable {
    let id: ChangeID
    let states: [String: String]
  }

  static func == (lhs: Self, rhs: Self) -> Bool { lhs.channels == rhs.channels }
  func hash(into hasher: inout Hasher) { hasher.combine(channels) }

  subscript(channel: String) -> [String: String] { channels[channel] ?? [:] }

  /// The states of a channel once all that is under way is acknowledged.
  func newest(of channel: String) -> [String: String] {
    underway[channel]?.last?.states ?? self[channel]
  }

  /// Returns the states of a channel after a change.
  /// - Parameters:
  ///   - changes: The new values; nil takes a state away.
  ///   - channel: The channel.
  /// - Returns: All states that the channel has then.
  /// - Throws: ``LinkError`` when there would be too many, or one has no name.
  func changed(
    by changes: [String: String?], in channel: String
  ) throws(LinkError) -> [String: String] {
    guard !changes.keys.contains("") else {
      throw LinkError(.presenceInvalidStateKey, "a state has no name")
    }
    guard channels[channel] != nil || channels.count < Self.channelLimit else {
      throw LinkError(
        .presenceCacheTooManyStates, "\(Self.channelLimit) channels are the most with states")
    }
    var states = newest(of: channel)
    for (key, value) in changes { states[key] = value }
    guard states.count <= Self.stateLimit else {
      throw LinkError(
        .presenceStateCountOverflow, "a channel has \(Self.stateLimit) states at most")
    }
    return states
  }

  /// Keeps states that no server has to acknowledge now; they take the place of what is under way.
  mutating func keep(_ states: [String: String], of channel: String) {
    forgetUnderway(in: channel)
    store(states, of: channel)
  }

  private mutating func store(_ states: [String: String], of channel: String) {
    channels[channel] = states.isEmpty ? nil : states
  }

  /// States are on their way, or wait to be sent.
  /// - Returns: The name of the change, for its end.
  mutating func begin(_ states: [String: String], of channel: String) -> ChangeID {
    lastChange += 1
    let id = ChangeID(number: lastChange)
    underway[channel, default: []].append(Change(id: id, states: states))
    return id
  }

  /// A change is acknowledged, or nobody waits for that any more; nothing comes of one whose channel was
  /// taken away since it began.
  mutating func end(_ id: ChangeID, of channel: String, isAcknowledged: Bool) {
    guard let index = underway[channel]?.firstIndex(where: { $0.id == id }),
      let change = underway[channel]?.remove(at: index)
    else { return }
    // The states of a newer change have those of this one in them.
    if isAcknowledged, id.number > newest[channel] ?? 0 {
      newest[channel] = id.number
      store(change.states, of: channel)
    }
    if underway[channel]?.isEmpty == true { forgetUnderway(in: channel) }
  }

  private mutating func forgetUnderway(in channel: String) {
    underway[channel] = nil
    newest[channel] = nil
  }

  /// Takes away all states of a channel, also those that are under way.
  /// - Returns: The acknowledged states.
  mutating func remove(_ channel: String) -> [String: String] {
    forgetUnderway(in: channel)
    return channels.removeValue(forKey: channel) ?? [:]
  }
}
