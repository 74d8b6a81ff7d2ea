import RepriseCore
import Wire

/// Where something stands that is compared: what an end said, or how the connection ended.
package enum Lane: Int, Sendable, Hashable, CaseIterable {
  /// What the client said.
  case client
  /// What the server said.
  case server
  /// How the connection ended.
  case end

  init(_ sender: Peer) { self = sender == .client ? .client : .server }
}

/// What an event is to a comparison.
struct Reading {
  /// What it can be.
  enum Kind {
    /// Something that is said for itself; its index counts those of its lane.
    case item
    /// An answer to what was said; lane and index are those of what is answered.
    case answer
    /// Bytes of a lane are missing: what stands here can't be known.
    case loss
  }

  let kind: Kind
  let lane: Lane
  let index: Int
  /// The topic that an alias stands for; nil for a message that names its own.
  var topic: String?
  /// When the connection began.
  let start: Timestamp
  /// Whether an end took leave before: then both close, and which of them does first says nothing.
  var isBehindLeave = false
}

/// Reads the events of one connection as what was said on it.
///
/// Packet identifiers lead from an acknowledgement to its message, and then have no meaning of their own. So an
/// acknowledgement has no place in the order of its lane either: it may come in front of or behind a message of the
/// same end, as it happens.
struct ConnectionReader {
  /// What was asked under a packet identifier, the last time.
  private struct Asked {
    /// Where it stands; nil if it was not chosen.
    var index: Int?
    let about: UInt64
    /// The types of what answered it.
    var answers: Set<MQTTPacketType> = []
    var repeats = 0

    /// Whether its identifier is free again, so that who takes it says something else.
    var isOver: Bool { !answers.isDisjoint(with: [.puback, .pubrec]) }
  }

  private let start: Timestamp
  private var counts = [0, 0, 0]
  private var asked: [Peer: [UInt16: Asked]] = [:]
  private var aliases: [Peer: [Int: String]] = [:]
  private var messages: [Peer: WebSocketAssembler] = [:]
  /// Whether an end took leave: by DISCONNECT, or by a Close frame.
  private var hasLeave = false
  /// Whether TLS was not read through.
  private var isConcealed = false
  private static let mostAliases = 1_024
  private static let largestMessage = 1 << 20

  init(start: Timestamp) { self.start = start }

  /// Reads the next event.
  /// - Parameters:
  ///   - event: The event.
  ///   - isSelected: Whether it is to be compared.
  ///   - options: What counts.
  ///   - take: Gets what it is, if it is anything; the event is the one given, or a message put together.
  /// - Throws: What `take` throws.
  mutating func read(
    _ event: borrowing EventView, isSelected: Bool, _ options: DiffOptions,
    _ take: (Reading, borrowing EventView) throws -> Void
  ) throws {
    let lane = Lane(event.context.sender)
    switch event.body {
    case .opened(let opening):
      guard !opening.isFromStart, isSelected else { return }
      for lane in [Lane.client, .server] {
        try lose(lane, event, take)
      }
    case .gap:
      if isSelected { try lose(lane, event, take) }
    case .closed(let closing) where closing.how == .endOfCapture:
      if isSelected { try lose(.end, event, take) }
    case .closed, .attempted:
      if isSelected { try say(.end, event, take) }
    case .malformed, .handshake, .http:
      if isSelected { try say(lane, event, take) }
    case .tls(let part):
      if case .handshake(let hellos) = part, hellos.obstacle != nil { isConcealed = true }
      // What was read through is compared as if nobody had encrypted it.
      guard isSelected, isConcealed else { return }
      try say(lane, event, take)
      guard case .handshake = part else { return }
      for lane in [Lane.client, .server] { try lose(lane, event, take) }
    case .webSocket(let frame): try read(frame, of: event, isSelected, options, take)
    case .mqtt(let packet): try read(packet, of: event, isSelected, options, take)
    }
  }

  /// Forgets what only later events of the connection would ask for.
  mutating func forget() {
    asked = [:]
    aliases = [:]
    messages = [:]
  }

  private mutating func next(_ lane: Lane) -> Int {
    defer { counts[lane.rawValue] += 1 }
    return counts[lane.rawValue]
  }

  private mutating func say(
    _ lane: Lane, topic: String? = nil, _ event: borrowing EventView,
    _ take: (Reading, borrowing EventView) throws -> Void
  ) rethrows {
    let reading = Reading(
      kind: .item, lane: lane, index: next(lane), topic: topic, start: start,
      isBehindLeave: hasLeave)
    try take(reading, event)
  }

  private mutating func lose(
    _ lane: Lane, _ event: borrowing EventView,
    _ take: (Reading, borrowing EventView) throws -> Void
  ) rethrows {
    try take(Reading(kind: .loss, lane: lane, index: next(lane), start: start), event)
  }

  // MARK: WebSocket

