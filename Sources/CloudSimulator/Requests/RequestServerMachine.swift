package import RepriseCore

/// A server of requests as a value: what one connection brings goes in, what it is sent comes out.
///
/// One machine serves one connection after the other; what it counts of requests goes on, and may be
/// counted on by another machine.
package struct RequestServerMachine: Sendable {
  /// What happened.
  package enum Input: Sendable, Hashable {
    /// A connection is open.
    case opened
    /// The client sent a text.
    case text(String)
    /// The connection is over.
    case closed
    /// Time has passed.
    case timePassed
  }

  /// What to do.
  package enum Output: Sendable, Hashable {
    /// Send a text message.
    case text(String)
    /// Send a binary message.
    case binary([UInt8])
    /// Close the connection with a Close frame.
    case close
    /// Let the connection break without one.
    case drop
  }

  private struct Scheduled: Sendable {
    let time: Timestamp
    let order: UInt64
    let output: Output
    /// When it comes again, and how often still; nil is without end.
    var repetition: (interval: Duration, left: Int?)?
  }

  /// A number that no client has come to.
  private static let unknownID = "1000000007"

  private let script: RequestScript
  private var schedule: [Scheduled] = []
  private var lastOrder: UInt64 = 0
  /// How many requests each rule has seen, by its place in the script.
  var counts: [Int: Int] = [:]
  private var isLoggedIn = false

  /// Creates a server that nobody has connected to.
  /// - Parameter script: How it behaves.
  package init(_ script: RequestScript = RequestScript()) { self.script = script }

  /// When the machine wants to be asked again if nothing happens before; nil is never.
  package var deadline: Timestamp? { schedule.map(\.time).min() }

  /// Takes in one thing that happened.
  /// - Parameters:
  ///   - input: What happened.
  ///   - now: When; never before the time of an earlier input.
  /// - Returns: What to do, in this order.
  package mutating func handle(_ input: Input, now: Timestamp) -> [Output] {
    switch input {
    case .opened:
      schedule = []
      isLoggedIn = false
      for push in script.pushes where push.trigger == nil { plan(push, now) }
    case .closed: schedule = []
    case .text(let text): answer(text, now)
    case .timePassed: break
    }
    return takeDue(now)
  }

  /// Tells what keeps a text message from being a request.
  /// - Parameters:
  ///   - text: The message.
  ///   - envelope: What the parts of a request are called.
  /// - Returns: It in words for a user; nil of a message that is answered.
  package static func misfit(
    of text: String, in envelope: RequestEnvelope = RequestEnvelope()
  ) -> String? { RequestReceived.misfit(of: text, in: envelope) }

  /// Tells what keeps a text message from being a request of this server; nil of one that is answered.
  func misfit(of text: String) -> String? { Self.misfit(of: text, in: script.envelope) }

  // MARK: Answers

  private mutating func answer(_ text: String, _ now: Timestamp) {
    // What can't be read, or names no request, nobody could be answered about.
    let envelope = script.envelope
    guard let request = RequestReceived(text, in: envelope) else { return }
    guard request.service != envelope.heartbeat else {
      if script.answersHeartbeats { plan(.text(request.answer([])), .zero, now) }
      return
    }
    if let login = script.login {
      if RequestScript.matches(login, request.service) {
        isLoggedIn = true
      } else if !isLoggedIn {
        let error = JSONValue.object([
          JSONMember(envelope.errorCode, 4), JSONMember(envelope.errorMessage, "login first"),
        ])
        return plan(.text(request.answer([JSONMember(envelope.error, error)])), .zero, now)
      }
    }
    let rule = rule(for: request.service)
    for output in Self.outputs(request, rule) { plan(output, rule.delay, now) }
    for push in script.pushes {
      if let trigger = push.trigger, RequestScript.matches(trigger, request.service) {
        plan(push, now)
      }
    }
  }

  /// The first rule that fits; all rules of the service count the request.
  private mutating func rule(for service: String) -> RequestScript.Answer {
    var found: RequestScript.Answer?
    for (index, rule) in script.answers.enumerated()
    where RequestScript.matches(rule.service, service) {
      counts[index, default: 0] += 1
      let number = counts[index, default: 0]
      if found == nil, rule.requests.isEmpty || rule.requests.contains(number) { found = rule }
    }
    return found ?? RequestScript.Answer()
  }

  private static func outputs(
    _ request: RequestReceived, _ rule: RequestScript.Answer
  ) -> [Output] {
    let faults = Set(rule.faults)
    if faults.contains(.noAnswer) { return [] }
    if faults.contains(.drop) { return [.drop] }
    if faults.contains(.close) { return [.close] }
    var members: [JSONMember] = []
    if let error = rule.error {
      members.append(JSONMember(request.envelope.error, error))
    } else if !faults.contains(.noContent) {
      let content = rule.content ?? request.parameters
      let isText = request.envelope.writesContentAsText && !faults.contains(.objectContent)
      members.append(
        JSONMember(request.envelope.content, isText ? .string("\(content)") : content))
    }
    var id: JSONValue? = .number(request.id)
    if faults.contains(.noID) { id = nil }
    if faults.contains(.unknownID) { id = .number(unknownID) }
    if faults.contains(.textID) { id = .string(request.id) }
    var text = request.answer(members, id: id, namesService: !faults.contains(.noService))
    if faults.contains(.malformed) { text = String(text.dropLast(text.count / 2)) }
    let output: Output = faults.contains(.binary) ? .binary(Array(text.utf8)) : .text(text)
    return faults.contains(.duplicate) ? [output, output] : [output]
  }

  // MARK: Time

  private mutating func plan(_ push: RequestScript.ScheduledPush, _ now: Timestamp) {
    let output: Output =
      switch push.push {
      case .text(let text): .text(text)
      case .binary(let bytes): .binary(bytes)
      }
    plan(
      output, push.delay, now,
      repetition: push.interval.map { ($0, push.count.map { $0 - 1 }) })
  }

  private mutating func plan(
    _ output: Output, _ delay: Duration, _ now: Timestamp,
    repetition: (interval: Duration, left: Int?)? = nil
  ) {
    lastOrder += 1
    schedule.append(
      Scheduled(
        time: now.advanced(by: delay), order: lastOrder, output: output, repetition: repetition))
  }

  /// What is due, the oldest first; behind the end of the connection nothing is.
  private mutating func takeDue(_ now: Timestamp) -> [Output] {
    var outputs: [Output] = []
    while let index = nextDue(now) {
      let due = schedule.remove(at: index)
      outputs.append(due.output)
      if due.output == .close || due.output == .drop {
        schedule = []
        break
      }
      guard let repetition = due.repetition, repetition.left.map({ $0 > 0 }) ?? true else {
        continue
      }
      plan(
        due.output, repetition.interval, due.time,
        repetition: (repetition.interval, repetition.left.map { $0 - 1 }))
    }
    return outputs
  }

  private func nextDue(_ now: Timestamp) -> Int? {
    schedule.indices.filter { schedule[$0].time <= now }
      .min { (schedule[$0].time, schedule[$0].order) < (schedule[$1].time, schedule[$1].order) }
  }
}

