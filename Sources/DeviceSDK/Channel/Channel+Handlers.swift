public import RepriseCore

/// The channel with handlers in place of `await`, as long connections are known from older SDKs.
///
/// Each handler is called once and must return soon: on the channel's own task, on that of another caller that hands
/// over at this moment, or at once, when the call can't be made.
extension Channel {
  /// Connects; a second connection is never made.
  /// - Parameter listener: Hears of the state, on the main actor; held weakly.
  public func startConnect(listener: (any ChannelConnectListener)? = nil) {
    if let listener { addConnectListener(listener) }
    driver.submit(.start) { _ in }
  }

  /// Closes the connection.
  /// - Parameter complete: Called when it is closed; a new start is possible then.
  public func stopConnect(complete: @escaping @Sendable (ChannelError?) -> Void = { _ in }) {
    submit(.stop, complete)
  }

  /// Sends a request.
  /// - Parameters:
  ///   - topic: The topic of the request.
  ///   - opts: Its object `extraParam` has members that stand beside the parameters.
  ///   - params: The parameters.
  ///   - respHandler: Called with the reply or the error.
  public func invokeWithTopic(
    _ topic: String, opts: JSONValue?, params: JSONValue,
    respHandler: @escaping @Sendable (ChannelResponse) -> Void
  ) {
    submit({ () throws(ChannelError) in
      .invoke(.init(try ChannelTopic(topic), params: params, options: opts))
    }) { result in
      switch result {
      case .success(.reply(let reply)):
        respHandler(ChannelResponse(isSuccess: true, reply: reply, error: nil))
      case .success(.done), .success(.topics):
        respHandler(ChannelResponse(isSuccess: true, reply: nil, error: nil))
      case .failure(let error):
        respHandler(ChannelResponse(isSuccess: false, reply: nil, error: error))
      }
    }
  }

  /// Sends parameters.
  /// - Parameters:
  ///   - topic: The topic, without wildcards.
  ///   - params: The parameters.
  ///   - complete: Called when the receiver has them.
  public func publish(
    _ topic: String, params: JSONValue, complete: @escaping @Sendable (ChannelError?) -> Void
  ) {
    submit({ () throws(ChannelError) in .publish(try ChannelTopic(topic), params) }) {
      complete($0.error)
    }
  }

  /// Asks for messages.
  /// - Parameters:
  ///   - topic: The topic, or a topic filter.
  ///   - complete: Called when they are granted.
  public func subscribe(
    _ topic: String, complete: @escaping @Sendable (ChannelError?) -> Void
  ) {
    submit({ () throws(ChannelError) in .subscribe(try ChannelTopic(topic)) }) {
      complete($0.error)
    }
  }

  /// Asks no longer for messages.
  /// - Parameters:
  ///   - topic: The topic, or the topic filter, that was subscribed to.
  ///   - complete: Called when that is acknowledged.
  public func unsubscribe(
    _ topic: String, complete: @escaping @Sendable (ChannelError?) -> Void
  ) {
    submit({ () throws(ChannelError) in .unsubscribe(try ChannelTopic(topic)) }) {
      complete($0.error)
    }
  }

  /// Binds the channel to the account that a token is for.
  /// - Parameters:
  ///   - token: The login token of the account.
  ///   - complete: Called when it is bound, or can't be.
  public func bind(token: String, complete: @escaping @Sendable (ChannelError?) -> Void) {
    submit(.bind(token: token), complete)
  }

  /// Takes the binding back.
  /// - Parameter complete: Called when it is taken back, or can't be.
  public func unbind(complete: @escaping @Sendable (ChannelError?) -> Void) {
    submit(.unbind, complete)
  }

  // MARK: Listeners

  /// Adds a listener of messages, which the caller must keep alive.
  /// - Parameters:
  ///   - uiSafety: Whether it is called on the main actor, for which the newest 16,384 messages wait,
  ///     while older ones are dropped and counted in ``Channel/droppedMessages``; otherwise on the
  ///     channel's own task.
  ///   - listener: The listener; held weakly.
  public func addDownStreamListener(
    uiSafety: Bool = true, listener: any ChannelDownstreamListener
  ) {
    hub.downstreamListeners.add(listener, onMain: uiSafety) { [weak listener] in listener }
  }

  /// Removes a listener of messages.
  /// - Parameter listener: The listener.
  public func removeDownStreamListener(_ listener: any ChannelDownstreamListener) {
    hub.downstreamListeners.remove(listener)
  }

  /// Adds a listener of the connection's state, which the caller must keep alive.
  /// - Parameters:
  ///   - listener: The listener; held weakly.
  ///   - uiSafety: Whether it is called on the main actor; otherwise on the channel's own task.
  public func addConnectListener(_ listener: any ChannelConnectListener, uiSafety: Bool = true) {
    hub.connectListeners.add(listener, onMain: uiSafety) { [weak listener] in listener }
  }

  /// Removes a listener of the connection's state.
  /// - Parameter listener: The listener.
  public func removeConnectListener(_ listener: any ChannelConnectListener) {
    hub.connectListeners.remove(listener)
  }

  /// Returns the client identifier; empty until the identity is known.
  public func getClientId() -> String { clientID ?? "" }

  // MARK: Calls

  private func submit(
    _ call: ChannelStateMachine.Call, _ complete: @escaping @Sendable (ChannelError?) -> Void
  ) {
    submit({ () throws(ChannelError) in call }) { complete($0.error) }
  }

  private func submit(
    _ call: () throws(ChannelError) -> ChannelStateMachine.Call,
    _ complete: @escaping @Sendable (Result<ChannelStateMachine.Value, ChannelError>) -> Void
  ) {
    do {
      driver.submit(try call()) { result in
        complete(result.mapError { ChannelStateMachine.error(for: $0) })
      }
    } catch {
      complete(.failure(error))
    }
  }
}

extension Result where Failure == ChannelError {
  /// The error, if it failed.
  fileprivate var error: ChannelError? {
    guard case .failure(let error) = self else { return nil }
    return error
  }
}
