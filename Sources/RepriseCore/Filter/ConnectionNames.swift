import Wire

/// What is known of open connections beyond their events: who the client is, and where both ends are.
///
/// It is what ``SessionFilter`` knows when it is asked for `client`, `username`, `address`, `port` and `topic`, for a
/// page that filters by itself and has only a part of the events.
package struct ConnectionNames: Sendable {
  private static let all: FilterMemory.Wanted = [.client, .username, .address, .topic]

  private var memory: FilterMemory
  /// How many connections were forgotten before their end, for lack of memory.
  package private(set) var forgotten = 0

  /// Creates an empty memory.
  /// - Parameter limit: The most bytes that it takes; what has been remembered for longest is given up beyond them.
  package init(limit: Int) { memory = FilterMemory(limit: limit) }

  /// Forgets everything, as at the start of a file.
  package mutating func removeAll() {
    forgotten += memory.forgotten
    memory.removeAll()
  }

  /// Takes what an event says of its connection.
  /// - Parameter event: The next event of the session; all of them are to be taken, in order.
  /// - Returns: Whether it may say something else of the connection than what was known.
  package mutating func learn(_ event: borrowing EventView) -> Bool {
    memory.learn(Self.all, from: event)
    return switch event.body {
    case .opened, .attempted, .tls: true
    case .mqtt(let packet): packet.type == .connect || packet.type == .connack
    case .closed, .gap, .malformed, .handshake, .webSocket, .http: false
    }
  }

  /// Forgets the connection that an event ends.
  /// - Returns: Whether it ends one.
  package mutating func forget(after event: borrowing EventView) -> Bool {
    memory.forget(after: event)
    return switch event.body {
    case .closed, .attempted: true
    case .opened, .gap, .malformed, .mqtt, .handshake, .webSocket, .http, .tls: false
    }
  }

  /// Returns what is known of a connection: `client`, `username`, and the `hosts` and `ports` of both ends.
  /// - Parameters:
  ///   - connection: The connection's number.
  ///   - redaction: What is not told.
  /// - Returns: The members of an object of JSON, without those that are not known.
  package func json(
    of connection: Int, hiding redaction: RedactionRules
  ) -> [(String, JSONValue)] {
    var members: [(String, JSONValue)] = []
    func shown(_ text: [UInt8]) -> String { redaction.shown(String(decoding: text, as: UTF8.self)) }
    if let client = memory.client(of: connection) {
      members.append(("client", .string(shown(client))))
    }
    if let username = memory.username(of: connection), !redaction.hidesUsernames {
      members.append(("username", .string(shown(username))))
    }
    let addresses = memory.addresses(of: connection)
    if !addresses.isEmpty {
      members.append(("hosts", .array(addresses.map { .string(shown($0.host)) })))
      members.append(
        ("ports", .array(addresses.compactMap(\.port).map { .number(String($0)) })))
    }
    return members
  }

  /// The topic of a PUBLISH that has only an alias; nil of any other event, and where it is not known.
  package func aliasedTopic(
    of event: borrowing EventView, hiding redaction: RedactionRules
  ) -> String? {
    guard case .mqtt(let packet) = event.body, packet.type == .publish, packet.topic.isEmpty,
      let alias = packet.topicAlias,
      let topic = memory.topic(alias, of: event.context.sender, on: event.context.connection)
    else { return nil }
    return redaction.shown(String(decoding: topic, as: UTF8.self))
  }
}
