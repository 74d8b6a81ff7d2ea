/// How a link is; the raw values are the vendor's.
public enum LinkState: Int, Sendable, Hashable, CaseIterable {
  /// There is no session: never logged in, logged out, not joined, or left.
  case idle = 0
  /// A connection is being opened.
  case connecting = 1
  /// The connection is open, and what could be restored is restored.
  case connected = 2
  /// The connection was lost less than two minutes ago; the next try comes soon.
  case disconnected = 3
  /// The connection has been lost for two minutes; the tries have become rare.
  case suspended = 4
  /// The link was refused, thrown out, or given up; only a new login or join leads on.
  case failed = 5
}

/// What brought a link into another state; the raw values are the vendor's.
public enum LinkOperation: Int, Sendable, Hashable, CaseIterable {
  /// The application logged in.
  case login = 0
  /// The application logged out.
  case logout = 1
  /// The application joined a stream channel, or the SDK did so again.
  case join = 2
  /// The application left a stream channel.
  case leave = 3
  /// The server said no.
  case serverReject = 4
  /// The SDK tries to connect again.
  case autoReconnect = 5
  /// The connection is back.
  case reconnected = 6
  /// The server did not answer heartbeats.
  case heartbeatTimeout = 7
  /// The connection broke.
  case serverTimeout = 8
  /// The device's network is another, or gone.
  case networkChange = 9
}

/// Why a link came into another state; the raw values are the vendor's.
public enum LinkReason: Int, Sendable, Hashable, CaseIterable {
  /// The reason was not told.
  case unknown = 0
  /// The application logs in.
  case login = 1
  /// The login was accepted.
  case loginSuccess = 2
  /// The login took longer than the reconnect time-out allows.
  case loginTimeout = 3
  /// The user may not log in.
  case loginNotAuthorized = 4
  /// The server does not want the login.
  case loginRejected = 5
  /// The application logs in again.
  case relogin = 6
  /// The application logs out.
  case logout = 7
  /// The SDK tries again.
  case autoReconnect = 8
  /// Connecting again took longer than the reconnect time-out allows.
  case reconnectTimeout = 9
  /// The connection is back.
  case reconnectSuccess = 10
  /// The application joins a stream channel.
  case join = 11
  /// The stream channel is joined.
  case joinSuccess = 12
  /// The stream channel could not be joined.
  case joinFailed = 13
  /// A stream channel is being joined again.
  case rejoin = 14
  /// The application leaves a stream channel.
  case leave = 15
  /// The token is not valid.
  case invalidToken = 16
  /// The token is too old.
  case tokenExpired = 17
  /// The token is for another app.
  case inconsistentAppID = 18
  /// The channel's name is none.
  case invalidChannelName = 19
  /// The user's name is none.
  case invalidUserID = 20
  /// There is no SDK yet.
  case notInitialized = 21
  /// A stream channel needs the message service, which is not connected.
  case serviceNotConnected = 22
  /// There are too many stream channels.
  case channelInstanceExceedLimitation = 23
  /// There were too many calls.
  case operationRateExceedLimitation = 24
  /// The stream channel failed before.
  case channelInErrorState = 25
  /// Presence is not connected.
  case presenceNotConnected = 26
  /// The same user logged in elsewhere.
  case sameUIDLogin = 27
  /// The server threw the user out.
  case kickedOutByServer = 28
  /// Heartbeats were not answered.
  case keepAliveTimeout = 29
  /// The connection broke, or could not be opened.
  case connectionError = 30
  /// Presence is not there yet.
  case presenceNotReady = 31
  /// The device's network is another, or gone.
  case networkChange = 32
  /// The app has no such service.
  case serviceNotSupported = 33
  /// There are no stream channels.
  case streamChannelNotAvailable = 34
  /// There is no storage.
  case storageNotAvailable = 35
  /// There are no locks.
  case lockNotAvailable = 36
  /// There were too many logins.
  case loginTooFrequent = 37
}

/// The services that have links of their own; the raw values are the vendor's.
public enum LinkService: Int, Sendable, Hashable, CaseIterable {
  /// Message channels and presence: one link for each logged-in user.
  case message = 1
  /// Stream channels: one link for each joined channel.
  case stream = 2
}

/// The kinds of channel; the raw values are the vendor's.
public enum LinkChannelType: Int, Sendable, Hashable, CaseIterable {
  /// A channel that one subscribes to.
  case message = 1
  /// A channel that one joins.
  case stream = 2
}
