import DeviceSDK
import RepriseCore

/// What a plan has to know of a session of a gateway, gathered in two walks through it.
struct RecordedGateway: Sendable {
  /// What was done and how connections ended.
  let session: RecordedSession
  /// The gateway itself, as a device.
  let device: Subdevice
  /// What it had before the session began.
  let before: ConnectionBefore
  /// What each sub-device said of itself, in the order of time.
  private(set) var infos: [Subdevice: [(time: Timestamp, info: SubdeviceInfo)]] = [:]
  /// The numbers of the sub-devices' connections, as the application gives them.
  private(set) var connections: [Subdevice: ConnectionID] = [:]
  /// The PUBLISHes whose reply topics were subscribed to when they were sent.
  private(set) var awaited: Set<Int> = []
  /// When and with what code requests were answered.
  private(set) var replies: [Reply.Key: Reply] = [:]

  /// The sub-devices of requests, by the answers that these ask for.
  private var asked: [Reply.Key: [Subdevice?]] = [:]
  /// When something of a sub-device was sent or came; of any, if nobody knows of which.
  private var traces: [Subdevice?: [Timestamp]] = [:]

  /// An answer of the cloud.
  struct Reply: Sendable {
    struct Key: Sendable, Hashable {
      let topic: String
      let id: String
    }
    let code: Int?
    let time: Timestamp
  }

  init(_ dialogue: some Sequence<ReplayDialogue.Step>) throws(DataClientError) {
    session = RecordedSession(dialogue)
    let device = try Self.device(of: session)
    self.device = device
    before = ConnectionBefore(
      dialogue, of: device, isOpen: session.actions.first?.isImplied == true)
    takeActions()
    for step in dialogue {
      guard case .event(.message(let message)) = step.content else { continue }
      trace(message, step.place.time)
      guard message.topic.hasSuffix("_reply"),
        let envelope = ChannelEnvelope(parsing: message.payload)
      else { continue }
      let key = Reply.Key(topic: message.topic, id: envelope.id)
      replies[key] = replies[key] ?? Reply(code: envelope.code, time: step.place.time)
    }
  }

  /// The device of the first topic that only gateways have.
  private static func device(of session: RecordedSession) throws(DataClientError) -> Subdevice {
    for action in session.actions {
      for topic in action.kind.topics {
        guard RecordedMember(showingItselfBy: topic) == .gateway, let place = GatewayTopic(topic)
        else { continue }
        return place.device
      }
    }
    throw DataClientError(
      .unreadable,
      "the session is no gateway's: it has no topic of a topology or of sessions of sub-devices")
  }

  /// Notes that a sub-device is named by a topic, or by an answer.
  private mutating func trace(_ message: Message, _ time: Timestamp) {
    guard let place = GatewayTopic(message.topic) else { return }
    guard place.device == device else { return traces[place.device, default: []].append(time) }
    guard message.topic.hasSuffix("_reply"),
      place.path.hasPrefix("combine/") || place.path.hasPrefix("thing/topo/add"),
      let id = ChannelEnvelope(parsing: message.payload)?.id
    else { return }
    for subdevice in asked[Reply.Key(topic: message.topic, id: id)] ?? [nil] {
      traces[subdevice, default: []].append(time)
    }
  }

  private mutating func takeActions() {
    for subdevice in before.wasUp ? before.online : [] { takeConnection(of: subdevice) }
    let filters = Set(before.wasUp ? before.filters.map(\.filter) : [])
    var subscribed: Set<String> = []
    for (number, action) in session.actions.enumerated() {
      switch action.kind {
      case .connect, .disconnect: subscribed = action.isImplied ? filters : []
      case .subscribe(let wanted):
        subscribed.formUnion(wanted.map(\.filter))
        takeFilters(wanted.map(\.filter), action.place.time)
      case .unsubscribe(let filters): subscribed.subtract(filters)
      case .publish(let message):
        if subscribed.contains(message.topic + "_reply") { awaited.insert(number) }
        trace(message, action.place.time)
        take(message, action.place.time)
      case .send, .sendText, .sendBinary: continue
      }
    }
  }

  private mutating func takeFilters(_ filters: [String], _ time: Timestamp) {
    // A gateway asks for what it had with a new connection, whatever comes of sub-devices.
    guard !filters.contains(where: { GatewayTopic($0)?.path.isEmpty == true }) else { return }
    for filter in filters where !filter.hasSuffix("_reply") {
      guard let place = GatewayTopic(filter), place.device != device else { continue }
      traces[place.device, default: []].append(time)
    }
  }

