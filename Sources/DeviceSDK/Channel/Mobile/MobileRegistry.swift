import RepriseCore
import Synchronization

/// Holds the listeners of a mobile channel, and knows its state.
final class MobileRegistry: ChannelConnectListener {
  /// Hands messages on in the shape that listeners of the SDK for Android take.
  final class Relay: ChannelDownstreamListener {
    let listener: any MobileDownstreamListener

    init(_ listener: any MobileDownstreamListener) { self.listener = listener }

    func shouldHandle(topic: String) -> Bool { listener.shouldHandle(topic) }

    func onDownstream(topic: String, message: ChannelMessage) {
      let params = message.params.map { String(decoding: $0.utf8, as: UTF8.self) }
      listener.onCommand(topic, params ?? String(decoding: message.payload, as: UTF8.self))
    }
  }

  private struct State {
    var connection = MobileConnectState.disconnected
    var listeners: [(listener: any MobileConnectListener, onMain: Bool)] = []
    var relays: [Relay] = []
    var hub: ChannelHub?
  }

  private let contents = Mutex(State())

  /// Says through which channel the main actor is reached.
  func join(_ hub: ChannelHub) { contents.withLock { $0.hub = hub } }

  private func doOnMain(_ work: @escaping @Sendable @MainActor () -> Void) {
    contents.withLock { $0.hub }?.calls.doOnMain(work)
  }

  /// The connection's state.
  var state: MobileConnectState { contents.withLock { $0.connection } }

  // MARK: The connection

  func onConnectState(_ change: ChannelStateChange) {
    let (state, listeners) = contents.withLock { contents in
      contents.connection = contents.connection.after(change)
      return (contents.connection, contents.listeners)
    }
    for (listener, onMain) in listeners {
      if onMain {
        // It may be removed while it waits for the main actor.
        doOnMain { [weak self] in
          if self?.holds(listener) == true { listener.onConnectStateChange(state) }
        }
      } else {
        listener.onConnectStateChange(state)
      }
    }
  }

  /// Adds a listener, unless it is there already.
  func add(_ listener: any MobileConnectListener, onMain: Bool) {
    contents.withLock { contents in
      guard !contents.listeners.contains(where: { $0.listener === listener }) else { return }
      contents.listeners.append((listener, onMain))
    }
  }

  private func holds(_ listener: any MobileConnectListener) -> Bool {
    contents.withLock { $0.listeners.contains { $0.listener === listener } }
  }

  func remove(_ listener: any MobileConnectListener) {
    contents.withLock { $0.listeners.removeAll { $0.listener === listener } }
  }

  // MARK: Messages

  /// Adds a listener; nil when it is there already.
  func add(_ listener: any MobileDownstreamListener) -> Relay? {
    contents.withLock { contents in
      guard !contents.relays.contains(where: { $0.listener === listener }) else { return nil }
      let relay = Relay(listener)
      contents.relays.append(relay)
      return relay
    }
  }

  /// Removes a listener; nil when it is not there.
  func remove(_ listener: any MobileDownstreamListener) -> Relay? {
    contents.withLock { contents in
      guard let index = contents.relays.firstIndex(where: { $0.listener === listener }) else {
        return nil
      }
      return contents.relays.remove(at: index)
    }
  }

  // MARK: Subscriptions

  func tell(_ listener: any MobileSubscrbieListener, _ topic: String, _ error: ChannelError?) {
    let work: @Sendable () -> Void = {
      if let error {
        listener.onFailed(topic, MobileError(error))
      } else {
        listener.onSuccess(topic)
      }
    }
    if listener.needUISafety() { doOnMain(work) } else { work() }
  }
}
