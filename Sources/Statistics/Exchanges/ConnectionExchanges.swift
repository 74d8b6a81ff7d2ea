package import RepriseCore
import Wire

/// Pairs what is asked on one connection with its answers.
package struct ConnectionExchanges {
  /// What takes what became of each question.
  package typealias Sink = (ExchangeOutcome) -> Void

  var open = OpenExchanges()
  /// The next number of a question; of all connections, so that the oldest is known.
  private(set) var asked: [(key: ExchangeKey, serial: Int)] = []
  private var serial = 0
  /// Of each end, how many pings were sent and how many of them are answered or given up: an answer names none.
  private var pings = BothPeers((sent: UInt64(0), done: UInt64(0)))
  /// Whether an answer to a ping may be that to one that is missing.
  private var mayOweAnswer = BothPeers(false)
  /// When the connection began; nil once CONNECT has come, and where the capture does not show it.
  private var opening: EventContext?
  /// Whether control packets were seen: frames that carry them then tell nothing of what is missing of these.
  private var carriesMQTT = false
  /// The Pings of WebSocket of each end that were not answered, by what a Pong would name.
  var openPings = BothPeers<[UInt64]>([])
  /// Whether requests are open that a PUBLISH may answer.
  private var hasRequests = false

  /// How requests over WebSocket are told.
  let requestKeys: RequestKeys

  /// Creates what pairs the events of a new connection.
  /// - Parameter requestKeys: How requests over WebSocket are told.
  package init(requestKeys: RequestKeys = .standard) { self.requestKeys = requestKeys }

  /// How many questions are open.
  package var count: Int { open.count }

  /// Takes the questions that were opened since the last call, for the order of all connections.
  mutating func takeAsked(_ take: (ExchangeKey, Int) -> Void) {
    guard !asked.isEmpty else { return }
    for (key, serial) in asked { take(key, serial) }
    asked.removeAll(keepingCapacity: true)
  }

  /// Takes the next event of the connection.
  /// - Parameters:
  ///   - event: The event.
  ///   - place: What stands for its frame, for who tells the events of one frame apart; nil takes that.
  ///   - isSelected: Whether it counts if it is a question.
  ///   - sink: What takes what became of questions.
  package mutating func consume(
    _ event: borrowing EventView, at place: Int? = nil, isSelected: Bool, _ sink: Sink
  ) {
    var context = event.context
    if let place { context.frame = place }
    switch event.body {
    case .opened(let opened):
      guard opened.isFromStart else { return }
      var start = context
      (start.time, start.frame) = (opened.firstTime, context.place(of: opened.firstFrame))
      opening = start
    case .mqtt(let packet):
      carriesMQTT = true
      open.noteMessage(context)
      consume(packet, context, isSelected, sink)
      if packet.missing > 0 { lose(context.sender, sink) }
    case .handshake(let handshake): consume(handshake, context, isSelected, sink)
    case .webSocket(let frame):
      if !carriesMQTT { open.noteMessage(context) }
      consume(frame, context, isSelected, sink)
    case .http(let part): consume(part, context, isSelected, sink)
    case .gap, .malformed: lose(context.sender, sink)
    case .closed(let closing): open.close(isEndOfCapture: closing.how == .endOfCapture, sink)
    case .attempted, .tls: return
    }
  }

  /// Gives a question up.
  mutating func giveUp(_ key: ExchangeKey, _ sink: Sink) { open.giveUp(key, sink) }

  /// Gives all questions up.
  package mutating func giveUpAll(_ sink: Sink) { open.giveUpAll(sink) }

  private mutating func lose(_ sender: Peer, _ sink: Sink) {
    open.noteLoss(of: sender, sink)
    hasRequests = false
    for peer in Peer.allCases { pings[peer].done = pings[peer].sent }
    mayOweAnswer[sender] = true
  }

  // MARK: Asking and answering

  mutating func ask(
    _ kind: ExchangeKind, _ id: UInt64, by asker: Peer, _ context: EventContext,
    _ isSelected: Bool, isOptional: Bool = false, isRepeat: Bool = false, _ sink: Sink
  ) {
    serial += 1
    let key = ExchangeKey(kind: kind, asker: asker, id: id)
    let isNew = open.ask(
      key, context, isSelected: isSelected, isOptional: isOptional, isRepeat: isRepeat,
      serial: serial, sink)
    if isNew { asked.append((key, serial)) }
  }

  @discardableResult
  mutating func answer(
    _ kind: ExchangeKind, _ id: UInt64, to asker: Peer, _ context: EventContext, _ sink: Sink
  ) -> Bool {
    open.answer(ExchangeKey(kind: kind, asker: asker, id: id), context, sink)
  }

  // MARK: MQTT

  private mutating func consume(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, _ isSelected: Bool, _ sink: Sink
  ) {
    let sender = context.sender
    switch packet.type {
    case .connect:
      connect(context, isSelected, sink)
      ask(.connecting, 0, by: sender, context, isSelected, sink)
    case .connack: answer(.connecting, 0, to: sender.other, context, sink)
    case .publish:
      publish(packet, context, isSelected, sink)
      correlate(packet, context, isSelected, sink)
    case .pingreq: ping(context, isSelected, sink)
    case .pingresp: pong(context, sink)
    case .puback, .pubrec, .pubrel, .pubcomp, .subscribe, .suback, .unsubscribe, .unsuback:
      guard let id = packet.packetID.map(UInt64.init) else { return }
      consume(packet, id, context, isSelected, sink)
    case .reserved, .disconnect, .auth: return
    }
  }

  /// Takes a packet that names an exchange by its identifier.
  private mutating func consume(
    _ packet: borrowing MQTTPacketView, _ id: UInt64, _ context: EventContext, _ isSelected: Bool,
    _ sink: Sink
  ) {
    let sender = context.sender
    switch packet.type {
    case .puback: answer(.publishing, id, to: sender.other, context, sink)
    case .pubrec:
      answer(.receiving, id, to: sender.other, context, sink)
      if packet.reasonCode ?? 0 >= 0x80 {
        answer(.delivering, id, to: sender.other, context, sink)
      } else {
        ask(.releasing, id, by: sender, context, isSelected, isRepeat: true, sink)
      }
    case .pubrel:
      answer(.releasing, id, to: sender.other, context, sink)
      ask(.completing, id, by: sender, context, isSelected, isRepeat: true, sink)
    case .pubcomp:
      answer(.completing, id, to: sender.other, context, sink)
      answer(.delivering, id, to: sender.other, context, sink)
    case .subscribe: ask(.subscribing, id, by: sender, context, isSelected, sink)
    case .suback: answer(.subscribing, id, to: sender.other, context, sink)
    case .unsubscribe: ask(.unsubscribing, id, by: sender, context, isSelected, sink)
    case .unsuback: answer(.unsubscribing, id, to: sender.other, context, sink)
    default: return
    }
  }

  /// Tells the time from the start of the connection to its first CONNECT.
  private mutating func connect(_ context: EventContext, _ isSelected: Bool, _ sink: Sink) {
    guard let start = opening.take() else { return }
    let delay = context.time.nanoseconds(since: start.time)
    sink(
      ExchangeOutcome(
        kind: .opening, asker: .client, time: start.time, frame: start.frame,
        isSelected: isSelected,
        result: delay < 0 || context.isOrderUncertain
          ? .undecided : .answered(Int(delay), frame: context.frame)))
  }

  private mutating func publish(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, _ isSelected: Bool, _ sink: Sink
  ) {
    guard let id = packet.packetID.map(UInt64.init) else { return }
    let sender = context.sender
    if packet.qos == 1 {
      ask(.publishing, id, by: sender, context, isSelected, isRepeat: packet.dup, sink)
    } else if packet.qos == 2 {
      ask(.receiving, id, by: sender, context, isSelected, isRepeat: packet.dup, sink)
      ask(.delivering, id, by: sender, context, isSelected, isRepeat: packet.dup, sink)
    }
  }

  private mutating func ping(_ context: EventContext, _ isSelected: Bool, _ sink: Sink) {
    let sender = context.sender
    pings[sender].sent += 1
    var context = context
    // Answers come in the order of the questions; one that is missing may still have its own.
    if mayOweAnswer[sender] { context.isOrderUncertain = true }
    mayOweAnswer[sender] = false
    ask(.pinging, pings[sender].sent, by: sender, context, isSelected, sink)
  }

  private mutating func pong(_ context: EventContext, _ sink: Sink) {
    let asker = context.sender.other
    guard pings[asker].done < pings[asker].sent else { return }
    pings[asker].done += 1
    answer(.pinging, pings[asker].done, to: asker, context, sink)
  }

  // MARK: Requests and responses of MQTT 5.0, calls and replies

  private mutating func correlate(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, _ isSelected: Bool, _ sink: Sink
  ) {
    if packet.hasProperties, !packet.propertySet.isEmpty {
      let names = CorrelationNames(packet)
      if hasRequests, !packet.topic.isEmpty {
        let id = Name.identity(of: packet.topic, names.correlation.span.bytes)
        answer(.requesting, id, to: context.sender.other, context, sink)
      }
      if let topic = names.responseTopic {
        let id = Name.identity(of: topic.span.bytes, names.correlation.span.bytes)
        hasRequests = true
        ask(.requesting, id, by: context.sender, context, isSelected, isRepeat: packet.dup, sink)
      }
    } else if hasRequests, !packet.topic.isEmpty {
      let id = Name.identity(of: packet.topic, RawSpan())
      answer(.requesting, id, to: context.sender.other, context, sink)
    }
    guard let call = CallNames(packet) else { return }
    if call.isReply {
      answer(.calling, call.id, to: context.sender.other, context, sink)
    } else {
      ask(
        .calling, call.id, by: context.sender, context, isSelected,
        isOptional: !call.asksForReply, isRepeat: packet.dup, sink)
    }
  }
}

/// The Response Topic and the Correlation Data of a PUBLISH.
private struct CorrelationNames {
  var responseTopic: [UInt8]?
  var correlation: [UInt8] = []

  init(_ packet: borrowing MQTTPacketView) {
    var rest = packet.properties
    while let property = rest.next() {
      if property.id == .responseTopic {
        responseTopic = Array(copying: property.bytes(in: packet.bytes))
      } else if property.id == .correlationData {
        correlation = Array(copying: property.bytes(in: packet.bytes))
      }
    }
  }
}
