internal import RepriseCore

/// The wills that clients gave to servers, found by topic and payload (section 3.1.2.5).
struct Wills {
  /// A will, be it of several connections.
  struct Will {
    /// The client that gave it last, its connection, and the topic at the server.
    var client: UInt64 = 0
    var connection = 0
    var topic: UInt64 = 0
    /// How many connections gave it, and how many of those surely ended by a DISCONNECT that drops it.
    var holders = 0
    var dropped = 0
    /// The lowest QoS, the longest delay, and whether one is to be retained or may expire.
    var qos: UInt8 = 2
    /// The bytes of topic and payload.
    var size: UInt32 = 0
    var delay: UInt32 = 0
    var isRetained = false
    var mayExpire = false
    /// Its User Properties in their order, by hashes (5.0).
    var users: [UInt64] = []
    /// Whether an application said the same, be it to another server.
    var isSaid = false
    /// The last DISCONNECT that dropped it.
    var drop: Drop?
    /// Whether somebody got it for the end that made it due.
    var isHeard = false
    /// Whether it was counted that it was dropped, that it stayed away, and that nothing came for a later connection.
    var dropIsShown = false
    var absenceIsShown = false
    var laterIsShown = 0
    /// What is not known of most wills, apart; nil where there is nothing of it.
    private var course: Boxed<Course>?
  }

  /// What became of a will that was not dropped.
  fileprivate struct Course {
    var due: Due?
    var early: Sight?
    var back: Sight?

    var isEmpty: Bool { due == nil && early == nil && back == nil }
  }

  /// A packet on a connection.
  struct Sight {
    var moment: Moment
    var connection: Int
  }

  /// A DISCONNECT that drops a will.
  struct Drop {
    /// The DISCONNECT, and the CONNACK of its connection.
    var moment: Moment
    var accepted: Moment
    /// By whose clauses its server is judged.
    var hearing: Hearing
  }

  /// The end of a connection that makes its will due.
  struct Due {
    var moment: Moment
    /// The CONNACK of the connection, and by whose clauses its server is judged.
    var accepted: Moment
    var hearing: Hearing
    /// When the server last sent something on the connection: it had not ended it before.
    var alive: Int64
    /// Whether the client ended it.
    var isOfClient: Bool

    /// When the server may publish it at the earliest.
    func time(delay: UInt32) -> Int64 {
      alive.addingSaturating(Int64(delay) * 1_000_000_000)
    }
  }

  /// A connection that has a will.
  struct Held {
    let content: UInt64
    let key: UInt64
    /// The DISCONNECT of the client, if nothing speaks against its having dropped the will.
    var farewell: Moment?
    /// Whether another connection of the client began meanwhile.
    var isContested = false
  }

  private var wills = RowTable<Will>(limit: maximum)
  /// The last will of a client, and on a topic.
  private var ofClients = FlatTable(limit: maximum, empty: 0 as UInt64)
  private var ofTopics = FlatTable(limit: maximum, empty: 0 as UInt64)
  private var seen = FlatTable(limit: 65_536, empty: ())
  private(set) var topics = TopicMarks()
  private(set) var held: [Int: Held] = [:]
  /// The ends that made wills due which nobody got yet.
  var unheard: [UInt64: Hearing] = [:]
  /// Whether there are wills that are not known, at servers and altogether.
  private var unknown: Set<UInt64> = []
  private(set) var hasOthers = false
  /// The servers at which a will that was dropped stayed away, those at which one came that was due, on a connection, and
  /// those at which one came twice.
  private var silent: Set<UInt64> = []
  private var single: [UInt64: Int] = [:]
  private var repeated: Set<UInt64> = []
  private static let maximum = 16_384
  private static let mostServers = 4_096

  subscript(content: UInt64) -> Will? { wills[content] }

  /// Changes a will.
  mutating func change(_ content: UInt64, _ body: (inout Will) -> Void) {
    wills.change(content, body)
  }

  /// The last will of a client.
  func last(of client: UInt64) -> UInt64? { client == 0 ? nil : ofClients[client] }

  /// The last will on a topic.
  func last(on topic: UInt64) -> UInt64? { ofTopics[topic] }

  /// Takes the will of a connection.
  mutating func add(
    _ held: Held, _ client: UInt64, _ topic: UInt64, _ connection: Int,
    _ change: (inout Will) -> Void
  ) {
    let isKept = wills.update(held.content, orElse: Will()) { will, _ in
      will.client = client
      will.topic = topic
      will.connection = connection
      will.holders += 1
      change(&will)
    }
    guard isKept, ofTopics.update(topic, { value, _ in value = held.content }) else {
      hasOthers = true
      return
    }
    if client != 0, !ofClients.update(client, { value, _ in value = held.content }) {
      hasOthers = true
    }
    self.held[connection] = held
  }

  /// Marks a topic, of which the messages are to be looked at.
  mutating func mark(_ topic: RawSpan) { topics.insert(topic) }

