package import RepriseCore
import Synchronization

/// Sees everything that a replayed machine hears and does, and how the machine is behind it.
package struct ReplayWatch<Plan: ReplayPlan>: Sendable {
  /// Takes what the machine's client told it.
  package let received: @Sendable (ClientEvent, ReplayCause) -> Void
  /// Takes what the machine had its client do.
  package let performed: @Sendable (ClientAction.Kind, ReplayCause) -> Void
  /// Takes the machine as it is before it waits again, and the calls that are open.
  package let settled: @Sendable (Plan.Machine, [ReplayedCall]) -> Void

  /// Creates a watch; its closures must return soon.
  package init(
    received: @escaping @Sendable (ClientEvent, ReplayCause) -> Void,
    performed: @escaping @Sendable (ClientAction.Kind, ReplayCause) -> Void,
    settled: @escaping @Sendable (Plan.Machine, [ReplayedCall]) -> Void
  ) {
    self.received = received
    self.performed = performed
    self.settled = settled
  }
}

/// The same as its client tells it: what waits knows nothing of machines.
struct ClientWatch: Sendable {
  var received: @Sendable (ClientEvent) -> Void
  var performed: @Sendable (ClientAction.Kind) -> Void
  var waits: @Sendable () -> Void
}

/// Has something that is made later by what needs it.
final class LateBinding<Value: Sendable>: Sendable {
  private let state = Mutex<Value?>(nil)

  /// What was bound; nil until it was.
  var value: Value? {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
