import DataClient

/// The machine of a link, of either kind: who may call, how long a call waits, and how it ends.
protocol LinkCallKeeper: CallKeeper
where OpenCall: OpenLinkCall, Value == Void, Failure == LinkError {
  var configuration: LinkConfiguration { get }
  var state: LinkState { get }
  var time: Timestamp { get }
  var deadlines: DeadlineQueue { get set }
  var outputs: [MachineOutput<Value, Effect, Failure>] { get set }

  /// What a call fails with when nobody has asked for the link.
  var isNotWanted: LinkError { get }

  /// What a call fails with while the link is down.
  func isDown(_ code: LinkErrorCode) -> LinkError

  /// Forgets a call, with all that was kept for it.
  mutating func close(_ id: CallID, isAcknowledged: Bool)
}

/// A call of a link that is not completed yet.
protocol OpenLinkCall {
  /// What the call fails with when the link goes down; nil for those that outlast it.
  var offlineCode: LinkErrorCode? { get }
}

extension LinkCallKeeper {
  /// Lets a call through if the link is connected.
  /// - Parameter offline: The code of the call's module for a link that is down.
  /// - Throws: ``LinkError``.
  func checkConnected(_ offline: LinkErrorCode) throws(LinkError) {
    switch state {
    case .connected: break
    case .idle, .failed: throw isNotWanted
    case .connecting, .disconnected, .suspended: throw isDown(offline)
    }
  }

  /// Keeps a call until it is answered, for the configured time if none is given.
  mutating func wait(_ id: CallID, _ call: OpenCall, for duration: Duration? = nil) {
    calls[id] = call
    deadlines.set(time.advanced(by: duration ?? configuration.callTimeout), for: id)
  }

  mutating func complete(_ id: CallID) {
    close(id, isAcknowledged: true)
    outputs.append(.complete(id, .success(())))
  }

  mutating func fail(_ id: CallID, _ error: LinkError) {
    close(id, isAcknowledged: false)
    outputs.append(.complete(id, .failure(error)))
  }

  /// Fails all that waits for an answer on the connection.
  mutating func failCalls() {
    for (id, call) in openCalls {
      if let code = call.offlineCode { fail(id, isDown(code)) }
    }
  }
}
