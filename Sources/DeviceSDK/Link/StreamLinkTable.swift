extension LinkTable {
  /// The transitions of a stream channel's link.
  package static let stream = LinkTable([
    LinkTransition(.idle, .join, .connecting, .join, .join),
    LinkTransition(.failed, .join, .connecting, .join, .join),
    LinkTransition(.failed, .rejoin, .connecting, .join, .rejoin),
    LinkTransition(.connecting, .accepted, .connected, .join, .joinSuccess),
    LinkTransition(.connecting, .acceptedAgain, .connected, .join, .joinSuccess),
    LinkTransition(.connecting, .rejected, .failed, .join, .joinFailed),
    LinkTransition(.connecting, .tokenFoundExpired, .failed, .join, .joinFailed),
    LinkTransition(.connecting, .reconnectTimedOut, .failed, .join, .joinFailed),
    LinkTransition(.connected, .heartbeatMissed, .connecting, .join, .rejoin),
    LinkTransition(.connected, .connectionLost, .connecting, .join, .rejoin),
    LinkTransition(.connected, .networkLost, .connecting, .join, .rejoin),
    LinkTransition(
      .connected, .kicked, .failed, .serverReject, .kickedOutByServer, .sameUIDLogin,
      .tokenExpired, .invalidToken),
    LinkTransition(
      .connecting, .serviceFailed, .failed, .serverReject, .serviceNotConnected),
    LinkTransition(.connected, .serviceFailed, .failed, .serverReject, .serviceNotConnected),
    LinkTransition(.connecting, .leave, .idle, .leave, .leave),
    LinkTransition(.connected, .leave, .idle, .leave, .leave),
    LinkTransition(.failed, .leave, .idle, .leave, .leave),
  ])
}
