package import DeviceSDK
package import RepriseCore

/// The channel as a machine that is played.
extension ChannelPlan {
  /// How a session ends for an app.
  package struct Ending: Sendable, Hashable {
    /// The connection's state.
    package var state = ChannelState.disconnected
    /// The account's state.
    package var account = AccountState.unbound
  }

  /// Whose session it is.
  package var subject: String { "app \(identity.clientID)" }

  /// Makes the channel with what it had before the session began.
  package func makeMachine(_ capabilities: Capabilities) throws -> ChannelStateMachine {
    var configuration = configuration
    // Where the recorded client has taken back what was granted too late, the plan calls that.
    configuration.takesBackLateGrants = false
    configuration.log = DeviceLog(level: .warning, levels: [.call: .debug]) { _ in }
    var machine = try ChannelStateMachine(configuration)
    machine.adopt(adopted)
    machine.resume(resumed)
    return machine
  }

  /// Stops the channel.
  package var goodbye: ChannelStateMachine.Call { .stop }

  /// Takes events until the end.
  package static func loop(_ driver: Driver<ChannelStateMachine>) async throws {
    try await driver.loop()
  }

  /// Returns why no call brings an action about.
  package func reason(against action: ClientAction.Kind?) -> String {
    switch action {
    case .subscribe, .unsubscribe:
      "the channel has no call for several filters in one packet; only what was lost with a "
        + "connection is asked for again at once"
    default: "the channel has no call for it"
    }
  }

  // MARK: What is told

  /// How a session ends in which nothing happens.
  package static var start: Ending { Ending() }

  /// Notes the states.
  package static func note(_ effect: ChannelStateMachine.Effect, in ending: inout Ending) {
    switch effect {
    case .changeState(let change): ending.state = change.state
    case .changeAccount(let account): ending.account = account
    case .deliver, .forward, .log: return
    }
  }

  /// Shows all but what the log says of states, which are told.
  package static func isShown(_ effect: ChannelStateMachine.Effect) -> Bool {
    guard case .log(let entry) = effect else { return true }
    return switch entry.module {
    case .call, .subscription, .listener, .line: true
    case .connection, .account: false
    }
  }

  // MARK: Words

  /// Returns a call in words.
  package func words(for call: ChannelStateMachine.Call) -> ReplayedCall.Words? {
    let topics = ChannelTopics(
      productKey: identity.productKey, deviceName: identity.deviceName)
    func make(
      _ name: String, _ topic: ChannelTopic, _ params: JSONValue? = nil
    ) -> ReplayedCall.Words { .init(name, Self.shorten(topic, topics), params) }
    switch call {
    case .start: return .init("start")
    case .stop: return .init("stop")
    case .identify, .failToIdentify: return .init("identify")
    case .invoke(let invocation): return make("invoke", invocation.topic, invocation.params)
    case .publish(let topic, let params, _): return make("publish", topic, params)
    case .publishBytes(let topic, let payload, _):
      return make("publish", topic, JSONValue(parsing: payload))
    case .findRetained(let topic): return make("find retained", topic)
    case .subscribe(let topic): return make("subscribe", topic)
    case .unsubscribe(let topic): return make("unsubscribe", topic)
    case .bind: return .init("bind")
    case .unbind: return .init("unbind")
    case .setReachable: return .init("setReachable")
    case .noteLogin: return .init("login")
    }
  }

  private static func shorten(_ topic: ChannelTopic, _ topics: ChannelTopics) -> String {
    switch topic {
    case .short(let short): return short.text
    case .full(let full):
      let rest =
        TopicRules.rest(of: full.text, below: topics.up)
        ?? TopicRules.rest(of: full.text, below: topics.down)
      return rest.map(String.init) ?? full.text
    }
  }
}
