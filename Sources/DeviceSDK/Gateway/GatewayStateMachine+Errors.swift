import RepriseCore

/// What errors of the client and of the connection are to the gateway's users.
extension GatewayStateMachine {
  static let notConnected = GatewayError(.network, "the gateway is not connected")

  static func error(for reason: ConnectionKeeper.Reason) -> GatewayError {
    switch reason {
    case .closed(let closed): error(for: closed)
    case .refused(let error): Self.error(for: error)
    case .failed(let failure): Self.error(for: DataClientError(.rejected, "\(failure)"))
    case .timedOut(let text): GatewayError(.network, text)
    case .oscillation:
      GatewayError(
        .gateway,
        "the connection is taken over again and again; another process seems to use the same identity"
      )
    case .stopped: GatewayError(.network, "the gateway was stopped")
    case .ended: GatewayError(.network, "there are no more events")
    }
  }

  private static func error(for reason: ClientEvent.Closed) -> GatewayError {
    switch reason {
    case .byUser: GatewayError(.network, "the connection was closed")
    case .byServer(_, let text), .lost(let text), .unreached(let text, _):
      GatewayError(.network, "the connection was lost: \(text)")
    case .refused(let code):
      GatewayError(
        reason.refusesIdentity ? .login : .gateway, "\(reason)", cloudCode: Int(code))
    }
  }

  static func error(for error: DataClientError) -> GatewayError {
    let kind: GatewayError.Kind =
      switch error.code {
      case .notConnected, .transport: .network
      case .unsupported, .invalidAction: .client
      default: .gateway
      }
    return GatewayError(kind, error.message, underlying: error)
  }

  /// What ended a call, as an error of the gateway.
  static func error(for error: any Error) -> GatewayError {
    switch error {
    case let error as GatewayError: error
    case let error as DataClientError: Self.error(for: error)
    case let error as ChannelError: GatewayError(.client, error.message, underlying: error)
    default: GatewayError(.network, "the gateway was closed", underlying: error)
    }
  }
}
