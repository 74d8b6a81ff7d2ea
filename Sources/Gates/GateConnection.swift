import Glibc
import LiveClient
import RepriseCore
import Wire

/// One connection through a gate: the client's socket, the broker's, and what is under way.
///
/// Everything in it happens on the gate's thread, so it needs no lock.
final class GateConnection {
  /// The number of the connection, in the order in which clients came.
  let number: UInt64
  private let client: TCPSocket
  private var broker: TCPSocket?
  private var isBrokerReached = false
  private var untried: ArraySlice<TCPAddress>
  /// The broker's host and port, for people.
  private let place: String

  private var toBroker = OutputBuffer()
  private var toClient = OutputBuffer()
  private var clientFramer = MQTTFramer(limit: 65_536)
  private var brokerFramer = MQTTFramer(limit: GateConnection.largestPacket)
  private var isClientFramed = true
  private var held: HeldPackets

  /// The version that the CONNECT names.
  private(set) var version = MQTTVersion.v3_1_1
  /// Whether the client has sent its CONNECT.
  private(set) var hasConnect = false
  /// Whether the client has said DISCONNECT.
  private(set) var hasSaidGoodbye = false
  /// How many filters and messages the client has sent; those that it repeats are not counted.
  private(set) var requests = 0
  /// What went wrong between gate and broker, for people.
  private(set) var trouble: String?

  private var isClientOver = false
  private var isBrokerOver = false
  private var hasShutClient = false
  private var hasShutBroker = false
  /// Whether nothing passes any more, and what is under way is brought to its end.
  private(set) var isEnding = false
  /// Whether the client's side ends by RST.
  private var isBreakingOff = false
  /// When to wait no longer for the other sides to close; nil as long as there is something to send.
  private(set) var endsBy: Timestamp?

  /// The largest packet that a broker may send, in bytes.
  static let largestPacket = 16 << 20
  /// How many bytes may wait on one side before the other one is read no further.
  private static let waitingLimit = 1 << 20
  /// How long a side has to close when the other one has, in nanoseconds.
  private static let closingTime: Int64 = 2_000_000_000

  /// Takes a client's connection, and begins to connect to the broker.
  init(
    _ number: UInt64, client: TCPSocket, addresses: [TCPAddress], place: String, isPassing: Bool
  ) {
    self.number = number
    self.client = client
    self.place = place
    untried = addresses[...]
    held = HeldPackets(isPassing: isPassing)
    connect()
  }

  /// Whether the client can still get something.
  var isOpen: Bool { !isEnding && !isClientOver }

  /// Whether there is nothing left to do.
  func isOver(_ now: Timestamp) -> Bool {
    guard isEnding else { return false }
    return isClientOver && isBrokerOver || endsBy.map { $0 <= now } ?? false
  }

  // MARK: The broker's side

  private func connect() {
    broker = nil
    while let address = untried.popFirst() {
      do throws(DataClientError) {
        broker = try TCPSocket.connecting(to: address)
        return
      } catch {
        trouble = "\(place) does not answer: \(error.message)"
      }
    }
    isBrokerOver = true
  }

  private func noteConnecting() {
    guard let problem = broker?.connectionProblem() else {
      isBrokerReached = true
      trouble = nil
      return
    }
    trouble = "\(place) does not answer: \(problem)"
    connect()
  }

  private func noteBrokerOver(_ why: String) {
    isBrokerOver = true
    toBroker.removeAll()
    if !isEnding, !hasSaidGoodbye { trouble = "\(place) \(why)" }
  }

  // MARK: Sockets

  /// What to wait for on both sockets; a side that nothing is wanted of has no number.
  func interests() -> (client: pollfd, broker: pollfd) {
    var wanted: (client: Int32, broker: Int32) = (0, 0)
    if !isClientOver, isEnding || toBroker.count < Self.waitingLimit { wanted.client |= POLLIN }
    if !isClientOver, !toClient.isEmpty { wanted.client |= POLLOUT }
    if !isBrokerOver, !isBrokerReached {
      wanted.broker = POLLOUT
    } else if !isBrokerOver {
      let waiting = toClient.count + held.byteCount
      if isEnding || waiting < Self.waitingLimit { wanted.broker |= POLLIN }
      if !toBroker.isEmpty { wanted.broker |= POLLOUT }
    }
    return (Self.poll(client, wanted.client), Self.poll(broker, wanted.broker))
  }

  private static func poll(_ socket: TCPSocket?, _ events: Int32) -> pollfd {
    let number = events == 0 ? -1 : socket?.number ?? -1
    return pollfd(fd: number, events: Int16(truncatingIfNeeded: events), revents: 0)
  }

  /// Does what the sockets are ready for.
  /// - Parameters:
  ///   - client: What happened on the client's socket.
  ///   - broker: What happened on the broker's.
  ///   - buffer: Where to read to.
  func service(client: Int16, broker: Int16, buffer: inout [UInt8]) {
    let (client, broker) = (Int32(client), Int32(broker))
    if broker != 0, !isBrokerReached {
      noteConnecting()
    } else if broker & (POLLIN | POLLHUP | POLLERR) != 0 {
      readBroker(&buffer)
    }
    if client & (POLLIN | POLLHUP | POLLERR) != 0 { readClient(&buffer) }
  }

