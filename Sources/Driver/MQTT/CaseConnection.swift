import Glibc
import LiveClient
import RepriseCore
import Wire

/// A connection of a case or a replay with MQTT on it, to a broker or from a client: the packets that came, and what carries them.
final class CaseConnection {
  private let stream: CaseStream
  private var framer = MQTTFramer()
  /// What carries the MQTT; nil where nothing does.
  private var carrier: WebSocketCarrier?
  /// The version by which packets are read, and those of steps are made.
  private(set) var version: MQTTVersion
  /// Whether nothing more is sent by ours.
  private var isFinished = false
  /// Whether something came, by which it is known what a client speaks.
  private var isBegun = false
  /// Whether its stream is no MQTT.
  private(set) var isStrange = false

  /// Begins to connect to a broker.
  /// - Parameters:
  ///   - number: Its number within the case.
  ///   - place: Where the broker is.
  ///   - version: The version by which packets are read.
  ///   - recorder: Keeps what passes; nil where nobody does.
  ///   - chopping: How what is sent is cut into segments; nil where it is not.
  ///   - now: The time.
  /// - Throws: ``DataClientError`` when it fails at once.
  init(
    _ number: Int, to place: BrokerPlace, _ version: MQTTVersion, _ recorder: CaseRecorder?,
    _ chopping: Chopping?, _ now: Timestamp
  ) throws(DataClientError) {
    stream = try CaseStream(number, to: place, recorder, chopping)
    self.version = version
    carrier = place.webSocket.map { WebSocketCarrier($0) }
    if let carrier { stream.send(carrier.opening, now) }
  }

  /// Takes a client that has connected.
  /// - Parameters:
  ///   - number: Its number within the case.
  ///   - socket: Its socket.
  ///   - security: What its TLS is answered by, where it speaks that.
  ///   - version: The version by which packets are read until its CONNECT says another.
  ///   - recorder: Keeps what passes; nil where nobody does.
  ///   - chopping: How what is sent is cut into segments; nil where it is not.
  init(
    _ number: Int, from socket: TCPSocket, security: TLSServerContext?, _ version: MQTTVersion,
    _ recorder: CaseRecorder?, _ chopping: Chopping?
  ) {
    stream = CaseStream(
      number, from: socket, security: security, shownPort: nil, recorder, chopping)
    self.version = version
  }

  // MARK: What is waited for

  /// How far it is: it is open once packets can pass.
  var phase: CaseStream.Phase {
    stream.phase == .open && carrier?.phase == .upgrading ? .opening : stream.phase
  }
  /// Whether the other end sends nothing more.
  var hasEnded: Bool { stream.hasEnded }
  /// Whether WebSocket carries its MQTT.
  var isWebSocket: Bool { carrier != nil }
  /// Whether it is over for both ends.
  var isOver: Bool { stream.isOver }
  /// What `poll` is to be asked.
  var interest: pollfd { stream.interest }
  /// When the next segment is due; nil where none waits.
  var wakeTime: Timestamp? { stream.wakeTime }

  /// Does what the socket is ready for.
  /// - Parameters:
  ///   - events: What `poll` said.
  ///   - buffer: Where to read to.
  ///   - now: The time.
  ///   - take: Takes the packets that came.
  func service(
    _ events: Int16, _ buffer: inout [UInt8], _ now: Timestamp,
    _ take: (borrowing MQTTPacketView) -> Void
  ) {
    stream.service(events, &buffer, now) { receive($0, now, take) }
  }

  /// Sends the next segment when it is due.
  func goOn(_ now: Timestamp) { stream.goOn(now) }

  // MARK: Packets

  /// Sends bytes of MQTT, now or when the system takes them.
  func send(_ bytes: [UInt8], _ now: Timestamp) {
    guard phase == .open, !isFinished else { return }
    stream.send(carrier?.wrap(bytes) ?? bytes, now)
  }

  private func receive(
    _ bytes: ArraySlice<UInt8>, _ now: Timestamp, _ take: (borrowing MQTTPacketView) -> Void
  ) {
    if stream.own == .server, !isBegun, CaseStream.beginsHTTP(bytes.first) {
      carrier = WebSocketCarrier()
    }
    isBegun = true
    guard let arrival = carrier?.take(bytes) else { return cut(bytes, take) }
    if !arrival.answer.isEmpty { stream.send(arrival.answer, now) }
    if case .refused(let why) = carrier?.phase { return stream.drop(why) }
    if !arrival.cargo.isEmpty { cut(arrival.cargo[...], take) }
    // The server is the first to end the connection (RFC 6455 section 7.1.1).
    if stream.own == .server, carrier?.isClosed == true { stream.finish(now) }
  }

  private func cut(_ bytes: ArraySlice<UInt8>, _ take: (borrowing MQTTPacketView) -> Void) {
    guard !isStrange else { return }
    var version = version
    defer { self.version = version }
    do throws(MQTTFramingError) {
      try framer.consume(Array(bytes).span.bytes) { bytes, header, _ in
        let packet = MQTTPacketView(bytes, header: header, version: version)
        version = packet.version
        take(packet)
      }
    } catch {
      // What an end says that is no MQTT is recorded, and judged by others.
      isStrange = true
    }
  }

  // MARK: The end

  /// Says that nothing more will be sent.
  func finish(_ now: Timestamp) {
    guard phase == .open, !isFinished else { return }
    isFinished = true
    // A client whose WebSocket was closed leaves the end of the connection to the server.
    if let closing = carrier?.close(), !closing.isEmpty, !hasEnded {
      stream.send(closing, now)
    } else {
      stream.finish(now)
    }
  }

  /// Breaks the connection off.
  func reset(_ now: Timestamp) { stream.reset(now) }
}
