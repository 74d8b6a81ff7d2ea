import RepriseCore
import Wire

/// A server with three clients that all do what they must, in one of many orders.
struct ConformingBroker {
  /// What a client asked for.
  private struct Filter {
    var text: String
    var qos: UInt8
    /// What 5.0 has besides: its options, and its number.
    var options: UInt8 = 0
    var number: Int?

    var excludesOwn: Bool { options & 0b100 != 0 }
    var keepsRetain: Bool { options & 0b1000 != 0 }
  }

  /// A message that is on its way to a client, or waits for it.
  private struct Message {
    var topic: String
    var payload: String
    var qos: UInt8
    var id: UInt16 = 0
    var retain = false
    /// The client that published it.
    var publisher: Int
    /// Those of 5.0 that are passed on as they are.
    var properties: [MQTTProperty] = []
    /// The time in seconds after which it is not passed on, and when it was published.
    var expiry: (seconds: Int, since: Timestamp)?
    /// The numbers of the filters that it matches.
    var numbers: [Int] = []
  }

  private struct Client {
    let name: String
    /// Its connection; nil where it has none.
    var connection: Int?
    /// Whether the server keeps its session when it leaves, and has kept one.
    var isKept = false
    var filters: [Filter] = []
    /// What comes when it is back, and whether it was sent before.
    var waiting: [(message: Message, wasSent: Bool)] = []
    var will: Message?
    var nextID: UInt16 = 100
    /// The topics that have an alias on the connection, by alias, and how many there may be.
    var aliases: [String] = []
    var mostAliases = 0

    init(_ name: String) { self.name = name }
  }

  private static let topics = ["a", "a/b", "b/c", "d"]
  private static let filters = ["a", "a/+", "a/#", "b/c", "+/c", "d"]

  private(set) var script: Script
  private var random: Noise
  private var clients = [Client("p"), Client("q"), Client("s")]
  private var retained: [String: Message] = [:]
  /// The client that waits for an answer, which does not leave before it has it.
  private var publisher: Int?
  private var connections = 0
  private var messages = 0
  private var is5: Bool { script.told == .v5_0 }
  private var now: Timestamp { script.events.last?.context.time ?? Timestamp(nanoseconds: 0) }

  /// A conversation of so many steps, behind which all clients leave.
  init(_ script: Script, seed: UInt64, steps: Int = 30) {
    self.script = script
    random = Noise(seed: seed)
    for index in clients.indices { join(index) }
    for _ in 0..<steps { step() }
    for index in clients.indices { leave(index) }
  }

  private mutating func roll(_ sides: Int) -> Int { Int(random.next() % UInt64(sides)) }

  private mutating func step() {
    if roll(8) == 0 { script.wait([0.4, 2, 8, 70][roll(4)]) }
    let index = roll(clients.count)
    guard clients[index].connection != nil else { return join(index) }
    switch roll(16) {
    case 0...2: subscribe(index)
    case 3: unsubscribe(index)
    case 4: on(index) { $0.answerPing() }
    case 5: leave(index)
    case 6: breakOff(index)
    default: publish(index)
    }
  }

  private mutating func on(_ index: Int, _ body: (inout Script) -> Void) {
    script.on(clients[index].connection ?? 0, body)
  }

  // MARK: Connections

  private mutating func join(_ index: Int) {
    let isClean = roll(2) == 0
    let lasts = roll(2) == 0
    let isPresent = !isClean && clients[index].isKept
    if !isPresent {
      clients[index].filters = []
      clients[index].waiting = []
    }
    connections += 1
    clients[index].connection = connections
    // What lasts in 5.0 is said by an interval, and in 3.1.1 by what is clean.
    clients[index].isKept = is5 ? lasts : !isClean
    let will = roll(3) == 0 ? message(qos: roll(3), from: index) : nil
    clients[index].will = will
    clients[index].aliases = []
    clients[index].mostAliases = is5 ? roll(3) : 0
    var connect = MQTTPacket.Connect(
      clientID: clients[index].name, cleanStart: isClean, keepAlive: roll(4) == 0 ? 600 : 0,
      will: will.map {
        MQTTPacket.Will(
          topic: $0.topic, payload: Array($0.payload.utf8), qos: $0.qos, properties: $0.properties)
      })
    if is5 { connect.properties = properties(of: index, lasts: lasts) }
    let terms: [MQTTProperty] =
      !is5 || roll(2) == 0 ? [] : [.number(.receiveMaximum, 5), .number(.topicAliasMaximum, 3)]
    on(index) {
      $0.open()
      $0.client(.connect(connect))
      $0.server(.connack(.init(sessionPresent: isPresent, properties: terms)))
    }
    let waiting = clients[index].waiting
    clients[index].waiting = []
    for (message, wasSent) in waiting { deliver(message, to: index, dup: wasSent) }
  }

