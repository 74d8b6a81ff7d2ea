import Capture
import Glibc
import LiveClient
import RepriseCore

/// The bytes of a connection of a case or of a replay, whichever end of it ours is and whatever they say, on their way
/// and into the recording, if there is one.
final class CaseStream {
  /// How far it is.
  enum Phase: Equatable {
    /// The other end, or its TLS, is waited for.
    case opening
    case open
    /// It is over; the text says why if it never was open.
    case over(String?)
  }

  /// Its number within the case, from 1.
  let number: Int
  /// Which end of it the case is.
  let own: Peer
  private(set) var phase = Phase.opening
  private let recorder: CaseRecorder?
  private var channel: (any ByteChannel)?
  private var socket: TCPSocket?
  private var isConnected: Bool
  /// What a client's TLS is answered by; nil where none is, or it is known that there is none.
  private var security: TLSServerContext?
  private var beginning = POLLOUT
  /// The port of the server in the recording, by which decoders know what is said; nil where the client's first byte tells.
  private let shownPort: UInt16?
  private var isRecorded = false
  private var waiting = OutputBuffer()
  /// How what is sent is cut into segments; nil where it is not.
  private let chopping: Chopping?
  /// The segments that come later, and when the next one does.
  private var pieces = Fifo<[UInt8]>()
  private var nextPiece: Timestamp?
  /// How many bytes were given to be sent.
  private var given = 0
  /// Whether more is sent to an other end that sends nothing more, until ``finish(_:)`` says that it was all.
  var answersBehindEnd = false
  /// Whether the other end sends nothing more.
  private(set) var hasEnded = false
  /// Whether nothing more is to be sent to it.
  private(set) var isFinished = false
  /// Whether it was told so.
  private var isEnded = false

  /// Begins to connect.
  /// - Parameters:
  ///   - number: Its number within the case.
  ///   - place: Where the server is.
  ///   - recorder: Keeps what passes; nil where nobody does.
  ///   - chopping: How what is sent is cut into segments; nil where it is not.
  /// - Throws: ``DataClientError`` when it fails at once.
  init(
    _ number: Int, to place: BrokerPlace, _ recorder: CaseRecorder?, _ chopping: Chopping?
  ) throws(DataClientError) {
    let socket = try TCPSocket.connecting(to: place.address)
    (self.number, own, self.recorder, self.chopping) = (number, .client, recorder, chopping)
    shownPort = place.shownPort
    self.socket = socket
    isConnected = false
    channel = try place.tls?.channel(on: socket, offering: []) ?? socket
  }

  /// Takes a connection that a client has made.
  /// - Parameters:
  ///   - number: Its number within the case.
  ///   - socket: The connection.
  ///   - security: What its TLS is answered by, where it speaks that; nil answers none.
  ///   - shownPort: The port of the server in the recording; nil where the client's first byte tells.
  ///   - recorder: Keeps what passes; nil where nobody does.
  ///   - chopping: How what is sent is cut into segments; nil where it is not.
  init(
    _ number: Int, from socket: TCPSocket, security: TLSServerContext?, shownPort: UInt16?,
    _ recorder: CaseRecorder?, _ chopping: Chopping?
  ) {
    (self.number, own, self.recorder, self.chopping) = (number, .server, recorder, chopping)
    (self.socket, self.security) = (socket, security)
    self.shownPort = shownPort
    isConnected = true
    channel = socket
    beginning = POLLIN
  }

  /// Whether the first byte of a client is one of HTTP, whose method is GET, and none of MQTT: there it is that of CONNECT.
  static func beginsHTTP(_ first: UInt8?) -> Bool { first == UInt8(ascii: "G") }

  // MARK: What is waited for

