import Synchronization

/// Listeners that are held weakly: who lets go of one hears nothing more, and nothing is leaked.
package final class WeakListeners<Listener: Sendable>: Sendable {
  private struct Entry {
    let id: UInt64
    weak var object: (any AnyObject & Sendable)?
    let listener: @Sendable () -> Listener?
    let onMain: Bool
  }

  /// A listener that is alive.
  struct Living {
    let listener: Listener
    let onMain: Bool
    /// Names the listener for ``WeakListeners/listener(_:)``.
    let id: UInt64
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

  /// Returns the listeners that are alive, and how many have gone since the last time.
  func alive() -> (listeners: [Living], gone: Int) {
    state.withLock { state in
      guard !state.entries.isEmpty else { return ([], 0) }
      var alive: [Living] = []
      alive.reserveCapacity(state.entries.count)
      var gone = 0
      // Asked for with every message: each is loaded once, and nothing is moved while all are there.
      for entry in state.entries {
        if let listener = entry.listener() {
          alive.append(Living(listener: listener, onMain: entry.onMain, id: entry.id))
        } else {
          gone += 1
        }
      }
      if gone > 0 { state.entries.removeAll { $0.object == nil } }
      return (alive, gone)
    }
  }
}
