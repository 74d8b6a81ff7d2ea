import Glibc
import LiveClient
import RepriseCore

/// What the thread of a ``BrokerGate`` does: it carries bytes, and lets answers through as it is
/// told.
final class GateLoop {
  /// Where the broker is.
  struct Upstream: Sendable {
    let addresses: [TCPAddress]
    /// Host and port, for people.
    let place: String
  }

  private var entrance: GateEntrance
  private let upstream: Upstream
  private let orders: GateOrders
  private let waker: Waker
  private let clock = LiveClock()
  private var isPassing: Bool
  /// The connections that are not over, in the order in which they came.
  private var connections: [GateConnection] = []
  private var pending = PendingOrders<GateCommand>()
  /// What went wrong on the last connection.
  private var trouble: String?
  private var buffer = [UInt8](repeating: 0, count: 65_536)

  /// Creates the work of a thread.
  init(
    _ listener: TCPSocket, upstream: Upstream, isPassing: Bool, orders: GateOrders, waker: Waker
  ) {
    entrance = GateEntrance(listener)
    self.upstream = upstream
    self.isPassing = isPassing
    self.orders = orders
    self.waker = waker
  }

  /// Works until the gate is closed; connections that are still open are cut.
  func run() {
    while pending.take(from: orders) {
      carryOutOrders()
      removeEnded()
      carryOutOrders()
      wait()
    }
  }

  // MARK: Sockets

  /// Waits until something happens, and does what has to be done for it.
  private func wait() {
    var files = [entrance.interest(besides: connections.count, clock)]
    for connection in connections {
      let (client, broker) = connection.interests()
      files += [client, broker]
    }
    waker.wait(on: &files, milliseconds: milliseconds)
    for (index, connection) in connections.enumerated() {
      connection.service(
        client: files[1 + 2 * index].revents, broker: files[2 + 2 * index].revents,
        buffer: &buffer)
    }
    if files[0].revents != 0 { accept() }
    settle()
  }

  private var milliseconds: Int32 {
    let deadlines =
      pending.deadlines + connections.compactMap(\.endsBy)
      + [entrance.deadline(clock)].compactMap(\.self)
    return deadlines.min().map(clock.milliseconds) ?? -1
  }

  private func accept() {
    do throws(DataClientError) {
      guard let client = try entrance.accept(clock) else { return }
      trouble = nil
      connections.append(
        GateConnection(
          entrance.lastNumber, client: client, addresses: upstream.addresses, place: upstream.place,
          isPassing: isPassing))
      orders.lastConnection = entrance.lastNumber
    } catch {
      trouble = error.message
    }
  }

  private func settle() {
    for connection in connections { connection.settle(clock.now) }
    if let last = connections.last, last.number == entrance.lastNumber { trouble = last.trouble }
  }

  private func removeEnded() {
    let now = clock.now
    connections.removeAll { $0.isOver(now) }
  }

  // MARK: Orders

  /// Does what can be done of what was ordered; the rest waits.
  private func carryOutOrders() {
    pending.carryOut(clock.now, lateness: lateness) { order throws(DataClientError) in
      try carryOut(&order)
    }
    settle()
  }

  /// Does what was ordered, if it can be done.
  /// - Returns: The number of the connection that it was done on; nil when it can't be done yet.
  private func carryOut(
    _ pending: inout PendingOrders<GateCommand>.Pending
  ) throws(DataClientError) -> UInt64? {
    if let number = pending.ending { return isThere(number) ? nil : number }
    switch pending.command {
    case .pass, .hold: return setMode(pending.command)
    case .awaitConnect, .awaitRequests, .awaitGoodbye: return look(pending.command)
    case .accept, .refuse, .grant, .acknowledge, .lose, .hangUp: break
    }
    guard let connection = connections.last, connection.isOpen,
      connection.number == entrance.lastNumber
    else {
      guard let trouble else { return nil }
      throw DataClientError(.transport, trouble)
    }
    let isDone = try act(pending.command, on: connection)
    if isDone, connection.isEnding {
      pending.ending = connection.number
      return nil
    }
    if !isDone, let trouble = connection.trouble {
      throw DataClientError(.transport, trouble)
    }
    return isDone ? connection.number : nil
  }

  /// Does something on a connection.
  /// - Returns: Whether it could be done.
  private func act(
    _ command: GateCommand, on connection: GateConnection
  ) throws(DataClientError) -> Bool {
    switch command {
    case .accept:
      let code = connection.connackCode
      let isDone = connection.release { $0.accept() }
      if isDone, let code, code != 0 {
        throw DataClientError(
          .transport, "\(upstream.place) refuses the connection itself, with code \(code)")
      }
      return isDone
    case .refuse(let code):
      guard connection.connackCode != nil else { return false }
      try connection.refuse(code)
      return true
    case .grant(let granted):
      return try connection.release { held throws(DataClientError) in try held.grant(granted) }
    case .acknowledge: return connection.release { $0.acknowledge() }
    case .lose:
      guard connection.hasConnect else { return false }
      connection.breakOff()
      return true
    case .hangUp:
      guard connection.hasConnect else { return false }
      connection.finish()
      return true
    case .pass, .hold, .awaitConnect, .awaitRequests, .awaitGoodbye: return false
    }
  }

  private func setMode(_ command: GateCommand) -> UInt64 {
    if case .pass = command { isPassing = true } else { isPassing = false }
    for connection in connections {
      _ = connection.release { held in
        guard isPassing else {
          held.hold()
          return nil
        }
        return held.pass()
      }
    }
    return entrance.lastNumber
  }

  /// Looks whether something has come.
  /// - Returns: The number of its connection; nil when it has not come yet.
  private func look(_ command: GateCommand) -> UInt64? {
    switch command {
    case .awaitConnect(let after):
      guard entrance.lastNumber > after else { return nil }
      let connection = connections.last { $0.number > after }
      return connection.map { $0.hasConnect || !$0.isOpen } ?? true ? entrance.lastNumber : nil
    case .awaitRequests(let number, let count):
      guard let connection = connection(number), connection.isOpen else { return number }
      return connection.requests >= count ? number : nil
    case .awaitGoodbye(let number):
      guard let connection = connection(number), connection.isOpen else { return number }
      _ = connection.release { $0.sayGoodbye() }
      return connection.hasSaidGoodbye ? number : nil
    case .accept, .refuse, .grant, .acknowledge, .lose, .hangUp, .pass, .hold: return nil
    }
  }

  private func connection(_ number: UInt64) -> GateConnection? {
    connections.first { $0.number == number }
  }

  private func isThere(_ number: UInt64) -> Bool { connection(number) != nil }

  private func lateness(of command: GateCommand) -> DataClientError {
    let open = connections.last.flatMap { $0.isOpen ? $0 : nil }
    let state =
      if let open { open.hasConnect ? "it is connected" : "it is connecting" } else {
        "it has no connection"
      }
    let missing =
      switch command {
      case .accept, .refuse, .awaitConnect: "no CONNECT of the client was answered"
      case .grant: "no SUBSCRIBE of the client waits for an answer"
      case .acknowledge: "no PUBLISH and no UNSUBSCRIBE of the client waits for an answer"
      case .lose, .hangUp: "the client does not connect"
      case .awaitRequests: "the client did not send what it was asked for"
      case .awaitGoodbye: "the client did not disconnect"
      case .pass, .hold: "the gate did not change"
      }
    return DataClientError(.timedOut, "\(missing) in time; \(state)")
  }
}
