import RepriseCore
import Wire
import WireDeflate

extension WebSocketServerMachine {
  // MARK: - Frames of the client

  /// Takes frames until the piece ends, or the connection does.
  mutating func receiveFrames(_ piece: RawSpan, at now: Timestamp) {
    // Taken out for the while, so that the rest can change beside them.
    guard var framer = framer.take(), var receiver = receiver.take() else { return }
    do throws(WebSocketFramingError) {
      try framer.consume(piece) { bytes, header, _ in
        guard phase == .open || phase == .closing else { return }
        receiver.receive(bytes, header) { take($0, at: now) }
      }
      if let header = framer.pendingHeader { check(header, at: now) }
    } catch {
      fail(1002, error.code.message, at: now)
    }
    self.framer = framer
    self.receiver = consume receiver
  }

  /// Refuses a frame for its header, before its payload has come.
  private mutating func check(_ header: WebSocketFrameHeader, at now: Timestamp) {
    guard phase == .open || phase == .closing else { return }
    let view = WebSocketFrameView(header, payload: RawSpan(), from: .client)
    if let fault = view.faults.first { return fail(fault, at: now) }
    let room = max(0, options.limits.message - message.count)
    if !header.opcode.isControl, header.payloadLength > UInt64(room) { failTooLarge(at: now) }
  }

  private mutating func take(_ frame: consuming WebSocketFrameView, at now: Timestamp) {
    if let fault = frame.faults.first { return fail(fault, at: now) }
    switch frame.opcode {
    case .close:
      let reason = String(decoding: Array(copying: frame.closeReason), as: UTF8.self)
      receiveClose(frame.closeCode, reason, at: now)
    case .ping:
      guard phase == .open else { return }
      // A PONG carries what its PING did (section 5.5.3).
      output.append(WebSocketFrame(.pong, Array(copying: frame.payload)).encoded())
    case .pong:
      guard phase == .open else { return }
      orders.append(.tell(.pong(Array(copying: frame.payload))))
    default: receiveData(frame, at: now)
    }
  }

  private mutating func receiveData(_ frame: borrowing WebSocketFrameView, at now: Timestamp) {
    if case .kept = frame.compression { return failTooLarge(at: now) }
    // A side that closes is done with what comes; the frames are read for the client's Close alone.
    guard phase == .open else { return }
    let data = frame.data
    guard frame.missing == 0, message.count + data.byteCount <= options.limits.message else {
      return failTooLarge(at: now)
    }
    if frame.opcode != .continuation { isText = frame.opcode == .text }
    data.withUnsafeBytes { message.append(contentsOf: $0) }
    guard frame.header.isFinal else { return }
    // That it is UTF-8 was seen while it came.
    orders.append(
      .tell(isText ? .text(String(decoding: message, as: UTF8.self)) : .binary(message)))
    message = []
  }

  // MARK: - Closing (section 7.1)

  private mutating func receiveClose(_ code: UInt16?, _ reason: String, at now: Timestamp) {
    if phase == .closing {
      end(by: .byServer(code: said.code, reason: said.reason), at: now)
    } else if holdsClose {
      heldClose = (code, reason)
    } else {
      // What is answered is the code that came (section 5.5.1).
      writeClose(code, "")
      endByClient((code, reason), at: now)
    }
  }

  /// Both sides have sent their Close frames, the client first.
  mutating func endByClient(_ close: (code: UInt16?, reason: String), at now: Timestamp) {
    end(by: .byClient(code: close.code, reason: close.reason), at: now)
  }

  /// The server ends the connection first (section 7.1.1).
  private mutating func end(by closure: WebSocketClosure, at now: Timestamp) {
    orders.append(.tell(.closed(closure)))
    orders.append(.finish)
    enter(.draining, at: now)
  }

  private mutating func fail(_ fault: WebSocketFault, at now: Timestamp) {
    fail(Self.closeCode(for: fault.code), fault.description, at: now)
  }

  private mutating func failTooLarge(at now: Timestamp) {
    fail(1009, "a message is longer than \(options.limits.message) bytes", at: now)
  }

  /// Fails the connection (section 7.1.7): nothing that comes is looked at any more.
  private mutating func fail(_ code: UInt16, _ message: String, at now: Timestamp) {
    if phase == .open { writeClose(code, message) }
    self.message = []
    orders.append(.tell(.closed(.failed(code: code, message: message))))
    orders.append(.finish)
    enter(.draining, at: now)
  }

  /// The code that tells of a fault (section 7.4.1).
  static func closeCode(for fault: WebSocketFault.Code) -> UInt16 {
    switch fault {
    case .invalidText, .invalidReason, .damagedCompression: 1007
    default: 1002
    }
  }

  // MARK: - Frames of the server

  mutating func writeClose(_ code: UInt16?, _ reason: String) {
    var payload: [UInt8] = []
    if let code {
      payload = [UInt8(code >> 8), UInt8(truncatingIfNeeded: code)]
      // A control frame has 125 bytes at most (section 5.5), and whole characters.
      for character in reason where payload.count + character.utf8.count <= 125 {
        payload += character.utf8
      }
    }
    output.append(WebSocketFrame(.close, payload).encoded())
  }

  mutating func write(_ opcode: WebSocketOpcode, _ payload: [UInt8]) {
    var payload = payload
    var reservedBits: UInt8 = 0
    // What is this short grows.
    if payload.count >= 64, let deflated = deflater?.deflate(payload) {
      payload = deflated
      // RSV1 marks a message that is deflated (RFC 7692 section 6).
      reservedBits = 0b100
    }
    let header = WebSocketFrameHeader(
      opcode, reservedBits: reservedBits, payloadLength: UInt64(payload.count))
    output.append { header.append(to: &$0) }
    output.append(payload)
  }
}
