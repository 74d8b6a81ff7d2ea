import DataClient
import Synchronization

/// Takes down what a replayed channel is asked for and tells, with the place in the session that it comes from.
///
/// All of it comes from one task at a time: calls are made while the channel's loop waits for them, and the loop tells
/// everything else. So the order is the same in every run, and `ReplayClient.cause` is that of what is told.
final class ChannelStage: Sendable {
  private struct State {
    var openCalls: [Int: ChannelObservation.Call] = [:]
    var lastNumber = 0
    /// Why the call failed that failed last.
    var failure: (call: ChannelObservation.Call, error: ChannelError)?
    var connection = ChannelState.disconnected
    var account = AccountState.unbound
  }

  private let state = Mutex(State())
  private let client: ReplayClient
  private let topics: ChannelTopics
  private let observe: @Sendable (ChannelObservation) -> Void

  init(
    _ client: ReplayClient, _ identity: ChannelIdentity,
    _ observe: @escaping @Sendable (ChannelObservation) -> Void
  ) {
    self.client = client
    self.observe = observe
    topics = ChannelTopics(
      productKey: identity.productKey, deviceName: identity.deviceName)
  }

  /// The connection's and the account's state, as they were told last.
  var states: (ChannelState, AccountState) { state.withLock { ($0.connection, $0.account) } }

  /// The calls that were not completed, the earliest first.
  var openCalls: [ChannelObservation.Call] {
    state.withLock { $0.openCalls.values.sorted { $0.number < $1.number } }
  }

  /// Why a call failed, if it is the one that failed last.
  func failure(of call: ChannelObservation.Call) -> ChannelError? {
    state.withLock { $0.failure?.call == call ? $0.failure?.error : nil }
  }

  // MARK: Taking down

  /// Takes down that the app calls something at a place.
  func begin(_ call: ChannelStateMachine.Call, at place: ReplayPlace) -> ChannelObservation.Call {
    let call = state.withLock { state in
      state.lastNumber += 1
      let call = describe(call, state.lastNumber)
      state.openCalls[call.number] = call
      return call
    }
    observe(ChannelObservation(time: client.now, place: place, content: .called(call)))
    return call
  }

  /// Takes down how a call ended; one that ends with the session itself is left open.
  func end(_ call: ChannelObservation.Call, _ result: Result<ChannelStateMachine.Value, any Error>)
  {
    guard !client.isOver else { return }
    let outcome: Result<ChannelReply?, ChannelError>
    switch result {
    case .success(.done): outcome = .success(nil)
    case .success(.reply(let reply)): outcome = .success(reply)
    case .failure(let error as ChannelError): outcome = .failure(error)
    case .failure: return
    }
    state.withLock { state in
      state.openCalls[call.number] = nil
      if case .failure(let error) = outcome { state.failure = (call, error) }
    }
    tell(.completed(call, outcome))
  }

  /// Takes down what the channel tells, as long as there is a session.
  func take(_ effect: ChannelStateMachine.Effect) {
    guard !client.isOver else { return }
    switch effect {
    case .deliver(let message): tell(.message(message))
    case .forward(let message): tell(.foreignMessage(message))
    case .changeState(let change):
      state.withLock { $0.connection = change.state }
      tell(.state(change))
    case .changeAccount(let account):
      state.withLock { $0.account = account }
      tell(.account(account))
    case .log(let entry):
      switch entry.module {
      case .call, .subscription, .listener, .line: tell(.note(entry))
      // Both are told by states.
      case .connection, .account: return
      }
    }
  }

  private func tell(_ content: ChannelObservation.Content) {
    let cause = client.cause
    observe(ChannelObservation(time: cause.time, place: cause.place, content: content))
  }

  // MARK: Words

  private func describe(
    _ call: ChannelStateMachine.Call, _ number: Int
  ) -> ChannelObservation.Call {
    func make(
      _ name: String, _ topic: ChannelTopic? = nil, _ params: JSONValue? = nil
    ) -> ChannelObservation.Call {
      .init(number: number, name: name, topic: topic.map(shorten), params: params)
    }
    switch call {
    case .start: return make("start")
    case .stop: return make("stop")
    case .identify: return make("identify")
    case .invoke(let invocation): return make("invoke", invocation.topic, invocation.params)
    case .publish(let topic, let params): return make("publish", topic, params)
    case .publishBytes(let topic, let payload):
      return make("publish", topic, JSONValue(parsing: payload))
    case .subscribe(let topic): return make("subscribe", topic)
    case .unsubscribe(let topic): return make("unsubscribe", topic)
    case .bind: return make("bind")
    case .unbind: return make("unbind")
    case .setReachable: return make("setReachable")
    case .noteLogin: return make("login")
    }
  }

  private func shorten(_ topic: ChannelTopic) -> String {
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
