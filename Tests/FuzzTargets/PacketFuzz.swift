import RepriseCore
import Wire

/// Packets of MQTT out of any bytes.
enum PacketFuzz {
  static func run(_ bytes: [UInt8]) {
    for version in [MQTTVersion.v3_1, .v3_1_1, .v5_0] {
      // The stream comes in two pieces.
      let middle = bytes.count / 2
      var framer = MQTTFramer()
      var events: [Event] = []
      func take(_ bytes: RawSpan, _ header: MQTTFixedHeader, _ offset: Int) {
        guard events.count < 200 else { return }
        events.append(event(Array(copying: bytes), version))
      }
      _ = try? framer.consume(bytes.span.bytes.extracting(0..<middle), take)
      _ = try? framer.consume(bytes.span.bytes.extracting(droppingFirst: middle), take)
      framer.flush(take)
      RoundTrip.check(events)
    }
  }

  private static func event(_ bytes: [UInt8], _ version: MQTTVersion) -> Event {
    let context = EventContext(
      time: Timestamp(nanoseconds: 1_000), frame: 1, connection: 1, sender: .client,
      wire: .mqtt(version))
    return Event(context, .mqtt(PacketBytes(bytes)))
  }
}

/// What is written of events, and read again.
enum RoundTrip {
  /// Writes events in every form, and reads those that can be read.
  static func check(_ events: [Event]) {
    var text = EventTextWriter()
    var line: [UInt8] = []
    for event in events { event.withView { text.append($0, to: &line) } }
    demand(!line.contains { $0 < 0x20 && $0 != 0x0A }, "a control character in text")
    for showsSecrets in [true, false] {
      let read = recorded(events, showsSecrets: showsSecrets)
      demand(read.count == events.count, "\(read.count) of \(events.count) events are read")
      guard showsSecrets else { continue }
      for (event, other) in zip(events, read) {
        switch event.body {
        case .mqtt, .http:
          demand(other.body == event.body, "\(event.body) is read as \(other.body)")
        case .opened, .closed, .attempted, .handshake, .webSocket, .gap, .malformed, .tls: continue
        }
      }
    }
  }

  private static func recorded(_ events: [Event], showsSecrets: Bool) -> [Event] {
    do {
      var writer = try RecordingWriter(
        MemorySink(), header: RecordingHeader(created: nil, source: .init(kind: "capture")),
        hiding: RedactionRules(hidesSecrets: !showsSecrets))
      for event in events { try event.withView { view throws in try writer.consume(view) } }
      try writer.finish()
      var keeper = EventKeeper()
      var stream = RecordingStream()
      let written = writer.sink.bytes
      try stream.consume(written.span.bytes, into: &keeper)
      try stream.finish(into: &keeper)
      return keeper.events
    } catch {
      fatalError("broken: what was written can't be read (\(error)): \(events)")
    }
  }
}

/// Keeps events.
struct EventKeeper: EventConsumer {
  /// The most events that are kept.
  static let limit = 1_000
  var events: [Event] = []

  mutating func consume(_ event: borrowing EventView) {
    if events.count < Self.limit { events.append(Event(copying: event)) }
  }
}
