import DataClient
import DeviceSDK

/// Writes what a replayed channel did as lines of JSON, for programs.
struct ObservationJSON: Sendable {
  let file: String
  let redaction: RedactionRules

  /// Appends one thing that was seen, without a line end.
  func append(_ observation: ChannelObservation, to buffer: inout [UInt8]) {
    append(
      place(observation.time, observation.place) + fields(of: observation.content), to: &buffer)
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

  private func fields(of content: ChannelObservation.Content) -> [JSONMember] {
    switch content {
    case .called(let call):
      var members = [JSONMember("type", "call")] + fields(of: call)
      if let params = call.params {
        members.append(JSONMember("params", shown(params, on: call.topic)))
      }
      return members
    case .completed(let call, .success(let reply)):
      return [JSONMember("type", "result")] + fields(of: call) + [JSONMember("ok", true)]
        + fields(of: reply, on: call.topic)
    case .completed(let call, .failure(let error)):
      return [JSONMember("type", "result")] + fields(of: call)
        + [JSONMember("ok", false), JSONMember("error", value(of: error))]
    case .state(let change):
      var members = [JSONMember("type", "state"), JSONMember("state", .string("\(change.state)"))]
      if let error = change.error { members.append(JSONMember("error", value(of: error))) }
      if change.isFinal { members.append(JSONMember("final", true)) }
      return members
    case .account(let state):
      return [JSONMember("type", "account"), JSONMember("account", .string(state.rawValue))]
    case .message(let message): return [JSONMember("type", "message")] + fields(of: message)
    case .foreignMessage(let message):
      return [JSONMember("type", "foreign-message")] + fields(of: message)
    case .note(let entry):
      return [
        JSONMember("type", "note"), JSONMember("module", .string(entry.module.rawValue)),
        JSONMember("message", .string(entry.message)),
      ]
    }
  }

  private func fields(of call: ChannelObservation.Call) -> [JSONMember] {
    var members = [
      JSONMember("call", .number("\(call.number)")), JSONMember("name", .string(call.name)),
    ]
    if let topic = call.topic { members.append(JSONMember("topic", .string(topic))) }
    return members
  }

  private func fields(of reply: ChannelReply?, on topic: String?) -> [JSONMember] {
    guard let reply else { return [] }
    var members = [JSONMember("code", .number("\(reply.code)"))]
    if let data = reply.data { members.append(JSONMember("data", shown(data, on: topic))) }
    return members
  }

  private func fields(of message: ChannelMessage) -> [JSONMember] {
    var members = [JSONMember("topic", .string(message.topic))]
    if message.isRetained { members.append(JSONMember("retained", true)) }
    if let params = message.params {
      return members + [JSONMember("params", shown(params, on: message.topic))]
    }
    var text: [UInt8] = []
    EventJSONWriter(hiding: redaction)
      .append(data: message.payload.span.bytes, to: &text)
    members.append(
      JSONMember("payload", shown(JSONValue(parsing: text) ?? .null, on: message.topic)))
    return members
  }

  private func value(of error: ChannelError) -> JSONValue {
    var members = [JSONMember("class", .number("\(error.kind.rawValue)"))]
    if let code = error.cloudCode { members.append(JSONMember("code", .number("\(code)"))) }
    members.append(JSONMember("message", .string(error.message)))
    return .object(members)
  }

  /// What comes with a topic, unless the topic is one whose payloads are hidden.
  private func shown(_ value: JSONValue, on topic: String?) -> JSONValue {
    redaction.hidesPayload(on: topic ?? "") ? .string(RedactionRules.mark) : value
  }

  // MARK: The end

  /// Appends how a replay ended, without a line end.
  func append(_ outcome: ChannelReplayOutcome, to buffer: inout [UInt8]) {
    if let divergence = outcome.divergence {
      return append(
        place(outcome.time, divergence.place) + fields(of: divergence), to: &buffer)
    }
    let counts = outcome.statistics
    var members = place(outcome.time, nil)
    members += [
      JSONMember("type", "end"), JSONMember("state", .string("\(outcome.state)")),
      JSONMember("account", .string(outcome.account.rawValue)),
      JSONMember("openCalls", .array(outcome.openCalls.map { .object(fields(of: $0)) })),
      JSONMember("messages", .number("\(counts.messages)")),
      JSONMember("lateReplies", .number("\(counts.lateReplies)")),
      JSONMember("duplicateReplies", .number("\(counts.duplicateReplies)")),
      JSONMember("unknownReplies", .number("\(counts.unknownReplies)")),
      JSONMember("lostConnections", .number("\(counts.lostConnections)")),
    ]
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
