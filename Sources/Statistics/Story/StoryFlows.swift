import RepriseCore
import Wire

/// What happens again and again, gathered to one sentence each until something else happens.
struct StoryFlows {
  /// What is the same of everything in a flow.
  enum Subject: Hashable {
    /// Messages to a topic.
    case publish(Name, qos: UInt8)
    /// Messages to topics that there is no room to tell apart.
    case otherPublishes
    /// Messages to a topic behind an alias that is not known.
    case unknownTopic
    /// PINGREQ.
    case ping
    /// Frames of WebSocket.
    case frame(WebSocketOpcode)
    /// Requests or responses of HTTP.
    case http(isRequest: Bool)
    /// Bytes that are missing.
    case gap(Gap.Reason)
    /// Packets that break a rule.
    case fault(String)
  }

  private struct Key: Hashable {
    let subject: Subject
    let sender: Peer
    let connection: Int
  }

  private struct Flow {
    let first: EventContext
    var last: EventContext
    var count = 0
    var bytes = 0
    var retained = 0
    var duplicates = 0
    /// A time that is before the one in front of it.
    var isBackwards = false
  }

  /// The most that are gathered at once.
  private static let most = 48

  private var flows: [Key: Flow] = [:]

  /// Gathers an event.
  mutating func add(
    _ subject: Subject, _ context: EventContext, bytes: Int, isRetained: Bool = false,
    isDuplicate: Bool = false
  ) {
    var key = Key(subject: subject, sender: context.sender, connection: context.connection)
    if flows[key] == nil, flows.count >= Self.most, case .publish = subject {
      key = Key(
        subject: .otherPublishes, sender: context.sender, connection: context.connection)
    }
    var flow = flows[key] ?? Flow(first: context, last: context)
    if context.time < flow.last.time { flow.isBackwards = true }
    flow.last = context
    flow.count += 1
    flow.bytes.addSaturating(bytes)
    flow.retained += isRetained ? 1 : 0
    flow.duplicates += isDuplicate ? 1 : 0
    flows[key] = flow
  }

  /// Tells all that is gathered, in the order in which it began.
  mutating func flush(_ tell: (Sentence) throws -> Void) rethrows {
    guard !flows.isEmpty else { return }
    let sorted = flows.map { ($0.key, $0.value) }.sorted {
      ($0.1.first.frame, Self.text($0.0, $0.1)) < ($1.1.first.frame, Self.text($1.0, $1.1))
    }
    flows = [:]
    for (key, flow) in sorted {
      var sentence = Sentence(flow.first, Self.text(key, flow))
      sentence.lastFrame = flow.last.frame
      try tell(sentence)
    }
  }

  private static func text(_ key: Key, _ flow: Flow) -> String {
    let isClient = key.sender == .client
    let count = flow.count
    switch key.subject {
    case .publish(let name, let qos):
      let verb = isClient ? "publishes" : "receives"
      let what = count == 1 ? "a message" : "\(Quantities.count(count)) messages"
      let side = isClient ? "to" : "on"
      return
        "\(verb) \(what) \(side) \(StoryWords.quoted(name)) (\(details(flow, qos: qos)))\(span(flow))"
    case .otherPublishes:
      return "\(isClient ? "publishes" : "receives") \(StoryWords.plural(count, "message")) "
        + "on other topics (\(details(flow, qos: nil)))\(span(flow))"
    case .unknownTopic:
      return "\(isClient ? "publishes" : "receives") \(StoryWords.plural(count, "message")) "
        + "behind a topic alias that the capture does not show (\(details(flow, qos: nil)))\(span(flow))"
    case .ping:
      return
        "sends \(count == 1 ? "a PINGREQ" : "\(Quantities.count(count)) PINGREQs")\(span(flow))"
    case .frame(let opcode):
      let frames = count == 1 ? "a frame" : "\(Quantities.count(count)) frames"
      return "\(isClient ? "sends" : "receives") \(frames) of WebSocket, \(opcode.name) "
        + "(\(Quantities.bytes(flow.bytes)))\(span(flow))"
    case .http(let isRequest):
      let noun = isRequest ? "request" : "response"
      return "\(isClient ? "sends" : "receives") \(StoryWords.plural(count, noun)) of HTTP"
        + span(flow)
    case .gap(let reason):
      return gap(reason, key.sender, flow) + span(flow)
    case .fault(let message):
      let what = count == 1 ? "a message" : "\(Quantities.count(count)) messages"
      return "\(isClient ? "sends" : "receives") \(what) that break\(count == 1 ? "s" : "") "
        + "the format: \(message)\(span(flow))"
    }
  }

  private static func gap(_ reason: Gap.Reason, _ sender: Peer, _ flow: Flow) -> String {
    guard reason != .leftOut else { return "events are left out by a selection" }
    guard reason != .altered else {
      return "what the \(sender.rawValue) sends is altered by a proxy from here on"
    }
    guard reason != .foreign else {
      return
        "the \(sender.rawValue) sends \(StoryWords.plural(flow.bytes, "byte")) that are no MQTT"
    }
    return "\(StoryWords.plural(flow.bytes, "byte")) of the \(sender.rawValue) "
      + "\(flow.bytes == 1 ? "is" : "are") missing (\(reason.rawValue)); what they said is not known"
  }

  private static func details(_ flow: Flow, qos: UInt8?) -> String {
    var parts = qos.map { ["QoS \($0)"] } ?? []
    parts.append(Quantities.bytes(flow.bytes))
    if flow.retained > 0 {
      parts.append(flow.count == 1 ? "retained" : "\(Quantities.count(flow.retained)) retained")
    }
    if flow.duplicates > 0 {
      parts.append(
        flow.count == 1 ? "sent again" : "\(Quantities.count(flow.duplicates)) of them sent again")
    }
    return parts.joined(separator: ", ")
  }

  /// Between which frames, and how often.
  private static func span(_ flow: Flow) -> String {
    guard flow.count > 1 else { return "" }
    var text = ", to frame \(flow.last.frame)"
    let time = flow.last.time.nanoseconds(since: flow.first.time)
    if flow.count > 2, !flow.isBackwards, time > 0 {
      text += ", every \(Quantities.shortDuration(Int(time) / (flow.count - 1))) on average"
    }
    return text
  }
}
