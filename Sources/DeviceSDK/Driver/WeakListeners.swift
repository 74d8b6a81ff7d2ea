import Synchronization

/// Listeners that are held weakly: who lets go of one hears nothing more, and nothing is leaked.
package final class WeakListeners<Listener: Sendable>: Sendable {
  private struct Entry {
    weak var object: (any AnyObject & Sendable)?
    let listener: @Sendable () -> Listener?
    let onMain: Bool
  }

  /// A listener that is alive.
  struct Living {
    let listener: Listener
    let onMain: Bool
    /// Returns the listener later, if it still is.
    let again: @Sendable () -> Listener?
  }

  private let entries = Mutex<[Entry]>([])

  /// How many listeners are still alive.
  var count: Int { entries.withLock { $0.count { $0.object != nil } } }

  /// Adds a listener, unless it is there already.
  /// - Parameters:
  ///   - object: The listener.
  ///   - onMain: Whether it is called on the main actor.
  ///   - listener: Returns it, which it holds weakly: with every message a cast would cost more than the call.
  package func add(
    _ object: any AnyObject & Sendable, onMain: Bool,
    _ listener: @escaping @Sendable () -> Listener?
  ) {
    entries.withLock { entries in
      guard !entries.contains(where: { $0.object === object }) else { return }
      entries.append(Entry(object: object, listener: listener, onMain: onMain))
    }
  }

  /// Removes a listener.
  func remove(_ listener: any AnyObject & Sendable) {
    entries.withLock { $0.removeAll { $0.object === listener } }
  }

  /// Returns the listeners that are alive, and how many have gone since the last time.
  func alive() -> (listeners: [Living], gone: Int) {
    entries.withLock { entries in
      guard !entries.isEmpty else { return ([], 0) }
      var alive: [Living] = []
      alive.reserveCapacity(entries.count)
      var gone = 0
      // Asked for with every message: each is loaded once, and nothing is moved while all are there.
      for entry in entries {
        if let listener = entry.listener() {
          alive.append(Living(listener: listener, onMain: entry.onMain, again: entry.listener))
        } else {
          gone += 1
        }
      }
      if gone > 0 { entries.removeAll { $0.object == nil } }
      return (alive, gone)
    }
  }
}
