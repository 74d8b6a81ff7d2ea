import DataClient

/// What errors of the client are to the channel's users.
extension ChannelStateMachine {
  static let notConnected = ChannelError(.network, "the channel is not connected")
  static let endOfWorld = ChannelError(.network, "there are no more events")
  static let oscillation = ChannelError(
    .gateway,
    "the connection is lost again and again; another process seems to use the same identity")

  static func error(for reason: ClientEvent.Closed) -> ChannelError {
    switch reason {
    case .byUser: ChannelError(.network, "the connection was closed")
    case .lost(let text): ChannelError(.network, "the connection was lost: \(text)")
    case .refused(let code):
      switch code {
      case 4, 5: ChannelError(.login, "the identity is not accepted", cloudCode: Int(code))
      default: ChannelError(.gateway, "the connection was refused", cloudCode: Int(code))
      }
    }
  }

  /// Tells whether trying again would be refused again.
  static func isFinal(_ reason: ClientEvent.Closed) -> Bool {
    switch reason {
    case .byUser, .lost: false
    // Of the codes of CONNACK only 3, server unavailable, and unknown ones may pass.
    case .refused(let code): [1, 2, 4, 5].contains(code)
    }
  }

  static func error(for error: DataClientError) -> ChannelError {
    let kind: ChannelError.Kind =
      switch error.code {
      case .notConnected, .transport: .network
      case .unsupported, .invalidAction: .client
      default: .gateway
      }
    return ChannelError(kind, error.message, underlying: error)
  }
}
