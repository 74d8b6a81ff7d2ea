/// What a filter remembers of open connections: their clients, users and addresses, and their topics by aliases.
///
/// It is forgotten with its connection, at a cost that is that connection's alone. When all of it takes
/// more than a limit, the connection that has been remembered for longest is forgotten before its end.
struct FilterMemory: Sendable {
  private struct Names {
    var client: [UInt8]?
    var username: [UInt8]?
    var addresses: [FilterAddress] = []
    var topics: [TopicAlias: [UInt8]] = [:]
    var size = FilterMemory.nameSize
  }

  /// The number that a sender gave to a topic on its connection (5.0 section 3.3.2.3.4).
  private struct TopicAlias: Hashable {
    var sender: Peer
    var alias: Int
  }

  /// What a name takes besides its text, in bytes.
  private static let nameSize = 96

  /// The most bytes.
  let limit: Int
  /// The bytes that are taken now.
  private(set) var reserved = 0
  /// How many connections were forgotten before their end.
  private(set) var forgotten = 0
  private var names: [Int: Names] = [:]
  /// The connections in the order of their first name, those that are over among them; before the
  /// start they are forgotten.
  private var order: [Int] = []
  private var start = 0

  init(limit: Int) { self.limit = max(0, limit) }

  /// The identifier of a connection's client, if it is known.
  func client(of connection: Int) -> [UInt8]? { names[connection]?.client }

  /// The user name of a connection's client, if it has one that is known.
  func username(of connection: Int) -> [UInt8]? { names[connection]?.username }

  /// The addresses of a connection's ends, as far as they are known.
  func addresses(of connection: Int) -> [FilterAddress] { names[connection]?.addresses ?? [] }

  /// The topic of an alias, if it is known.
  func topic(_ alias: Int, of sender: Peer, on connection: Int) -> [UInt8]? {
    names[connection]?.topics[TopicAlias(sender: sender, alias: alias)]
  }

  /// Remembers the identifier of a connection's client.
  mutating func setClient(_ client: [UInt8], of connection: Int) {
    change(connection) { names in
      let old = names.client.map(Self.size) ?? 0
      names.client = client
      return Self.size(client) - old
    }
  }

  /// Remembers the user name of a connection's client.
  mutating func setUsername(_ username: [UInt8], of connection: Int) {
    change(connection) { names in
      let old = names.username.map(Self.size) ?? 0
      names.username = username
      return Self.size(username) - old
    }
  }

  /// Remembers the addresses of a connection's ends.
  mutating func setAddresses(_ addresses: [FilterAddress], of connection: Int) {
    change(connection) { names in
      let old = names.addresses.reduce(0) { $0 + Self.size($1.host) }
      names.addresses = addresses
      return addresses.reduce(0) { $0 + Self.size($1.host) } - old
    }
  }

  /// Remembers the topic of an alias.
  mutating func setTopic(_ topic: [UInt8], _ alias: Int, of sender: Peer, on connection: Int) {
    change(connection) { names in
      let key = TopicAlias(sender: sender, alias: alias)
      let old = names.topics.updateValue(topic, forKey: key)
      return Self.size(topic) - (old.map(Self.size) ?? 0)
    }
  }

  /// Forgets a connection, which is over.
  mutating func forget(_ connection: Int) {
    guard let old = names.removeValue(forKey: connection) else { return }
    reserved -= old.size
  }

  /// Forgets everything, as at the start of a file.
  mutating func removeAll() { self = FilterMemory(limit: limit) }

  private static func size(_ name: [UInt8]) -> Int { nameSize + name.count }

  private mutating func change(_ connection: Int, _ change: (inout Names) -> Int) {
    if names[connection] == nil {
      names[connection] = Names()
      reserved += Self.nameSize
      order.append(connection)
      // Those that are over are left out when they are most of it.
      if order.count > 64 + 2 * names.count {
        order = order[start...].filter { names[$0] != nil }
        start = 0
      }
    }
    guard let place = names.index(forKey: connection) else { return }
    let added = change(&names.values[place])
    names.values[place].size += added
    reserved += added
    while reserved > limit, start < order.count {
      if names[order[start]] != nil { forgotten += 1 }
      forget(order[start])
      start += 1
    }
  }
}
