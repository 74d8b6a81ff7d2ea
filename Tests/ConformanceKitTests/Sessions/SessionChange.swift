import RepriseCore
import Wire

@testable import ConformanceKit

/// What may be otherwise about a session, at one of its events.
enum SessionChange: String, CaseIterable, Sendable {
  case nothing = "it is as it was"
  case clientGap = "bytes of the client are missing in front of it"
  case serverGap = "bytes of the server are missing in front of it"
  case orderUncertain = "what of the other side came before it is not known"
  case forgotten = "what was known of its connection is given up in front of it"
  case cut = "the capture ends in front of it"
  case begun = "the start of its connection is not captured"
  case rebuilt = "it was put together from what a client told"
  case inferred = "the version is inferred"
  case clientAhead = "the clock is forty seconds ahead that timed what the client sent"
  case serverAhead = "the clock is forty seconds ahead that timed what the server sent"
  case again = "all comes once more two seconds later, on connections of the same clients"
  case againLater =
    "all comes once more a hundred seconds later, on connections of the same clients"
  case missing = "it is missing without a trace"
  case doubled = "it comes twice"
  case swapped = "it comes behind the next one"
  case shortlyLate = "it and all behind it come seven tenths of a second later"
  case late = "it and all behind it come three seconds later"
  case later = "it and all behind it come thirteen seconds later"
  case muchLater = "it and all behind it come forty seconds later"
  case latest = "it and all behind it come a hundred seconds later"
  case reset = "its connection ends by a reset"
  case unanswered = "nothing answers the end of its connection"
  case repeated = "it has the other DUP"
  case retained = "it has the other RETAIN"
  case graded = "it has the next QoS"
  case renumbered = "it has the next identifier"
  case altered = "its last byte is the next one"
  case torn = "its end is not captured"
  case lost = "it is not captured, and it is known that bytes are not"
  case flagged = "the lowest flag of its first byte is the other one"
  case damaged = "one of its bytes is another one"
  case pinged = "its pings are told, or not told"
  case fromElsewhere = "all comes once more two seconds later, of clients on another host"
  case atOther = "all comes once more two seconds later, at another server"
  case unfinished = "its frame has the other FIN"
  case reinterpreted = "its frame has another opcode"
  case reserved = "its frame has a reserved bit"
  case masked = "its frame has a mask, or has none"
  case unlined = "a line of its head is missing"
  case relined = "a line of its head comes twice"
  case reworded = "a line of its head has another value"
  case restarted = "the first line of its head is another one"

  /// What kind of change it is.
  enum Kind: String, CaseIterable {
    case none = "nothing is otherwise"
    case loss = "less is captured"
    case time = "something comes at another time"
    case order = "something is missing or comes again"
    case content = "something says something else"
    case several = "several things are otherwise at once"
  }

  var kind: Kind {
    switch self {
    case .nothing: .none
    case .clientGap, .serverGap, .orderUncertain, .forgotten, .cut, .begun, .rebuilt, .torn, .lost:
      .loss
    case .clientAhead, .serverAhead: .time
    case .shortlyLate, .late, .later, .muchLater, .latest: .time
    case .missing, .doubled, .swapped, .again, .againLater, .reset, .unanswered: .order
    case .fromElsewhere, .atOther: .order
    case .inferred, .repeated, .retained, .graded, .renumbered, .altered, .flagged, .damaged:
      .content
    case .pinged, .unfinished, .reinterpreted, .reserved, .masked: .content
    case .unlined, .relined, .reworded, .restarted: .content
    }
  }

  /// Whether a capture shows less by it, so that nobody may be accused of more.
  var isLoss: Bool { kind == .loss }

  /// Whether it is a change of the whole session.
  var isOfAll: Bool {
    switch self {
    case .nothing, .inferred, .clientAhead, .serverAhead, .again, .againLater: true
    case .fromElsewhere, .atOther: true
    default: false
    }
  }

  /// Whether it is a change of how a connection opens or ends.
  var isOfOpeningOrEnd: Bool {
    switch self {
    case .begun, .reset, .unanswered, .pinged: true
    default: false
    }
  }

  /// Whether it is made where frames and heads are written, as what reads them has to see it.
  var isOfWriting: Bool {
    switch self {
    case .clientGap, .serverGap: true
    case .unfinished, .reinterpreted, .reserved, .masked: true
    case .unlined, .relined, .reworded, .restarted: true
    default: false
    }
  }

