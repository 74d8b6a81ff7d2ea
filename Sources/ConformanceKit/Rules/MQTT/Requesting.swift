internal import RepriseCore
internal import Wire

/// The longest that an end let something wait for its answer.
struct AnswerTime {
  private var milliseconds: UInt32 = 0
  private var latest = WholeSeconds()

  /// In nanoseconds, which may be doubled.
  var nanoseconds: Int64 { Int64(milliseconds) * 1_000_000 }

  /// Takes one that was answered.
  @inline(__always)
  mutating func note(since sent: Timestamp, until answered: Timestamp) {
    let waited = answered.nanoseconds(since: sent)
    milliseconds = max(milliseconds, UInt32(clamping: waited / 1_000_000))
    let sent = WholeSeconds(sent)
    if sent.nanoseconds > latest.nanoseconds { latest = sent }
  }

  /// Takes one that may have waited for any time.
  mutating func noteUnknown() { milliseconds = .max }

  /// Whether one was answered that was sent in a later second than something.
  func isOf(later time: Timestamp) -> Bool { latest.nanoseconds > time.nanoseconds }
}

/// What is known of the requests of a client, be they SUBSCRIBEs or UNSUBSCRIBEs.
struct RequestingState {
  /// The requests so far.
  var count = 0
  /// How many of them came before bytes of the server went missing in which their answers may be.
  var lost = 0
  /// The filters that are kept of those that are open.
  private(set) var filters = 0
  /// Whether one ever had the identifier of another that was open.
  var hasReusedIDs = false
  /// The longest that one waited for its answer, or a PINGREQ for its.
  var longestWait = AnswerTime()
  /// Whether the answer to the current one was captured before it.
  var wasAnsweredEarly = false
  var answered = AnsweredRequests()
  /// The most filters that are kept of one request, and of all.
  static let maximumFilters = 4_096
  static let maximumOpenFilters = 16_384

  /// The memory that the filters take, in bytes.
  var reserved: Int {
    filters * (1 + MemoryLayout<SubscriptionList.Reference?>.stride)
  }

  /// Whether the answer to a request may be among missing bytes.
  func isLost(_ order: Int) -> Bool { order <= lost }

  /// Counts a request, and returns its place.
  mutating func add() -> Int {
    count += 1
    return count
  }

  /// Whether another filter of a request is kept that has so many.
  func hasRoom(behind kept: Int) -> Bool {
    kept < Self.maximumFilters && filters + kept < Self.maximumOpenFilters
  }

  /// Notes that a request is open, in the place of one that may have been.
  mutating func open(_ kept: Int, insteadOf old: Int?) { filters += kept - (old ?? 0) }

  /// Notes that a request is answered.
  mutating func close(_ kept: Int) { filters -= kept }
}

/// The last identifiers that were answered, so that a second answer is known for one.
struct AnsweredRequests {
  private struct Entry {
    let type: MQTTPacketType
    let id: UInt16
    var isMultiple: Bool
    /// What the request asked for.
    var wish: Int
  }

  private var ring: [Entry] = []
  private var next = 0
  private static let size = 64

  mutating func add(_ type: MQTTPacketType, _ id: UInt16, wish: Int, isMultiple: Bool = false) {
    let entry = Entry(type: type, id: id, isMultiple: isMultiple, wish: wish)
    // An identifier that is used again stands for its last request.
    if let index = ring.firstIndex(where: { $0.type == type && $0.id == id }) {
      ring[index] = entry
    } else if ring.count < Self.size {
      ring.append(entry)
    } else {
      ring[next] = entry
      next = (next + 1) % Self.size
    }
  }

  /// Whether the last request of an identifier that was answered asked for the same.
  func contains(_ type: MQTTPacketType, _ id: UInt16, wish: Int) -> Bool {
    ring.contains { $0.type == type && $0.id == id && $0.wish == wish }
  }

  func contains(_ type: MQTTPacketType, _ id: UInt16) -> Bool {
    ring.contains { $0.type == type && $0.id == id }
  }

  func containsMultiple(_ type: MQTTPacketType, _ id: UInt16) -> Bool {
    ring.contains { $0.type == type && $0.id == id && $0.isMultiple }
  }
}

// What SUBSCRIBE and UNSUBSCRIBE have in common: sections 3.8.4 and 3.10.4.
extension ConnectionState {
  /// Tells whether the answer to the current request was captured before it.
  mutating func takeEarlyAnswer() -> Bool {
    defer { requests.wasAnsweredEarly = false }
    return requests.wasAnsweredEarly
  }

  /// Judges a SUBACK or UNSUBACK whose request is not open.
  mutating func unmatched(
    _ type: MQTTPacketType, _ id: UInt16, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let rules: [MQTTRule] =
      type == .suback
      ? [.answersKeepIdentifiers, .subackKeepsIdentifier]
      : [.answersKeepIdentifiers, .unsubscribeIsAnswered]
    let loss = lossReason(of: .client)
    if loss != nil { requests.longestWait.noteUnknown() }
    if let reason = loss ?? (requests.answered.contains(type, id) ? .answeredBefore : nil) {
      for rule in rules { tally.leave(rule, reason, hearing) }
      return ownRare.suspicions.note(answerTo: id)
    }
    let request = type == .suback ? "SUBSCRIBE" : "UNSUBSCRIBE"
    for rule in rules {
      ownRare.suspicions.add(
        rule, event, hearing, &tally, id: id,
        FindingText(
          "the server's \(type.name) has identifier \(id), but no open \(request) of the client has",
          expected: "the identifier of an open \(request)", actual: "identifier \(id)"))
    }
  }
}
