import Wire

/// Chooses events by an expression such as `topic ~ "a/+" and qos > 0`.
///
/// A condition on a field that an event does not have is false, `!=` too. Evaluation allocates nothing per event,
/// unless the expression asks for members of payloads; where it asks for clients, users, addresses or topics, those of
/// open connections are remembered, as far as there is memory for them.
public struct SessionFilter: Sendable {
  let expression: FilterExpression
  private let wanted: FilterMemory.Wanted
  private var start: Timestamp?
  private var memory: FilterMemory

  /// Creates a filter.
  /// - Parameters:
  ///   - expression: The expression, in the language of `reprise help filter`.
  ///   - others: More expressions, all of which an event has to fulfil as well.
  ///   - memory: The most bytes that clients and topics of open connections take, 64 MiB if not
  ///     stated.
  /// - Throws: ``FilterError`` with the place of the mistake.
  public init(
    _ expression: String, and others: [String] = [], memory: Int = 64 << 20
  ) throws(FilterError) {
    var all = try FilterParser.parse(expression)
    for other in others { all = .and(all, try FilterParser.parse(other)) }
    self.init(all, memory: memory)
  }

  /// Creates a filter that chooses a part of a session by time, and of that what fulfils all of some expressions; nil
  /// if that is all of it.
  /// - Parameters:
  ///   - expressions: The expressions.
  ///   - start: The first moment of the part, as the filter language writes times; nil is the session's start.
  ///   - end: The first moment behind the part; nil is the session's end.
  ///   - memory: The most bytes that clients and topics of open connections take.
  /// - Throws: ``FilterError``, of the text that can't be understood.
  public init?(
    all expressions: [String], from start: String? = nil, to end: String? = nil,
    memory: Int = 64 << 20
  ) throws(FilterError) {
    var all: FilterExpression?
    func add(_ next: FilterExpression) { all = all.map { .and($0, next) } ?? next }
    for expression in expressions { add(try FilterParser.parse(expression)) }
    for (text, comparison) in [(start, FilterComparison.atLeast), (end, .less)] {
      guard let text else { continue }
      guard let time = FilterTime(text) else {
        throw FilterError(
          message: "'\(text)' is no time such as 2026-11-21T07:39:01Z, 07:39 or +2s",
          expression: text, column: 1)
      }
      add(.comparison(.time, comparison, time.value))
    }
    guard let all else { return nil }
    self.init(all, memory: memory)
  }

  /// Creates a filter that chooses what belongs to a client's connections, from the packet on that names it.
  init(client: String, memory: Int) {
    self.init(.comparison(.client, .equal, .text(Array(client.utf8))), memory: memory)
  }

  private init(_ expression: FilterExpression, memory: Int) {
    self.expression = expression
    self.memory = FilterMemory(limit: memory)
    wanted = FilterMemory.Wanted(expression)
  }

  /// Forgets what belongs to a file: its connections and its first moment.
  public mutating func beginFile() {
    start = nil
    memory.removeAll()
  }

  /// What could not be remembered of the current file, in a sentence for the user; nil if nothing.
  public var note: String? {
    guard memory.forgotten > 0 else { return nil }
    let s = memory.forgotten == 1 ? "" : "s"
    return "the client and the topics behind aliases of \(memory.forgotten) connection\(s) were "
      + "forgotten by the filter for lack of memory: what it says of them chose nothing; --memory "
      + "gives it more"
  }

  /// Tells whether an event is one of those that the expression chooses.
  /// - Parameter event: The next event of the session; the filter must see all of them, in order.
  /// - Returns: Whether it is.
  public mutating func matches(_ event: borrowing EventView) -> Bool {
    if start == nil { start = event.context.time }
    memory.learn(wanted, from: event)
    let result = evaluate(expression, event)
    memory.forget(after: event)
    return result
  }

  // MARK: Evaluation

  private func evaluate(
    _ expression: FilterExpression, _ event: borrowing EventView
  ) -> Bool {
    switch expression {
    case .comparison(let field, let comparison, let value):
      holds(field, comparison, value, event)
    case .isAny(let field, let values): contains(values, field, event)
    case .flag(let field, let wanted): flag(field, event) == wanted
    case .and(let first, let second): evaluate(first, event) && evaluate(second, event)
    case .or(let first, let second): evaluate(first, event) || evaluate(second, event)
    case .not(let inner): !evaluate(inner, event)
    case .member(let member, let comparison, let value):
      switch event.body {
      case .mqtt(let packet) where packet.type == .publish:
        member.holds(comparison, value, in: packet.payload)
      case .webSocket(let frame): member.holds(comparison, value, in: frame.data)
      case .http(let part):
        part.message.map { member.holds(comparison, value, in: $0.body.span.bytes) } ?? false
      default: false
      }
    }
  }

  private func contains(
    _ values: [FilterValue], _ field: FilterField, _ event: borrowing EventView
  ) -> Bool {
    for value in values where holds(field, .equal, value, event) { return true }
    return false
  }