  /// Whether it can be a change of an event.
  func isOf(_ event: Event) -> Bool {
    switch (self, event.body) {
    case (.unfinished, .webSocket), (.reinterpreted, .webSocket): true
    case (.reserved, .webSocket), (.masked, .webSocket): true
    case (.unlined, .handshake), (.relined, .handshake): true
    case (.reworded, .handshake), (.restarted, .handshake): true
    case (.torn, .mqtt), (.flagged, .mqtt), (.damaged, .mqtt): true
    case (.lost, .mqtt): event.context.over == nil
    case (.unfinished, _), (.reinterpreted, _), (.reserved, _), (.masked, _): false
    case (.unlined, _), (.relined, _), (.reworded, _), (.restarted, _): false
    case (.torn, _), (.flagged, _), (.damaged, _), (.lost, _): false
    default: true
    }
  }
}

/// A session that is otherwise in one thing.
struct SessionVariant {
  let events: [Event]
  /// The event in front of which what was known of its connection is given up; nil where nothing is.
  private(set) var forgottenAt: Int?

  init(_ events: [Event]) { self.events = events }

  /// A session with a change at the event of a place; nil where it can't be of that event.
  init?(
    of session: GoldenTallies.Session, _ whole: [Event], _ change: SessionChange, at place: Int
  ) {
    if change == .forgotten { forgottenAt = place }
    guard change.isOf(whole[place]) else { return nil }
    guard !change.isOfWriting else {
      events = session.written(change, at: place)
      return
    }
    guard let changed = whole.changed(change, at: place) else { return nil }
    events = changed
  }

  /// A session with several changes that a number tells; nil where none of them can be.
  init?(of session: GoldenTallies.Session, _ whole: [Event], changes count: Int, by seed: UInt64) {
    var noise = Noise(seed: seed)
    var events = whole
    var changed = 0
    for index in 0..<count {
      let change = SessionChange.allCases[noise.below(SessionChange.allCases.count)]
      // Only the first can be made where the session is written.
      guard change != .nothing, index == 0 || !change.isOfWriting else { continue }
      let places = events.indices.filter { change.isOf(events[$0]) && ($0 > 0 || change.isOfAll) }
      guard !places.isEmpty else { continue }
      let place = places[noise.below(places.count)]
      if change == .forgotten {
        forgottenAt = place
      } else if change.isOfWriting {
        events = session.written(change, at: place)
      } else if let next = events.changed(change, at: place) {
        events = next
      } else {
        continue
      }
      changed += 1
    }
    guard changed > 0 else { return nil }
    self.events = events
  }

  /// Has it judged, as a file of a name.
  func consume(by judge: inout ConformanceJudge, as name: String) {
    judge.begin(file: name)
    for (place, event) in events.enumerated() {
      if place == forgottenAt { judge.forget(event.context.connection, event.context) }
      event.withView { judge.consume($0) }
    }
    judge.endFile()
  }
}

extension Noise {
  /// A number below another one.
  fileprivate mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }
}

extension GoldenTallies.Session {
  /// The events of the session with a change that is made where it is written.
  fileprivate func written(_ change: SessionChange, at place: Int) -> [Event] {
    var script = Script(version: version)
    switch change {
    case .clientGap: script.loss = (place, .client)
    case .serverGap: script.loss = (place, .server)
    default: script.twist = (place, change)
    }
    self.script(&script)
    return script.events
  }
}

extension [Event] {
  fileprivate func changed(_ change: SessionChange, at place: Int) -> [Event]? {
    var events = self
    switch change {
    case .nothing, .forgotten: break
    case .inferred: return inferred
    case .clientAhead: return map { $0.moved(by: 40, if: .client) }
    case .serverAhead: return map { $0.moved(by: 40, if: .server) }
    case .again: return self + again(after: 2)
    case .fromElsewhere: return self + again(after: 2) { $0.client = "10.0.0.9:50000" }
    case .atOther: return self + again(after: 2) { $0.server = "10.0.0.8:1883" }
    case .againLater: return self + again(after: 100)
    case .orderUncertain: events[place].context.isOrderUncertain = true
    case .rebuilt: events[place].context.isRebuilt = true
    case .lost: events[place].body = .gap(Gap(bytes: 10, reason: .acknowledged))
    case .cut: return cut(at: place)
    case .missing where self[place].isPacket: events.remove(at: place)
    case .doubled where self[place].isPacket: events.insert(self[place], at: place)
    case .swapped where self[place].isPacket: return swapped(at: place)
    case .shortlyLate: return delayed(at: place, by: 700)
    case .late: return delayed(at: place, by: 3_000)
    case .later: return delayed(at: place, by: 13_000)
    case .muchLater: return delayed(at: place, by: 40_000)
    case .latest: return delayed(at: place, by: 100_000)
    case .begun, .reset, .unanswered, .pinged:
      guard let body = self[place].body.changed(change) else { return nil }
      events[place].body = body
    case .repeated, .retained, .graded, .renumbered, .altered, .torn, .flagged, .damaged:
      guard case .mqtt(let packet) = self[place].body,
        let bytes = packet.bytes.changed(change, at: place)
      else { return nil }
      events[place].body = .mqtt(PacketBytes(bytes))
    case .missing, .doubled, .swapped: return nil
    case .clientGap, .serverGap: return nil
    case .unfinished, .reinterpreted, .reserved, .masked: return nil
    case .unlined, .relined, .reworded, .restarted: return nil
    }
    return events
  }

