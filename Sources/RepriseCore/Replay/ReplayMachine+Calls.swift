import Wire

/// Calls of the application: requests that are answered by a message with the same identifier, and the subscriptions
/// that they begin with.
///
/// An application that makes calls at once may have got the first reply before it made the last call; in the recording
/// the reply then stands between them, as if the application had waited for it. So where no other action fits, a call
/// may come although only the replies to other calls stand before it, and the acknowledgements of these. One that
/// carries what such a reply has brought was made with it, and may not. An application that does wait for a reply that
/// comes behind another call in the session is stalled, which is told like any other stall.
extension ReplayMachine {
  /// How many entries are looked at behind the first action that was not performed.
  private static let window = 512

  /// Finds the first call that is performed, of those that only replies to other calls separate from the first action.
  /// - Returns: The action with its comparison; nil when there is none.
  mutating func chooseCall(
    _ action: ClientAction, _ first: ReplayOutlook.Action
  ) throws(DataClientError) -> (ReplayOutlook.Action, ReplayComparison)? {
    guard options.order == .causal, options.match != .strict, action.kind.mayBePartOfCall else {
      return nil
    }
    var calls = ReplayCalls(options.roles, answeringTo: performedRequests)
    var entries: [ReplayEntry] = []
    stream.scan(from: first.number) { _, entry in
      entries.append(entry)
      return entries.count < Self.window
    }
    calls.survey(entries)
    var ordinal = first.ordinal - 1
    for entry in entries {
      guard calls.goesOn(behind: entry) else { return nil }
      guard case .action = entry.role else { continue }
      ordinal += 1
      guard let other = try actionAhead(at: ordinal) else { return nil }
      let mayCome = calls.note(action: entry, isTaken: other.isTaken)
      guard mayCome, !other.isTaken, let comparison = compare(other, action, isBrief: true),
        comparison.differences.isEmpty
      else { continue }
      return (other, comparison)
    }
    return nil
  }

  private mutating func actionAhead(
    at ordinal: Int
  ) throws(DataClientError) -> ReplayOutlook.Action? {
    do {
      return try stream.action(at: ordinal)
    } catch { throw fail(error) }
  }

  /// Remembers a message that was performed, should its reply stand between actions that were not.
  mutating func noteRequest(_ event: Event) {
    guard options.order == .causal, event.packetType == .publish || event.isHTTP else { return }
    performedRequests.append(event)
    while performedRequests.count > ReplayCalls.memory { performedRequests.removeFirst() }
  }
}

extension ClientAction.Kind {
  /// Whether a call may consist of it.
  fileprivate var mayBePartOfCall: Bool {
    switch self {
    case .subscribe, .publish, .send: true
    case .connect, .unsubscribe, .sendText, .sendBinary, .disconnect: false
    }
  }
}

/// Which actions of a part of a session are calls that nothing but replies to other calls separates.
struct ReplayCalls {
  /// How many requests are remembered that were performed before the part.
  static let memory = 64

  private struct Identifier: Hashable {
    let role: String
    let text: String
  }

  /// A message with an identifier.
  private struct Request {
    let topic: String
    let packetID: UInt16?
    /// All that it carries, which a reply may repeat.
    let values: Set<String>
    /// Where its reply goes; nil when there is none.
    var replyTopic: String?
  }

  private let roles: ReplayRoles
  private var requests: [Identifier: Request] = [:]
  /// The packet identifiers of the requests that are answered.
  private var answered: Set<UInt16> = []
  /// What the requests over HTTP carry that are not answered.
  private var asked: [ReplayExchange: Set<String>] = [:]
  /// What replies brought that was in no request before them.
  private var fresh: Set<String> = []
  /// The subscriptions that were not performed.
  private var missing: [String] = []

  init(_ roles: ReplayRoles, answeringTo performed: ReplayQueue<Event>) {
    self.roles = roles
    for index in performed.start..<performed.end {
      if let event = performed[index] { note(request: event) }
    }
  }

  // MARK: Requests and replies

  /// Finds the requests of a part of a session, and which of them are answered.
  mutating func survey(_ entries: [ReplayEntry]) {
    for entry in entries where entry.event.isHTTP { note(request: entry.event) }
    for entry in entries where entry.event.packetType == .publish {
      switch entry.role {
      case .action: note(request: entry.event)
      case .fromServer:
        guard let key = requestKey(of: entry.event) else { continue }
        requests[key]?.replyTopic = entry.event.topic
        if let id = requests[key]?.packetID { answered.insert(id) }
      case .closing, .hole, .nothing: continue
      }
    }
  }

  private mutating func note(request event: Event) {
    if case .http(let part) = event.body {
      guard let values = part.telling(roles), case .request = part else { return }
      asked[ReplayExchange(event.context.connection, part.exchange)] = values
      return
    }
    guard let payload = event.json, let key = identifier(in: payload) else { return }
    requests[key] = Request(
      topic: event.topic, packetID: event.packetID, values: payload.telling(roles))
  }

