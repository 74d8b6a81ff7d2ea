import Wire

/// Finds out who takes part in a session, for who has to choose a client.
///
/// It takes the events that ``ReplayEvents`` takes, and keeps no packet.
public struct ReplaySurvey: EventConsumer, Sendable {
  /// A client of the session, as far as its first packets tell.
  public struct Client: Sendable, Hashable {
    /// The client identifier; nil when no CONNECT was captured.
    public var clientID: String?
    /// The connections, in order of first sight.
    public var connections: [Int]
    /// How many packets both sides sent.
    public var packets = 0
    /// The first topics and filters that either side used, each once.
    public var topics: [String] = []
    /// Whether there were more topics.
    public var hasMoreTopics = false
  }

  /// How many topics of a client are kept.
  private static let topicLimit = 3
  /// How many clients are kept.
  private static let clientLimit = 1_000

  /// The clients, in order of first sight; the first 1,000.
  public private(set) var clients: [Client] = []
  private var places: [Int: Int] = [:]
  private var names: [String: Int] = [:]

  /// Creates an empty survey.
  public init() {}

  /// Takes the next event of the session.
  public mutating func consume(_ event: borrowing EventView) {
    guard case .mqtt(let packet) = event.body else { return }
    let connection = event.context.connection
    guard let place = places[connection] ?? enter(connection, packet) else { return }
    clients[place].packets += 1
    guard !clients[place].hasMoreTopics else { return }
    switch packet.type {
    case .publish: note(String(copying: packet.topic), of: place)
    case .subscribe:
      guard let content = MQTTPacket(packet)?.content,
        case .subscribe(_, let subscriptions, _) = content
      else { return }
      for subscription in subscriptions { note(subscription.filter, of: place) }
    default: return
    }
  }

  /// Begins a connection, perhaps of a client that was seen before.
  private mutating func enter(_ connection: Int, _ packet: borrowing MQTTPacketView) -> Int? {
    var name: String?
    if let connect = packet.connect { name = String(copying: connect.clientID) }
    if let name, let place = names[name] {
      clients[place].connections.append(connection)
      places[connection] = place
      return place
    }
    guard clients.count < Self.clientLimit else { return nil }
    clients.append(Client(clientID: name, connections: [connection]))
    places[connection] = clients.count - 1
    if let name { names[name] = clients.count - 1 }
    return clients.count - 1
  }

  private mutating func note(_ topic: String, of place: Int) {
    guard !topic.isEmpty, !clients[place].topics.contains(topic) else { return }
    if clients[place].topics.count < Self.topicLimit {
      clients[place].topics.append(topic)
    } else {
      clients[place].hasMoreTopics = true
    }
  }
}