  /// The events in front of a place, behind which the capture ends.
  func cut(at place: Int) -> [Event] {
    var events = Array(self[..<place])
    var context = self[place - 1].context
    context.over = nil
    if self[0].context.wire == .webSocket { context.wire = .webSocket }
    let (late, silences) = (lateConnections, clientSilences)
    func end(_ context: EventContext) -> Event {
      let closing = ConnectionClosing(
        how: .endOfCapture, firstFrame: context.frame, firstTime: context.time,
        isLate: late.contains(context.connection), clientSilence: silences[context.connection])
      return Event(context, .closed(closing))
    }
    events.append(end(context))
    // What TCP has shown by then is told of each connection that is open.
    let ended = Set(
      events.filter { if case .closed = $0.body { true } else { false } }
        .map(\.context.connection))
    for connection in late.union(silences.keys).subtracting(ended).sorted() {
      guard events.contains(where: { $0.context.connection == connection }) else { continue }
      context.connection = connection
      events.append(end(context))
    }
    return events
  }

  /// The connections on which something arrived late.
  private var lateConnections: Set<Int> {
    Set(
      compactMap { event in
        guard case .closed(let closing) = event.body, closing.isLate else { return nil }
        return event.context.connection
      })
  }

  /// For how long the clients are known to have sent nothing that were captured from away.
  private var clientSilences: [Int: Int64] {
    reduce(into: [:]) { silences, event in
      guard case .closed(let closing) = event.body else { return }
      silences[event.context.connection] = closing.clientSilence
    }
  }

  /// The same, where no CONNECT told the version.
  private var inferred: [Event] {
    map { event in
      var event = event
      if case .mqtt(let version) = event.context.wire {
        event.context.wire = .mqttInferred(version)
      }
      return event
    }
  }

  /// The same once more, seconds behind the end.
  private func again(
    after seconds: Int64, opening change: (inout ConnectionOpening) -> Void = { _ in }
  ) -> [Event] {
    guard let first = self.first?.context, let last = self.last?.context else { return [] }
    let later = last.time.nanoseconds(since: first.time) + seconds * 1_000_000_000
    let most = map(\.context.connection).max() ?? 0
    return map { event in
      var event = event
      event.context.connection += most
      event.context.frame += last.frame
      event.context.time.nanoseconds += later
      event.body = event.body.moved(by: later)
      if case .opened(var opening) = event.body {
        change(&opening)
        event.body = .opened(opening)
      }
      return event
    }
  }

  private func swapped(at place: Int) -> [Event]? {
    guard place + 1 < count, self[place + 1].isPacket else { return nil }
    var events = self
    events.swapAt(place, place + 1)
    // Frames and times stay in their order.
    for index in place...place + 1 {
      events[index].context.frame = self[index].context.frame
      events[index].context.time = self[index].context.time
    }
    return events
  }

  private func delayed(at place: Int, by milliseconds: Int64) -> [Event] {
    var events = self
    for index in place..<count {
      events[index].context.time.nanoseconds += milliseconds * 1_000_000
      events[index].body = events[index].body.moved(by: milliseconds * 1_000_000)
    }
    return events
  }
}