  /// What a client of 5.0 asks for when it connects.
  private mutating func properties(of index: Int, lasts: Bool) -> [MQTTProperty] {
    var properties = [MQTTProperty.number(.sessionExpiryInterval, lasts ? 1_000 : 0)]
    if clients[index].mostAliases > 0 {
      properties.append(.number(.topicAliasMaximum, clients[index].mostAliases))
    }
    if roll(3) == 0 { properties.append(.number(.receiveMaximum, 4)) }
    if roll(3) == 0 { properties.append(.number(.maximumPacketSize, 500)) }
    if roll(3) == 0 { properties.append(.number(.requestProblemInformation, roll(2))) }
    return properties
  }

  private mutating func leave(_ index: Int) {
    guard clients[index].connection != nil else { return }
    let will = is5 && roll(3) == 0 ? clients[index].will : nil
    on(index) {
      // A client of 5.0 may want its will all the same.
      $0.client(.disconnect(will == nil ? .init() : .init(4)))
      $0.close(.client)
    }
    clients[index].connection = nil
    if let will { forward(will) }
  }

  /// A client is gone without a word, and its will comes.
  private mutating func breakOff(_ index: Int) {
    let isReset = roll(2) == 0
    on(index) { $0.close(.client, isReset ? .reset : .fin) }
    clients[index].connection = nil
    guard let will = clients[index].will else { return }
    forward(will)
  }

  // MARK: Filters

  private mutating func subscribe(_ index: Int) {
    var filter = Filter(text: Self.filters[roll(Self.filters.count)], qos: UInt8(roll(3)))
    if is5, roll(2) == 0 {
      filter.options = UInt8(roll(4) << 2 | roll(3) << 4)
      filter.number = roll(2) == 0 ? nil : 1 + roll(200)
    }
    let id = takeID(index)
    let (text, options) = (filter.text, filter.qos | filter.options)
    let properties = filter.number.map { [MQTTProperty.number(.subscriptionIdentifier, $0)] } ?? []
    on(index) {
      $0.client(.subscribe(packetID: id, [.init(text, options: options)], properties))
      $0.suback(id, options & 3)
    }
    let isNew = !clients[index].filters.contains { $0.text == text }
    clients[index].filters.removeAll { $0.text == text }
    clients[index].filters.append(filter)
    let handling = filter.options >> 4
    guard handling == 0 || (handling == 1 && isNew) else { return }
    for topic in retained.keys.sorted() where Self.matches(text, topic) {
      guard var message = retained[topic], !(filter.excludesOwn && message.publisher == index)
      else { continue }
      message.qos = min(message.qos, filter.qos)
      message.numbers = [filter.number].compactMap(\.self)
      message.retain = true
      deliver(message, to: index, isRetained: true)
    }
  }

  private mutating func unsubscribe(_ index: Int) {
    guard let filter = clients[index].filters.last else { return }
    let id = takeID(index)
    on(index) {
      $0.unsubscribe(id, filter.text)
      $0.unsuback(id)
    }
    clients[index].filters.removeLast()
  }

  // MARK: Messages

  private mutating func message(qos: Int, from index: Int) -> Message {
    messages += 1
    var message = Message(
      topic: Self.topics[roll(Self.topics.count)], payload: "m\(messages)", qos: UInt8(qos),
      publisher: index)
    guard is5, roll(3) == 0 else { return message }
    message.properties = [.text(.contentType, "text")]
    for number in 0..<roll(3) {
      message.properties.append(MQTTProperty(.userProperty, .pair("k", "\(number)")))
    }
    if roll(2) == 0 { message.properties.append(.text(.responseTopic, "d")) }
    return message
  }

  private mutating func takeID(_ index: Int) -> UInt16 {
    clients[index].nextID += 1
    return clients[index].nextID
  }

