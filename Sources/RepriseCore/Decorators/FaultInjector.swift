import Synchronization

/// Lets things go wrong between a client and its user, the same things for the same seed.
///
/// A cut connection is closed in good order on the other side, where a broker would see it broken: what
/// is injected is what the user sees. Nothing that comes of a connection after the cut is told but its
/// ``ClientEvent/Closed/lost(_:)``.
public final class FaultInjector<Client: DataClient>: DataClient {
  private let client: Client
  private let refusesMessages: Bool
  private let state: Mutex<FaultMachine>

  /// Wraps a client.
  /// - Parameters:
  ///   - client: The client whose events go wrong.
  ///   - faults: What goes wrong, and when.
  ///   - seed: Where chances come from.
  /// - Throws: ``DataClientError/Code/invalidAction`` for a fault that makes no sense.
  public init(_ client: Client, _ faults: [Fault], seed: UInt64 = 0) throws(DataClientError) {
    for fault in faults {
      guard let objection = fault.objection else { continue }
      throw DataClientError(.invalidAction, "the fault \(fault) can't be injected: \(objection)")
    }
    self.client = client
    refusesMessages = faults.contains { fault in
      if case .fail(.refused) = fault.effect { true } else { false }
    }
    state = Mutex(FaultMachine(faults, seed: seed))
  }

  /// Those of the client, and refusals if some are injected.
  public var capabilities: Capabilities {
    refusesMessages ? client.capabilities.union(.refusals) : client.capabilities
  }

  /// The time of the client.
  public var now: Timestamp { client.now }

  /// Performs an action, or lets it go wrong.
  /// - Parameter action: What to do.
  /// - Throws: What the client throws.
  public func perform(_ action: ClientAction) async throws {
    let now = client.now
    switch state.withLock({ $0.take(action, at: now) }) {
    case .perform: try await client.perform(action)
    case .drop: client.wake()
    case .performAndLose:
      do { try await client.perform(action) } catch {
        // Nothing was handed over, and so nothing is cut behind it.
        state.withLock { $0.keepConnection() }
        throw error
      }
      try await cut()
    }
  }

  /// Returns the next event that is left of the client's, or the passing of a deadline.
  /// - Parameter deadline: When to stop waiting.
  /// - Returns: The event.
  /// - Throws: What the client throws.
  public func next(before deadline: Timestamp?) async throws -> ClientEvent {
    while true {
      if state.withLock({ $0.takeWakeEarly() }) { return .woken }
      let (ready, limit) = state.withLock { machine in
        let ready = machine.pop(at: client.now)
        let release = machine.release
        return (ready, [deadline, release].compactMap(\.self).min())
      }
      if let ready { return ready }
      let event = try await client.next(before: limit)
      let now = client.now
      switch event {
      case .deadline:
        if let held = state.withLock({ $0.pop(at: now) }) { return held }
        guard let deadline, deadline <= now else { continue }
        return state.withLock { $0.popSwapped() } ?? .deadline
      case .woken:
        if state.withLock({ $0.takeWake() }) { return .woken }
      case .ended: return state.withLock { $0.popLast() } ?? .ended
      case .connected, .subscribed, .unsubscribed, .published, .message, .text, .binary, .response,
        .failed,
        .closed:
        if state.withLock({ $0.take(event, at: now) }) { try await cut() }
      }
    }
  }

  /// Wakes the client.
  public func wake() {
    state.withLock { $0.wake() }
    client.wake()
  }

  private func cut() async throws {
    do {
      try await client.perform(ClientAction(.cut, .disconnect))
    } catch let error as DataClientError where error.code == .notConnected {
      // The end of the connection is on its way, and will be told.
    } catch {
      state.withLock { $0.keepConnection() }
      throw error
    }
  }
}

extension FaultInjector: HeardTime {
  package var heard: Timestamp { client.lastHeard }
}