extension Event {
  /// The same as it is when the clock of a peer is ahead: the end of a connection has the times of both, where the
  /// other one's FIN was captured.
  func moved(by seconds: Int64, if peer: Peer) -> Event {
    var event = self
    let isOfPeer = context.sender == peer
    guard case .closed(var closing) = body, closing.how != .endOfCapture else {
      if isOfPeer { event.context.time.nanoseconds += seconds * 1_000_000_000 }
      return event
    }
    let isOfBoth = closing.how == .fin && closing.isAnswered
    if isOfPeer != isOfBoth { event.context.time.nanoseconds += seconds * 1_000_000_000 }
    if isOfPeer { closing.firstTime.nanoseconds += seconds * 1_000_000_000 }
    event.body = .closed(closing)
    return event
  }

  /// Whether it can be at another place.
  fileprivate var isPacket: Bool {
    switch body {
    case .mqtt, .webSocket, .handshake: context.over == nil
    case .opened, .closed, .attempted, .gap, .malformed, .http, .tls: false
    }
  }
}

extension Event.Body {
  /// The same with the times of its own some nanoseconds later.
  fileprivate func moved(by nanoseconds: Int64) -> Event.Body {
    switch self {
    case .opened(var opening):
      opening.firstTime.nanoseconds += nanoseconds
      return .opened(opening)
    case .closed(var closing):
      closing.firstTime.nanoseconds += nanoseconds
      return .closed(closing)
    default: return self
    }
  }

  fileprivate func changed(_ change: SessionChange) -> Event.Body? {
    switch (self, change) {
    case (.opened(var opening), .begun) where opening.isFromStart:
      opening.isFromStart = false
      return .opened(opening)
    case (.opened(var opening), .pinged):
      opening.hasPings.toggle()
      return .opened(opening)
    case (.closed(var closing), .reset) where closing.how == .fin:
      closing.how = .reset
      return .closed(closing)
    case (.closed(var closing), .unanswered) where closing.how == .fin && closing.isAnswered:
      closing.isAnswered = false
      return .closed(closing)
    default: return nil
    }
  }
}

extension [UInt8] {
  /// The bytes of a packet with another value of one of its fields; nil where it has none.
  fileprivate func changed(_ change: SessionChange, at place: Int) -> [UInt8]? {
    guard count > 2 else { return nil }
    var bytes = self
    let isPublish = self[0] >> 4 == 3
    let qos = self[0] >> 1 & 3
    switch change {
    case .repeated where isPublish: bytes[0] ^= 0b1000
    case .retained where isPublish: bytes[0] ^= 0b0001
    case .graded where isPublish && qos > 0 && qos < 3: bytes[0] ^= 0b0110
    case .renumbered:
      guard let place = placeOfIdentifier, place + 1 < count else { return nil }
      bytes[place + 1] &+= 1
    case .altered: bytes[count - 1] &+= 1
    case .torn: bytes.removeLast()
    case .flagged where !isPublish: bytes[0] ^= 0b0001
    case .damaged: bytes[2 + (place &* 7) % (count - 2)] ^= 1 << UInt8(place & 3)
    default: return nil
    }
    return bytes
  }

  /// Where the identifier is of a packet of less than 128 bytes; nil where it has none.
  private var placeOfIdentifier: Int? {
    guard self[1] < 128 else { return nil }
    switch self[0] >> 4 {
    case 3 where self[0] & 0b0110 != 0 && count > 4: return 4 + Int(self[2]) << 8 + Int(self[3])
    case 4...11: return 2
    default: return nil
    }
  }
}

extension SessionChange {
  /// The bytes of a frame with the change.
  func written(_ frame: [UInt8]) -> [UInt8] {
    guard frame.count > 1 else { return frame }
    var bytes = frame
    switch self {
    case .unfinished: bytes[0] ^= 0x80
    case .reinterpreted: bytes[0] ^= 0b0011
    case .reserved: bytes[0] ^= 0x40
    case .masked:
      bytes[1] ^= 0x80
      // A frame without a key that says it has one gets one in front of its payload.
      if frame[1] & 0x80 == 0, frame[1] < 126 { bytes.insert(contentsOf: [1, 2, 3, 4], at: 2) }
    default: break
    }
    return bytes
  }

  /// Makes the change of a head.
  func write(_ head: inout Head, at place: Int) {
    guard !head.fields.isEmpty else { return }
    let index = (place &+ head.line.utf8.count) % head.fields.count
    switch self {
    case .unlined: head.fields.remove(at: index)
    case .relined: head.fields.append(head.fields[index])
    case .reworded:
      let field = head.fields[index]
      head.fields[index] = .init(field.name, field.value + "x")
    case .restarted:
      head.line = head.line.replacing("101", with: "200").replacing("1.1", with: "1.0")
    default: break
    }
  }
}
