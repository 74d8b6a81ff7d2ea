package import RepriseCore

/// What errors of the client are to the channel's users.
extension ChannelStateMachine {
  static let notConnected = ChannelError(.network, "the channel is not connected")
  static let endOfWorld = ChannelError(.network, "there are no more events")

  /// What is told when the channel gives up because connections do not last.
  /// - Parameter last: Why the last one was lost.
  /// - Returns: The error.
  private static func oscillation(_ last: ChannelError) -> ChannelError {
    ChannelError(
      .gateway,
      "the connection is taken over again and again; another process seems to use the same identity: stop "
        + "it, or give one of the two an identity of its own, and start again (\(last.message))",
      underlying: last)
  }

  static func error(for reason: ConnectionKeeper.Reason) -> ChannelError {
    switch reason {
    case .closed(let closed): error(for: closed)
    case .refused(let error): Self.error(for: error)
    case .failed(let failure): error(for: failure)
    case .timedOut(let text): ChannelError(.network, text)
    case .oscillation(let last): oscillation(error(for: last))
    case .stopped: ChannelError(.network, "the channel was stopped")
    case .ended: endOfWorld
    }
  }

  static func error(for reason: ClientEvent.Closed) -> ChannelError {
    switch reason {
    case .byUser: ChannelError(.network, "\(reason)")
    case .byServer(_, let text), .lost(let text), .unreached(let text, _):
      ChannelError(.network, "the connection was lost: \(text)")
    case .refused(let code):
      ChannelError(
        reason.refusesIdentity ? .login : .gateway, "\(reason)", cloudCode: Int(code))
    }
  }

  static func error(for failure: ActionFailure) -> ChannelError {
    ChannelError(
      failure.code == nil ? .network : .gateway, "\(failure)",
      cloudCode: failure.code.map(Int.init),
      underlying: failure)
  }

  /// Returns what an error of the client is to the channel's users.
  package static func error(for error: DataClientError) -> ChannelError {
    let kind: ChannelError.Kind =
      switch error.code {
      case .notConnected, .transport: .network
      case .unsupported, .invalidAction: .client
      default: .gateway
      }
    return ChannelError(kind, error.message, underlying: error)
  }
}