  private func holds(
    _ field: FilterField, _ comparison: FilterComparison, _ value: FilterValue,
    _ event: borrowing EventView
  ) -> Bool {
    switch value {
    case .type(let type): return type.isType(of: event) == (comparison == .equal)
    case .peer(let peer): return (event.context.sender == peer) == (comparison == .equal)
    case .version(let version):
      let wire = event.context.wire
      let actual: MQTTVersion? = wire.isCertain ? wire.version : nil
      let isEqual = wire.version != nil && actual == version
      return isEqual == (comparison == .equal)
    case .webSocket: return (event.context.wire == .webSocket) == (comparison == .equal)
    case .http: return (event.context.wire == .http) == (comparison == .equal)
    case .tls: return (event.context.wire == .tls) == (comparison == .equal)
    case .carrier(let carrier):
      return event.context.over.map { ($0 == carrier) == (comparison == .equal) } ?? false
    case .text(let text): return holds(field, comparison, text, event)
    case .number(let number):
      if field == .code, case .mqtt(let packet) = event.body, !packet.reasonCodes.isEmpty {
        return packet.reasonCodes.contains { comparison.holds(Int($0), number) }
      }
      if field == .port {
        let ports = memory.addresses(of: event.context.connection).compactMap(\.port)
        if comparison == .notEqual { return !ports.isEmpty && !ports.contains(number) }
        return ports.contains { comparison.holds($0, number) }
      }
      return event.number(field).map { comparison.holds($0, number) } ?? false
    case .reason(let reason):
      guard case .mqtt(let packet) = event.body else { return false }
      let type = packet.type
      func isNamed(_ code: UInt8) -> Bool { reason.means(code, in: type) }
      let isThere =
        packet.reasonCodes.isEmpty
        ? packet.reasonCode.map(isNamed) : packet.reasonCodes.contains(where: isNamed)
      return isThere.map { $0 == (comparison == .equal) } ?? false
    case .moment(let moment): return comparison.holds(event.context.time, moment)
    case .sinceStart(let nanoseconds):
      let since = event.context.time.nanoseconds(since: start ?? event.context.time)
      return comparison.holds(since, nanoseconds)
    case .timeOfDay(let nanoseconds):
      return comparison.holds(event.context.time.nanosecondsOfDay, nanoseconds)
    }
  }

  private func holds(
    _ field: FilterField, _ comparison: FilterComparison, _ text: [UInt8],
    _ event: borrowing EventView
  ) -> Bool {
    let connection = event.context.connection
    switch field {
    case .client, .username:
      let name =
        field == .client ? memory.client(of: connection) : memory.username(of: connection)
      return name.map { comparison.holds($0.span.bytes, text.span.bytes) } ?? false
    case .address:
      let hosts = memory.addresses(of: connection).map(\.host)
      if comparison == .notEqual { return !hosts.isEmpty && !hosts.contains(text) }
      return hosts.contains { comparison.holds($0.span.bytes, text.span.bytes) }
    default: break
    }
    if case .webSocket(let frame) = event.body {
      return field == .payload && comparison.holds(frame.data, text.span.bytes)
    }
    if case .http(let part) = event.body {
      return part.text(field).map { comparison.holds($0.span.bytes, text.span.bytes) } ?? false
    }
    guard case .mqtt(let packet) = event.body else { return false }
    switch field {
    case .topic:
      guard packet.type == .publish else { return false }
      if packet.topic.isEmpty, let alias = packet.topicAlias {
        let context = event.context
        guard let topic = memory.topic(alias, of: context.sender, on: context.connection) else {
          return false
        }
        return comparison.holds(topic.span.bytes, text.span.bytes)
      }
      return comparison.holds(packet.topic, text.span.bytes)
    case .payload:
      return packet.type == .publish && comparison.holds(packet.payload, text.span.bytes)
    case .filter:
      var filters = packet.filters
      while let filter = filters.next() {
        if comparison.holds(filter.text, text.span.bytes) { return true }
      }
      return false
    default: return false
    }
  }

  /// The value of a flag; nil where the event has none.
  private func flag(_ field: FilterField, _ event: borrowing EventView) -> Bool? {
    switch event.body {
    case _ where field == .fault: return event.hasFault
    case .mqtt(let packet) where packet.type == .publish:
      if field == .retain { return packet.retain }
      return field == .dup ? packet.dup : nil
    case .webSocket(let frame):
      if field == .fin { return frame.header.isFinal }
      return field == .masked ? frame.header.isMasked : nil
    default: return nil
    }
  }
}

extension HTTPPart {
  /// The value of a field that is text; nil where the step has none.
  fileprivate func text(_ field: FilterField) -> [UInt8]? {
    guard let message else { return nil }
    switch (field, message.start) {
    case (.payload, _): return message.body
    case (.method, .request(let method, _)): return Array(method.utf8)
    case (.target, .request(_, let target)): return Array(target.utf8)
    default: return nil
    }
  }
}
