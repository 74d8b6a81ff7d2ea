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
enum Reading {
  /// Something that is said for itself; its index counts those of its lane.
  case item(Lane, index: Int, JSONValue)
  /// An answer to what was said; lane and index are those of what is answered.
  case answer(Lane, index: Int, JSONValue)
  /// Bytes of a lane are missing: what stands here can't be known.
  case loss(Lane, index: Int)
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
  private static let mostAliases = 1_024
  private static let largestMessage = 1 << 20

  init(start: Timestamp) { self.start = start }

  /// Reads the next event.
  /// - Parameters:
  ///   - event: The event.
  ///   - isSelected: Whether it is to be compared.
  ///   - options: What counts.
  ///   - forms: What makes the form in which it is compared.
  ///   - take: Gets what it is, if it is anything; the event is the one given, or a message put together.
  mutating func read(
    _ event: borrowing EventView, isSelected: Bool, _ options: DiffOptions,
    _ forms: inout NormalForm, _ take: (Reading, borrowing EventView) throws -> Void
  ) throws {
    let lane = Lane(event.context.sender)
    switch event.body {
    case .opened(let opening):
      guard !opening.isFromStart, isSelected else { return }
      for lane in [Lane.client, .server] {
        try take(.loss(lane, index: next(lane)), event)
      }
    case .gap:
      if isSelected { try take(.loss(lane, index: next(lane)), event) }
    case .closed(let closing) where closing.how == .endOfCapture:
      if isSelected { try take(.loss(.end, index: next(.end)), event) }
    case .closed, .attempted:
      if isSelected { try say(.end, forms.form(of: event, since: start), event, take) }
    case .malformed, .handshake, .http:
      if isSelected { try say(lane, forms.form(of: event, since: start), event, take) }
    case .tls(let part):
      guard isSelected else { return }
      try say(lane, forms.form(of: event, since: start), event, take)
      guard case .handshake(let hellos) = part, hellos.obstacle != nil else { return }
      for lane in [Lane.client, .server] { try take(.loss(lane, index: next(lane)), event) }
    case .webSocket(let frame): try read(frame, of: event, isSelected, options, &forms, take)
    case .mqtt(let packet): try read(packet, of: event, isSelected, options, &forms, take)
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
    _ lane: Lane, _ form: JSONValue, _ event: borrowing EventView,
    _ take: (Reading, borrowing EventView) throws -> Void
  ) rethrows {
    try take(.item(lane, index: next(lane), form), event)
  }

  // MARK: WebSocket

  private mutating func read(
    _ frame: borrowing WebSocketFrameView, of event: borrowing EventView, _ isSelected: Bool,
    _ options: DiffOptions, _ forms: inout NormalForm,
    _ take: (Reading, borrowing EventView) throws -> Void
  ) throws {
    let context = event.context
    switch frame.cargo {
    // The packets are events of their own.
    case .mqtt, .mqttConcealed: return
    case .unknown, .concealed: break
    }
    let isPing = frame.opcode == .ping || frame.opcode == .pong
    if isPing, !options.details.contains(.pings) { return }
    let isPart = !frame.header.isFinal || frame.opcode == .continuation
    guard isPart, !frame.opcode.isControl, frame.opcode.isDefined else {
      if isSelected {
        try say(Lane(context.sender), forms.form(of: event, since: start), event, take)
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
      try say(Lane(context.sender), forms.form(of: view, since: start), view, take)
    }
  }

  // MARK: MQTT

  private mutating func read(
    _ packet: borrowing MQTTPacketView, of event: borrowing EventView, _ isSelected: Bool,
    _ options: DiffOptions, _ forms: inout NormalForm,
    _ take: (Reading, borrowing EventView) throws -> Void
  ) throws {
    let sender = event.context.sender
    switch packet.type {
    case .pingreq, .pingresp:
      guard options.details.contains(.pings), isSelected else { return }
      try say(Lane(sender), forms.form(of: event, since: start), event, take)
    case .publish where packet.qos > 0, .subscribe, .unsubscribe:
      try ask(packet, of: event, isSelected, options, &forms, take)
    case .puback, .pubrec, .pubcomp, .suback, .unsuback:
      try answer(packet, to: sender.other, event, isSelected, options, &forms, take)
    case .pubrel: try answer(packet, to: sender, event, isSelected, options, &forms, take)
    case .publish, .connect, .connack, .disconnect, .auth, .reserved:
      let topic = topic(of: packet, from: sender)
      guard isSelected else { return }
      try say(Lane(sender), forms.form(of: event, topic: topic, since: start), event, take)
    }
  }

  private mutating func ask(
    _ packet: borrowing MQTTPacketView, of event: borrowing EventView, _ isSelected: Bool,
    _ options: DiffOptions, _ forms: inout NormalForm,
    _ take: (Reading, borrowing EventView) throws -> Void
  ) throws {
    let sender = event.context.sender
    let topic = packet.type == .publish ? topic(of: packet, from: sender) : nil
    let form = forms.form(of: event, topic: topic, since: start)
    let about = SessionDigest.Item.about(form)
    guard let id = packet.packetID else {
      if isSelected { try say(Lane(sender), form, event, take) }
      return
    }
    if packet.dup, let earlier = asked[sender]?[id], earlier.about == about, !earlier.isOver {
      asked[sender]?[id]?.repeats += 1
      // What acknowledges a repeat acknowledges what is repeated.
      guard options.details.contains(.repeats), isSelected else { return }
      return try say(Lane(sender), form, event, take)
    }
    let index = isSelected ? next(Lane(sender)) : nil
    asked[sender, default: [:]][id] = Asked(index: index, about: about)
    if let index { try take(.item(Lane(sender), index: index, form), event) }
  }

  private mutating func answer(
    _ packet: borrowing MQTTPacketView, to asker: Peer, _ event: borrowing EventView,
    _ isSelected: Bool, _ options: DiffOptions, _ forms: inout NormalForm,
    _ take: (Reading, borrowing EventView) throws -> Void
  ) throws {
    guard let id = packet.packetID, var question = asked[asker]?[id] else {
      // What it answers was said on an earlier connection, or was not captured.
      guard isSelected else { return }
      return try say(
        Lane(event.context.sender), forms.form(of: event, since: start), event, take)
    }
    let isFirst = question.answers.insert(packet.type).inserted
    let isRepeat = !isFirst && question.repeats > 0 && !options.details.contains(.repeats)
    asked[asker]?[id] = question
    guard let index = question.index, !isRepeat else { return }
    try take(.answer(Lane(asker), index: index, forms.form(of: event, since: start)), event)
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
