import RepriseCore

/// What a server knows of one link: when it was heard of, and how long silence means nothing.
struct LinkLine: Sendable {
  /// How much longer than its interval a heartbeat may take.
  static let grace: Duration = .seconds(10)

  let address: LinkAddress
  /// The time between two heartbeats.
  let interval: Duration
  let presenceTimeout: Duration
  var lastHeard: Timestamp
  var tokenEnd: Timestamp
  /// Whether the broker has not told of a lost connection.
  var isConnected = true

  /// From when on the link is taken for disturbed.
  var suspectTime: Timestamp { lastHeard.advanced(by: interval + Self.grace) }

  /// When the others are told that the user is gone.
  var announceTime: Timestamp { suspectTime.advanced(by: presenceTimeout) }

  /// When the server has something to do about it.
  var deadline: Timestamp { min(announceTime, tokenEnd) }
}

/// What a server knows of one user.
struct LinkAccount: Sendable {
  /// The life of the SDK that logged in last.
  var session: String
  /// The link of the message service; nil while there is none.
  var line: LinkLine?
  /// The links of stream channels, by the channel.
  var streams: [String: LinkLine] = [:]

  var isEmpty: Bool { line == nil && streams.isEmpty }
}
