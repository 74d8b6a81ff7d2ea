import Capture
import Glibc
import LiveClient
import RepriseCore
import Wire

/// A connection of a client of a case: its bytes on their way, and the packets that came.
final class CaseConnection {
  /// How far it is.
  enum Phase: Equatable {
    /// The server, or its TLS, is waited for.
    case opening
    case open
    /// It is over; the text says why if it never was open.
    case over(String?)
  }

  /// Its number within the case, from 1.
  let number: Int
  private(set) var phase = Phase.opening
  private let recorder: CaseRecorder
  private var channel: any ByteChannel
  private var socket: TCPSocket?
  private let shownPort: UInt16
  private var isConnected = false
  /// Whether bytes can pass, be it without the WebSocket that is to carry the MQTT.
  private var isEstablished = false
  private var beginning = POLLOUT
  private var waiting = OutputBuffer()
  /// How what is sent is cut into segments; nil where it is not.
  private let chopping: Chopping?
  /// The segments that come later, and when the next one does.
  private var pieces = Fifo<[UInt8]>()
  private var nextPiece: Timestamp?
  /// How many bytes were given to be sent.
  private var given = 0
  private var framer = MQTTFramer()
  /// What carries the MQTT; nil where nothing does.
  private var carrier: WebSocketCarrier?
  private let version: MQTTVersion
  /// Whether the server sends nothing more.
  private(set) var hasEnded = false
  /// Whether nothing more is sent to it.
  private(set) var isFinished = false
  /// Whether its stream is no MQTT.
  private var isStrange = false

  /// Begins to connect.
  /// - Parameters:
  ///   - number: Its number within the case.
  ///   - place: Where the broker is.
  ///   - version: The version by which packets are read.
  ///   - recorder: Keeps what passes.
  ///   - chopping: How what is sent is cut into segments; nil where it is not.
  /// - Throws: ``DataClientError`` when it fails at once.
  init(
    _ number: Int, to place: BrokerPlace, _ version: MQTTVersion, _ recorder: CaseRecorder,
    _ chopping: Chopping?
  ) throws(DataClientError) {
    self.chopping = chopping
    self.number = number
    self.version = version
    self.recorder = recorder
    shownPort = place.shownPort
    carrier = place.webSocket.map { WebSocketCarrier($0) }
    let socket = try TCPSocket.connecting(to: place.address)
    self.socket = socket
    channel = try place.tls?.channel(on: socket, offering: []) ?? socket
  }

  // MARK: What is waited for

  /// What `poll` is to be asked.
  var interest: pollfd {
    var events: Int32 = 0
    switch phase {
    case .over: return pollfd(fd: -1, events: 0, revents: 0)
    case .opening where isEstablished: events = waiting.isEmpty ? POLLIN : POLLIN | POLLOUT
    case .opening: events = beginning
    case .open:
      if !hasEnded { events |= POLLIN }
      if !waiting.isEmpty { events |= POLLOUT }
    }
    return pollfd(fd: channel.number, events: Int16(truncatingIfNeeded: events), revents: 0)
  }

  /// Does what the socket is ready for.
  /// - Parameters:
  ///   - events: What `poll` said.
  ///   - buffer: Where to read to.
  ///   - now: The time.
  ///   - take: Takes the packets that came.
  func service(
    _ events: Int16, _ buffer: inout [UInt8], _ now: Timestamp, _ take: (HeardPacket) -> Void
  ) {
    guard events != 0 else { return }
    if phase == .opening, !isEstablished { goOnOpening(now) }
    guard isEstablished else { return }
    flush(now)
    if Int32(events) & (POLLIN | POLLHUP | POLLERR) != 0 || channel.hasMore {
      repeat { receive(&buffer, now, take) } while isEstablished && !hasEnded && channel.hasMore
    }
  }

  private func goOnOpening(_ now: Timestamp) {
    if !isConnected, let problem = socket?.connectionProblem() { return fail(problem) }
    isConnected = true
    switch channel.begin() {
    case .wantsReading: beginning = POLLIN
    case .wantsWriting: beginning = POLLOUT
    case .wantsAnswer: beginning = 0
    case .failed(let why): fail(why)
    case .done:
      guard let local = socket?.localAddress?.parts, let remote = socket?.remoteAddress?.parts,
        let client = Endpoint(octets: local.bytes, port: local.port),
        let server = Endpoint(octets: remote.bytes, port: shownPort)
      else { return fail("the connection was lost") }
      isEstablished = true
      recorder.open(number, from: client, to: server, at: now)
      if let protection = channel.protection { recorder.note(number, "in truth by \(protection)") }
      guard let carrier else {
        phase = .open
        return
      }
      write(carrier.opening, now)
    }
  }

  private func fail(_ why: String) { close(why) }

  /// Lets go of the socket, which closes it.
  private func close(_ why: String? = nil) {
    phase = .over(why)
    isEstablished = false
    channel = ClosedChannel()
    socket = nil
  }

  // MARK: Bytes

