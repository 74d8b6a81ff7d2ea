import RepriseCore
import Wire

/// Events on their way from one thread to another, with the bytes that they are read in.
///
/// A packet is decoded where it is put in: who takes the events has more to do than who reads them. A batch is used again
/// and again: once it has its size, nothing is allocated for an event.
struct EventBatch: Sendable {
  private struct Entry {
    var context: EventContext
    var content: Content
  }

  private enum Content {
    /// The number of a control packet, and where it stands.
    case packet(Int, start: Int, count: Int)
    /// The number of a frame.
    case frame(Int)
    /// The number of an event of another kind.
    case other(Int)
  }

  private struct Frame {
    var header: WebSocketFrameHeader
    var payload: Range<Int>
    var inflated: Range<Int>
    var compression: WebSocketCompression
    var cargo: WebSocketCargo
    var faults: [WebSocketFault]
  }

  /// A batch has its size with so many events, or so many bytes: what one thread writes, the other one finds in the
  /// cache that both share.
  private static let events = 1_024
  private static let bytes = 64 << 10
  /// What is more than this is not kept for the next events.
  private static let mostKept = 1 << 20

  private var bytes: [UInt8] = []
  private var entries: [Entry] = []
  private var packets: [MQTTPacketFields] = []
  private var frames: [Frame] = []
  private var others: [Event] = []
  /// Whether an event is in it that may take much more than its bytes: a handshake with all its fields, or a message of
  /// HTTP.
  private var isHeavy = false

  init() { entries.reserveCapacity(Self.events) }

  /// Whether nothing is in it.
  var isEmpty: Bool { entries.isEmpty }
  /// Whether it has its size.
  var isFull: Bool { isHeavy || entries.count >= Self.events || bytes.count >= Self.bytes }
  /// Whether it takes so much memory that no other should be made beside it.
  var isLarge: Bool { isHeavy || bytes.count > Self.mostKept }

  // MARK: Writing

  /// Adds a control packet.
  mutating func append(_ context: EventContext, _ packet: borrowing MQTTPacketView) {
    let (start, count) = (bytes.count, packet.bytes.byteCount)
    keep(packet.bytes)
    entries.append(
      Entry(context: context, content: .packet(packets.count, start: start, count: count)))
    packets.append(MQTTPacketFields(packet))
  }

  /// Adds an event of any kind.
  mutating func append(_ event: borrowing EventView) {
    switch event.body {
    case .mqtt(let packet): append(event.context, packet)
    case .webSocket(let frame): append(event.context, frame)
    case .opened, .closed, .attempted, .gap, .malformed: keep(event)
    case .handshake, .http, .tls:
      keep(event)
      isHeavy = true
    }
  }

  private mutating func keep(_ event: borrowing EventView) {
    entries.append(Entry(context: event.context, content: .other(others.count)))
    others.append(Event(copying: event))
  }

  private mutating func append(_ context: EventContext, _ frame: borrowing WebSocketFrameView) {
    let start = bytes.count
    keep(frame.payload)
    let middle = bytes.count
    if frame.compression == .inflated { keep(frame.data) }
    entries.append(Entry(context: context, content: .frame(frames.count)))
    frames.append(
      Frame(
        header: frame.header, payload: start..<middle, inflated: middle..<bytes.count,
        compression: frame.compression, cargo: frame.cargo, faults: frame.faults))
  }

  private mutating func keep(_ span: RawSpan) {
    span.withUnsafeBytes { bytes.append(contentsOf: $0) }
  }

  /// Forgets all events.
  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: bytes.capacity <= Self.mostKept)
    entries.removeAll(keepingCapacity: true)
    packets.removeAll(keepingCapacity: true)
    frames.removeAll(keepingCapacity: true)
    others.removeAll(keepingCapacity: true)
    isHeavy = false
  }

  // MARK: Reading

  /// How many events ahead a consumer hears of a connection: in the time of so many its memory is read.
  private static let ahead = 3

  /// Hands the events on, in the order in which they were added.
  /// - Parameter consumer: What takes them.
  /// - Throws: What the consumer throws.
  func handOn(to consumer: inout some EventConsumer) throws {
    let bytes = bytes.span.bytes
    for (index, entry) in entries.enumerated() {
      if index + Self.ahead < entries.count {
        consumer.expect(connection: entries[index + Self.ahead].context.connection)
      }
      switch entry.content {
      case .packet(let number, let start, let count):
        let packet = MQTTPacketView(
          bytes.extracting(start..<(start + count)), packets[number])
        try consumer.consume(EventView(entry.context, .mqtt(packet)))
      case .frame(let number):
        let frame = frames[number]
        let view = WebSocketFrameView(
          frame.header, payload: bytes.extracting(frame.payload),
          inflated: bytes.extracting(frame.inflated), compression: frame.compression,
          cargo: frame.cargo, faults: frame.faults)
        try consumer.consume(EventView(entry.context, .webSocket(view)))
      case .other(let number): try others[number].withView { try consumer.consume($0) }
      }
    }
  }
}
