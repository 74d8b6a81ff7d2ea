package import RepriseCore
import Wire

/// Tells what happened to a client, or on a connection, in sentences: what its capture shows, and no more.
///
/// What happens again and again is gathered to one sentence, so that neither memory nor the story grows with the number
/// of messages.
package struct Storyteller {
  /// What takes the sentences, in the order of what they begin with as far as that is possible.
  package typealias Tell = (Sentence) throws -> Void

  /// How many connections were told of.
  package private(set) var connectionCount = 0
  /// How they ended.
  package private(set) var ends: [ConnectionEnd: Int] = [:]
  /// Why the last of them that ended did; nil as long as none did.
  private(set) var lastEnd: String?
  /// The slowest answer.
  private(set) var slowest: (outcome: ExchangeOutcome, connection: Int, nanoseconds: Int)?
  /// The times to all answers of its kind.
  private var times = [Histogram](
    repeating: Histogram(precision: 7), count: ExchangeKind.allCases.count)

  private var open: [Int: StoryConnection] = [:]
  private var flows = StoryFlows()
  private var lastClose: EventContext?
  /// The servers of open connections, of all clients.
  private var servers: [Int: String] = [:]
  /// The wills of connections that were lost, to be found when they are published.
  private var wills: [Will] = []
  /// The most connections that are open at once, and the most wills that are looked for.
  private static let mostOpen = 256
  private static let mostWills = 64
  private static let mostServers = 65_536

  private struct Will {
    let topic: UInt64
    let payload: UInt64
    let connection: Int
    let time: Timestamp
  }

  private let requestKeys: RequestKeys

  /// Creates a storyteller.
  /// - Parameter requestKeys: How requests over WebSocket are told.
  package init(requestKeys: RequestKeys = .standard) { self.requestKeys = requestKeys }

  // MARK: Events of all connections

  /// Looks at an event of any connection, before it is told if it is one of the client's: for wills that are published
  /// and for connections that take over others.
  package mutating func observe(_ event: borrowing EventView, _ tell: Tell) throws {
    let context = event.context
    switch event.body {
    case .opened(let opened):
      if servers.count >= Self.mostServers { servers = [:] }
      servers[context.connection] = opened.server
    case .closed: servers[context.connection] = nil
    case .mqtt(let packet):
      switch packet.type {
      case .connect: noteRivals(packet, context)
      case .connack where packet.reasonCode ?? 0 != 0: forgetRival(of: context.connection)
      case .publish: try findWill(packet, context, tell)
      default: return
      }
    default: return
    }
  }

  /// Takes the news of a CONNECT: older connections of its client to its server may be taken over.
  private func noteRivals(_ packet: borrowing MQTTPacketView, _ context: EventContext) {
    guard let connect = packet.connect, !connect.clientID.isEmpty else { return }
    let client = Name(connect.clientID)
    let server = servers[context.connection]
    for (number, other) in open where number != context.connection {
      guard other.course.client == client, other.course.opening?.server == server else { continue }
      other.course.rival = Rival(
        connection: context.connection, frame: context.frame, time: context.time)
    }
  }

  /// Takes the news that a connection was refused, which takes nothing over.
  private func forgetRival(of connection: Int) {
    for other in open.values where other.course.rival?.connection == connection {
      other.course.rival = nil
    }
  }

  private mutating func findWill(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, _ tell: Tell
  ) throws {
    guard !wills.isEmpty, context.sender == .server, !packet.retain else { return }
    let topic = Name.identity(of: packet.topic)
    guard let index = wills.firstIndex(where: { $0.topic == topic }),
      wills[index].payload == Name.identity(of: packet.payload)
    else { return }
    let will = wills.remove(at: index)
    let time = StoryWords.after(will.time, context.time)
    try say(
      context,
      "the server delivers a message like the will of connection \(will.connection), on "
        + StoryWords.quoted(packet.topic) + (time.map { ", \($0) after its end" } ?? ""), tell)
  }

  // MARK: Events of the client

  /// Takes the next event of the client's connections.
  package mutating func consume(_ event: borrowing EventView, _ tell: Tell) throws {
    let context = event.context
    let connection = connection(of: context)
    let overruns = connection.course.overruns
    let silence = connection.course.lastOfClient
    connection.course.consume(event)
    if connection.course.overruns > overruns, let silence {
      try say(
        context,
        "breaks a silence of \(StoryWords.after(silence, context.time) ?? "?"), longer than one and a half times "
          + "its keep-alive of \(connection.course.keepAlive ?? 0) s", tell)
    }
    pair(event, connection)
    switch event.body {
    case .opened(let opened): try open(opened, context, tell)
    case .mqtt(let packet): try consume(packet, context, connection, tell)
    case .handshake(let handshake): try consume(handshake, context, tell)
    case .webSocket(let frame): try consume(frame, context, connection, tell)
    case .http(let part):
      if case .unanswered(_, _, let reason) = part {
        try say(context, "gets no response: \(reason)", tell)
      } else {
        flows.add(.http(isRequest: context.sender == .client), context, bytes: 0)
      }
    case .tls(let part): try consume(part, context, tell)
    case .gap(let gap): flows.add(.gap(gap.reason), context, bytes: gap.bytes)
    case .malformed(let malformation):
      try say(
        context,
        "bytes of the \(context.sender.rawValue) can't be read: \(malformation.message) "
          + "(byte \(malformation.offset) of its stream)", tell)
    case .closed(let closing): try close(closing, context, connection, tell)
    case .attempted(let attempt):
      open[context.connection] = nil
      let reason = attempt.reason.map { ": \($0)" } ?? ""
      try say(
        context, "tries to reach \(attempt.server) in vain (\(attempt.how.rawValue))\(reason)", tell
      )
      ends[ConnectionEnd(cause: .failedAttempt), default: 0] += 1
    }
  }

  /// Tells what is left at the end of the file.
  package mutating func finish(_ tell: Tell) throws { try flows.flush(tell) }

  mutating func say(
    _ context: EventContext, _ text: String, as role: Sentence.Role = .other, _ tell: Tell
  ) throws {
    try flows.flush(tell)
    try tell(Sentence(context, text, role))
  }

  private mutating func connection(of context: EventContext) -> StoryConnection {
    if let known = open[context.connection] { return known }
    if open.count >= Self.mostOpen { open = [:] }
    let new = StoryConnection(requestKeys)
    open[context.connection] = new
    connectionCount += 1
    return new
  }

  private mutating func pair(_ event: borrowing EventView, _ connection: StoryConnection) {
    let number = event.context.connection
    connection.exchanges.consume(event, isSelected: true) { outcome in
      switch outcome.result {
      case .answered(let nanoseconds, _):
        times[Int(outcome.kind.rawValue)].add(nanoseconds)
        // What others are part of is not slow by itself.
        guard outcome.kind != .releasing, nanoseconds > slowest?.nanoseconds ?? -1 else { return }
        slowest = (outcome, number, nanoseconds)
      case .unanswered, .stillOpen, .undecided: connection.unanswered.append(outcome)
      }
    }
    connection.exchanges.takeAsked { _, _ in }
    connection.limit()
  }

  /// Gathers what may happen again.
  mutating func gather(
    _ subject: StoryFlows.Subject, _ context: EventContext, bytes: Int = 0,
    isRetained: Bool = false, isDuplicate: Bool = false
  ) {
    flows.add(
      subject, context, bytes: bytes, isRetained: isRetained, isDuplicate: isDuplicate)
  }

  /// The times to answers of a kind.
  func times(of kind: ExchangeKind) -> Histogram { times[Int(kind.rawValue)] }

  // MARK: Ends

  /// Takes the news of the end of a connection.
  mutating func note(_ end: ConnectionEnd, why: String, at place: EventContext) {
    ends[end, default: 0] += 1
    // One that was not answered is told where the capture ends.
    if place.frame >= lastClose?.frame ?? 0 { (lastEnd, lastClose) = (why, place) }
    open[place.connection] = nil
  }

  /// Looks out for a will from now on.
  mutating func keepWill(_ topic: UInt64, _ payload: UInt64, _ place: EventContext) {
    if wills.count >= Self.mostWills { wills.removeFirst() }
    wills.append(
      Will(topic: topic, payload: payload, connection: place.connection, time: place.time))
  }

  // MARK: Beginnings

  private mutating func open(
    _ opened: ConnectionOpening, _ context: EventContext, _ tell: Tell
  ) throws {
    var text = "opens a connection from \(opened.client) to \(opened.server)"
    if !opened.isFromStart {
      text = "has a connection from \(opened.client) to \(opened.server), begun before the capture"
    }
    var start = context
    (start.frame, start.time) = (context.place(of: opened.firstFrame), opened.firstTime)
    try say(start, text, as: .opening, tell)
  }

  private mutating func consume(
    _ handshake: WebSocketHandshake, _ context: EventContext, _ tell: Tell
  ) throws {
    switch handshake {
    case .request: try say(context, "asks for WebSocket", tell)
    case .response(let response):
      let text =
        response.accepts ? "gets WebSocket" : "is refused WebSocket: status \(response.status)"
      try say(context, text, tell)
    }
  }

  private mutating func consume(_ part: TLSPart, _ context: EventContext, _ tell: Tell) throws {
    switch part {
    case .handshake(let hellos):
      var text = "uses \(hellos.version ?? "TLS")"
      if let name = hellos.serverName { text += " for \"\(name)\"" }
      if let obstacle = hellos.obstacle { text += ", which is not decrypted: \(obstacle)" }
      try say(context, text, tell)
    case .alert(let alert):
      guard alert.code != 0 else { return }
      let name = alert.name ?? "code \(alert.code)"
      try say(
        context,
        "the \(context.sender.rawValue) sends the TLS alert \(name): \(alert.meaning)", tell)
    }
  }
}
