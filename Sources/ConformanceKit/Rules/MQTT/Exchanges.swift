internal import RepriseCore
internal import Wire

/// The open messages above QoS 0 of one sender on one connection.
struct Exchanges {
  /// One message on its way.
  struct Exchange {
    var phase: Phase
    let qos: UInt8
    let retain: Bool
    /// The size of its PUBLISH, in bytes.
    let size: UInt32
    let mayExpire: Bool
    /// What tells its topic and payload; nil where they are not known.
    let content: ContentHash?
    /// The place of the message among those of its sender.
    var order: Int
    /// The place of its PUBREC among the PUBRECs.
    var receivedOrder = 0
    /// The packet that the other side has to answer next.
    var moment: Moment
    /// Whether the message or its PUBREC came more than once, or its identifier was used again.
    var isRepeated: Bool
    /// Whether it is a message that was answered before it came again: then its sender had not seen that.
    var mayBeAnswered = false
    /// Whether the client unsubscribed from something while it was open.
    var outlivesUnsubscribe = false
    /// The side of which bytes are missing, in which an answer or a new message may be.
    var lost: Peer?
  }

  /// What is awaited.
  enum Phase {
    case puback
    case pubrec
    case pubrel
    case pubcomp
  }

  private(set) var open = PacketIDTable<Exchange>(limit: ConnectionState.maximumOpen)
  /// The identifiers that their sender has used.
  private(set) var used = UsedIdentifiers()
  /// The identifier of the latest message; 0 before the first.
  private(set) var latest: UInt16 = 0
  /// Whether a message came whose identifier could not be read.
  var hasUnreadID = false
  /// Whether an identifier was ever used again while it was open.
  private(set) var hasRepeats = false
  /// Messages before this one were open when the client last unsubscribed.
  private var unsubscribedBefore = 0
  /// The losses of bytes, each of which was met by the messages before one; neighbours are of two sides.
  private var losses: [(before: Int, side: Peer)] = []
  /// So many changes of the side are told apart.
  private static let mostLosses = 16
  private var nextOrder = 0
  /// When the last open message was answered, in nanoseconds.
  private var idleSince = Int64.min
  private var nextReceivedOrder = 0
  /// The latest message of QoS 1 that was acknowledged, and of QoS 2 that was received and released.
  var lastPuback: Int {
    get { Int(lastOrders.x) }
    set { lastOrders.x = Int32(clamping: newValue) }
  }
  var lastPubrec: Int {
    get { Int(lastOrders.y) }
    set { lastOrders.y = Int32(clamping: newValue) }
  }
  var lastPubrel: Int {
    get { Int(lastOrders.z) }
    set { lastOrders.z = Int32(clamping: newValue) }
  }
  private var lastOrders: (x: Int32, y: Int32, z: Int32) = (-1, -1, -1)
  /// The longest that a message waited for an answer.
  private(set) var longestWait = AnswerTime()

  /// Whether a message made them take more memory than before.
  private(set) var hasGrown = false

  /// The memory that they take, in bytes.
  var reserved: Int { open.reserved + used.reserved }

  /// Takes note that what they take is measured.
  /// - Returns: Whether it may be more than when that was done last.
  mutating func takeGrowth() -> Bool {
    defer { hasGrown = false }
    return hasGrown
  }

  /// Whether any message waits for an answer.
  var hasOpen: Bool { open.count > 0 }

  /// Notes an answer to a message that was not captured.
  mutating func noteUnknownWait() { longestWait.noteUnknown() }

  /// Notes how long a message waited for an answer.
  @inline(__always)
  mutating func noteWait(since sent: Timestamp, until answered: Timestamp) {
    longestWait.note(since: sent, until: answered)
  }

  /// Notes that their sender has used an identifier.
  mutating func note(use id: UInt16) { used.insert(id) }

  /// Takes a PUBLISH above QoS 0; false when there are too many to keep it.
  @inline(__always)
  mutating func publish(
    _ id: UInt16, _ packet: borrowing MQTTPacketView, _ content: ContentHash?,
    _ context: EventContext
  ) -> Bool {
    let size = open.reserved
    let isKept = keep(id, packet, content, context)
    if open.reserved != size { hasGrown = true }
    return isKept
  }

