extension LinkTable {
  /// The transitions of the message service's link.
  package static let message = LinkTable(
    opening + accepting + failing + losing + retrying + givingUp + throwingOut + leaving)

  private static let opening = [
    LinkTransition(.idle, .login, .connecting, .login, .login),
    LinkTransition(.failed, .login, .connecting, .login, .login),
    LinkTransition(.failed, .relogin, .connecting, .login, .relogin),
    LinkTransition(.suspended, .login, .connecting, .login, .login),
    LinkTransition(.suspended, .relogin, .connecting, .login, .relogin),
    // The vendor names no login here; waiting for the next try would only be slower.
    LinkTransition(.disconnected, .login, .connecting, .login, .login),
    LinkTransition(.disconnected, .relogin, .connecting, .login, .relogin),
  ]

  private static let accepting = [
    LinkTransition(.connecting, .accepted, .connected, .login, .loginSuccess),
    LinkTransition(.connecting, .acceptedAgain, .connected, .reconnected, .reconnectSuccess),
  ]

  private static let failing = [
    LinkTransition(
      .connecting, .rejected, .failed, .serverReject, .loginRejected, .invalidToken,
      .tokenExpired, .loginNotAuthorized, .inconsistentAppID, .invalidUserID,
      .operationRateExceedLimitation, .serviceNotSupported, .loginTooFrequent, .sameUIDLogin,
      .kickedOutByServer),
    LinkTransition(
      .connecting, .attemptFailed, .disconnected, .autoReconnect, .connectionError),
    LinkTransition(
      .connecting, .attemptFailedLate, .suspended, .autoReconnect, .connectionError),
  ]

  private static let losing = [
    LinkTransition(
      .connected, .heartbeatMissed, .disconnected, .heartbeatTimeout, .keepAliveTimeout),
    LinkTransition(
      .connected, .connectionLost, .disconnected, .serverTimeout, .connectionError),
    LinkTransition(.connected, .networkLost, .disconnected, .networkChange, .networkChange),
  ]

  private static let retrying = [
    LinkTransition(.disconnected, .retryDue, .connecting, .autoReconnect, .autoReconnect),
    LinkTransition(.suspended, .retryDue, .connecting, .autoReconnect, .autoReconnect),
    LinkTransition(
      .disconnected, .twoMinutesPassed, .suspended, .autoReconnect, .connectionError),
  ]

  private static let givingUp = [LinkState.connecting, .disconnected, .suspended].flatMap {
    [
      LinkTransition($0, .loginTimedOut, .failed, .login, .loginTimeout),
      LinkTransition($0, .reconnectTimedOut, .failed, .autoReconnect, .reconnectTimeout),
    ]
  }

  private static let throwingOut = [
    LinkTransition(
      .connected, .kicked, .failed, .serverReject, .kickedOutByServer, .sameUIDLogin,
      .tokenExpired, .invalidToken),
    LinkTransition(.disconnected, .tokenFoundExpired, .failed, .serverReject, .tokenExpired),
    LinkTransition(.suspended, .tokenFoundExpired, .failed, .serverReject, .tokenExpired),
  ]

  private static let leaving = [
    LinkState.connecting, .connected, .disconnected, .suspended, .failed,
  ].map { LinkTransition($0, .logout, .idle, .logout, .logout) }
}
