package import RepriseCore
package import Statistics
import Wire

/// The events of a session, each to be had at once, with what answers what.
///
/// An event of MQTT takes 56 bytes and those of its packet. Beyond the memory that it is given an archive takes no more
/// events and counts those that it did not take.
package struct SessionArchive: Sendable {
  private struct Entry: Sendable {
    var context: EventContext
    /// Where the packet is; in no block stands the place among the other bodies.
    var place: ByteStore.Place
    /// The last pair in which the event asks, and in which it answers.
    var asks = none
    var answers = none
  }

  private struct LinkedPair: Sendable {
    var pair: ExchangePair
    /// The pair before, of the one who asks, and of the one who answers.
    var ofQuestion: UInt32
    var ofAnswer: UInt32
  }

  private static let none = UInt32.max
  /// The most connections, and open questions of one, whose answers are looked for.
  private static let mostOpen = 65_536

  private var entries: [Entry] = []
  private var frames = FrameBlocks()
  private var bytes = ByteStore()
  private var others: [Event.Body] = []
  private var pairs: [LinkedPair] = []
  private var fates: [Int: [ExchangeFate]] = [:]
  private var exchanges: [Int: ConnectionExchanges] = [:]
  private let limit: Int
  /// About how many bytes the events take.
  package private(set) var size = 0
  /// How many events were not taken, for lack of memory.
  package private(set) var leftOver = 0
  private let requestKeys: RequestKeys

  /// Creates an empty archive.
  /// - Parameters:
  ///   - memory: The most bytes that it takes.
  ///   - requestKeys: How requests over WebSocket are told.
  package init(memory: Int, requestKeys: RequestKeys = .standard) {
    limit = memory
    self.requestKeys = requestKeys
  }

  /// How many events there are.
  package var count: Int { entries.count }

  /// Takes the next event of the session.
  /// - Parameter event: The event.
  /// - Returns: Whether there was room for it.
  @discardableResult
  package mutating func append(_ event: borrowing EventView) -> Bool {
    guard size < limit, leftOver == 0, entries.count < Int(Self.none), let place = keep(event)
    else {
      leftOver += 1
      return false
    }
    frames.append(event.context.frame)
    entries.append(Entry(context: event.context, place: place))
    size += MemoryLayout<Entry>.stride
    pair(event)
    return true
  }

  private mutating func keep(_ event: borrowing EventView) -> ByteStore.Place? {
    if case .mqtt(let packet) = event.body {
      size += packet.bytes.byteCount
      return bytes.append(packet.bytes)
    }
    guard let place = UInt32(exactly: others.count) else { return nil }
    let body = Event(copying: event).body
    others.append(body)
    size += MemoryLayout<Event.Body>.stride + Self.size(of: body)
    return ByteStore.Place(block: Self.none, offset: place, count: 0)
  }

  /// About what a body takes beside its own place, in bytes.
  private static func size(of body: Event.Body) -> Int {
    switch body {
    case .webSocket(let frame): 64 + frame.payload.count + (frame.inflated?.count ?? 0)
    case .http(let part): part.size
    case .handshake, .tls: 2_048
    case .opened, .closed, .attempted, .gap, .malformed, .mqtt: 256
    }
  }

  // MARK: Events

  /// When, where and between whom an event happened; nil where there is none.
  package func context(at index: Int) -> EventContext? {
    entries.indices.contains(index) ? entries[index].context : nil
  }

  /// Calls a closure with an event.
  /// - Parameters:
  ///   - index: The place of the event, from 0.
  ///   - use: What is called.
  /// - Returns: What the closure returns; nil where there is no such event.
  func withEvent<Result>(
    at index: Int, _ use: (borrowing EventView) -> Result
  ) -> Result? {
    guard entries.indices.contains(index) else { return nil }
    let entry = entries[index]
    if entry.place.block == Self.none {
      let other = Int(entry.place.offset)
      guard others.indices.contains(other) else { return nil }
      return Event(entry.context, others[other]).withView { use($0) }
    }
    return bytes.withBytes(at: entry.place) { span in
      guard case .header(let header) = MQTTFixedHeader.read(span) else { return nil }
      let packet = MQTTPacketView(
        span, header: header, version: entry.context.wire.version ?? .v3_1_1)
      return use(EventView(entry.context, .mqtt(packet)))
    } ?? nil
  }

  /// The events of a frame, in their order.
  /// - Parameters:
  ///   - frame: The number of the frame.
  ///   - connection: The number of the connection; nil takes those of all.
  /// - Returns: Their places.
  package func events(ofFrame frame: Int, connection: Int? = nil) -> [Int] {
    frames.places(near: frame...frame).flatMap { places in
      places.filter { index in
        let context = entries[index].context
        return context.frame == frame && connection ?? context.connection == context.connection
      }
    }
  }

  /// The openings and ends of connections that begin in a frame and are told with a later one, which is what others call
  /// their frame.
  /// - Parameter frame: The number of the frame.
  /// - Returns: Their places.
  package func events(beginningIn frame: Int) -> [Int] {
    entries.indices.filter { index in
      guard entries[index].context.frame > frame else { return false }
      return withEvent(at: index) { event in
        switch event.body {
        case .opened(let opening): opening.firstFrame == frame
        case .closed(let closing): closing.firstFrame == frame
        default: false
        }
      } ?? false
    }
  }

  /// The first event of the frame that has a number, or of the next one that has events; the last event behind all.
  package func event(atOrBehind frame: Int) -> Int? {
    var best: Int?
    for places in frames.places(near: frame...Int.max) {
      for index in places where entries[index].context.frame >= frame {
        if best.map({ entries[index].context.frame < entries[$0].context.frame }) ?? true {
          best = index
        }
      }
      if let best, entries[best].context.frame == frame { return best }
    }
    return best ?? (entries.isEmpty ? nil : entries.count - 1)
  }

  // MARK: Questions and answers

  /// What answers an event, in the order in which it comes.
  package func answers(to index: Int) -> [ExchangePair] {
    guard entries.indices.contains(index) else { return [] }
    return chain(from: entries[index].asks, \.ofQuestion)
  }

  /// What an event answers.
  func questions(of index: Int) -> [ExchangePair] {
    guard entries.indices.contains(index) else { return [] }
    return chain(from: entries[index].answers, \.ofAnswer)
  }

  /// What became of the questions of an event that have no answer.
  func fates(of index: Int) -> [ExchangeFate] { fates[index] ?? [] }

  private func chain(
    from last: UInt32, _ before: KeyPath<LinkedPair, UInt32>
  ) -> [ExchangePair] {
    var result: [ExchangePair] = []
    var next = last
    while pairs.indices.contains(Int(next)) {
      result.append(pairs[Int(next)].pair)
      next = pairs[Int(next)][keyPath: before]
    }
    return result.reversed()
  }

  /// Finds what the event just taken answers.
  private mutating func pair(_ event: borrowing EventView) {
    let connection = event.context.connection
    if exchanges.count >= Self.mostOpen, exchanges[connection] == nil { exchanges = [:] }
    var open =
      exchanges.removeValue(forKey: connection) ?? ConnectionExchanges(requestKeys: requestKeys)
    var outcomes: [ExchangeOutcome] = []
    let take = { (outcome: ExchangeOutcome) in outcomes.append(outcome) }
    open.consume(event, at: entries.count - 1, isSelected: true, take)
    if open.count > Self.mostOpen { open.giveUpAll(take) }
    for outcome in outcomes { note(outcome) }
    if case .closed = event.body { return }
    exchanges[connection] = open
  }

  private mutating func note(_ outcome: ExchangeOutcome) {
    guard entries.indices.contains(outcome.frame) else { return }
    switch outcome.result {
    case .answered(let delay, let answer):
      guard entries.indices.contains(answer), let place = UInt32(exactly: pairs.count) else {
        return
      }
      let pair = ExchangePair(
        kind: outcome.kind, question: outcome.frame, answer: answer, nanoseconds: delay)
      pairs.append(
        LinkedPair(
          pair: pair, ofQuestion: entries[outcome.frame].asks,
          ofAnswer: entries[answer].answers))
      entries[outcome.frame].asks = place
      entries[answer].answers = place
      size += MemoryLayout<LinkedPair>.stride
    case .unanswered: add(.unanswered(outcome.kind), to: outcome.frame)
    case .stillOpen: add(.stillOpen(outcome.kind), to: outcome.frame)
    case .undecided: add(.undecided(outcome.kind), to: outcome.frame)
    }
  }

  private mutating func add(_ fate: ExchangeFate, to index: Int) {
    fates[index, default: []].append(fate)
    size += 128
  }
}

/// An event that asks, and the one that answers it.
package struct ExchangePair: Sendable, Hashable {
  /// What is asked and answered.
  var kind: ExchangeKind
  /// The place of the event that asks.
  var question: Int
  /// The place of the event that answers.
  var answer: Int
  /// How long the answer took, in nanoseconds.
  var nanoseconds: Int
}

/// What became of a question that has no answer.
package enum ExchangeFate: Sendable, Hashable {
  /// The connection was closed first, or the one who asked gave it up.
  case unanswered(ExchangeKind)
  /// The session ends first.
  case stillOpen(ExchangeKind)
  /// The capture does not tell.
  case undecided(ExchangeKind)

  /// Which question it was.
  var kind: ExchangeKind {
    switch self {
    case .unanswered(let kind), .stillOpen(let kind), .undecided(let kind): kind
    }
  }

  /// The name in results for programs.
  package var name: String {
    switch self {
    case .unanswered: "unanswered"
    case .stillOpen: "open"
    case .undecided: "undecided"
    }
  }

  /// What it means, for people.
  package var words: String {
    switch self {
    case .unanswered: "the connection was closed first"
    case .stillOpen: "the session ends first"
    case .undecided: "the capture does not tell"
    }
  }
}
