import Wire

/// Something that a session says and that did not happen yet: an action, or what the server sent.
public struct ReplayExpectation: Sendable, Hashable {
  /// Its place in the session.
  public let place: ReplayPlace
  /// The end that is expected to send it.
  public let sender: Peer
  /// The event in one line, with secrets hidden.
  public let summary: String
  /// The recorded event.
  public let event: Event
  /// The kind of action that is expected, with the recorded values; nil for what the server sends.
  public let action: ClientAction.Kind?
  /// Which of the session's actions it is, from 0, as ``ReplayDialogue`` counts them; only an action that
  /// is due has one.
  public let ordinal: Int?

  /// What is left over of a session: an action, or what somebody is told.
  init(_ entry: ReplayEntry) {
    if case .action = entry.role {
      self.init(entry.event)
    } else {
      self.init(told: entry.event)
    }
  }

  /// What somebody is told.
  private init(told event: Event) {
    (ordinal, action) = (nil, nil)
    place = ReplayPlace(event.context)
    sender = event.context.sender
    self.event = event
    summary = Self.summary(of: event)
  }

  init(_ event: Event, ordinal: Int? = nil, recorded: RecordedAction? = nil) {
    self.ordinal = ordinal
    place = ReplayPlace(event.context)
    sender = event.context.sender
    self.event = event
    if case .opened = event.body {
      // A connection that was open before the capture began may be opened anyhow.
      action = .connect(ConnectOptions())
      summary = "CONNECT"
      return
    }
    action = (recorded ?? RecordedAction(event))?.kind
    summary = action?.summary ?? Self.summary(of: event)
  }

  private static func summary(of event: Event) -> String {
    var line: [UInt8] = []
    event.withView { EventJSONWriter().append($0, to: &line) }
    // The place stands elsewhere; what is left is the type and its fields.
    let text = String(decoding: line, as: UTF8.self)
    let start = text.firstRange(ofText: "\"type\":")?.lowerBound ?? text.startIndex
    return String("{\(text[start...])".prefix(400))
  }
}

/// What a user of a replay is at, for whoever tells what it did and why.
public struct ReplayCause: Sendable, Hashable {
  /// The place of the event that was handed out last; after a deadline or a wake, and at first, that of the
  /// first action that was performed since, nil as long as there is none.
  public var place: ReplayPlace?
  /// The time of it, in the session.
  public var time: Timestamp

  /// Creates a cause.
  package init(place: ReplayPlace?, time: Timestamp) {
    self.place = place
    self.time = time
  }
}

/// Where something stands in a session.
public struct ReplayPlace: Sendable, Hashable {
  /// The number of the frame, or of a recording's line.
  public var frame: Int
  /// The number of the connection.
  public var connection: Int
  /// When it happened.
  public var time: Timestamp

  /// Creates a place.
  package init(frame: Int, connection: Int, time: Timestamp) {
    self.frame = frame
    self.connection = connection
    self.time = time
  }

  init(_ context: EventContext) {
    frame = context.frame
    connection = context.connection
    time = context.time
  }
}

extension ReplayPlace: CustomStringConvertible {
  /// Frame or line, connection and time.
  public var description: String { "frame \(frame), connection \(connection), \(time)" }
}

/// An action of the recorded client, decoded from its packet.
struct RecordedAction {
  let kind: ClientAction.Kind
  /// The packet identifier, by which the server answers.
  let packetID: UInt16?

  /// Decodes an action; nil for what is none.
  /// - Parameters:
  ///   - event: An event of the session.
  ///   - aliases: The topics that the recorded client gave aliases to.
  ///   - base: The path of the URL of the server that requests are sent to.
  init?(_ event: Event, aliases: TopicAliases = TopicAliases(), below base: String = "") {
    guard event.context.sender == .client else { return nil }
    var aliases = aliases
    let decoded: (ClientAction.Kind, UInt16?)? = event.withView { view in
      if case .handshake(.request) = view.body { return (.connect(ConnectOptions()), nil) }
      if case .attempted = view.body { return (.connect(ConnectOptions()), nil) }
      if case .webSocket(let frame) = view.body {
        return ClientAction.Kind(frame).map { ($0, nil) }
      }
      if case .http(let part) = view.body {
        return part.request(below: base).map { (.send($0), nil) }
      }
      guard case .mqtt(let packet) = view.body else { return nil }
      if packet.type == .publish {
        let topic = aliases.topic(of: packet)
        let message = Message(topic: topic, packet)
        return (.publish(message), packet.qos == 0 ? nil : packet.packetID)
      }
      guard let content = MQTTPacket(packet)?.content else { return nil }
      switch content {
      case .connect(let connect): return (.connect(ConnectOptions(connect)), nil)
      case .subscribe(let id, let subscriptions, _):
        return (.subscribe(subscriptions.map(Subscription.init)), id)
      case .unsubscribe(let id, let filters, _): return (.unsubscribe(filters), id)
      case .disconnect: return (.disconnect, nil)
      case .connack, .publish, .acknowledgement, .suback, .unsuback, .pingreq, .pingresp, .auth:
        return nil
      }
    }
    guard let decoded else { return nil }
    (kind, packetID) = decoded
  }
}

/// The topics that a sender of MQTT 5.0 gave aliases to on a connection (5.0 section 3.3.2.3.4).
struct TopicAliases: Sendable {
  private var topics: [Int: String] = [:]
  /// The topic of the last message: most messages have the topic of the one before.
  private var last = ""

  /// Forgets all: aliases belong to a connection.
  mutating func removeAll() { topics.removeAll() }

  /// Returns the topic of a PUBLISH, and notes the alias that it gives.
  mutating func topic(of packet: borrowing MQTTPacketView) -> String {
    let bytes = packet.topic
    if !bytes.isEmpty, !bytes.isEqual(to: last.utf8.span.bytes) { last = String(copying: bytes) }
    guard packet.hasProperties, let alias = packet.properties.integer(.topicAlias) else {
      return bytes.isEmpty ? "" : last
    }
    if bytes.isEmpty { return topics[alias] ?? "" }
    topics[alias] = last
    return last
  }
}

extension Message {
  /// Copies a message out of a PUBLISH.
  init(topic: String, _ packet: borrowing MQTTPacketView) {
    self.init(
      topic: topic, payload: Array(copying: packet.payload),
      qos: QoS(rawValue: packet.qos) ?? .exactlyOnce, isRetained: packet.retain)
    guard packet.hasProperties else { return }
    properties = MessageProperties(packet.properties, in: packet.bytes)
  }
}

extension Subscription {
  init(_ subscription: MQTTPacket.Subscription) {
    self.init(
      subscription.filter, qos: QoS(rawValue: subscription.options & 0b11) ?? .exactlyOnce,
      options: SubscriptionOptions(byte: subscription.options))
  }
}

extension StringProtocol {
  /// Where a text stands for the first time.
  func firstRange(ofText text: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      let rest = self[start...]
      if rest.hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
      start = index(after: start)
    }
    return nil
  }
}