  /// Takes note that a client connects: whether its older connection ended by itself is not sure any more.
  mutating func contest(
    _ client: UInt64, by connection: Int, at time: Timestamp, within pause: Int64
  ) {
    guard let content = last(of: client), let will = wills[content],
      will.connection != connection
    else { return }
    held[will.connection]?.isContested = true
    if let due = will.due, time.nanoseconds(since: due.moment.time) <= pause {
      change(content) { $0.due?.isOfClient = false }
    }
  }

  /// Takes a DISCONNECT that drops the will of a connection.
  mutating func leave(_ connection: Int, _ moment: Moment) { held[connection]?.farewell = moment }

  /// Takes out what a connection has.
  mutating func remove(_ connection: Int) -> Held? {
    held.isEmpty ? nil : held.removeValue(forKey: connection)
  }

  /// Notes that a client gets a will.
  /// - Returns: Whether it had got it before; nil where that is not known.
  mutating func hear(_ content: UInt64, on connection: Int) -> Bool? {
    var isSecond = false
    let isKept = seen.update(Self.copy(content, connection)) { _, isNew in isSecond = !isNew }
    return isKept ? isSecond : nil
  }

  /// Whether a client got a will, or may have.
  func isHeard(_ content: UInt64, on connection: Int) -> Bool {
    seen.isFull || seen.contains(Self.copy(content, connection))
  }

  private static func copy(_ content: UInt64, _ connection: Int) -> UInt64 {
    content ^ UInt64(truncatingIfNeeded: connection) &* 0xD6E8_FEB8_6659_FD93
  }

  // MARK: Who else says what a will says

  /// Takes note that nobody said what a will says when its client left by a DISCONNECT.
  mutating func noteSilence(at server: UInt64) {
    if silent.count < Self.mostServers { silent.insert(server) }
  }

  /// Takes note that a client got a will that was due.
  mutating func noteHeard(on connection: Int, at server: UInt64) {
    if single.count < Self.mostServers { single[server] = connection }
  }

  /// Takes note that a client got a will that was due once more.
  mutating func noteRepeat(at server: UInt64) {
    if repeated.count < Self.mostServers { repeated.insert(server) }
  }

  /// Takes the news that bytes of a server are missing on a connection, among which a second one may be.
  mutating func lose(_ connection: Int) {
    if !single.isEmpty { single = single.filter { $0.value != connection } }
  }

  /// Whether nothing at a server says of a client that it is gone but its will: a rule of the server may, when a connection
  /// ends, or when it ends by a DISCONNECT alone.
  func areAlone(at server: UInt64, behind end: PendingFindings.LoneWill) -> Bool {
    if silent.contains(server) { return true }
    guard case .anyEnd = end else { return false }
    return single[server] != nil && !repeated.contains(server)
  }

  // MARK: Wills that are not known

  /// Notes that a client of a server may have a will that is not known.
  mutating func doubt(_ server: UInt64) {
    guard unknown.count < Self.mostServers else {
      hasOthers = true
      return
    }
    unknown.insert(server)
  }

  /// Notes a client that may have a will, of a version whose wills are not read.
  mutating func meetOther() { hasOthers = true }

  /// Whether all wills at a server are known.
  func areKnown(at server: UInt64) -> Bool { !hasOthers && !unknown.contains(server) }
}

/// Which topics are to be looked at, roughly: one that is not may look like one that is.
struct TopicMarks {
  private var bits = SIMD4<UInt64>()
  private(set) var isEmpty = true

  @inline(__always)
  private static func place(_ topic: RawSpan) -> Int {
    let count = topic.byteCount
    guard count > 0 else { return 0 }
    let first = topic.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
    let last = topic.unsafeLoad(fromByteOffset: count - 1, as: UInt8.self)
    return (count &* 31 &+ Int(last) &* 7 &+ Int(first)) & 255
  }

  mutating func insert(_ topic: RawSpan) {
    let place = Self.place(topic)
    bits[place >> 6] |= 1 << UInt64(place & 63)
    isEmpty = false
  }

  /// Whether a topic may have been marked.
  @inline(__always)
  func mayContain(_ topic: RawSpan) -> Bool {
    guard !isEmpty else { return false }
    let place = Self.place(topic)
    return bits[place >> 6] >> UInt64(place & 63) & 1 == 1
  }
}

extension Wills.Will {
  /// The last end of a connection behind which it is to be published.
  var due: Wills.Due? {
    get { course?.value.due }
    set { change { $0.due = newValue } }
  }

  /// The first delivery before the time.
  var early: Wills.Sight? {
    get { course?.value.early }
    set { change { $0.early = newValue } }
  }

  /// The CONNACK of the client that was back before the time.
  var back: Wills.Sight? {
    get { course?.value.back }
    set { change { $0.back = newValue } }
  }

  private mutating func change(_ body: (inout Wills.Course) -> Void) {
    var next = course?.value ?? Wills.Course()
    body(&next)
    course = next.isEmpty ? nil : Boxed(next)
  }
}
