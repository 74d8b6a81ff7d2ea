import DeviceSDK
import RepriseCore
import Synchronization

/// Takes down what a replayed system is asked for and tells, with the place in the session that it comes from.
///
/// All of it comes from one task at a time: calls are made while the machine's loop waits for them, and the loop tells
/// everything else. So the order is the same in every run, and `ReplayClient.cause` is that of what is told.
final class ReplayStage<Plan: ReplayPlan>: Sendable {
  typealias Observation = SystemReplay<Plan>.Observation

  private struct State {
    var openCalls: [Int: ReplayedCall] = [:]
    var lastNumber = 0
    /// Why the call failed that failed last.
    var failure: (call: ReplayedCall, error: Plan.Machine.Failure)?
    var ending = Plan.start
  }

  private let state = Mutex(State())
  private let client: ReplayClient
  private let observe: @Sendable (Observation) -> Void

  init(_ client: ReplayClient, _ observe: @escaping @Sendable (Observation) -> Void) {
    self.client = client
    self.observe = observe
  }

  /// Where in the session what happens now comes from.
  var place: ReplayPlace? { client.cause.place }

  /// How the session has ended so far.
  var ending: Plan.Ending { state.withLock { $0.ending } }

  /// The calls that were not completed, the earliest first.
  var openCalls: [ReplayedCall] {
    state.withLock { $0.openCalls.values.sorted { $0.number < $1.number } }
  }

  /// Why a call failed, if it is the one that failed last.
  func failure(of call: ReplayedCall) -> Plan.Machine.Failure? {
    state.withLock { $0.failure?.call == call ? $0.failure?.error : nil }
  }

  // MARK: Taking down

  /// Takes down that the application calls something at a place.
  private func begin(_ words: ReplayedCall.Words, at place: ReplayPlace?) -> ReplayedCall {
    let call = state.withLock { state in
      state.lastNumber += 1
      let call = ReplayedCall(number: state.lastNumber, words: words)
      state.openCalls[call.number] = call
      return call
    }
    observe(Observation(time: client.now, place: place, content: .called(call)))
    return call
  }

  /// Takes down calls, all before the first is made: what the machine tells of that one comes from another task.
  /// - Parameters:
  ///   - calls: The calls.
  ///   - plan: Whose words they are told in.
  ///   - place: Where they are made.
  /// - Returns: Those that are worth a line, each at the place of its call.
  func begin(_ calls: [Plan.Machine.Call], of plan: Plan, at place: ReplayPlace?) -> [ReplayedCall?]
  {
    calls.map { call in plan.words(for: call).map { begin($0, at: place) } }
  }

  /// Returns calls with what takes down how each of them ends.
  func submission(
    _ calls: [Plan.Machine.Call], _ descriptions: [ReplayedCall?]
  ) -> [(Plan.Machine.Call, @Sendable (Result<Plan.Machine.Value, any Error>) -> Void)] {
    zip(calls, descriptions).map { call, description in
      (
        call,
        { [self] result in
          if let description { end(description, result) }
        }
      )
    }
  }

  /// Takes down how a call ended; one that ends with the session itself is left open.
  func end(_ call: ReplayedCall, _ result: Result<Plan.Machine.Value, any Error>) {
    guard !client.isOver else { return }
    let outcome: Result<Plan.Machine.Value, Plan.Machine.Failure>
    switch result {
    case .success(let value): outcome = .success(value)
    case .failure(let error as Plan.Machine.Failure): outcome = .failure(error)
    case .failure: return
    }
    state.withLock { state in
      state.openCalls[call.number] = nil
      if case .failure(let error) = outcome { state.failure = (call, error) }
    }
    tell(.completed(call, outcome))
  }

  /// Takes down what the machine tells, as long as there is a session.
  func take(_ effect: Plan.Machine.Effect) {
    guard !client.isOver else { return }
    state.withLock { Plan.note(effect, in: &$0.ending) }
    if Plan.isShown(effect) { tell(.told(effect)) }
  }

  private func tell(_ content: Observation.Content) {
    let cause = client.cause
    observe(Observation(time: cause.time, place: cause.place, content: content))
  }
}
