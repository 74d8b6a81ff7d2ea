import Glibc
import LiveClient
import RepriseCore

/// What the thread of a ``FrameGate`` does: it reads what clients send, and answers as it is told.
final class FrameGateLoop {
  private var entrance: GateEntrance
  private let orders: OrderList<FrameGateCommand>
  private let waker: Waker
  /// Takes what comes; nil when nobody wants to know.
  private let events: EventQueue?
  private let clock = LiveClock()
  /// The connections that are not over, in the order in which they came.
  private var connections: [FrameGateConnection] = []
  private var pending = PendingOrders<FrameGateCommand>()
  /// The last connection that ended after its client had sent a Close frame.
  private var lastGoodbye: UInt64 = 0
  /// What went wrong when a connection was to be accepted, for people.
  private var trouble: String?
  private var buffer = [UInt8](repeating: 0, count: 65_536)

  /// Creates the work of a thread.
  init(
    _ listener: TCPSocket, orders: OrderList<FrameGateCommand>, waker: Waker, events: EventQueue?
  ) {
    entrance = GateEntrance(listener)
    self.orders = orders
    self.waker = waker
    self.events = events
  }

  /// Works until the gate is closed; connections that are still open are cut.
  func run() {
    while pending.take(from: orders) {
      settle()
      carryOutOrders()
      settle()
      // An order may have waited for the end of a connection.
      carryOutOrders()
      wait()
    }
  }

  // MARK: Sockets

  private func wait() {
    var files = [entrance.interest(besides: connections.count, clock)]
    for connection in connections { files.append(connection.interest) }
    let deadlines =
      pending.deadlines + connections.compactMap(\.deadline)
      + [entrance.deadline(clock)].compactMap(\.self)
    waker.wait(on: &files, milliseconds: deadlines.min().map(clock.milliseconds) ?? -1)
    let now = clock.now
    for (index, connection) in connections.enumerated() {
      connection.service(files[1 + index].revents, &buffer, at: now)
    }
    if files[0].revents != 0 { accept() }
  }

  private func accept() {
    do throws(DataClientError) {
      guard let client = try entrance.accept(clock) else { return }
      trouble = nil
      connections.append(
        FrameGateConnection(
          entrance.lastNumber, client: client, isPassing: events != nil, at: clock.now))
      orders.lastConnection = entrance.lastNumber
    } catch {
      trouble = error.message
    }
  }

  /// Writes, tells what came, and forgets what is over.
  private func settle() {
    let now = clock.now
    for connection in connections {
      connection.settle(now)
      events?.append(connection.takeEvents())
    }
    for connection in connections where connection.isOver && connection.isAnswered {
      events?.append([.closed(.lost("the client is gone"))])
    }
    for connection in connections where connection.isOver && connection.hasSaidGoodbye {
      lastGoodbye = connection.number
    }
    connections.removeAll(where: \.isOver)
  }

  // MARK: Orders

  /// Does what can be done of what was ordered; the rest waits.
  private func carryOutOrders() {
    pending.carryOut(clock.now, lateness: lateness) { carryOut(&$0) }
  }

  /// Does what was ordered, if it can be done.
  /// - Returns: The number of the connection that it was done on; nil when it can't be done yet.
  private func carryOut(
    _ pending: inout PendingOrders<FrameGateCommand>.Pending
  ) -> UInt64? {
    if let number = pending.ending { return connection(number) == nil ? number : nil }
    let (last, now) = (connection(entrance.lastNumber), clock.now)
    let isDone: Bool
    switch pending.command {
    case .accept: isDone = last?.accept(at: now) ?? false
    case .refuse(let refusal): isDone = last?.refuse(refusal, at: now) ?? false
    case .send(let bytes, let isText): isDone = last?.send(bytes, isText: isText, at: now) ?? false
    case .close(let code): isDone = last?.close(code, at: now) ?? false
    case .answerClose:
      guard let last else { return entrance.lastNumber }
      isDone = last.answerClose(at: now)
    case .lose:
      guard let last else {
        // A client may break the connection itself behind its Close frame.
        return entrance.lastNumber > 0 && lastGoodbye == entrance.lastNumber
          ? entrance.lastNumber : nil
      }
      isDone = last.lose(at: now)
    case .awaitHandshake, .awaitMessages, .awaitGoodbye: return look(pending.command)
    }
    guard isDone, let last else { return nil }
    guard last.isEnding else { return last.number }
    pending.ending = last.number
    return nil
  }

  /// Looks whether something has come.
  /// - Returns: The number of its connection; nil when it has not come yet.
  private func look(_ command: FrameGateCommand) -> UInt64? {
    switch command {
    case .awaitHandshake(let after):
      guard entrance.lastNumber > after else { return nil }
      return connection(entrance.lastNumber).map { $0.hasHandshake } ?? true
        ? entrance.lastNumber : nil
    case .awaitMessages(let number, let count):
      return connection(number).map { $0.messages >= count } ?? true ? number : nil
    case .awaitGoodbye(let number):
      return connection(number)?.hasSaidGoodbye ?? true ? number : nil
    case .accept, .refuse, .send, .close, .answerClose, .lose: return nil
    }
  }

  private func connection(_ number: UInt64) -> FrameGateConnection? {
    connections.last { $0.number == number }
  }

  private func lateness(of command: FrameGateCommand) -> DataClientError {
    let missing =
      switch command {
      case .accept, .refuse, .awaitHandshake: "no handshake of the client came"
      case .send, .close: "the client has no open connection"
      case .answerClose, .awaitGoodbye: "the client did not close"
      case .lose: "the client does not connect"
      case .awaitMessages: "the client did not send what it was asked for"
      }
    return DataClientError(.timedOut, "\(missing) in time\(trouble.map { "; \($0)" } ?? "")")
  }
}
