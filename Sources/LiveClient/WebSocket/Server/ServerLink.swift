import CWebSockets
import Glibc
import RepriseCore

/// One connection of a ``ServerLoop``: carries bytes between the library and the machine, and events on.
final class ServerLink {
  let number: UInt64
  /// The library's connection; nil once it is destroyed.
  var wsi: OpaquePointer?
  private unowned let loop: ServerLoop
  private var machine: WebSocketServerMachine
  private let inbox: ThreadMailbox<WebSocketServerEvent.Told>
  private let outbox: ServerOutbox
  private var isReading = true
  /// Whether nothing is written any more, once the machine's output is.
  private var isFinishing = false
  private var isFinished = false
  private var isCut = false
  /// When the library's timer is set to fire.
  private var timer: Timestamp?

  /// How much may wait for the socket before no more is read: answers to PINGs that nobody takes.
  private static let backlogLimit = 4 << 20
  /// How much is given to the socket at once.
  private static let pieceSize = 1 << 18

  init(_ loop: ServerLoop, number: UInt64, wsi: OpaquePointer) {
    self.loop = loop
    self.number = number
    self.wsi = wsi
    let orders = loop.orders
    let limits = loop.options.limits
    inbox = ThreadMailbox(limit: limits.received) { orders.look(at: number) }
    outbox = ServerOutbox(limit: limits.unsent) { orders.look(at: number) }
    machine = WebSocketServerMachine(
      loop.options, at: loop.clock.now, deciding: loop.decision(on:))
  }

  // MARK: - The library's calls; they return -1 to have the connection ended.

  func receive(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    guard !isCut else { return -1 }
    follow(machine.received(bytes.bytes, at: loop.clock.now))
    return settle()
  }

  /// Writes what waits, as far as the socket takes it.
  func write() -> Int32 {
    guard !isCut, let wsi else { return -1 }
    // What the library could not write at once goes first.
    guard lws_partial_buffered(wsi) == 0 else { return settle() }
    repeat {
      fill()
      guard machine.output.count > 0 else { break }
      let count = machine.output.take(Self.pieceSize) { buffer in
        // What libwebsockets calls raw is the same value; its name is a macro.
        Int(lws_write(wsi, buffer.baseAddress, buffer.count, LWS_WRITE_HTTP))
      }
      guard count >= 0 else { return -1 }
      machine.wrote(at: loop.clock.now)
    } while lws_partial_buffered(wsi) == 0 && lws_send_pipe_choked(wsi) == 0
    return settle()
  }

  func timerFired() -> Int32 {
    guard !isCut else { return -1 }
    timer = nil
    follow(machine.passed(at: loop.clock.now, isReading: isReading))
    guard isCut else { return settle() }
    // Told by -1 the library would first try to bring a client what it does not read.
    cut()
    return 0
  }

  /// The library is done with the connection.
  func forget() {
    wsi = nil
    follow(machine.ended("the connection was lost"))
    end()
  }

  // MARK: - The loop's calls

  /// There is something to write, or room for events.
  func look() {
    if outbox.isClosed { machine.leave(isFirm: false, at: loop.clock.now) }
    // Written at once: waiting to be told that the socket takes it costs a turn of the loop.
    if write() < 0 { cut() }
  }

  /// Closes the connection, as the server ends.
  func goAway() {
    outbox.close(code: 1001, reason: "")
    guard machine.phase != .handshake else { return cut() }
    machine.leave(isFirm: true, at: loop.clock.now)
    setTimer()
  }

  // MARK: - Work

  /// Has the machine encode what waits, a few messages at a time.
  private func fill() {
    while machine.output.count < Self.pieceSize, let item = outbox.take() {
      follow(machine.send(item, at: loop.clock.now))
    }
  }

  private func follow(_ orders: [WebSocketServerMachine.Order]) {
    for order in orders {
      switch order {
      case .open(let agreement):
        loop.accept(
          WebSocketServerConnection(
            agreement, from: address, clock: loop.clock, inbox: inbox, outbox: outbox))
      case .tell(let event):
        inbox.append(.init(event: event, moment: loop.clock.now), weight: event.weight)
        if case .closed = event { end() }
      case .finish: isFinishing = true
      case .cut: isCut = true
      }
    }
  }

  private func end() {
    inbox.finish()
    outbox.end()
  }

  /// Tells the library what is wanted next; returns -1 when that is the end.
  private func settle() -> Int32 {
    guard !isCut, let wsi else { return -1 }
    steer()
    if machine.output.count > 0 || lws_partial_buffered(wsi) != 0 {
      lws_callback_on_writable(wsi)
    } else if isFinishing, !isFinished {
      isFinished = true
      // The client gets the end behind the last byte; what it still sends is read to its own end.
      shutdown(lws_get_socket_fd(wsi), Int32(SHUT_WR))
    }
    setTimer()
    return 0
  }

  private func cut() {
    isCut = true
    if let wsi { lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, Int32(LWS_TO_KILL_ASYNC)) }
  }

  /// Reads the socket, or leaves it alone.
  private func steer() {
    guard let wsi else { return }
    let isOpen = machine.phase == .open
    let wanted = !isOpen || (inbox.takeRoom() && machine.output.count < Self.backlogLimit)
    guard wanted != isReading else { return }
    isReading = wanted
    lws_rx_flow_control(wsi, wanted ? 1 : 0)
  }

  private func setTimer() {
    guard let wsi, machine.deadline != timer else { return }
    timer = machine.deadline
    let microseconds = timer.map { max(1, $0.nanoseconds(since: loop.clock.now) / 1_000 + 1) }
    lws_set_timer_usecs(wsi, microseconds ?? -1)
  }

  private var address: String {
    var text = [CChar](repeating: 0, count: 64)
    guard let wsi, lws_get_peer_simple(wsi, &text, text.count) != nil else { return "" }
    let name = text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    // The library listens by IPv6, which writes addresses of IPv4 so.
    let mapped = "::ffff:"
    return name.hasPrefix(mapped) ? String(name.dropFirst(mapped.count)) : name
  }
}
