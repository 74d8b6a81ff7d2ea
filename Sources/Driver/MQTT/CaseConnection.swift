import Capture
import Glibc
import LiveClient
import RepriseCore
import Wire

/// A connection of a case, to a broker or from a client: its bytes on their way, and the packets that came.
final class CaseConnection {
  /// How far it is.
  enum Phase: Equatable {
    /// The other end, its TLS or its WebSocket is waited for.
    case opening
    case open
    /// It is over; the text says why if it never was open.
    case over(String?)
  }

  /// Its number within the case, from 1.
  let number: Int
  private(set) var phase = Phase.opening
  /// Which end is ours.
  private let own: Peer
  private let recorder: CaseRecorder
  private var channel: any ByteChannel
  private var socket: TCPSocket?
  /// The port that decoders know what is said by; nil where the client's first byte tells.
  private var shownPort: UInt16?
  private var isConnected = false
  private var isRecorded = false
  /// What a client's TLS is answered by; nil where none is, or it is known that there is none.
  private var security: TLSServerContext?
  /// Whether it is known what a client speaks: MQTT, TLS or HTTP.
  private var isUnderstood = true
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
  /// The version by which packets are read, and those of steps are made.
  private(set) var version: MQTTVersion
  /// Whether the other end sends nothing more.
  private(set) var hasEnded = false
  /// Whether nothing more is sent by ours.
  private(set) var isFinished = false
  /// Whether its stream is no MQTT.
  private var isStrange = false

  /// Begins to connect to a broker.
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
    own = .client
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

  /// Takes a client that has connected.
  /// - Parameters:
  ///   - number: Its number within the case.
  ///   - socket: Its socket.
  ///   - security: What its TLS is answered by, where it speaks that.
  ///   - version: The version by which packets are read until its CONNECT says another.
  ///   - recorder: Keeps what passes.
  ///   - chopping: How what is sent is cut into segments; nil where it is not.
  init(
    _ number: Int, from socket: TCPSocket, security: TLSServerContext?, _ version: MQTTVersion,
    _ recorder: CaseRecorder, _ chopping: Chopping?
  ) {
    own = .server
    self.number = number
    self.version = version
    self.recorder = recorder
    self.chopping = chopping
    self.security = security
    self.socket = socket
    channel = socket
    isConnected = true
    isUnderstood = false
    beginning = POLLIN
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
    if !isUnderstood { understand() }
    switch channel.begin() {
    case .wantsReading: beginning = POLLIN
    case .wantsWriting: beginning = POLLOUT
    case .wantsAnswer: answerTLS(now)
    case .failed(let why): fail(why)
    case .done:
      isEstablished = true
      // What a client speaks is known by its first byte.
      if shownPort != nil { beginRecording(now) }
      guard let carrier else {
        phase = .open
        return
      }
      write(carrier.opening, now)
    }
  }

  /// Looks whether a client speaks TLS, whose records of handshakes begin with 22 (RFC 8446 section 5.1).
  private func understand() {
    guard let security, let socket, socket.peek() == 22 else {
      isUnderstood = true
      return
    }
    isUnderstood = true
    do throws(DataClientError) { channel = try security.channel(on: socket) } catch {
      fail(error.message)
    }
  }

  /// Goes on with a client's TLS, whose hello is there.
  private func answerTLS(_ now: Timestamp) {
    guard let channel = channel as? TLSChannel,
      security?.answer(channel, at: "127.0.0.1", []) == true
    else { return fail("there is no certificate for the name that the client asks for") }
    goOnOpening(now)
  }

  private func beginRecording(_ now: Timestamp) {
    guard !isRecorded else { return }
    isRecorded = true
    guard let local = socket?.localAddress?.parts, let remote = socket?.remoteAddress?.parts else {
      return fail("the connection was lost")
    }
    let port = shownPort ?? 1_883
    let (client, server) = own == .client ? (local, remote) : (remote, local)
    guard let from = Endpoint(octets: client.bytes, port: client.port),
      let to = Endpoint(octets: server.bytes, port: port)
    else { return fail("the connection was lost") }
    recorder.open(number, from: from, to: to, at: now)
    if let protection = channel.protection { recorder.note(number, "in truth by \(protection)") }
  }

  /// Finds out what carries a client's MQTT, by the first byte that it sends.
  private func begin(with first: UInt8?, _ now: Timestamp) {
    guard own == .server, shownPort == nil else { return }
    if first == UInt8(ascii: "G") {
      shownPort = 80
      carrier = WebSocketCarrier()
      phase = .opening
    } else {
      shownPort = 1_883
    }
    beginRecording(now)
  }

  private var other: Peer { own == .client ? .server : .client }

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
    if !waiting.isEmpty { begin(with: nil, now) }
    while !waiting.isEmpty {
      guard let count = channel.write(waiting.waiting) else { return breakOff(by: other, now) }
      guard count > 0 else { return }
      recorder.send(number, from: own, waiting.waiting.prefix(count), at: now)
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
      begin(with: buffer.first, now)
      recorder.send(number, from: other, buffer[..<count], at: now)
      guard carrier != nil else { return cut(buffer[..<count], take) }
      unwrap(buffer[..<count], now, take)
    case .end:
      hasEnded = true
      begin(with: nil, now)
      recorder.end(number, by: other, .finished, at: now)
      // Nobody has more to say to one that says no more.
      isFinished && carrier == nil ? close() : endOwn(now)
    case .failed: breakOff(by: other, now)
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
    var version = version
    defer { self.version = version }
    do throws(MQTTFramingError) {
      try framer.consume(Array(bytes).span.bytes) { bytes, header, _ in
        let packet = HeardPacket(MQTTPacketView(bytes, header: header, version: version))
        version = packet.version
        take(packet)
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
    recorder.end(number, by: own, .finished, at: now)
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
    breakOff(by: own, now)
  }

  private func breakOff(by peer: Peer, _ now: Timestamp) {
    begin(with: nil, now)
    recorder.end(number, by: peer, .reset, at: now)
    close()
  }

  /// Whether WebSocket carries its MQTT.
  var isWebSocket: Bool { shownPort == 80 }

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