/// A request as a server reads it.
struct RequestReceived: Sendable {
  /// What its parts are called.
  let envelope: RequestEnvelope
  /// The digits of the number that the answer names again.
  let id: String
  let product: String
  let service: String
  let method: String
  /// The content; an empty object without one.
  let parameters: JSONValue

  /// What keeps a text from being a request.
  static func misfit(of text: String, in envelope: RequestEnvelope) -> String? {
    guard let value = JSONValue(parsing: Array(text.utf8)) else { return "it is no JSON" }
    guard case .object(let members) = value else { return "it is no object of JSON" }
    func member(_ key: String) -> JSONValue? { members.last { $0.key == key }?.value }
    let (id, service) = (envelope.id, envelope.service)
    switch (member(id), member(service)) {
    case (nil, _): return "it has no \(id)"
    case (_, nil): return "it has no \(service)"
    case (.string?, _): return "its \(id) is a string, not a whole number"
    case (let number?, _) where number.integer == nil: return "its \(id) is no whole number"
    case (_, let path?): return path.text == nil ? "its \(service) is no string" : nil
    }
  }

  /// Reads a text; nil when it is no request.
  init?(_ text: String, in envelope: RequestEnvelope) {
    guard case .object(let members) = JSONValue(parsing: Array(text.utf8)) else { return nil }
    // Of two members with one key the last counts, as for most readers.
    func value(_ key: String) -> JSONValue? { members.last { $0.key == key }?.value }
    guard let id = value(envelope.id)?.integer, let service = value(envelope.service)?.text else {
      return nil
    }
    self.envelope = envelope
    self.id = String(id)
    self.service = service
    product = value(envelope.product)?.text ?? ""
    method = value(envelope.method)?.text ?? "POST"
    let content = value(envelope.content)
    parameters = content?.text.flatMap { JSONValue(parsing: Array($0.utf8)) } ?? content ?? [:]
  }

  /// Returns an answer: the keys of the request, and what it has besides.
  func answer(_ members: [JSONMember]) -> String { answer(members, id: .number(id)) }

  /// Returns an answer that may lack what it should have.
  func answer(_ members: [JSONMember], id: JSONValue?, namesService: Bool = true) -> String {
    let own =
      [
        JSONMember(envelope.method, .string(method)),
        JSONMember(envelope.product, .string(product)),
      ]
      + (namesService ? [JSONMember(envelope.service, .string(service))] : [])
      + (id.map { [JSONMember(envelope.id, $0)] } ?? [])
    return String(decoding: JSONValue.object(members + own).utf8, as: UTF8.self)
  }
}