  /// What `poll` is to be asked.
  var interest: pollfd {
    guard let channel else { return pollfd(fd: -1, events: 0, revents: 0) }
    var events: Int32 = 0
    switch phase {
    case .over: break
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
  ///   - take: Takes the bytes that came.
  func service(
    _ events: Int16, _ buffer: inout [UInt8], _ now: Timestamp, _ take: (ArraySlice<UInt8>) -> Void
  ) {
    guard events != 0 else { return }
    if phase == .opening { goOnOpening(now) }
    guard phase == .open else { return }
    flush(now)
    guard !hasEnded else {
      // It has nothing more to say, and takes nothing more.
      if phase == .open, Int32(events) & (POLLHUP | POLLERR) != 0 { breakOff(by: own.other, now) }
      return
    }
    guard Int32(events) & (POLLIN | POLLHUP | POLLERR) != 0 || channel?.hasMore == true else {
      return
    }
    repeat {
      receive(&buffer, now, take)
    } while phase == .open && !hasEnded && channel?.hasMore == true
  }

  private func goOnOpening(_ now: Timestamp) {
    if !isConnected, let problem = socket?.connectionProblem() { return drop(problem) }
    isConnected = true
    protect()
    switch channel?.begin() {
    case .wantsReading: beginning = POLLIN
    case .wantsWriting: beginning = POLLOUT
    case .wantsAnswer: answerTLS(now)
    case .failed(let why): drop(why)
    case nil: break
    case .done:
      phase = .open
      if shownPort != nil { record(nil, now) }
      flush(now)
    }
  }

  /// Looks whether a client speaks TLS, whose records of handshakes begin with 22 (RFC 8446 section 5.1).
  private func protect() {
    guard let context = security, let socket, channel === socket else { return }
    guard socket.peek() == 22 else { return security = nil }
    do throws(DataClientError) { channel = try context.channel(on: socket) } catch {
      drop(error.message)
    }
  }

  /// Goes on with a client's TLS, whose hello is there.
  private func answerTLS(_ now: Timestamp) {
    guard let channel = channel as? TLSChannel,
      security?.answer(channel, at: "127.0.0.1", []) == true
    else { return drop("there is no certificate for the name that the client asks for") }
    goOnOpening(now)
  }

  /// Begins the recording, once it is known what is said.
  private func record(_ first: UInt8?, _ now: Timestamp) {
    guard !isRecorded else { return }
    isRecorded = true
    let port: UInt16 = shownPort ?? (Self.beginsHTTP(first) ? 80 : 1_883)
    guard let local = socket?.localAddress?.parts, let remote = socket?.remoteAddress?.parts,
      let client = Self.endpoint(own == .client ? local : remote),
      let server = Self.endpoint(own == .client ? remote : local, port: port)
    else { return drop("the connection was lost") }
    recorder?.open(number, from: client, to: server, at: now)
    if let protection = channel?.protection { recorder?.note(number, "in truth by \(protection)") }
  }

  private static func endpoint(
    _ parts: (bytes: [UInt8], port: UInt16), port: UInt16? = nil
  ) -> Endpoint? {
    Endpoint(octets: parts.bytes, port: port ?? parts.port)
  }

  /// Lets go of the socket, which closes it.
  /// - Parameter why: Why it can't be used, for people; nil where it was used to its end.
  func drop(_ why: String? = nil) {
    phase = .over(why)
    channel = nil
    socket = nil
  }

  // MARK: Bytes

  /// Sends bytes, now or when the system takes them.
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - size: The bytes of each segment, where they are cut into such; nil where they are not.
  ///   - now: The time.
  func send(_ bytes: [UInt8], inPiecesOf size: Int? = nil, _ now: Timestamp) {
    guard !isOver, !isFinished else { return }
    guard size != nil || chopping != nil || !pieces.isEmpty else {
      waiting.append(bytes)
      return flush(now)
    }
    for piece in cut(bytes, size) { pieces.append(piece) }
    given += bytes.count
    goOn(now)
  }

  private func cut(_ bytes: [UInt8], _ size: Int?) -> [[UInt8]] {
    if let chopping { return chopping.pieces(of: bytes, after: given) }
    guard let size else { return [bytes] }
    return stride(from: 0, to: bytes.count, by: max(1, size)).map {
      Array(bytes[$0..<min(bytes.count, $0 + max(1, size))])
    }
  }

  /// When the next segment is due; nil where none waits.
  var wakeTime: Timestamp? { pieces.isEmpty || phase != .open ? nil : nextPiece }

  /// Sends the next segment when it is due.
  func goOn(_ now: Timestamp) {
    guard phase == .open, !pieces.isEmpty, nextPiece ?? now <= now else { return }
    flush(now)
    guard waiting.isEmpty, let piece = pieces.popFirst() else { return }
    nextPiece = now.advanced(by: Chopping.pause)
    waiting.append(piece)
    flush(now)
  }

  private func flush(_ now: Timestamp) {
    if phase == .open, !waiting.isEmpty { record(nil, now) }
    while phase == .open, !waiting.isEmpty {
      guard let count = channel?.write(waiting.waiting) else {
        return breakOff(by: own.other, now)
      }
      guard count > 0 else { return }
      recorder?.send(number, from: own, waiting.waiting.prefix(count), at: now)
      waiting.removeFirst(count)
    }
    endOwn(now)
  }

  private func receive(
    _ buffer: inout [UInt8], _ now: Timestamp, _ take: (ArraySlice<UInt8>) -> Void
  ) {
    switch channel?.read(into: &buffer) {
    case .later, nil: return
    case .bytes(let count):
      record(buffer.first, now)
      recorder?.send(number, from: own.other, buffer[..<count], at: now)
      take(buffer[..<count])
    case .end:
      hasEnded = true
      record(nil, now)
      recorder?.end(number, by: own.other, .finished, at: now)
      guard !answersBehindEnd else { return }
      // An end that says no more is told no more.
      finish(now)
      drop()
    case .failed: breakOff(by: own.other, now)
    }
  }

  // MARK: The end

  /// Says that nothing more will be sent, behind all that waits to be.
  func finish(_ now: Timestamp) {
    guard phase == .open, !isFinished else { return }
    // In segments as they are, one behind the other.
    while phase == .open, let piece = pieces.popFirst() {
      waiting.append(piece)
      flush(now)
    }
    isFinished = true
    flush(now)
  }

  /// Ends what is sent, once all of it is.
  private func endOwn(_ now: Timestamp) {
    guard phase == .open, isFinished, waiting.isEmpty, !isEnded else { return }
    isEnded = true
    _ = channel?.shutdownWriting()
    recorder?.end(number, by: own, .finished, at: now)
    if hasEnded, answersBehindEnd { drop() }
  }

  /// Breaks the connection off.
  func reset(_ now: Timestamp) {
    guard phase == .open else { return drop() }
    channel?.breakOffWhenClosed()
    breakOff(by: own, now)
  }

  private func breakOff(by peer: Peer, _ now: Timestamp) {
    record(nil, now)
    recorder?.end(number, by: peer, .reset, at: now)
    drop()
  }

  /// Whether it is over for both ends.
  var isOver: Bool {
    if case .over = phase { true } else { false }
  }
}