  @inline(__always)
  private mutating func keep(
    _ id: UInt16, _ packet: borrowing MQTTPacketView, _ content: ContentHash?,
    _ context: EventContext
  ) -> Bool {
    let mayBeAnswered = packet.dup && open[id] == nil && used.contains(id)
    if used.insert(id) { hasGrown = true }
    latest = id
    if open[id] != nil { hasRepeats = true }
    if var exchange = self[id], exchange.lost == nil {
      exchange.isRepeated = true
      return open.insert(exchange, for: id)
    }
    var exchange = Exchange(
      phase: packet.qos == 1 ? .puback : .pubrec, qos: packet.qos, retain: packet.retain,
      size: UInt32(clamping: packet.header.packetSize),
      mayExpire: packet.propertySet.contains(.messageExpiryInterval), content: content,
      order: nextOrder, moment: Moment(context), isRepeated: packet.dup)
    exchange.mayBeAnswered = mayBeAnswered
    nextOrder += 1
    return open.insert(exchange, for: id)
  }

  /// Notes the time at which nothing is open any more.
  @inline(__always)
  mutating func noteIdle(at time: Timestamp) {
    if open.count == 0 { idleSince = time.nanoseconds }
  }

  /// How long nothing must have been open for nothing to wait behind what was, in nanoseconds: with a small Receive
  /// Maximum the next comes a moment after each answer.
  private static let pause: Int64 = 1_000_000_000

  /// Whether nothing was open, nor waited for its turn, when something came at a time, and nothing has been since.
  func wasIdle(before time: Timestamp) -> Bool {
    open.count == 0 && idleSince.addingSaturating(Self.pause) <= time.nanoseconds
  }

  /// Takes the PUBREC of an exchange that awaits it.
  mutating func receive(_ exchange: Exchange, _ id: UInt16, _ context: EventContext) {
    var exchange = exchange
    exchange.phase = .pubrel
    exchange.receivedOrder = nextReceivedOrder
    exchange.moment = Moment(context)
    nextReceivedOrder += 1
    _ = open.insert(exchange, for: id)
  }

  /// The open message of an identifier.
  @inline(__always)
  subscript(id: UInt16) -> Exchange? {
    guard let exchange = open[id] else { return nil }
    return isMarked(exchange) ? marked(exchange) : exchange
  }

  /// The open messages, in the order in which they were sent.
  var entries: [(id: UInt16, value: Exchange)] {
    open.entries.map { ($0.id, marked($0.value)) }.sorted { $0.1.order < $1.1.order }
  }

  /// Keeps what has changed of an open message.
  mutating func update(_ exchange: Exchange, _ id: UInt16) { _ = open.insert(exchange, for: id) }

  /// Ends what is open under an identifier.
  mutating func end(_ id: UInt16) { _ = open.remove(id) }

  // What happens to all messages that are open is noted once, and not in each of them.

  /// Notes that bytes of a side are missing while messages are open.
  mutating func lose(_ peer: Peer) {
    guard open.count > 0 else { return }
    if losses.last?.side == peer {
      losses[losses.count - 1].before = nextOrder
    } else {
      if losses.count == Self.mostLosses { losses.removeFirst() }
      losses.append((nextOrder, peer))
    }
  }

  /// Notes that bytes of a side are missing that may answer one message.
  mutating func lose(_ peer: Peer, answering id: UInt16) {
    guard var exchange = self[id] else { return }
    exchange.lost = exchange.lost ?? peer
    _ = open.insert(exchange, for: id)
  }

  /// Notes that the client unsubscribes while messages are open.
  mutating func markOpen() { unsubscribedBefore = nextOrder }

  @inline(__always)
  private func isMarked(_ exchange: Exchange) -> Bool {
    exchange.order < unsubscribedBefore || !losses.isEmpty
  }

  private func marked(_ exchange: Exchange) -> Exchange {
    var exchange = exchange
    if exchange.order < unsubscribedBefore { exchange.outlivesUnsubscribe = true }
    if exchange.lost == nil {
      exchange.lost = losses.first { exchange.order < $0.before }?.side
    }
    return exchange
  }
}
