internal import RepriseCore
internal import Wire

/// The ends of a connection: what tells the server, the client with its user name, and the host that it comes from.
struct ConnectionIdentity {
  /// The server's address and port.
  var endpoint: UInt64 = 0
  /// The client identifier with the user name at that server; 0 where it is not known or assigned.
  var client: UInt64 = 0
  /// The user name at that server: those of two users may be topics of two worlds.
  var user: UInt64 = 0
  /// The client's address without its port.
  var host: UInt64 = 0
  /// The client identifier alone, by which a server knows the session wherever the client connects and whoever it says
  /// it is (section 3.1.3.1); 0 where it is not known or assigned.
  var name: UInt64 = 0
  /// The connection before on which a client of that identifier asked for its session, at any address; 0 is none.
  var previous: Int32 = 0
  /// Whether it is known to be the first one of its client, as all that happens at the server is in the file.
  var isFirst = false
  /// Whether it is carried by TLS, in which a client may say who it is.
  private(set) var isOverTLS = false
  /// Whether a part of the user name is hidden.
  private var hidesUser = false

  init() {}

  init(_ opening: ConnectionOpening) {
    endpoint = Self.hash(opening.server)
    // The port is of the connection alone.
    let client = opening.client
    host = Self.hash(String(client[..<(client.lastIndex(of: ":") ?? client.endIndex)]))
  }

  /// Takes the names in a CONNECT; two that differ in hidden parts alone look the same, and may be those of two.
  mutating func take(_ connect: borrowing MQTTConnectView, on connection: Int) {
    user = ContentHash.of(connect.username, in: endpoint)
    if connect.username.holdsHidden {
      hidesUser = true
      user ^= UInt64(truncatingIfNeeded: connection) &* 0x9E37_79B9_7F4A_7C15
    }
    guard connect.clientID.byteCount > 0, !connect.clientID.holdsHidden else { return }
    client = ContentHash.of(connect.clientID, in: user) | 1
    name = Self.name(of: connect.clientID)
  }

  /// Takes the request of a handshake: several servers may stand behind one address.
  mutating func take(_ request: WebSocketRequest) {
    let hosts = request.head.fields(named: "Host").map(\.value)
    let name = (hosts + [request.target]).joined(separator: " ")
    endpoint = ContentHash.of(Array(name.utf8).span.bytes, in: endpoint)
  }

  /// Takes the beginning of TLS: several servers may stand behind one address, which tell themselves apart by the name that
  /// the client asks for.
  mutating func take(serverName: String?) {
    isOverTLS = true
    guard let serverName else { return }
    endpoint = ContentHash.of(Array(serverName.utf8).span.bytes, in: endpoint)
  }

  /// Whether a level of a topic is the name of the client or of its user, or may be: of a client whose name the server
  /// gives, or that is hidden, that is not known.
  func isNamed(in topic: RawSpan) -> Bool {
    guard name != 0, !hidesUser, !topic.holdsHidden else { return true }
    let levels = [UInt8](copying: topic).split(separator: UInt8(ascii: "/"))
    return levels.contains { level in
      // What is shorter is a level of many topics.
      guard level.count >= Self.leastName else { return false }
      let bytes = Array(level)
      return Self.name(of: bytes.span.bytes) == name
        || ContentHash.of(bytes.span.bytes, in: endpoint) == user
    }
  }

  private static let leastName = 3

  /// What tells a client identifier.
  static func name(of clientID: RawSpan) -> UInt64 { ContentHash.of(clientID, in: 1) | 1 }

  private static func hash(_ text: String) -> UInt64 {
    ContentHash.of(Array(text.utf8).span.bytes)
  }
}

/// The sessions of clients, each over all of its connections (section 4.1).
struct ClientSessions {
  /// What is known of the last connection of a client.
  struct Entry {
    var connection: Int
    var host: UInt64
    /// When it was asked for, and its CONNACK.
    var began: Timestamp
    var accepted: Moment
    /// How it ended; nil while it is open.
    var end: End?
    /// The last filters without wildcards that the client asked for on this connection or one before, by hashes; 0 is none.
    var asked = SIMD2<UInt64>()

    /// Takes the filters of the connection.
    mutating func ask(_ subscriptions: borrowing SubscriptionList) {
      for filter in subscriptions.plainFilters.prefix(2) where asked[0] != filter {
        asked = SIMD2(filter, asked[0])
      }
    }

