import Glibc
import LiveClient
import RepriseCore
import SessionReplay
import Wire

/// A connection of a replay with a WebSocket on it that carries no MQTT.
///
/// Its handshake has a key of this run, and it packs no messages: pings, and the answer to a Close frame, come from it.
final class ReplayedSocket: ReplayConnection {
  static let language = "WebSocket"
  private let stream: CaseStream
  private var part: WebSocketPart
  /// What a client asks at; nil at the server's end.
  private let target: WebSocketTarget?
  /// What was asked for in this run.
  private var request: WebSocketRequest?
  /// Whether a Close frame was sent.
  private var hasClosed = false
  /// Whether one came.
  private var isClosed = false
  private(set) var isStrange = false

  /// Takes a stream.
  /// - Parameters:
  ///   - stream: The stream.
  ///   - target: What a client asks at; nil at the server's end.
  init(_ stream: CaseStream, _ target: WebSocketTarget?) {
    (self.stream, self.target) = (stream, target)
    part = WebSocketPart(stream.own)
  }

  var phase: CaseStream.Phase { stream.phase }
  var hasEnded: Bool { stream.hasEnded }
  var isOver: Bool { stream.isOver }
  var interest: pollfd { stream.interest }
  var wakeTime: Timestamp? { stream.wakeTime }

  func goOn(_ now: Timestamp) { stream.goOn(now) }

  // MARK: What comes

  func receive(_ events: Int16, _ buffer: inout [UInt8], _ now: Timestamp) -> [ReplayUnit] {
    var units: [ReplayUnit] = []
    stream.service(events, &buffer, now) { units += take($0, now) }
    return units
  }

  private func take(_ bytes: ArraySlice<UInt8>, _ now: Timestamp) -> [ReplayUnit] {
    guard !isStrange else { return [] }
    var units: [ReplayUnit] = []
    var rest = Array(bytes)
    if !part.isOpen {
      guard let (head, behind) = part.readHead(bytes) else { return [] }
      units.append(.handshake(takeHead(head)))
      rest = behind
    }
    guard part.isOpen, !rest.isEmpty else { return units }
    var heard: [(frame: HeardFrame, message: WebSocketAssembler.Message?)] = []
    part.read(rest) { heard.append(($0, $1)) }
    units += heard.compactMap { take($0.frame, $0.message, now) }
    isStrange = part.isStrange
    return units
  }

  private func takeHead(_ head: HTTPHead) -> WebSocketHandshake {
    guard target == nil else {
      let response = WebSocketResponse(head, to: request)
      if response.accepts { part.open(response.deflate) }
      return .response(response)
    }
    let request = WebSocketRequest(head)
    self.request = request
    isStrange = !WebSocketRequest.isOne(head)
    return .request(request)
  }

  private func take(
    _ frame: HeardFrame, _ message: WebSocketAssembler.Message?, _ now: Timestamp
  ) -> ReplayUnit? {
    switch frame.opcode {
    case .ping:
      if !hasClosed { say(.pong, frame.payload, now) }
      return nil
    case .close:
      let isAnswer = hasClosed
      isClosed = true
      // The code is repeated, as endpoints mostly do (RFC 6455 section 5.5.1).
      if !isAnswer { close(Array(frame.payload.prefix(2)), now) }
      // The server is the first to end the connection (section 7.1.1).
      if stream.own == .server { stream.finish(now) }
      return isAnswer ? nil : .frame(WebSocketFrame(.close, frame.payload))
    default:
      return message.map { .frame(WebSocketFrame($0.isText ? .text : .binary, $0.data)) }
    }
  }

  // MARK: What is said

  func send(_ unit: ReplayUnit, _ now: Timestamp) -> ReplayUnit {
    switch unit {
    case .packet: return unit
    case .handshake(.request(let recorded)):
      guard let target else { return unit }
      let request = recorded.asked(at: target)
      self.request = request
      stream.send(request.head.bytes, now)
      return .handshake(.request(request))
    case .handshake(.response(let recorded)):
      guard let request else { return unit }
      let head = recorded.answering(request)
      stream.send(head.bytes, now)
      if recorded.accepts { part.open(nil) }
      return .handshake(.response(WebSocketResponse(head, to: request)))
    case .frame(let frame):
      guard part.isOpen, !hasClosed else { return unit }
      if frame.header.opcode == .close {
        close(frame.payload, now)
      } else {
        say(frame.header.opcode, frame.payload, now)
      }
      return unit
    }
  }

  func ping(_ now: Timestamp) { say(.ping, [], now) }

  func pong(_ now: Timestamp) {}

  func leave(_ now: Timestamp) {
    // 1001 is that of an end that goes away (RFC 6455 section 7.4.1).
    if part.isOpen, !hasClosed { close([0x03, 0xE9], now) }
    stream.finish(now)
  }

  private func close(_ payload: [UInt8], _ now: Timestamp) {
    say(.close, payload, now)
    hasClosed = true
  }

  /// Sends a frame, which only clients mask (RFC 6455 section 5.1).
  private func say(_ opcode: WebSocketOpcode, _ payload: [UInt8], _ now: Timestamp) {
    let key = stream.own == .client ? UInt32.random(in: 0...UInt32.max) : nil
    stream.send(WebSocketFrame(opcode, payload, maskingKey: key).encoded(), now)
  }

  // MARK: The end

  func finish(_ now: Timestamp) {
    // Behind Close frames a client leaves the end to the server, and a server waits for the answer to its own.
    let isClosing = hasClosed && (stream.own == .client || !isClosed)
    if !isClosing { stream.finish(now) }
  }

  func reset(_ now: Timestamp) { stream.reset(now) }
}