  private mutating func publish(_ index: Int) {
    var message = message(qos: roll(3), from: index)
    message.id = message.qos > 0 ? takeID(index) : 0
    let isRetained = roll(4) == 0
    if isRetained, roll(3) == 0 { message.payload = "" }
    message.retain = isRetained
    let expiry = is5 && roll(4) == 0 ? [MQTTProperty.number(.messageExpiryInterval, 9_000)] : []
    on(index) { [message] in
      $0.say(
        .client, message.topic, message.payload, qos: message.qos, id: message.id,
        retain: isRetained, message.properties + expiry)
    }
    if !expiry.isEmpty { message.expiry = (9_000, now) }
    publisher = index
    defer { publisher = nil }
    let isAnsweredFirst = roll(2) == 0
    if isAnsweredFirst { answer(message, from: .client, index) }
    if isRetained { retained[message.topic] = message.payload.isEmpty ? nil : message }
    forward(message)
    if !isAnsweredFirst { answer(message, from: .client, index) }
  }

  /// Hands a message to all that are subscribed, or keeps it for those that are away.
  private mutating func forward(_ message: Message) {
    for index in clients.indices {
      let filters = clients[index].filters.filter {
        Self.matches($0.text, message.topic) && !($0.excludesOwn && message.publisher == index)
      }
      guard let granted = filters.map(\.qos).max() else { continue }
      var copy = message
      copy.qos = min(copy.qos, granted)
      copy.retain = message.retain && filters.contains { $0.keepsRetain }
      copy.numbers = filters.compactMap(\.number)
      if clients[index].connection != nil {
        deliver(copy, to: index)
      } else if clients[index].isKept, copy.qos > 0 {
        clients[index].waiting.append((copy, false))
      }
    }
  }

  private mutating func deliver(
    _ message: Message, to index: Int, isRetained: Bool = false, dup: Bool = false
  ) {
    guard clients[index].connection != nil else {
      if clients[index].isKept, message.qos > 0 { clients[index].waiting.append((message, dup)) }
      return
    }
    var message = message
    if message.qos > 0, !dup { message.id = takeID(index) }
    var (topic, properties) = (message.topic, message.properties)
    if let expiry = message.expiry {
      let passed = Int(now.nanoseconds(since: expiry.since) / 1_000_000_000)
      properties.insert(.number(.messageExpiryInterval, expiry.seconds - passed), at: 0)
    }
    properties += message.numbers.map { .number(.subscriptionIdentifier, $0) }
    if let alias = alias(of: topic, index) {
      properties.append(.number(.topicAlias, alias.number))
      if !alias.isNew { topic = "" }
    }
    on(index) { [message] in
      $0.say(
        .server, topic, message.payload, qos: message.qos, id: message.id, retain: message.retain,
        dup: dup, properties)
    }
    // Some clients are gone in front of their answers, and get the message again.
    if message.qos > 0, !isRetained, clients[index].isKept, index != publisher, roll(12) == 0 {
      clients[index].waiting.insert((message, true), at: 0)
      return breakOff(index)
    }
    answer(message, from: .server, index)
  }

  /// The alias of a topic on a client's connection, as long as there may be more; nil where it has none.
  private mutating func alias(of topic: String, _ index: Int) -> (number: Int, isNew: Bool)? {
    if let place = clients[index].aliases.firstIndex(of: topic) { return (place + 1, false) }
    guard clients[index].aliases.count < clients[index].mostAliases else { return nil }
    clients[index].aliases.append(topic)
    return (clients[index].aliases.count, true)
  }

  private mutating func answer(_ message: Message, from sender: Peer, _ index: Int) {
    on(index) {
      switch message.qos {
      case 1: $0.acknowledge(sender.other, .puback, message.id)
      case 2:
        $0.acknowledge(sender.other, .pubrec, message.id)
        $0.acknowledge(sender, .pubrel, message.id)
        $0.acknowledge(sender.other, .pubcomp, message.id)
      default: break
      }
    }
  }

  /// Whether a topic matches one of the filters above: none of the topics begins with `$`.
  private static func matches(_ filter: String, _ topic: String) -> Bool {
    let levels = topic.split(separator: "/")
    let parts = filter.split(separator: "/")
    if parts.last == "#" { return levels.starts(with: parts.dropLast()) }
    return levels.count == parts.count && zip(levels, parts).allSatisfy { $1 == "+" || $0 == $1 }
  }
}
