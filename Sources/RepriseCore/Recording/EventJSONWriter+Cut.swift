import Wire

// What of large packets stands in a line: so much that the line, whatever is in it, can be read again.
extension EventJSONWriter {
  /// The most bytes of a packet, or of a frame's payload, that a line has.
  ///
  /// A byte takes up to six characters in text, and one and a third in base 64.
  static let largestPacket = 16 << 20

  /// The most bytes of a packet that is a list: an entry of a few bytes becomes an object of a hundred characters.
  static let largestList = 512 << 10

  /// How many bytes of an event a line leaves out.
  static func cut(of event: borrowing EventView) -> Int {
    switch event.body {
    case .mqtt(let packet): max(0, packet.bytes.byteCount - packet.lineLimit)
    case .webSocket(let frame):
      max(0, frame.data.byteCount - largestPacket, frame.payload.byteCount - largestPacket)
    case .http(let part): max(0, (part.message?.body.count ?? 0) - largestPacket)
    case .opened, .closed, .attempted, .gap, .malformed, .handshake, .tls: 0
    }
  }
}

extension MQTTPacketView {
  fileprivate var lineLimit: Int {
    switch type {
    case .subscribe, .suback, .unsubscribe, .unsuback: EventJSONWriter.largestList
    // Properties are a list as well, and all that the others have of any size.
    case _ where version == .v5_0 && hasLongHead: EventJSONWriter.largestList
    default: EventJSONWriter.largestPacket
    }
  }

  private var hasLongHead: Bool {
    bytes.byteCount - payload.byteCount > EventJSONWriter.largestList
  }

  /// Whether a line has a start of the packet only.
  var isCutInLines: Bool { bytes.byteCount > lineLimit }

  /// The packet as one whose rest is missing.
  var startInLines: MQTTPacketView { @_lifetime(copy self) get { start(of: lineLimit) } }

  @_lifetime(copy self)
  fileprivate func start(of count: Int) -> MQTTPacketView {
    MQTTPacketView(bytes.extracting(first: count), header: header, version: version)
  }
}

extension WebSocketFrameView {
  /// Whether a line has a start of the frame only.
  var isCutInLines: Bool {
    max(data.byteCount, payload.byteCount) > EventJSONWriter.largestPacket
  }

  /// The frame as one whose rest is missing.
  var startInLines: WebSocketFrameView {
    @_lifetime(copy self) get { start(of: EventJSONWriter.largestPacket) }
  }

  @_lifetime(copy self)
  fileprivate func start(of most: Int) -> WebSocketFrameView {
    var start = WebSocketFrameView(
      header, payload: payload.extracting(first: min(most, payload.byteCount)),
      inflated: data.extracting(first: min(most, data.byteCount)), compression: compression,
      cargo: cargo, from: nil)
    start.faults = faults
    return start
  }
}

extension EventView {
  /// How many bytes ``start(of:)`` leaves out.
  package func cut(to count: Int) -> Int {
    switch body {
    case .mqtt(let packet): max(0, packet.bytes.byteCount - count)
    case .webSocket(let frame): max(0, max(frame.data.byteCount, frame.payload.byteCount) - count)
    case .http(let part): max(0, (part.message?.body.count ?? 0) - count)
    case .opened, .closed, .attempted, .gap, .malformed, .handshake, .tls: 0
    }
  }

  /// Cuts the packet or frame of an event, for what keeps it.
  /// - Parameter count: The most bytes of it, at least 512; what is behind them counts as missing.
  /// - Returns: The event with no more than the start of its packet or frame.
  @_lifetime(copy self)
  package func start(of count: Int) -> EventView {
    switch body {
    case .mqtt(let packet) where packet.bytes.byteCount > count:
      return EventView(context, .mqtt(packet.start(of: count)))
    case .webSocket(let frame) where max(frame.data.byteCount, frame.payload.byteCount) > count:
      return EventView(context, .webSocket(frame.start(of: count)))
    case .http(let part): return EventView(context, .http(part.start(of: count)))
    default: return copy self
    }
  }
}
