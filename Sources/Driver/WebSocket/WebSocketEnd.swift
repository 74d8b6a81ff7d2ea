import Glibc
import RepriseCore
import Wire

/// A connection of a case with what it speaks: the handshake, the frames that came, and what it answers by itself.
final class WebSocketEnd {
  /// What is answered without a step.
  enum Answer: String, Sendable, Hashable, CaseIterable {
    case pong = "PONG"
    case close = "CLOSE"
  }

  let stream: CaseStream
  private var part: WebSocketPart
  /// What was asked for: by the case, or by the client that is driven.
  private(set) var request: WebSocketRequest?
  /// What it was answered, by whichever end.
  private(set) var response: WebSocketResponse?
  /// What is not answered.
  var held: Set<Answer> = []
  /// The frames that came, by opcode; how many of each.
  private var seen: [WebSocketOpcode: Int] = [:]
  /// How many of those steps have waited for.
  private var taken: [WebSocketOpcode: Int] = [:]
  /// The messages that came, and those that steps have waited for.
  private var messages = (seen: 0, taken: 0)
  private var pongs: [[UInt8]] = []
  /// Whether a Close frame was sent.
  private(set) var hasClosed = false
  /// Whether one came.
  private(set) var isClosed = false
  private var pings = 0

  init(_ stream: CaseStream) {
    self.stream = stream
    part = WebSocketPart(stream.own)
  }

  // MARK: What it knows

  /// Whether frames can pass.
  var isOpen: Bool { part.isOpen && !stream.isOver }
  /// Whether nothing more comes.
  var isGone: Bool { stream.isOver || stream.hasEnded }
  /// Whether the handshake has come to its end, be it by a refusal.
  var isAnswered: Bool { response != nil || isGone }

  // MARK: Handshake

  /// Sends a request.
  /// - Parameters:
  ///   - head: The request's head, which may be wrong.
  ///   - now: The time.
  func ask(_ head: HTTPHead, _ now: Timestamp) {
    request = WebSocketRequest(head)
    stream.send(head.bytes, now)
  }

  /// Sends an answer, behind which frames pass if it accepts.
  /// - Parameters:
  ///   - head: The answer's head, which may be wrong.
  ///   - now: The time.
  func answer(_ head: HTTPHead, _ now: Timestamp) {
    let response = WebSocketResponse(head, to: request)
    self.response = response
    stream.send(head.bytes, now)
    if response.accepts { part.open(response.deflate) }
  }

  // MARK: Frames

  /// Sends a frame.
  func send(_ frame: WebSocketFrame, inPiecesOf size: Int? = nil, _ now: Timestamp) {
    guard isOpen else { return }
    if frame.header.opcode == .close { hasClosed = true }
    stream.send(frame.encoded(), inPiecesOf: size, now)
  }

  /// Compresses a message; nil where that was not agreed on.
  func deflated(_ message: [UInt8]) -> [UInt8]? { part.deflated(message) }

  /// A masking key where one is needed; nil for a server.
  var maskingKey: UInt32? { stream.own == .client ? UInt32.random(in: 0...UInt32.max) : nil }

  /// Sends a Ping that no other Ping is like.
  /// - Returns: What it holds.
  func ping(_ now: Timestamp) -> [UInt8] {
    pings += 1
    let data = Array("fence \(stream.number).\(pings)".utf8)
    send(WebSocketFrame(.ping, data, maskingKey: maskingKey), now)
    return data
  }

  /// Whether a Pong came that holds this.
  func hasHeardPong(_ data: [UInt8]) -> Bool { pongs.contains(data) }

  /// Sends a Close frame with a code, unless one was sent.
  func close(_ code: UInt16, reason: String = "", _ now: Timestamp) {
    guard !hasClosed else { return }
    let body = [UInt8(code >> 8), UInt8(truncatingIfNeeded: code)] + Array(reason.utf8)
    send(WebSocketFrame(.close, body, maskingKey: maskingKey), now)
  }

  // MARK: What comes

  /// Takes bytes of the other end.
  func take(_ bytes: ArraySlice<UInt8>, _ now: Timestamp) {
    var rest = Array(bytes)
    if !part.isOpen {
      guard let (head, behind) = part.readHead(bytes) else { return }
      takeHead(head)
      rest = behind
    }
    guard part.isOpen, !rest.isEmpty else { return }
    var frames: [(HeardFrame, Bool)] = []
    part.read(rest) { frames.append(($0, $1 != nil)) }
    for (frame, endsMessage) in frames { take(frame, endsMessage, now) }
  }

  private func takeHead(_ head: HTTPHead) {
    guard stream.own == .client else {
      request = WebSocketRequest(head)
      return
    }
    let response = WebSocketResponse(head, to: request)
    self.response = response
    if response.accepts { part.open(response.deflate) }
  }

  private func take(_ frame: HeardFrame, _ endsMessage: Bool, _ now: Timestamp) {
    seen[frame.opcode, default: 0] += 1
    if endsMessage { messages.seen += 1 }
    switch frame.opcode {
    case .ping:
      guard !held.contains(.pong), !hasClosed, !stream.isFinished else { return }
      send(WebSocketFrame(.pong, frame.payload, maskingKey: maskingKey), now)
    case .pong: pongs.append(frame.payload)
    case .close: takeClose(frame, now)
    default: break
    }
  }

  private func takeClose(_ frame: HeardFrame, _ now: Timestamp) {
    isClosed = true
    guard !held.contains(.close) else { return }
    if !hasClosed {
      // The code is repeated, as endpoints mostly do (RFC 6455 section 5.5.1).
      let code = Array(frame.payload.prefix(2))
      send(WebSocketFrame(.close, code.count == 2 ? code : [], maskingKey: maskingKey), now)
    }
    // The server is the first to end the connection (section 7.1.1).
    if stream.own == .server { stream.finish(now) }
  }

  // MARK: Waiting

  /// Claims frames for a step.
  /// - Parameters:
  ///   - opcode: Which ones.
  ///   - count: How many, besides those that steps have waited for.
  /// - Returns: Whether they have come, or can't any more.
  func hears(_ opcode: WebSocketOpcode, count: Int) -> () -> Bool {
    let wanted = taken[opcode, default: 0] + count
    taken[opcode] = wanted
    return { [self] in seen[opcode, default: 0] >= wanted || isGone }
  }

  /// Claims messages for a step.
  /// - Parameter count: How many, besides those that steps have waited for.
  /// - Returns: Whether they have come, or can't any more.
  func hearsMessages(count: Int) -> () -> Bool {
    messages.taken += count
    let wanted = messages.taken
    return { [self] in messages.seen >= wanted || isClosed || isGone }
  }
}