    /// Whether the client is known to have asked for a topic.
    func hasAsked(for topic: RawSpan) -> Bool {
      let hash = SubscriptionList.hash(topic)
      return asked[0] == hash || asked[1] == hash
    }
  }

  /// The end of a connection.
  struct End {
    var moment: Moment
    /// When the last of it was captured, which the server may have taken for the end.
    var last: Timestamp
    /// The peer that ended it.
    var first: Peer
    /// Whether the session ended with it, or goes on so many seconds; nil where that is not known.
    var lasts: UInt32?
    /// Whether anything may have happened on it that was not captured.
    var hasLoss: Bool
    /// How many losses the capture had by then.
    var losses: UInt32
    /// Whether the server ended it, as it said, because the client had come elsewhere: where that was behind it, it was
    /// not captured.
    var isTakenOver: Bool
    /// Whether the server is seen to know that it ended.
    var isKnown: Bool
    /// What is kept for the connection that may resume it, apart, as most sessions leave nothing; nil where that is so,
    /// or there was no room for it.
    var rest: Boxed<Rest>?
  }

  /// What is left of a session that goes on.
  struct Rest {
    var left: LeftMessages
    /// All its subscriptions; nil where they are not known.
    var subscriptions: SubscriptionList?

    /// The memory that it takes, in bytes.
    var reserved: Int { left.reserved + (subscriptions?.reserved ?? 0) }
  }

  /// Where the entries of clients lie.
  private var places: [UInt64: Int32] = [:]
  /// In the order in which the clients came: a table of them would have room for twice as many.
  private var entries: [Entry] = []
  private static let maximum = 65_536
  /// The memory that the rests of all sessions take, and may take, in bytes.
  private var reserved = 0
  private static let mostReserved = 8 << 20

  /// What is known of the last connection of a client; nil for one that has none, or no name.
  subscript(client: UInt64) -> Entry? { place(of: client).map { entries[$0] } }

  private func place(of client: UInt64) -> Int? {
    client == 0 ? nil : places[client].map { Int($0) }
  }

  /// Keeps what is known of the last connection of a client, as far as there is room.
  mutating func keep(_ entry: Entry, of client: UInt64) {
    let known = place(of: client)
    guard client != 0, known != nil || entries.count < Self.maximum else { return }
    var entry = entry
    reserved -= known.flatMap { entries[$0].end?.rest?.value.reserved } ?? 0
    let more = entry.end?.rest?.value.reserved ?? 0
    if reserved + more > Self.mostReserved { entry.end?.rest = nil } else { reserved += more }
    if let known { return entries[known] = entry }
    places[client] = Int32(truncatingIfNeeded: entries.count)
    entries.makeRoom(atMost: Self.maximum)
    entries.append(entry)
  }

  /// Forgets what a client left open: it asked for a new session, for which it drops its part of the old one, and was
  /// refused, by which the server's part is what it was (section 3.1.2.4; 5.0: 3.1.2.4 and 4.1).
  mutating func dropOpen(of client: UInt64) {
    guard let place = place(of: client), var rest = entries[place].end?.rest?.value else { return }
    reserved -= rest.reserved
    rest.left.fromClient = []
    reserved += rest.reserved
    entries[place].end?.rest = Boxed(rest)
  }
}

/// The last connections on which clients asked for their sessions, whatever the version, the address and the user.
struct LastConnects {
  private var connections: [UInt64: Int32] = [:]
  /// The connections whose CONNECT nothing has answered yet, with the names in it, and how many each name has: which of
  /// two the server read first nobody knows, whatever the order in which they were captured.
  private var asking: [Int: UInt64] = [:]
  private var askers: [UInt64: Int32] = [:]
  /// The connections that began and have not said yet whose they are, with the times of their first segments.
  private var unnamed: [Int: Timestamp] = [:]
  private static let maximum = 65_536
  /// What stands for a connection that nobody knows, or where it is not known which of several was the last.
  private static let unknown: Int32 = -1

  /// Whether there is a connection of which it does not show yet whose it is.
  var hasUnnamed: Bool { !unnamed.isEmpty }

  /// Takes the beginning of a connection; false where there is no room for it.
  mutating func open(_ connection: Int, _ time: Timestamp) -> Bool {
    guard unnamed.count < Self.maximum else { return false }
    unnamed[connection] = time
    return true
  }

  /// When a connection began that has not said yet whose it is; nil for others.
  func opened(_ connection: Int) -> Timestamp? { unnamed[connection] }

