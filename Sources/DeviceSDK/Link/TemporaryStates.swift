/// The user's own temporary states by channel, as far as the server has them, or will get them.
struct TemporaryStates: Sendable, Hashable {
  /// How many channels may have states.
  static let channelLimit = 100
  /// How many states a channel may have.
  static let stateLimit = 32

  private(set) var channels: [String: [String: String]] = [:]
  /// What was sent and is not acknowledged; later changes are made to it.
  private var underway: [String: (states: [String: String], count: Int)] = [:]

  static func == (lhs: Self, rhs: Self) -> Bool { lhs.channels == rhs.channels }
  func hash(into hasher: inout Hasher) { hasher.combine(channels) }

  subscript(channel: String) -> [String: String] { channels[channel] ?? [:] }

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
    var states = underway[channel]?.states ?? self[channel]
    for (key, value) in changes { states[key] = value }
    guard states.count <= Self.stateLimit else {
      throw LinkError(
        .presenceStateCountOverflow, "a channel has \(Self.stateLimit) states at most")
    }
    return states
  }

  /// Keeps states that no server has to acknowledge now.
  mutating func keep(_ states: [String: String], of channel: String) {
    channels[channel] = states.isEmpty ? nil : states
  }

  /// States were sent.
  mutating func noteSent(_ states: [String: String], of channel: String) {
    underway[channel] = (states, (underway[channel]?.count ?? 0) + 1)
  }

  /// States that were sent are acknowledged, or nobody waits for that any more.
  mutating func noteEnd(of channel: String, acknowledged states: [String: String]?) {
    if let states { keep(states, of: channel) }
    guard let (sent, count) = underway[channel] else { return }
    underway[channel] = count > 1 ? (sent, count - 1) : nil
  }

  /// Takes away all states of a channel.
  /// - Returns: The states.
  mutating func remove(_ channel: String) -> [String: String] {
    channels.removeValue(forKey: channel) ?? [:]
  }
}