  /// The identifier of the first member that has the role of one.
  private func identifier(in payload: JSONValue) -> Identifier? {
    guard case .object(let members) = payload else { return nil }
    for member in members {
      if let role = roles.role(key: member.key, path: member.key), Self.identifies(role),
        let text = member.value.scalarText
      {
        return Identifier(role: role, text: text)
      }
    }
    return nil
  }

  /// Times, signatures and what is thrown away after use identify nothing.
  private static func identifies(_ role: String) -> Bool {
    !["time", "signature", "nonce"].contains(role)
  }

  /// The request that a message of the server answers.
  private func requestKey(of event: Event) -> Identifier? {
    guard let payload = event.json, let key = identifier(in: payload), let request = requests[key],
      request.topic != event.topic
    else { return nil }
    return key
  }

  // MARK: What separates

  /// Whether calls behind an entry may come before what stands in front of it.
  mutating func goesOn(behind entry: ReplayEntry) -> Bool {
    switch entry.role {
    case .action, .nothing: return true
    case .closing, .hole: return false
    case .fromServer: break
    }
    if case .http(let part) = entry.event.body {
      let exchange = ReplayExchange(entry.event.context.connection, part.exchange)
      guard let values = asked[exchange] else { return false }
      if let told = part.telling(roles) { fresh.formUnion(told.subtracting(values)) }
      return true
    }
    switch entry.event.packetType {
    case .publish:
      guard let key = requestKey(of: entry.event), let request = requests[key],
        let payload = entry.event.json
      else { return false }
      fresh.formUnion(payload.telling(roles).subtracting(request.values))
      return true
    case .suback, .unsuback, .pubrel: return true
    case .puback, .pubcomp:
      // The application waits for the reply of a request, and not for its acknowledgement.
      return entry.event.packetID.map { answered.contains($0) } ?? false
    default: return false
    }
  }

  /// Takes the next action.
  /// - Returns: Whether it is part of a call that may come now.
  mutating func note(action entry: ReplayEntry, isTaken: Bool) -> Bool {
    let event = entry.event
    if case .http(let part) = event.body {
      return part.telling(roles)?.isDisjoint(with: fresh) ?? false
    }
    switch event.packetType {
    case .subscribe:
      if !isTaken { missing += event.filters }
      return true
    case .publish:
      guard let payload = event.json, let key = identifier(in: payload),
        let reply = requests[key]?.replyTopic
      else { return false }
      // Nothing is asked before its answer is subscribed to.
      guard !missing.contains(where: { Subscription($0).matches(reply) }) else { return false }
      return payload.telling(roles).isDisjoint(with: fresh)
    default: return false
    }
  }
}

extension HTTPPart {
  /// The texts and numbers of a message that tell where they come from; nil where there is no message.
  fileprivate func telling(_ roles: ReplayRoles) -> Set<String>? {
    guard let message else { return nil }
    guard let request = request(below: "") else {
      return (JSONValue(parsing: message.body) ?? .null).telling(roles)
    }
    let members = request.parameters.map { JSONMember($0.key, $0.value) }
    // What an answer names may stand in a path.
    let levels = request.path.split(separator: "/").map { JSONValue.string(String($0)) }
    return JSONValue.object(members).telling(roles).union(JSONValue.array(levels).telling(roles))
  }
}

extension Event {
  /// Whether the event is a step of an exchange over HTTP.
  fileprivate var isHTTP: Bool {
    if case .http = body { true } else { false }
  }

  /// The payload of a PUBLISH as JSON; nil when it is none.
  fileprivate var json: JSONValue? {
    withView { view in
      guard case .mqtt(let packet) = view.body, packet.type == .publish else { return nil }
      return try? JSONParser.parse(Array(copying: packet.payload).span.bytes)
    }
  }

  /// The topic of a PUBLISH as it stands there.
  fileprivate var topic: String {
    withView { view in
      guard case .mqtt(let packet) = view.body, packet.type == .publish else { return "" }
      return String(copying: packet.topic)
    }
  }

  /// The filters of a SUBSCRIBE.
  fileprivate var filters: [String] {
    guard case .subscribe(let wanted)? = RecordedAction(self)?.kind else { return [] }
    return wanted.map(\.filter)
  }
}

extension JSONValue {
  /// The texts and numbers that are long enough to tell where they come from, but for those that are made anew.
  fileprivate func telling(_ roles: ReplayRoles) -> Set<String> {
    var values: Set<String> = []
    collect(roles, path: "", into: &values)
    return values
  }

  private func collect(_ roles: ReplayRoles, path: String, into values: inout Set<String>) {
    switch self {
    case .array(let elements):
      for element in elements { element.collect(roles, path: path, into: &values) }
    case .object(let members):
      for member in members {
        let path = path.isEmpty ? member.key : "\(path).\(member.key)"
        guard roles.role(key: member.key, path: path) == nil else { continue }
        member.value.collect(roles, path: path, into: &values)
      }
    case .string(let text): if text.utf8.count >= 4 { values.insert(text) }
    case .number(let digits): if digits.utf8.count >= 4 { values.insert(digits) }
    case .null, .bool: return
    }
  }
}
