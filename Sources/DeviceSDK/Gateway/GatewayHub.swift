import Synchronization

/// Tells the application's listeners what the machine tells.
final class GatewayHub: Sendable {
  let messages = Broadcast<GatewayMessage>()
  let commands = Broadcast<GatewayCommand>()
  let notices = Broadcast<GatewayNotice>()
  let states = Broadcast<GatewayStateChange>()
  let lineChanges = Broadcast<LineChange>()
  let connectListeners = WeakListeners<any GatewayConnectListener>()
  let downstreamListeners = WeakListeners<any GatewayDownstreamListener>()
  let opener: SubdeviceOpener

  private let lineListeners = Mutex<[Subdevice: Listeners]>([:])
  private let log: SystemLog
  let calls: ListenerCalls

  private typealias Listeners = WeakListeners<any GatewayLineDownstreamListener>

  init(log: SystemLog) {
    self.log = log
    opener = SubdeviceOpener()
    calls = ListenerCalls(log: log)
  }

  func take(_ effect: GatewayStateMachine.Effect) {
    switch effect {
    case .deliver(let message):
      messages.send(message)
      tellDownstream(message)
    case .command(let command): commands.send(command)
    case .notice(let notice): notices.send(notice)
    case .changeState(let change):
      states.send(change)
      calls.tell(connectListeners, change) { $0.onConnectState($1) }
    case .changeLine(let change): lineChanges.send(change)
    case .openConnection(let id): opener.open(id)
    case .giveUpOpening(let id): opener.giveUp(id)
    case .forgetConnection(let id): opener.forget(id)
    case .log(let entry): log(entry)
    }
  }

  // MARK: Listeners

  func addLineListener(
    _ listener: any GatewayLineDownstreamListener, of subdevice: Subdevice, onMain: Bool
  ) {
    let listeners = lineListeners.withLock { all -> Listeners in
      let listeners = all[subdevice] ?? Listeners()
      all[subdevice] = listeners
      return listeners
    }
    listeners.add(listener, onMain: onMain) { [weak listener] in listener }
  }

  func removeLineListener(
    _ listener: any GatewayLineDownstreamListener, of subdevice: Subdevice
  ) {
    lineListeners.withLock { $0[subdevice] }?.remove(listener)
  }

  func lineListenerCount(of subdevice: Subdevice) -> Int {
    lineListeners.withLock { $0[subdevice] }?.count ?? 0
  }

  func forgetLineListeners(of subdevice: Subdevice) {
    lineListeners.withLock { $0[subdevice] = nil }
  }

  private func tellDownstream(_ message: GatewayMessage) {
    calls.tell(downstreamListeners, message, isMessage: true) { listener, message in
      let topic = message.topic
      if listener.shouldHandle(topic: topic) {
        listener.onDownstream(topic: topic, message: message)
      }
    }
    guard let subdevice = message.subdevice,
      let listeners = lineListeners.withLock({ $0[subdevice] })
    else { return }
    calls.tell(listeners, message, isMessage: true) { listener, message in
      let topic = message.topic
      if listener.shouldHandle(topic: topic) {
        listener.onDownstream(topic: topic, message: message)
      }
    }
  }

  // MARK: Life

  /// Does on the main actor what is to be done there, and opens ways to sub-devices, until the end.
  func run() async {
    await withTaskGroup { group in
      group.addTask { await self.calls.runMainWork() }
      group.addTask { await self.opener.run() }
    }
  }

  /// Ends all sequences; nothing more will be told.
  func finish() {
    messages.finish()
    commands.finish()
    notices.finish()
    states.finish()
    lineChanges.finish()
    calls.finish()
    opener.finish()
  }
}
