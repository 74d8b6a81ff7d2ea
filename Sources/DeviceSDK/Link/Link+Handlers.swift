/// The links with completions in place of `await`, as they are known from older SDKs.
///
/// Each completion is called once, with a response or with an error, on the link's own task, and must
/// return soon.
extension Link {
  /// Takes what a call came to.
  public typealias Completion = @Sendable (LinkResponse?, LinkErrorInfo?) -> Void

  /// Logs in.
  /// - Parameters:
  ///   - token: The token; empty takes the app's identifier.
  ///   - completion: Called when the link is connected, or can't be.
  public func loginByToken(_ token: String, completion: @escaping Completion = { _, _ in }) {
    submit("login", .login(token: token), completion)
  }

  /// Logs out and leaves all stream channels.
  /// - Parameter completion: Called when the connection of the message service is closed.
  public func logout(completion: @escaping Completion) { submit("logout", .logout, completion) }

  /// Shows a new token in time.
  /// - Parameters:
  ///   - token: The token.
  ///   - completion: Called when the server has taken it.
  public func renewToken(_ token: String, completion: @escaping Completion) {
    submit("renewToken", .renewToken(token), completion)
  }

  /// Subscribes to a message channel.
  /// - Parameters:
  ///   - channelName: The channel's name.
  ///   - features: What the subscription brings.
  ///   - completion: Called when all of it is there.
  public func subscribeWithChannel(
    _ channelName: String, features: LinkSubscribeFeatures = [.message, .presence],
    completion: @escaping Completion
  ) {
    submit("subscribe", .subscribe(channelName, features), completion)
  }

  /// Unsubscribes from a message channel.
  /// - Parameters:
  ///   - channelName: The channel's name.
  ///   - completion: Called when the server has taken the user out.
  public func unsubscribeWithChannel(_ channelName: String, completion: @escaping Completion) {
    submit("unsubscribe", .unsubscribe(channelName), completion)
  }

  // MARK: Delegates

  /// Adds a delegate, which the caller must keep alive.
  /// - Parameters:
  ///   - delegate: The delegate; held weakly.
  ///   - uiSafety: Whether it is called on the main actor, for which the newest 16,384 messages wait,
  ///     while older ones are dropped and counted in ``Link/droppedMessages``; otherwise on the links'
  ///     own tasks.
  public func addDelegate(_ delegate: any LinkDelegate, uiSafety: Bool = true) {
    hub.delegates.add(delegate, onMain: uiSafety) { [weak delegate] in delegate }
  }

  /// Removes a delegate.
  /// - Parameter delegate: The delegate.
  public func removeDelegate(_ delegate: any LinkDelegate) { hub.delegates.remove(delegate) }

  func submit(
    _ operation: String, _ call: MessageLinkMachine.Call, _ completion: @escaping Completion
  ) {
    driver.submit(call) { Self.complete(operation, $0, completion) }
  }

  static func complete(
    _ operation: String, _ result: Result<Void, any Error>, _ completion: Completion
  ) {
    switch result {
    case .success: completion(LinkResponse(operation: operation), nil)
    case .failure(let error):
      let error = LinkError(error)
      let info = LinkErrorInfo(
        errorCode: error.code, reason: error.message, operation: operation)
      completion(nil, info)
    }
  }
}

extension StreamChannel {
  // MARK: Topics

  /// Joins a topic.
  /// - Parameters:
  ///   - topic: The topic's name.
  ///   - option: How it is joined.
  ///   - completion: Called when the user may publish in it.
  public func joinTopic(
    _ topic: String, withOption option: LinkTopicOptions = LinkTopicOptions(),
    completion: @escaping Link.Completion
  ) {
    submit("joinTopic", .joinTopic(topic, option), completion)
  }

  /// Leaves a topic.
  /// - Parameters:
  ///   - topic: The topic's name.
  ///   - completion: Called when the server has taken the user out.
  public func leaveTopic(_ topic: String, completion: @escaping Link.Completion) {
    submit("leaveTopic", .leaveTopic(topic), completion)
  }

  /// Publishes in a topic that is joined.
  /// - Parameters:
  ///   - topic: The topic's name.
  ///   - message: The message, 1 KB at most.
  ///   - completion: Called when it is written, or the broker has it if the topic is ordered.
  public func publishTopicMessage(
    _ topic: String, message: [UInt8], completion: @escaping Link.Completion
  ) {
    submit("publishTopicMessage", .publish(topic, message), completion)
  }

  /// Subscribes to users of a topic.
  /// - Parameters:
  ///   - topic: The topic's name.
  ///   - users: The users; none takes those who have joined the topic.
  ///   - completion: Called when their messages come.
  public func subscribeTopic(
    _ topic: String, users: [String] = [], completion: @escaping Link.Completion
  ) {
    submit("subscribeTopic", .subscribeTopic(topic, users), completion)
  }

  /// Unsubscribes from users of a topic.
  /// - Parameters:
  ///   - topic: The topic's name.
  ///   - users: The users; none takes all.
  ///   - completion: Called when their messages do not come any more.
  public func unsubscribeTopic(
    _ topic: String, users: [String] = [], completion: @escaping Link.Completion
  ) {
    submit("unsubscribeTopic", .unsubscribeTopic(topic, users), completion)
  }

  private func submit(
    _ operation: String, _ call: StreamLinkMachine.Call, _ completion: @escaping Link.Completion
  ) {
    do {
      try joined().driver.submit(call) { Link.complete(operation, $0, completion) }
    } catch {
      Link.complete(operation, .failure(error), completion)
    }
  }

  // MARK: Joining and leaving

  /// Joins the channel.
  /// - Parameters:
  ///   - option: The token, and what the channel is to bring.
  ///   - completion: Called when its link is connected, or can't be.
  public func joinWithOption(
    _ option: LinkJoinOption, completion: @escaping Link.Completion = { _, _ in }
  ) {
    let (name, link) = (name, link)
    link.driver.submit(.admitStream(name)) { admission in
      do {
        try admission.get()
        let run = try link.streams.makeRun(of: name)
        run.driver.submit(.join(token: option.token, option.features)) {
          Link.complete("join", $0, completion)
        }
      } catch {
        if case .success = admission { link.driver.submit(.releaseStream(name)) { _ in } }
        Link.complete("join", .failure(error), completion)
      }
    }
  }

  /// Leaves the channel.
  /// - Parameter completion: Called when its connection is closed.
  public func leave(completion: @escaping Link.Completion) {
    let (name, link) = (name, link)
    do {
      let run = try joined()
      run.driver.submit(.leave) { result in
        if case .success = result {
          link.streams.end(run)
          link.driver.submit(.releaseStream(name)) { _ in }
        }
        Link.complete("leave", result, completion)
      }
    } catch {
      Link.complete("leave", .failure(error), completion)
    }
  }
}
