import Glibc
import LiveClient
import RepriseCore
import Wire

/// One connection of a ``FrameGate``.
///
/// Everything in it happens on the gate's thread, so it needs no lock.
final class FrameGateConnection {
  /// The number of the connection, in the order in which clients came.
  let number: UInt64
  private let client: TCPSocket
  private var machine: WebSocketServerMachine
  /// Whether nothing is written any more, once what waits is.
  private var isFinishing = false
  private var hasShut = false
  private var isClientOver = false

  /// Whether the client has sent a Close frame.
  private(set) var hasSaidGoodbye = false
  /// How many messages the client has sent.
  private(set) var messages = 0
  /// What came and was not told yet.
  private var told: [ClientEvent] = []

  /// Takes a client's connection.
  init(_ number: UInt64, client: TCPSocket, isPassing: Bool, at now: Timestamp) {
    self.number = number
    self.client = client
    machine = WebSocketServerMachine(Self.options, at: now) { _ in isPassing ? .accept : nil }
    machine.holdsClose = !isPassing
  }

  /// Nothing is agreed on, nothing is asked, and the client has the time that the gate's owner gives it.
  private static let options = WebSocketServerOptions(
    acceptsDeflate: false,
    limits: WebSocketServerLimits(
      message: 16 << 20, handshakeTime: .seconds(86_400), pingInterval: .seconds(86_400)))

  /// What to wait for on the socket.
  var interest: pollfd {
    var events: Int32 = 0
    if !isClientOver { events |= Int32(POLLIN) }
    if !machine.output.isEmpty { events |= Int32(POLLOUT) }
    return pollfd(fd: client.number, events: Int16(truncatingIfNeeded: events), revents: 0)
  }

  /// Whether the client's handshake is whole.
  var hasHandshake: Bool { machine.request != nil || isAnswered }
  /// Whether the handshake was answered, in whatever way.
  var isAnswered: Bool { machine.phase != .handshake }
  /// Whether the gate has begun to end the connection.
  var isEnding: Bool { isAnswered && machine.phase != .open }
  /// Whether nothing can happen on the connection any more.
  var isOver: Bool { isClientOver }
  /// When to look again, whatever happens.
  var deadline: Timestamp? { machine.deadline }

  /// Takes what came.
  func takeEvents() -> [ClientEvent] {
    defer { told = [] }
    return told
  }

  // MARK: The cloud

  /// Accepts the handshake.
  /// - Returns: Whether there is one.
  func accept(at now: Timestamp) -> Bool {
    guard machine.request != nil else { return false }
    follow(machine.answer(.accept, at: now))
    return true
  }

  /// Answers the handshake so that no connection comes of it.
  /// - Returns: Whether there is one.
  func refuse(_ refusal: FrameGate.Refusal, at now: Timestamp) -> Bool {
    guard let request = machine.request else { return false }
    let head =
      switch refusal {
      case .status(let status):
        HTTPHead(
          startLine: "HTTP/1.1 \(status) \(status == 200 ? "OK" : "Refused")",
          fields: [.init("Content-Length", "0"), .init("Connection", "close")])
      case .wrongAccept:
        WebSocketResponse(
          accepting: WebSocketRequest(
            target: "/", fields: [.init("Sec-WebSocket-Key", "no key")]), subprotocol: nil
        ).head
      case .foreignSubprotocol:
        WebSocketResponse(accepting: request, subprotocol: "nobody.asked").head
      }
    follow(machine.refuse(by: head, at: now))
    return true
  }

  /// Sends a message.
  /// - Returns: Whether the connection is open.
  func send(_ bytes: [UInt8], isText: Bool, at now: Timestamp) -> Bool {
    guard machine.phase == .open else { return false }
    follow(machine.send(.frame(WebSocketFrame(isText ? .text : .binary, bytes)), at: now))
    return true
  }

  /// Sends a Close frame, and waits for the client's.
  /// - Returns: Whether the connection is open.
  func close(_ code: UInt16, at now: Timestamp) -> Bool {
    guard machine.phase == .open else { return false }
    follow(machine.send(.close(code: code, reason: ""), at: now))
    return true
  }

  /// Answers the client's Close frame; a client that leaves without one needs no answer.
  /// - Returns: Whether that is done.
  func answerClose(at now: Timestamp) -> Bool {
    if isEnding { return true }
    return machine.heldClose != nil && close(1_000, at: now)
  }

  /// Ends the connection without a Close frame.
  /// - Returns: Whether its handshake has come.
  func lose(at now: Timestamp) -> Bool {
    guard hasHandshake else { return false }
    follow(isAnswered ? machine.send(.drop, at: now) : machine.refuse(by: nil, at: now))
    return true
  }

  private func follow(_ orders: [WebSocketServerMachine.Order]) {
    for order in orders {
      switch order {
      case .open: told.append(.connected(.init()))
      case .tell(.text(let text)): take(.text(text))
      case .tell(.binary(let bytes)): take(.binary(bytes))
      case .tell(.closed(.byClient)), .tell(.closed(.byServer)): hasSaidGoodbye = true
      case .tell: break
      case .finish: isFinishing = true
      case .cut: isClientOver = true
      }
    }
    if machine.heldClose != nil { hasSaidGoodbye = true }
  }

  private func take(_ message: ClientEvent) {
    messages += 1
    told.append(message)
  }

  // MARK: The socket

  /// Does what can be done on the socket.
  func service(_ happened: Int16, _ buffer: inout [UInt8], at now: Timestamp) {
    guard happened != 0 else { return }
    while !isClientOver {
      switch client.read(into: &buffer) {
      case .bytes(let count):
        follow(machine.received(buffer.span.bytes.extracting(first: count), at: now))
      case .later: return
      case .end, .failed: isClientOver = true
      }
    }
  }

  /// Writes what can be written, and says that it was all when it was.
  func settle(_ now: Timestamp) {
    follow(machine.passed(at: now, isReading: true))
    if !machine.output.isEmpty {
      guard let count = client.write(machine.output.waiting) else {
        isClientOver = true
        return
      }
      machine.output.removeFirst(count)
    }
    guard isFinishing, machine.output.isEmpty, !hasShut else { return }
    hasShut = true
    if !client.shutdownWriting() { isClientOver = true }
  }
}