  /// Takes the end of a connection.
  /// - Returns: When it began, where it did not show whose it was.
  mutating func end(_ connection: Int) -> Timestamp? {
    hasUnnamed ? unnamed.removeValue(forKey: connection) : nil
  }

  /// Takes a CONNECT.
  /// - Parameters:
  ///   - name: The client identifier.
  ///   - connection: Its connection.
  ///   - isAnswered: Whether no CONNACK is waited for.
  ///   - isOutOfOrder: Whether another one that was accepted later is told already.
  /// - Returns: The connection before; 0 where there is none.
  mutating func take(
    _ name: UInt64, on connection: Int, isAnswered: Bool = false, isOutOfOrder: Bool = false
  ) -> Int32 {
    _ = end(connection)
    guard name != 0 else { return 0 }
    guard connections[name] != nil || connections.count < Self.maximum,
      asking.count < Self.maximum
    else { return Self.unknown }
    let isContested = isOutOfOrder || askers[name] != nil
    if !isAnswered, asking[connection] == nil {
      asking[connection] = name
      askers[name, default: 0] += 1
    }
    let last = isContested ? Self.unknown : Int32(clamping: connection)
    let before = connections.updateValue(last, forKey: name) ?? 0
    return isContested ? Self.unknown : before
  }

  /// Takes the answer to a CONNECT, or the end of its connection without one.
  mutating func answer(_ connection: Int) {
    guard let name = asking.removeValue(forKey: connection), let count = askers[name] else {
      return
    }
    askers[name] = count > 1 ? count - 1 : nil
  }

  /// Whether a connection is the last one on which a client of an identifier asked for its session.
  func isLast(_ connection: Int, of name: UInt64) -> Bool {
    connections[name] == Int32(clamping: connection)
  }

  /// Takes note that a CONNECT was refused: the session is what it was.
  mutating func takeBack(_ identity: ConnectionIdentity, on connection: Int) {
    guard connections[identity.name] == Int32(clamping: connection) else { return }
    connections[identity.name] = identity.previous
  }
}

/// The messages above QoS 0 that were open when a connection ended.
struct LeftMessages {
  struct Message {
    let id: UInt16
    let content: ContentHash?
    let phase: Exchanges.Phase
    let retain: Bool
    /// The size of its PUBLISH, in bytes.
    let size: UInt32
    /// Whether it has a Message Expiry Interval, behind which its client need not send it any more either.
    let mayExpire: Bool
    let order: Int
    let moment: Moment
    /// Whether bytes are missing that may have ended it.
    let isDoubtful: Bool
    /// Whether it was answered before it came again, which its sender had not seen then.
    let mayBeAnswered: Bool
    var wasRepeated = false
  }

  var fromClient: [Message]
  var fromServer: [Message]
  /// The identifiers of the latest messages, be they open or not.
  let latestOfClient: UInt16
  let latestOfServer: UInt16
  /// Whether there were more of them.
  let isCut: Bool
  private static let maximum = 256

  init(_ exchanges: borrowing ExchangingState) {
    let (client, server) = (exchanges.fromClient.entries, exchanges.fromServer.entries)
    latestOfClient = exchanges.fromClient.latest
    latestOfServer = exchanges.fromServer.latest
    isCut = client.count > Self.maximum || server.count > Self.maximum
    fromClient = client.prefix(Self.maximum).map(Message.init)
    fromServer = server.prefix(Self.maximum).map(Message.init)
  }

  /// The memory that they take, in bytes.
  var reserved: Int { (fromClient.count + fromServer.count) * MemoryLayout<Message>.stride }

  var isEmpty: Bool { fromClient.isEmpty && fromServer.isEmpty }

  subscript(sender: Peer) -> [Message] {
    get { sender == .client ? fromClient : fromServer }
    set { if sender == .client { fromClient = newValue } else { fromServer = newValue } }
  }
}

extension LeftMessages.Message {
  fileprivate init(_ entry: (id: UInt16, value: Exchanges.Exchange)) {
    id = entry.id
    content = entry.value.content
    phase = entry.value.phase
    retain = entry.value.retain
    size = entry.value.size
    mayExpire = entry.value.mayExpire
    order = entry.value.order
    moment = entry.value.moment
    isDoubtful = entry.value.lost != nil
    mayBeAnswered = entry.value.mayBeAnswered
  }
}
