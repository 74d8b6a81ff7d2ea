import Synchronization

/// Listeners that are held weakly: who lets go of one hears nothing more, and nothing is leaked.
package final class WeakListeners<Listener: Sendable>: Sendable {
  /// A listener, as long as it is alive.
  struct Entry {
    /// Names the listener for ``WeakListeners/listener(_:)``.
    let id: UInt64
    fileprivate weak var object: (any AnyObject & Sendable)?
    /// Returns the listener; nil when it is no more.
    let listener: @Sendable () -> Listener?
    let onMain: Bool
  }

  private struct State {
    var entries: [Entry] = []
    var lastID: UInt64 = 0
  }

  private let state = Mutex(State())

  /// How many listeners are still alive.
  var count: Int { state.withLock { $0.entries.count { $0.object != nil } } }

  /// Adds a listener, unless it is there already.
  /// - Parameters:
  ///   - object: The listener.
  ///   - onMain: Whether it is called on the main actor.
  ///   - listener: Returns it, which it holds weakly: with every message a cast would cost more than the call.
  package func add(
    _ object: any AnyObject & Sendable, onMain: Bool,
    _ listener: @escaping @Sendable () -> Listener?
  ) {
    state.withLock { state in
      guard !state.entries.contains(where: { $0.object === object }) else { return }
      state.lastID += 1
      state.entries.append(
        Entry(id: state.lastID, object: object, listener: listener, onMain: onMain))
    }
  }

  /// Removes a listener.
  func remove(_ listener: any AnyObject & Sendable) {
    state.withLock { $0.entries.removeAll { $0.object === listener } }
  }

  /// Returns a listener later than it was asked for; nil when it is no more, or was removed meanwhile.
  func listener(_ id: UInt64) -> Listener? {
    state.withLock { $0.entries.first { $0.id == id }?.listener() }
  }

  /// The listeners in the order in which they were added, of which some may have gone.
  ///
  /// Asked for with every message, so that they are lent as they are kept.
  var entries: [Entry] { state.withLock { $0.entries } }

  /// Forgets the listeners that are no more.
  func forgetGone() { state.withLock { $0.entries.removeAll { $0.object == nil } } }
}
