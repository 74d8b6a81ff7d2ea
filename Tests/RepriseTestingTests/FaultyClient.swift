import CloudSimulator
import RepriseCore
import RepriseTesting
import Synchronization

/// A client of a broker in process that is wrong in one thing.
final class FaultyClient: DataClient {
  /// What is wrong.
  enum Fault: String, CaseIterable, Sendable {
    case deadlineTooEarly, timeRunsBack, neverWakes, wakesTwice, ignoresCancellation
    case losesByCancellation, takesWithoutConnection, otherCode, takesRetained
    case takesWildcards, connectsTwice, grantsTooFew, otherID, subscribesTwice, staysSubscribed
    case publishesTwice, neverPublished, swapsMessages, cutsPayloads, forgetsRetained
    case closedAsLost, closesTwice, connectsOnce

    /// What is broken by it.
    var breaks: Set<ClientObligation> {
      switch self {
      case .deadlineTooEarly: [.tellsDeadlines, .wakes, .needsAConnection]
      case .timeRunsBack: [.answersPublish, .retains, .deliversInOrder, .answersUnsubscribe]
      case .neverWakes, .wakesTwice: [.wakes]
      case .ignoresCancellation: [.tellsCancellation]
      case .losesByCancellation: [.losesNothingByCancellation]
      case .takesWithoutConnection: [.needsAConnection]
      case .otherCode, .takesRetained: [.refusesWhatItLacks]
      case .takesWildcards: [.refusesWhatCannotBe]
      case .connectsTwice: [.answersConnect]
      case .grantsTooFew, .otherID, .subscribesTwice: [.answersSubscribe]
      case .staysSubscribed: [.answersUnsubscribe]
      case .publishesTwice: [.answersPublish]
      case .neverPublished: [.answersPublish, .retains]
      case .swapsMessages, .cutsPayloads: [.deliversInOrder]
      case .forgetsRetained: [.retains]
      case .closedAsLost, .closesTwice: [.closesOnce, .connectsAgain]
      case .connectsOnce: [.connectsAgain]
      }
    }

    /// What is broken by it only if a task came to read before it was cancelled.
    var mayBreak: Set<ClientObligation> {
      switch self {
      case .connectsTwice, .ignoresCancellation: [.losesNothingByCancellation]
      default: []
      }
    }
  }

  private struct State {
    var connects = 0
    var isOpen = false
    /// What is told before all else.
    var extra: [ClientEvent] = []
    var held: ClientEvent?
    var losesNext = false
    var delay: Duration = .zero
  }

  private let fault: Fault
  private let client: InProcessClient
  private let state = Mutex(State())

  init(_ fault: Fault) {
    self.fault = fault
    let lacks: Capabilities = fault == .otherCode || fault == .takesRetained ? .retain : []
    client = InProcessBroker().client(
      named: "app", capabilities: InProcessClient.allCapabilities.subtracting(lacks))
  }

  var capabilities: Capabilities { client.capabilities }
  var now: Timestamp { client.now.advanced(by: .zero - state.withLock { $0.delay }) }

  func perform(_ action: ClientAction) async throws {
    switch (fault, action.kind) {
    case (.takesWithoutConnection, .publish) where state.withLock({ !$0.isOpen }): return
    case (.takesRetained, .publish(let message)) where message.isRetained: return
    case (.otherCode, .publish(let message)) where message.isRetained:
      throw DataClientError(.invalidAction, "it retains nothing")
    case (.takesWildcards, .publish(let message)) where message.topic.contains("+"): return
    case (.staysSubscribed, .unsubscribe) where state.withLock({ $0.isOpen }):
      return state.withLock { $0.extra.append(.unsubscribed(action.id)) }
    case (.forgetsRetained, .publish(var message)) where message.isRetained:
      message.isRetained = false
      return try await client.perform(ClientAction(action.id, .publish(message)))
    case (.connectsOnce, .connect) where state.withLock({ $0.connects > 0 }):
      throw DataClientError(.transport, "it is used up")
    default: break
    }
    try await client.perform(action)
    if case .connect = action.kind { state.withLock { $0.connects += 1 } }
  }

  func next(before deadline: Timestamp?) async throws -> ClientEvent {
    state.withLock { $0.delay = .zero }
    if let extra = state.withLock({ $0.extra.isEmpty ? nil : $0.extra.removeFirst() }) {
      return extra
    }
    do {
      var event = try await client.next(before: deadline)
      if state.withLock({ state in
        defer { state.losesNext = false }
        return state.losesNext
      }) {
        event = try await client.next(before: deadline)
      }
      if let spoilt = spoil(event) { return spoilt }
      return try await next(before: deadline)
    } catch is CancellationError where fault == .ignoresCancellation {
      return .deadline
    } catch is CancellationError where fault == .losesByCancellation {
      state.withLock { $0.losesNext = true }
      throw CancellationError()
    }
  }

  func wake() { if fault != .neverWakes { client.wake() } }

  /// Returns an event as this client tells it; nil for one that it keeps to itself.
  private func spoil(_ event: ClientEvent) -> ClientEvent? {
    state.withLock { state in
      switch event {
      case .connected: state.isOpen = true
      case .closed: state.isOpen = false
      default: break
      }
      if repeats(event) { state.extra.append(event) }
      switch (fault, event) {
      case (.deadlineTooEarly, .deadline) where state.connects == 0:
        state.delay = .milliseconds(1)
      case (.timeRunsBack, .published): state.delay = .seconds(1)
      case (.neverPublished, .published): return nil
      case (.grantsTooFew, .subscribed(let id, let grants)) where grants.count > 1:
        return .subscribed(id, grants.dropLast())
      case (.otherID, .subscribed(let id, let grants)) where grants.count > 1:
        return .subscribed(.init(rawValue: id.rawValue + 100), grants)
      case (.closedAsLost, .closed): return .closed(.lost("somehow"))
      case (.cutsPayloads, .message(var message)) where message.payload.count > 1:
        message.payload.removeLast()
        return .message(message)
      case (.swapsMessages, .message(let message)) where message.topic.hasSuffix("/0"):
        let other = state.held
        state.held = event
        return other
      case (.swapsMessages, .message) where state.held != nil:
        state.extra += [state.held].compactMap { $0 }
        state.held = nil
      default: break
      }
      return event
    }
  }

  private func repeats(_ event: ClientEvent) -> Bool {
    switch (fault, event) {
    case (.connectsTwice, .connected), (.subscribesTwice, .subscribed),
      (.publishesTwice, .published), (.closesTwice, .closed):
      true
    case (.wakesTwice, .woken): true
    default: false
    }
  }
}
