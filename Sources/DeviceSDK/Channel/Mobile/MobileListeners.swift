/// How a channel's connection is, by the names of the SDK for Android.
public enum MobileConnectState: String, Sendable, Hashable, CaseIterable {
  /// The connection is open.
  case connected = "CONNECTED"
  /// There is no connection.
  case disconnected = "DISCONNECTED"
  /// A connection is being opened.
  case connecting = "CONNECTING"
  /// A connection could not be opened; ``ChannelState`` calls it disconnected, with an error.
  case connectFail = "CONNECTFAIL"

  /// Returns the state that a change leads to.
  /// - Parameter change: The change of the channel's state.
  /// - Returns: ``connectFail`` for an error while a connection was being opened; one that was open and is lost
  ///   is ``disconnected``.
  func after(_ change: ChannelStateChange) -> MobileConnectState {
    switch change.state {
    case .connected: .connected
    case .connecting: .connecting
    case .disconnected: self == .connecting && change.error != nil ? .connectFail : .disconnected
    }
  }
}

/// Why a call failed, by the names of the SDK for Android, which calls it `AError`.
public struct MobileError: Error, Sendable, Hashable {
  /// The class of the error, see ``ChannelErrorKind``.
  public let code: Int
  /// What is wrong, for people.
  public let msg: String
  /// The code of the cloud; 0 when it is not the reason.
  public let subCode: Int
  /// The message of the cloud; empty when it is not the reason.
  public let subMsg: String

  init(_ error: ChannelError) {
    code = error.kind.rawValue
    msg = error.message
    subCode = error.cloudCode ?? 0
    subMsg = (error.underlying as? CloudError)?.message ?? ""
  }
}

/// Hears of the connection's state.
public protocol MobileConnectListener: AnyObject, Sendable {
  /// Takes a new state.
  /// - Parameter state: The state.
  func onConnectStateChange(_ state: MobileConnectState)
}

/// Hears how a request ended; called once, on the channel's own task.
public protocol MobileRequestListener: AnyObject, Sendable {
  /// Takes the data of the reply.
  /// - Parameter jsonData: The data as JSON; an empty object when the reply has none.
  func onSuccess(_ jsonData: String)

  /// Takes the reason why there is none.
  /// - Parameter error: The reason.
  func onFailure(_ error: MobileError)
}

/// Hears whether a subscription was granted or taken back; called once.
public protocol MobileSubscrbieListener: AnyObject, Sendable {
  /// Takes that it was.
  /// - Parameter topic: The topic as it was given.
  func onSuccess(_ topic: String)

  /// Takes the reason why it was not.
  /// - Parameters:
  ///   - topic: The topic as it was given.
  ///   - error: The reason.
  func onFailed(_ topic: String, _ error: MobileError)

  /// Tells whether it is called on the main actor; otherwise on the channel's own task.
  /// - Returns: Whether it is; true if nothing else is said.
  func needUISafety() -> Bool
}

extension MobileSubscrbieListener {
  /// Wants the main actor.
  public func needUISafety() -> Bool { true }
}

/// Hears what comes down the channel.
public protocol MobileDownstreamListener: AnyObject, Sendable {
  /// Takes a message.
  /// - Parameters:
  ///   - topic: The topic without the channel's prefix.
  ///   - msg: The message's parameters as JSON, or the whole payload when it has none.
  func onCommand(_ topic: String, _ msg: String)

  /// Tells whether this listener wants messages of a topic; asked before each.
  /// - Parameter topic: The topic without the channel's prefix.
  /// - Returns: Whether it does; true if nothing else is said.
  func shouldHandle(_ topic: String) -> Bool
}

extension MobileDownstreamListener {
  /// Wants all messages.
  public func shouldHandle(_ topic: String) -> Bool { true }
}