  private mutating func read(
    _ frame: borrowing WebSocketFrameView, of event: borrowing EventView, _ isSelected: Bool,
    _ options: DiffOptions, _ take: (Reading, borrowing EventView) throws -> Void
  ) throws {
    let context = event.context
    switch frame.cargo {
    // The packets are events of their own.
    case .mqtt, .mqttConcealed: return
    case .unknown, .concealed: break
    }
    if frame.opcode == .close { hasLeave = true }
    let isPing = frame.opcode == .ping || frame.opcode == .pong
    if isPing, !options.details.contains(.pings) { return }
    let isPart = !frame.header.isFinal || frame.opcode == .continuation
    guard isPart, !frame.opcode.isControl, frame.opcode.isDefined else {
      if isSelected {
        try say(Lane(context.sender), event, take)
      }
      return
    }
    var assembler =
      messages[context.sender] ?? WebSocketAssembler(limit: Self.largestMessage)
    let message = assembler.take(frame)
    messages[context.sender] = assembler
    guard let message, isSelected else { return }
    var whole = WebSocketFrame(message.isText ? .text : .binary, message.data)
    if !message.isComplete { whole.keptCompressed = .tooLarge }
    try Event(context, .webSocket(whole)).withView { view throws in
      try say(Lane(context.sender), view, take)
    }
  }

  // MARK: MQTT

  private mutating func read(
    _ packet: borrowing MQTTPacketView, of event: borrowing EventView, _ isSelected: Bool,
    _ options: DiffOptions, _ take: (Reading, borrowing EventView) throws -> Void
  ) throws {
    let sender = event.context.sender
    switch packet.type {
    case .pingreq, .pingresp:
      guard options.details.contains(.pings), isSelected else { return }
      try say(Lane(sender), event, take)
    case .publish where packet.qos > 0, .subscribe, .unsubscribe:
      try ask(packet, of: event, isSelected, options, take)
    case .puback, .pubrec, .pubcomp, .suback, .unsuback:
      try answer(packet, to: sender.other, event, isSelected, options, take)
    case .pubrel: try answer(packet, to: sender, event, isSelected, options, take)
    case .publish, .connect, .connack, .disconnect, .auth, .reserved:
      if packet.type == .disconnect { hasLeave = true }
      let topic = topic(of: packet, from: sender)
      guard isSelected else { return }
      try say(Lane(sender), topic: topic, event, take)
    }
  }

  private mutating func ask(
    _ packet: borrowing MQTTPacketView, of event: borrowing EventView, _ isSelected: Bool,
    _ options: DiffOptions, _ take: (Reading, borrowing EventView) throws -> Void
  ) throws {
    let sender = event.context.sender
    let topic = packet.type == .publish ? topic(of: packet, from: sender) : nil
    guard let id = packet.packetID else {
      if isSelected { try say(Lane(sender), topic: topic, event, take) }
      return
    }
    var about = Fingerprint()
    about.add(UInt64(packet.type.rawValue))
    about.add(topic ?? String(copying: packet.topic))
    if packet.dup, let earlier = asked[sender]?[id], earlier.about == about.value, !earlier.isOver {
      asked[sender]?[id]?.repeats += 1
      // What acknowledges a repeat acknowledges what is repeated.
      guard options.details.contains(.repeats), isSelected else { return }
      return try say(Lane(sender), topic: topic, event, take)
    }
    asked[sender, default: [:]][id] = Asked(
      index: isSelected ? counts[Lane(sender).rawValue] : nil, about: about.value)
    if isSelected { try say(Lane(sender), topic: topic, event, take) }
  }

  private mutating func answer(
    _ packet: borrowing MQTTPacketView, to asker: Peer, _ event: borrowing EventView,
    _ isSelected: Bool, _ options: DiffOptions,
    _ take: (Reading, borrowing EventView) throws -> Void
  ) throws {
    guard let id = packet.packetID, var question = asked[asker]?[id] else {
      // What it answers was said on an earlier connection, or was not captured.
      guard isSelected else { return }
      return try say(
        Lane(event.context.sender), event, take)
    }
    let isFirst = question.answers.insert(packet.type).inserted
    let isRepeat = !isFirst && question.repeats > 0 && !options.details.contains(.repeats)
    asked[asker]?[id] = question
    guard let index = question.index, !isRepeat else { return }
    try take(Reading(kind: .answer, lane: Lane(asker), index: index, start: start), event)
  }

  /// The topic that a message's alias stands for; nil if it names its own, or none is known.
  private mutating func topic(of packet: borrowing MQTTPacketView, from sender: Peer) -> String? {
    guard packet.type == .publish, let alias = packet.properties.integer(.topicAlias) else {
      return nil
    }
    guard packet.topic.isEmpty else {
      if aliases[sender, default: [:]].count < Self.mostAliases {
        aliases[sender, default: [:]][alias] = String(copying: packet.topic)
      }
      return nil
    }
    return aliases[sender]?[alias]
  }
}
