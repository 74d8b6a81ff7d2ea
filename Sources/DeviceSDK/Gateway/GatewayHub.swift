import DataClient
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
  private let log: ChannelLog
  private let mainWork: AsyncStream<@Sendable @MainActor () -> Void>
  private let mainQueue: AsyncStream<@Sendable @MainActor () -> Void>.Continuation

  private typealias Listeners = WeakListeners<any GatewayLineDownstreamListener>

  init(log: ChannelLog) {
    self.log = log
    opener = SubdeviceOpener()
    (mainWork, mainQueue) = AsyncStream.makeStream()
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
      tellConnect(change)
    case .changeLine(let change): lineChanges.send(change)
    case .openConnection(let id): opener.open(id)
    case .giveUpOpening(let id): opener.giveUp(id)
    case .forgetConnection(let id): opener.forget(id)
    case .log(let entry): log.handler?(entry)
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
    let (listeners, gone) = downstreamListeners.alive()
    noteGone(gone)
    let topic = message.topic
    for (listener, _) in listeners where listener.shouldHandle(topic: topic) {
      listener.onDownstream(topic: topic, message: message)
    }
    guard let subdevice = message.subdevice,
      let (lineListeners, lineGone) = lineListeners.withLock({ $0[subdevice] })?.alive()
    else { return }
    noteGone(lineGone)
    for (listener, onMain) in lineListeners {
      guard onMain else {
        if listener.shouldHandle(topic: topic) {
          listener.onDownstream(topic: topic, message: message)
        }
        continue
      }
      mainQueue.yield { [weak listener] in
        guard let listener, listener.shouldHandle(topic: topic) else { return }
        listener.onDownstream(topic: topic, message: message)
      }
    }
  }

  private func tellConnect(_ change: GatewayStateChange) {
    let (listeners, gone) = connectListeners.alive()
    noteGone(gone)
    for (listener, onMain) in listeners {
      guard onMain else {
        listener.onConnectState(change)
        continue
      }
      mainQueue.yield { [weak listener] in listener?.onConnectState(change) }
    }
  }

  /// Nobody removed them: perhaps their owner did not mean to let them go.
  private func noteGone(_ count: Int) {
    guard count > 0, log.takes(.debug, .listener) else { return }
    log.handler?(
      ChannelLog.Entry(
        level: .debug, module: .listener, message: "\(count) listeners no longer exist"))
  }

  // MARK: Life

  /// Does on the main actor what is to be done there, and opens ways to sub-devices, until the end.
  func run() async {
    await withTaskGroup { group in
      group.addTask { for await work in self.mainWork { await MainActor.run(body: work) } }
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
    mainQueue.finish()
    opener.finish()
  }
}
