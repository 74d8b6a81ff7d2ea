import RepriseCore

/// Why a call of an ``MQTTSession`` failed, or its messages ended.
public struct MQTTError: Error, Sendable, Hashable {
  /// The kinds of failure.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The call can't be expressed: no topic, no filter, a payload too large, a configuration that contradicts itself.
    case invalid
    /// The server or the transport can't do it: properties or requests under MQTT 3.1.1, QoS 2 where there is none.
    case unsupported
    /// There is no connection, and none came in time or will come.
    case notConnected
    /// The connection was lost before the answer came: it is not known whether the server has it.
    case lost
    /// The answer did not come in time.
    case timedOut
    /// The server does not want it.
    case refused
  }

  /// What failed.
  public var kind: Kind
  /// The server's reason code from 0x80 on (MQTT 5.0 section 2.4), or that of CONNACK in MQTT 3.1.1 (section
  /// 3.2.2.3); nil when it gave none.
  public var reasonCode: UInt8?
  /// What is wrong and what can be done, for people; never a secret.
  public var message: String

  /// Creates an error.
  /// - Parameters:
  ///   - kind: What failed.
  ///   - message: What is wrong and what can be done.
  ///   - reasonCode: The server's reason code.
  public init(_ kind: Kind, _ message: String, reasonCode: UInt8? = nil) {
    self.kind = kind
    self.message = message
    self.reasonCode = reasonCode
  }
}

extension MQTTError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}

extension MQTTError {
  /// The client did not take an action.
  init(_ error: DataClientError) {
    let kind: Kind =
      switch error.code {
      case .invalidAction: .invalid
      case .unsupported: .unsupported
      case .notConnected: .notConnected
      case .timedOut: .timedOut
      case .rejected: .refused
      default: .lost
      }
    self.init(kind, error.message)
  }

  /// The server's answer says no.
  init(_ failure: ActionFailure) {
    let kind: Kind = failure.code == nil ? .lost : .refused
    self.init(kind, "\(failure)", reasonCode: failure.code)
  }

  /// There is no connection.
  init(_ reason: ConnectionKeeper.Reason) {
    switch reason {
    case .closed(.refused(let code)):
      self.init(.refused, "\(ClientEvent.Closed.refused(code: code))", reasonCode: code)
    case .closed(let closed): self.init(.notConnected, "\(closed)")
    case .refused(let error): self.init(error)
    case .failed(let failure): self.init(failure)
    case .timedOut(let text): self.init(.notConnected, text)
    case .oscillation:
      self.init(
        .notConnected,
        "another client takes the connection again and again; give each a client identifier of its own"
      )
    case .stopped: self.init(.notConnected, "the session was closed")
    case .ended: self.init(.notConnected, "there are no more events")
    }
  }
}
