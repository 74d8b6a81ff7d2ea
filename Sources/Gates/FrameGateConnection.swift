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
  private let isPassing: Bool
  private var outbox = OutputBuffer()
  private var heads = HTTPHeadReader()
  private var framer = WebSocketFramer(limit: 16 << 20)
  private var assembler = WebSocketAssembler()
  private var hasShut = false
  private var isClientOver = false

  /// The client's handshake; nil before it is whole.
  private(set) var request: WebSocketRequest?
  /// Whether the handshake was answered, in whatever way.
  private(set) var isAnswered = false
  /// Whether messages can be sent.
  private(set) var isOpen = false
  /// Whether the client has sent a Close frame.
  private(set) var hasSaidGoodbye = false
  /// How many messages the client has sent.
  private(set) var messages = 0
  /// Whether the gate has begun to end the connection.
  private(set) var isEnding = false
  /// Whether the gate has sent a Close frame, and waits for the client's.
  private var awaitsGoodbye = false
  /// When to wait no longer for the client to close.
  private(set) var endsBy: Timestamp?
  /// What came and was not told yet.
  private var told: [ClientEvent] = []

  /// How long a client has to close its side, in nanoseconds.
  private static let closingTime: Int64 = 5_000_000_000

  /// Takes a client's connection.
  init(_ number: UInt64, client: TCPSocket, isPassing: Bool) {
    self.number = number
    self.client = client
    self.isPassing = isPassing
  }

  /// What to wait for on the socket.
  var interest: pollfd {
    var events: Int32 = 0
    if !isClientOver { events |= Int32(POLLIN) }
    if !outbox.isEmpty { events |= Int32(POLLOUT) }
    return pollfd(fd: client.number, events: Int16(truncatingIfNeeded: events), revents: 0)
  }

  /// Whether nothing can happen on the connection any more.
  func isOver(_ now: Timestamp) -> Bool {
    if isClientOver { return true }
    return endsBy.map { $0 <= now } ?? false
  }

  /// Takes what came.
  func takeEvents() -> [ClientEvent] {
    defer { told = [] }
    return told
  }

  // MARK: The cloud

  /// Accepts the handshake.
  /// - Returns: Whether there is one.
  func accept() -> Bool {
    guard let request, !isAnswered else { return false }
    answer(WebSocketResponse(accepting: request, subprotocol: nil).head)
    isOpen = true
    told.append(.connected(.init()))
    return true
  }

  /// Answers the handshake so that no connection comes of it.
  /// - Returns: Whether there is one.
  func refuse(_ refusal: FrameGate.Refusal) -> Bool {
    guard let request, !isAnswered else { return false }
    let other = WebSocketRequest(target: "/", fields: [.init("Sec-WebSocket-Key", "no key")])
    switch refusal {
    case .status(let status):
      answer(
        HTTPHead(
          startLine: "HTTP/1.1 \(status) \(status == 200 ? "OK" : "Refused")",
          fields: [.init("Content-Length", "0"), .init("Connection", "close")]))
    case .wrongAccept:
      answer(WebSocketResponse(accepting: other, subprotocol: nil).head)
    case .foreignSubprotocol:
      answer(WebSocketResponse(accepting: request, subprotocol: "nobody.asked").head)
    }
    finish()
    return true
  }

  private func answer(_ head: HTTPHead) {
    isAnswered = true
    outbox.append(head.bytes)
  }

  /// Sends a message.
  /// - Returns: Whether the connection is open.
  func send(_ bytes: [UInt8], isText: Bool) -> Bool {
    guard isOpen, !isEnding else { return false }
    outbox.append(WebSocketFrame(isText ? .text : .binary, bytes).encoded())
    return true
  }

  /// Sends a Close frame, and waits for the client's.
  /// - Returns: Whether the connection is open.
  func close(_ code: UInt16) -> Bool {
    guard isOpen, !isEnding else { return false }
    sendClose(code)
    if hasSaidGoodbye { finish() } else { awaitsGoodbye = true }
    isEnding = true
    return true
  }

  /// Answers the client's Close frame; a client that leaves without one needs no answer.
  /// - Returns: Whether that is done.
  func answerClose() -> Bool {
    guard isOpen else { return isEnding }
    guard hasSaidGoodbye else { return false }
    sendClose(1_000)
    finish()
    return true
  }

  private func sendClose(_ code: UInt16) {
    let payload = [UInt8(code >> 8), UInt8(truncatingIfNeeded: code)]
    outbox.append(WebSocketFrame(.close, payload).encoded())
  }

  /// Sends nothing more.
  func finish() { isEnding = true }

  // MARK: The socket

  /// Does what can be done on the socket.
  func service(_ happened: Int16, _ buffer: inout [UInt8]) {
    guard happened != 0 else { return }
    while !isClientOver {
      switch client.read(into: &buffer) {
      case .bytes(let count): take(buffer[..<count])
      case .later: return
      case .end, .failed: isClientOver = true
      }
    }
  }

  /// Writes what can be written, and says that it was all when it was.
  func settle(_ now: Timestamp) {
    if !outbox.isEmpty {
      guard let count = client.write(outbox.waiting) else {
        isClientOver = true
        return
      }
      outbox.removeFirst(count)
    }
    guard isEnding, !awaitsGoodbye, outbox.isEmpty, !hasShut else { return }
    hasShut = true
    if !client.shutdownWriting() { isClientOver = true }
    endsBy = Timestamp(nanoseconds: now.nanoseconds &+ Self.closingTime)
  }

  private func take(_ piece: ArraySlice<UInt8>) {
    var bytes = Array(piece)
    if request == nil {
      guard case .head(let head, let used) = heads.consume(bytes.span.bytes) else { return }
      request = WebSocketRequest(head)
      bytes.removeFirst(used)
      if isPassing { _ = accept() }
    }
    guard isOpen, !bytes.isEmpty else { return }
    var frames: [WebSocketFrame] = []
    do throws(WebSocketFramingError) {
      try framer.consume(bytes.span.bytes) { wire, _, _ in
        if let frame = WebSocketFrame(bytes: Array(copying: wire)) { frames.append(frame) }
      }
      for frame in frames { take(frame) }
    } catch {
      for frame in frames { take(frame) }
      // What can't be cut into frames is a broken client; the rest of it is not looked at.
      isClientOver = true
    }
  }

  private func take(_ frame: WebSocketFrame) {
    switch frame.header.opcode {
    case .ping:
      if isOpen, !isEnding { outbox.append(WebSocketFrame(.pong, frame.payload).encoded()) }
    case .close:
      hasSaidGoodbye = true
      if awaitsGoodbye {
        awaitsGoodbye = false
      } else if isPassing {
        _ = answerClose()
      }
    default:
      guard let message = frame.withView(from: .client, { assembler.take($0) }) else { return }
      // What is longer than is kept is no message to go by.
      guard message.isComplete else { return isClientOver = true }
      messages += 1
      told.append(
        message.isText
          ? .text(String(decoding: message.data, as: UTF8.self)) : .binary(message.data))
    }
  }
}
