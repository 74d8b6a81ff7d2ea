import DeviceSDK
import RepriseCore
import SDKReplay

/// Writes what a replayed system did as lines of JSON, for programs.
struct ObservationJSON: Sendable {
  let file: String
  let redaction: RedactionRules

  /// Appends one thing that was seen, without a line end.
  func append<Plan: ShownPlan>(
    _ observation: SystemReplay<Plan>.Observation, of plan: Plan.Type, to buffer: inout [UInt8]
  ) {
    append(
      place(observation.time, observation.place) + fields(of: observation.content, plan),
      to: &buffer)
  }

  /// Appends a line as it may be shown.
  func append(_ members: [JSONMember], to buffer: inout [UInt8]) {
    redaction.shown(JSONValue.object(members)).append(to: &buffer)
  }

  func place(_ time: Timestamp, _ place: ReplayPlace?) -> [JSONMember] {
    var members = [JSONMember("file", .string(file)), JSONMember("time", .string("\(time)"))]
    if let place {
      members.append(JSONMember("frame", .number("\(place.frame)")))
      members.append(JSONMember("connection", .number("\(place.connection)")))
    }
    return members
  }

  // MARK: Fields

  private func fields<Plan: ShownPlan>(
    of content: SystemReplay<Plan>.Observation.Content, _ plan: Plan.Type
  ) -> [JSONMember] {
    switch content {
    case .called(let call):
      let details = call.details.map { shown($0, on: call.subject) }
      return [JSONMember("type", "call")] + fields(of: call, plan)
        + (details.map { [JSONMember(plan.callKeys.details, $0)] } ?? [])
    case .completed(let call, .success(let value)):
      return [JSONMember("type", "result")] + fields(of: call, plan) + [JSONMember("ok", true)]
        + fields(of: plan.answer(in: value), on: call.subject)
    case .completed(let call, .failure(let error)):
      return [JSONMember("type", "result")] + fields(of: call, plan)
        + [JSONMember("ok", false)] + plan.members(of: error)
    case .told(let effect): return plan.members(of: effect, in: self)
    }
  }

  private func fields<Plan: ShownPlan>(of call: ReplayedCall, _ plan: Plan.Type) -> [JSONMember] {
    var members = [
      JSONMember("call", .number("\(call.number)")), JSONMember("name", .string(call.name)),
    ]
    if let subject = call.subject {
      members.append(JSONMember(plan.callKeys.subject, .string(subject)))
    }
    return members
  }

  private func fields(of answer: ShownAnswer?, on topic: String?) -> [JSONMember] {
    var members: [JSONMember] = []
    if let code = answer?.code { members.append(JSONMember("code", .number("\(code)"))) }
    if let data = answer?.data { members.append(JSONMember("data", shown(data, on: topic))) }
    return members
  }

  func fields(of message: ChannelMessage) -> [JSONMember] {
    var members = [JSONMember("topic", .string(message.topic))]
    if message.isRetained { members.append(JSONMember("retained", true)) }
    if let params = message.params {
      return members + [JSONMember("params", shown(params, on: message.topic))]
    }
    members.append(
      JSONMember("payload", shown(value(of: message.payload), on: message.topic)))
    return members
  }

  /// A payload as recordings have it.
  func value(of payload: [UInt8]) -> JSONValue {
    var text: [UInt8] = []
    EventJSONWriter(hiding: redaction).append(data: payload.span.bytes, to: &text)
    return JSONValue(parsing: text) ?? .null
  }

  /// An error as a member.
  static func error(_ kind: Int, _ code: Int?, _ message: String) -> [JSONMember] {
    var members = [JSONMember("class", .number("\(kind)"))]
    if let code { members.append(JSONMember("code", .number("\(code)"))) }
    members.append(JSONMember("message", .string(message)))
    return [JSONMember("error", .object(members))]
  }

  /// What the log says.
  static func note(_ entry: DeviceLog.Entry) -> [JSONMember] {
    [
      JSONMember("type", "note"), JSONMember("module", .string(entry.module.rawValue)),
      JSONMember("message", .string(entry.message)),
    ]
  }

  /// What comes with a topic, unless the topic is one whose payloads are hidden.
  func shown(_ value: JSONValue, on topic: String?) -> JSONValue {
    redaction.hidesPayload(on: topic ?? "") ? .string(RedactionRules.mark) : value
  }

  // MARK: The end

  /// Appends how a replay ended, without a line end.
  func append<Plan: ShownPlan>(_ outcome: ReplayOutcome<Plan>, to buffer: inout [UInt8]) {
    if let divergence = outcome.divergence {
      return append(
        place(outcome.time, divergence.place) + fields(of: divergence), to: &buffer)
    }
    let open = outcome.openCalls.map { JSONValue.object(fields(of: $0, Plan.self)) }
    var members = place(outcome.time, nil)
    members += [JSONMember("type", "end")] + Plan.members(of: outcome)
    members.append(JSONMember("openCalls", .array(open)))
    if let unsent = outcome.unsent { members.append(JSONMember("unsent", .string(unsent))) }
    append(members, to: &buffer)
  }

  func fields(of divergence: ReplayDivergence) -> [JSONMember] {
    var members = [
      JSONMember("type", "divergence"), JSONMember("kind", .string(divergence.kind.rawValue)),
    ]
    if let expected = divergence.expected {
      members.append(JSONMember("expected", .string(expected)))
    }
    if let actual = divergence.actual { members.append(JSONMember("actual", .string(actual))) }
    let differences = divergence.differences.map { difference in
      JSONValue.object([
        JSONMember("place", .string(difference.place)),
        JSONMember("expected", difference.expected.map { .string($0) } ?? .null),
        JSONMember("actual", difference.actual.map { .string($0) } ?? .null),
      ])
    }
    members.append(JSONMember("differences", .array(differences)))
    members.append(JSONMember("next", .string(divergence.remedy)))
    return members
  }
}