  private func readClient(_ buffer: inout [UInt8]) {
    switch client.read(into: &buffer) {
    case .later: return
    case .bytes(let count):
      guard !isEnding else { return }
      toBroker.append(buffer[..<count])
      tally(buffer.span.bytes.extracting(first: count))
    case .end, .failed:
      isClientOver = true
      toClient.removeAll()
    }
  }

  private func readBroker(_ buffer: inout [UInt8]) {
    switch broker?.read(into: &buffer) {
    case .later?: return
    case .bytes(let count)?:
      guard !isEnding else { return }
      sort(buffer.span.bytes.extracting(first: count))
    case .end?, nil: noteBrokerOver("closed the connection")
    case .failed(let why)?: noteBrokerOver("broke the connection off: \(why)")
    }
  }

  /// Brings the connection on as far as it goes without waiting.
  /// - Parameter now: The time.
  func settle(_ now: Timestamp) {
    if isClientOver || isBrokerOver && held.connackCode == nil { finish() }
    flush()
    guard isEnding else { return }
    if !hasShutBroker, !isBrokerOver, toBroker.isEmpty {
      hasShutBroker = true
      if broker?.shutdownWriting() != true { isBrokerOver = true }
    }
    if isBreakingOff, !isClientOver, toClient.isEmpty {
      // The socket goes with the last reference, which is that of this connection.
      client.breakOffWhenClosed()
      isClientOver = true
    }
    if !hasShutClient, !isClientOver, toClient.isEmpty {
      hasShutClient = true
      if !client.shutdownWriting() { isClientOver = true }
    }
    if endsBy == nil, hasShutBroker || isBrokerOver, hasShutClient || isClientOver {
      endsBy = Timestamp(nanoseconds: now.nanoseconds &+ Self.closingTime)
    }
  }

  private func flush() {
    if !isClientOver, !toClient.isEmpty {
      if let count = client.write(toClient.waiting) {
        toClient.removeFirst(count)
      } else {
        isClientOver = true
        toClient.removeAll()
      }
    }
    if isBrokerReached, !isBrokerOver, !toBroker.isEmpty {
      if let count = broker?.write(toBroker.waiting) {
        toBroker.removeFirst(count)
      } else {
        noteBrokerOver("broke the connection off")
      }
    }
  }

  /// Ends the connection behind all that is under way.
  func finish() {
    isEnding = true
    // A broker that was not reached yet is left alone.
    if !isBrokerReached { isBrokerOver = true }
  }

  /// Ends the connection behind all that is under way, for the client without good order.
  func breakOff() {
    isBreakingOff = true
    finish()
  }

  // MARK: Packets

  /// Counts what the client sends; it passes whatever it is.
  private func tally(_ bytes: RawSpan) {
    guard isClientFramed else { return }
    do throws(MQTTFramingError) {
      try clientFramer.consume(bytes) { bytes, header, _ in
        note(MQTTPacketView(bytes, header: header, version: version))
      }
    } catch {
      // The broker will say what it thinks of it.
      isClientFramed = false
    }
  }

  private func note(_ packet: borrowing MQTTPacketView) {
    switch packet.type {
    case .connect:
      hasConnect = true
      version = packet.version
    case .subscribe, .unsubscribe:
      var filters = packet.filters
      while filters.next() != nil { requests += 1 }
    case .publish: if !packet.dup { requests += 1 }
    case .disconnect: hasSaidGoodbye = true
    case .reserved, .connack, .puback, .pubrec, .pubrel, .pubcomp, .suback, .unsuback, .pingreq,
      .pingresp, .auth:
      break
    }
  }

  /// Cuts what the broker sends into packets that pass and packets that are held.
  private func sort(_ bytes: RawSpan) {
    do throws(MQTTFramingError) {
      try brokerFramer.consume(bytes) { bytes, header, _ in
        guard bytes.byteCount == header.packetSize else {
          return giveUp("sent a packet of \(header.packetSize) bytes; the gate takes 16 MiB")
        }
        let packet = MQTTPacketView(bytes, header: header, version: version)
        if held.passes(packet) { toClient.append(bytes) }
      }
    } catch {
      giveUp("sent what is no packet of MQTT")
    }
  }

  private func giveUp(_ why: String) {
    trouble = "\(place) \(why)"
    finish()
  }

  // MARK: What a gate is told to do

  /// The code of the CONNACK that is held; nil when none is.
  var connackCode: UInt8? { held.connackCode }

  /// Hands the client what a change of what is held lets through.
  /// - Parameter release: Takes the bytes out; nil when there is nothing.
  /// - Returns: Whether there was something.
  /// - Throws: What `release` throws.
  func release<Failure: Error>(
    _ release: (inout HeldPackets) throws(Failure) -> [UInt8]?
  ) throws(Failure) -> Bool {
    guard let bytes = try release(&held) else { return false }
    toClient.append(bytes)
    return true
  }

  /// Answers the CONNECT by a code instead of what the broker has answered, and ends the connection.
  /// - Parameter code: The code of CONNACK.
  /// - Throws: ``DataClientError`` when there is no such packet.
  func refuse(_ code: UInt8) throws(DataClientError) {
    toClient.append(try MQTTPacket(.connack(.init(code: code)), version: version).bytesForClient())
    finish()
  }
}