  private mutating func take(_ message: Message, _ time: Timestamp) {
    guard lineCall(of: message) != nil, let request = RecordedGatewayRequest(message.payload) else {
      return
    }
    let key = Reply.Key(topic: message.topic + "_reply", id: request.id)
    asked[key] = request.elements.map(\.subdevice)
    for (subdevice, info) in request.elements {
      traces[subdevice, default: []].append(time)
      takeConnection(of: subdevice)
      if let info { infos[subdevice, default: []].append((time, info)) }
    }
  }

  private mutating func takeConnection(of subdevice: Subdevice) {
    guard connections[subdevice] == nil else { return }
    connections[subdevice] = ConnectionID(rawValue: UInt64(connections.count + 1))
  }

  /// What a message of the gateway itself does with lines.
  func lineCall(of message: Message) -> LineCall? {
    guard let place = GatewayTopic(message.topic), place.device == device else { return nil }
    return place.lineCall
  }

  /// What a sub-device says of itself when it is asked at some time: what is shown next.
  func info(of subdevice: Subdevice, at time: Timestamp) -> SubdeviceInfo? {
    let all = infos[subdevice] ?? []
    return (all.first { $0.time >= time } ?? all.last)?.info
      // A session may begin when the sub-device is online.
      ?? (try? SubdeviceInfo(
        productKey: subdevice.productKey, deviceName: subdevice.deviceName, clientID: "-",
        sign: "-", signMethod: "-"))
  }

  /// The way to a sub-device that is online from the start, with what it says of itself.
  func line(of subdevice: Subdevice) -> (ConnectionID, SubdeviceInfo)? {
    guard let connection = connections[subdevice],
      let info = info(of: subdevice, at: Timestamp(nanoseconds: .min))
    else { return nil }
    return (connection, info)
  }

  /// The answer to a message; nil when there is none.
  func reply(to message: Message) -> Reply? {
    guard let request = RecordedGatewayRequest(message.payload) else { return nil }
    return replies[.init(topic: message.topic + "_reply", id: request.id)]
  }

  /// How often one sub-device was logged in at most within some time.
  func loginsWithin(_ window: Duration) -> Int {
    var times: [Subdevice: [Timestamp]] = [:]
    var most = 0
    for action in session.actions {
      guard case .publish(let message) = action.kind, lineCall(of: message) == .logIn else {
        continue
      }
      for (subdevice, _) in RecordedGatewayRequest(message.payload)?.elements ?? [] {
        let recent = (times[subdevice] ?? []).filter {
          Duration.nanoseconds(action.place.time.nanoseconds(since: $0)) <= window
        }
        times[subdevice] = recent + [action.place.time]
        most = max(most, recent.count + 1)
      }
    }
    return most
  }

  /// Whether the rest of a connection has nothing of a sub-device: neither its topics, nor logins.
  ///
  /// A sub-device that should have been asked for its signature there was not near, as far as one can tell.
  func isSilent(_ subdevice: Subdevice, from time: Timestamp) -> Bool {
    let end = session.ends.first { $0.time >= time }?.time
    return ![subdevice, nil].contains { device in
      let times = traces[device] ?? []
      guard let next = times.first(where: { $0 >= time }) else { return false }
      return end.map { next <= $0 } ?? true
    }
  }

  /// Whether the next new connection asks for a filter at once.
  func isRestored(_ filter: String, after number: Int) -> Bool {
    var isNew = false
    for action in session.actions.dropFirst(number + 1) {
      if case .connect = action.kind { isNew = true }
      guard isNew, case .subscribe(let wanted) = action.kind else { continue }
      return wanted.contains { $0.filter == filter }
    }
    return false
  }

  /// The next PUBLISH on a topic that follows an action on its connection.
  func publication(on topic: String, after number: Int) -> Int? {
    for (index, action) in session.actions.enumerated().dropFirst(number + 1) {
      switch action.kind {
      case .publish(let message): if message.topic == topic { return index }
      // A new SUBSCRIBE is another try.
      case .subscribe(let wanted): if wanted.map(\.filter) == [topic + "_reply"] { return nil }
      case .connect: return nil
      case .unsubscribe, .disconnect, .send, .sendText, .sendBinary: continue
      }
    }
    return nil
  }
}
