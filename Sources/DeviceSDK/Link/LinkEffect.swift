public import RepriseCore

/// What an application is told by a link without having asked.
package enum LinkEffect: Sendable, Hashable {
  /// The link's state is another.
  case changeState(LinkStateEvent)
  /// Users came or went, or said something of themselves.
  case tellPresence(LinkPresenceEvent)
  /// A message came in a channel.
  case deliver(LinkMessage)
  /// Users joined or left topics of a stream channel.
  case tellTopics(LinkTopicEvent)
  /// The token is valid for 30 seconds more; once for each token.
  case warnOfToken(LinkTokenEvent)
}

/// A word on the token that a link was opened with.
public struct LinkTokenEvent: Sendable, Hashable {
  /// Whose token it is.
  public let service: LinkService
  /// The stream channel whose token it is; nil for the message service.
  public let channel: String?
  /// When it is not valid any more.
  public let expires: Timestamp
}

/// What became of the device's network, as the application's system tells it.
public enum LinkNetworkChange: Sendable, Hashable, CaseIterable {
  /// There is no network.
  case lost
  /// There is a network again.
  case regained
  /// There is another network than before.
  case switched
}

/// When a token ends, and when that is to be told.
struct TokenTimes: Sendable {
  /// How long before its end a token is told to be ending.
  static let warning: Duration = .seconds(30)

  let expires: Timestamp
  private var warnTime: Timestamp?

  /// Takes what a server says of a token; nil when it says nothing.
  init?(expiresIn: Duration?, now: Timestamp) {
    guard let expiresIn else { return nil }
    expires = now.advanced(by: expiresIn)
    warnTime = now.advanced(by: expiresIn - Self.warning)
  }

  /// When something is to be told.
  var next: Timestamp? { warnTime }

  /// Tells whether the end is to be told now, for the first time.
  mutating func takeWarning(_ now: Timestamp) -> Bool {
    guard let warnTime, warnTime <= now else { return false }
    self.warnTime = nil
    return true
  }
}
