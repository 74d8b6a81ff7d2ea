import RepriseCore

/// A machine that completes calls: what all machines of the SDK have in common.
protocol CallMachine: StateMachine {
  /// What a call results in that has nothing to show.
  static var done: Value { get }

  /// When the latest input came.
  var time: Timestamp { get set }
  /// What is to be done, in order.
  var outputs: [MachineOutput<Value, Effect, Failure>] { get set }

  /// Forgets a call, with all that was kept for it.
  /// - Parameters:
  ///   - id: The call.
  ///   - isAnswered: Whether its answer is there; otherwise that may come still, and nobody waits for it.
  mutating func close(_ id: CallID, isAnswered: Bool)

  /// Gives up a call that is waited for no longer.
  mutating func cancel(_ id: CallID)
}

extension CallMachine {
  mutating func tell(_ effect: Effect) { outputs.append(.tell(effect)) }

  mutating func complete(_ id: CallID, _ value: Value = Self.done) {
    close(id, isAnswered: true)
    outputs.append(.complete(id, .success(value)))
  }

  mutating func fail(_ id: CallID, _ error: Failure, isAnswered: Bool = false) {
    close(id, isAnswered: isAnswered)
    outputs.append(.complete(id, .failure(error)))
  }

  mutating func cancel(_ id: CallID) { close(id, isAnswered: false) }
}

/// A machine that keeps what its calls wait for by their names.
protocol CallKeeper: CallMachine {
  /// A call that is not completed yet.
  associatedtype OpenCall

  /// The calls that are not completed yet.
  var calls: [CallID: OpenCall] { get set }
}

extension CallKeeper {
  /// The open calls, the earliest first.
  var openCalls: [(CallID, OpenCall)] {
    calls.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