  /// Sends bytes, now or when the system takes them.
  func send(_ bytes: [UInt8], _ now: Timestamp) {
    guard phase == .open, !isFinished else { return }
    write(carrier?.wrap(bytes) ?? bytes, now)
  }

  private func write(_ bytes: [UInt8], _ now: Timestamp) {
    if let chopping {
      for piece in chopping.pieces(of: bytes, after: given) { pieces.append(piece) }
      given += bytes.count
      return goOn(now)
    }
    waiting.append(bytes)
    flush(now)
  }

  /// When the next segment is due; nil where none waits.
  var wakeTime: Timestamp? { pieces.isEmpty || !isEstablished ? nil : nextPiece }

  /// Sends the next segment when it is due.
  func goOn(_ now: Timestamp) {
    guard isEstablished, !pieces.isEmpty, nextPiece ?? now <= now else { return }
    flush(now)
    guard waiting.isEmpty, let piece = pieces.popFirst() else { return }
    nextPiece = now.advanced(by: Chopping.pause)
    waiting.append(piece)
    flush(now)
  }

  /// Sends all segments that wait, one behind the other.
  private func sendRest(_ now: Timestamp) {
    while isEstablished, let piece = pieces.popFirst() {
      waiting.append(piece)
      flush(now)
    }
  }

  private func flush(_ now: Timestamp) {
    while !waiting.isEmpty {
      guard let count = channel.write(waiting.waiting) else { return breakOff(by: .server, now) }
      guard count > 0 else { return }
      recorder.send(number, from: .client, waiting.waiting.prefix(count), at: now)
      waiting.removeFirst(count)
    }
  }

  private func receive(
    _ buffer: inout [UInt8], _ now: Timestamp, _ take: (HeardPacket) -> Void
  ) {
    switch channel.read(into: &buffer) {
    case .later: return
    case .bytes(let count):
      guard !hasEnded else { return }
      recorder.send(number, from: .server, buffer[..<count], at: now)
      guard carrier != nil else { return cut(buffer[..<count], take) }
      unwrap(buffer[..<count], now, take)
    case .end:
      hasEnded = true
      recorder.end(number, by: .server, .finished, at: now)
      // A client has nothing more to say to a server that says no more.
      isFinished && carrier == nil ? close() : endOwn(now)
    case .failed: breakOff(by: .server, now)
    }
  }

  /// Takes the MQTT out of what carries it.
  private func unwrap(
    _ bytes: ArraySlice<UInt8>, _ now: Timestamp, _ take: (HeardPacket) -> Void
  ) {
    guard let arrival = carrier?.take(bytes) else { return }
    if !arrival.answer.isEmpty { write(arrival.answer, now) }
    switch carrier?.phase {
    case .open where phase == .opening: phase = .open
    case .refused(let why): return fail(why)
    case .open, .upgrading, nil: break
    }
    if !arrival.cargo.isEmpty { cut(arrival.cargo[...], take) }
  }

  private func cut(_ bytes: ArraySlice<UInt8>, _ take: (HeardPacket) -> Void) {
    guard !isStrange else { return }
    let version = version
    do throws(MQTTFramingError) {
      try framer.consume(Array(bytes).span.bytes) { bytes, header, _ in
        take(HeardPacket(MQTTPacketView(bytes, header: header, version: version)))
      }
    } catch {
      // What a server says that is no MQTT is recorded, and judged by others.
      isStrange = true
    }
  }

  // MARK: The end

  /// Says that nothing more will be sent.
  func finish(_ now: Timestamp) {
    guard phase == .open, !isFinished else { return }
    isFinished = true
    sendRest(now)
    // The server is the first to end a connection whose WebSocket was closed (RFC 6455 section 7.1.1).
    if let closing = carrier?.close(), !closing.isEmpty, !hasEnded {
      write(closing, now)
      return sendRest(now)
    }
    flush(now)
    _ = channel.shutdownWriting()
    recorder.end(number, by: .client, .finished, at: now)
    if hasEnded { close() }
  }

  /// Ends what the client sends, behind the end of what the server does.
  private func endOwn(_ now: Timestamp) {
    carrier = nil
    isFinished = false
    finish(now)
    if isEstablished { close() }
  }

  /// Breaks the connection off.
  func reset(_ now: Timestamp) {
    guard isEstablished else { return close() }
    channel.breakOffWhenClosed()
    breakOff(by: .client, now)
  }

  private func breakOff(by peer: Peer, _ now: Timestamp) {
    recorder.end(number, by: peer, .reset, at: now)
    close()
  }

  /// Whether it is over for both ends.
  var isOver: Bool {
    if case .over = phase { true } else { false }
  }
}

/// What is left of a channel that was closed.
private final class ClosedChannel: ByteChannel {
  var number: Int32 { -1 }
  func begin() -> ChannelBeginning { .failed("closed") }
  func read(into buffer: inout [UInt8]) -> TCPSocket.Reading { .end }
  func write(_ bytes: ArraySlice<UInt8>) -> Int? { nil }
  var hasMore: Bool { false }
  func shutdownWriting() -> Bool? { false }
  var protection: String? { nil }
  func breakOffWhenClosed() {}
}
