import RepriseCore

/// How far a request is that has a reply.
enum RequestPhase: Sendable {
  /// The reply topic is not granted yet.
  case subscribing
  /// It was sent with an id.
  case waiting(id: String)
  /// The next try comes later.
  case pausing
}

/// The requests of a channel or a gateway whose replies are to come: those that wait until a reply topic is granted,
/// those that were sent, and how the latest ended.
struct ReplyBook<Request: Hashable & Sendable>: Sendable {
  /// What a reply is.
  enum Reply: Equatable {
    /// The one that a request waits for.
    case awaited(Request)
    /// One more, to a request that was answered.
    case again
    /// One to a request that is not waited for any more.
    case late
    /// One to no request that is known.
    case unknown
  }

  /// The requests that wait until a reply topic is granted.
  private struct Subscribing {
    /// The SUBSCRIBE that they wait for.
    let action: ClientAction.ID
    var requests: [Request] = []
  }

  private var subscribing: [String: Subscribing] = [:]
  /// The requests that were sent, by their ids and then by their reply topics.
  private var waiting: [String: [String: Request]] = [:]
  /// How many requests wait on each reply topic.
  private var topics: [String: Int] = [:]
  private var memory = ReplyMemory()

  /// How many requests wait, for a grant or for a reply.
  var count: Int {
    subscribing.values.reduce(0) { $0 + $1.requests.count } + topics.values.reduce(0, +)
  }

  /// Whether nothing is waited for.
  var isEmpty: Bool { subscribing.isEmpty && waiting.isEmpty && topics.isEmpty }

  // MARK: Reply topics

  /// Whether requests wait until a reply topic is granted.
  func isSubscribing(to topic: String) -> Bool { subscribing[topic] != nil }

  /// A SUBSCRIBE of a reply topic is sent, for requests to wait for.
  mutating func noteSubscribe(_ topic: String, _ action: ClientAction.ID) {
    subscribing[topic] = Subscribing(action: action)
  }

  /// A request waits until its reply topic is granted.
  mutating func wait(_ request: Request, for topic: String) {
    subscribing[topic]?.requests.append(request)
  }

  /// A reply topic is granted.
  /// - Returns: The requests that have waited for it, the earliest first.
  mutating func takeGranted(_ topic: String) -> [Request] {
    subscribing.removeValue(forKey: topic)?.requests ?? []
  }

  /// A SUBSCRIBE of a reply topic came to nothing.
  /// - Returns: The requests that have waited for it, but not those that have sent another since.
  mutating func takeRefused(_ topic: String, _ action: ClientAction.ID) -> [Request] {
    subscribing[topic]?.action == action ? takeGranted(topic) : []
  }

  /// A request does not wait for its reply topic any more.
  mutating func leave(_ topic: String, _ request: Request) {
    subscribing[topic]?.requests.removeAll { $0 == request }
    if subscribing[topic]?.requests.isEmpty == true { subscribing[topic] = nil }
  }

  /// The connection is gone: no SUBSCRIBE is answered any more.
  mutating func forgetSubscribing() { subscribing = [:] }

  // MARK: Ids

  /// Whether a request waits for a reply with this id, on whichever topic.
  func isInUse(_ id: String) -> Bool { waiting[id] != nil }

  /// A request is sent.
  mutating func noteSent(_ request: Request, id: String, on topic: String) {
    waiting[id, default: [:]][topic] = request
    topics[topic, default: 0] += 1
  }

  /// A request is done with, or is sent again with another id.
  /// - Parameters:
  ///   - phase: How far it was; nothing is noted of one that was not sent.
  ///   - topic: Its reply topic.
  ///   - outcome: How it ended.
  mutating func noteEnd(
    of phase: RequestPhase, on topic: String, _ outcome: ReplyMemory.Outcome
  ) {
    guard case .waiting(let id) = phase else { return }
    if waiting[id]?.removeValue(forKey: topic) != nil {
      topics[topic] = topics[topic].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
    if waiting[id]?.isEmpty == true { waiting[id] = nil }
    memory.remember(topic: topic, id: id, outcome)
  }

  // MARK: Replies

  /// Whether what comes on a topic may be a reply to a request that is waited for or remembered.
  func expects(_ topic: String) -> Bool {
    (!topics.isEmpty && topics[topic] != nil) || memory.knows(topic: topic)
  }

  /// Says what a reply is.
  func reply(_ id: String, on topic: String) -> Reply {
    if let request = waiting[id]?[topic] { return .awaited(request) }
    return switch memory.outcome(topic: topic, id: id) {
    case .answered: .again
    case .abandoned: .late
    case nil: .unknown
    }
  }

  /// The request that waits for a reply with an id, if it is one; for answers that come on another topic.
  func request(_ id: String) -> Request? {
    waiting[id].flatMap { $0.count == 1 ? $0.values.first : nil }
  }
}
