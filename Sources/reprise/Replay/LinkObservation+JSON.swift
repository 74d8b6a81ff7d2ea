import DataClient
import DeviceSDK

extension ObservationJSON {
  /// Appends one thing that was seen of a link, without a line end.
  func append(_ observation: LinkObservation, to buffer: inout [UInt8]) {
    append(
      place(observation.time, observation.place) + fields(of: observation.content), to: &buffer)
  }

  private func fields(of content: LinkObservation.Content) -> [JSONMember] {
    switch content {
    case .called(let call):
      let details = call.details.map { [JSONMember("details", value(of: $0))] } ?? []
      return [JSONMember("type", "call")] + fields(of: call) + details
    case .completed(let call, let error):
      var members = [JSONMember("type", "result")] + fields(of: call)
      members.append(JSONMember("ok", .bool(error == nil)))
      if let error {
        members.append(JSONMember("code", .number("\(error.code.rawValue)")))
        members.append(JSONMember("message", .string(error.message)))
      }
      return members
    case .told(.changeState(let event)): return fields(of: event)
    case .told(.tellPresence(let event)): return fields(of: event)
    case .told(.deliver(let message)):
      var payload: [UInt8] = []
      EventJSONWriter(hiding: redaction)
        .append(data: message.payload.span.bytes, to: &payload)
      return [
        JSONMember("type", "message"), JSONMember("channel", .string(message.channel)),
        JSONMember("publisher", .string(message.publisher)),
        // A link does not tell on which topic a message came.
        JSONMember(
          "payload",
          redaction.topics.isEmpty
            ? JSONValue(parsing: payload) ?? .null
            : .string(RedactionRules.mark)),
      ]
    case .told(.warnOfToken(let event)):
      return [JSONMember("type", "token"), JSONMember("expires", .string("\(event.expires)"))]
    }
  }

  /// What was given with a call: an object of states, or text.
  private func value(of details: String) -> JSONValue {
    guard let value = JSONValue(parsing: Array(details.utf8)), case .object = value else {
      return .string(details)
    }
    return value
  }

  private func fields(of call: LinkObservation.Call) -> [JSONMember] {
    var members = [
      JSONMember("call", .number("\(call.number)")), JSONMember("name", .string(call.name)),
    ]
    if let channel = call.channel { members.append(JSONMember("channel", .string(channel))) }
    return members
  }

  private func fields(of event: LinkStateEvent) -> [JSONMember] {
    let unrestored = event.unrestored.map { channel -> JSONValue in
      ["channel": .string(channel.channel), "states": value(of: channel.states)]
    }
    return [
      JSONMember("type", "state"), JSONMember("state", .string("\(event.current)")),
      JSONMember("previous", .string("\(event.previous)")),
      JSONMember("service", .string("\(event.service)")),
      JSONMember("operation", .string("\(event.operation)")),
      JSONMember("reason", .string("\(event.reason)")),
      JSONMember("affected", .array(event.affected.map { .string($0) })),
      JSONMember("unrestored", .array(unrestored)),
      JSONMember("isResumed", .bool(event.isResumed)),
    ]
  }

  private func fields(of event: LinkPresenceEvent) -> [JSONMember] {
    var members = [
      JSONMember("type", "presence"), JSONMember("event", .string("\(event.kind)")),
      JSONMember("channel", .string(event.channel)),
    ]
    if let user = event.user { members.append(JSONMember("user", value(of: user))) }
    if event.kind == .snapshot {
      members.append(JSONMember("users", .array(event.snapshot.map(value))))
    }
    guard event.kind == .interval else { return members }
    let interval = event.interval
    return members + [
      JSONMember("joined", .array(interval.joined.map { .string($0) })),
      JSONMember("left", .array(interval.left.map { .string($0) })),
      JSONMember("timedOut", .array(interval.timedOut.map { .string($0) })),
      JSONMember("states", .array(interval.states.map(value))),
    ]
  }

  private func value(of user: LinkPresenceEvent.User) -> JSONValue {
    ["user": .string(user.userID), "states": value(of: user.states)]
  }

  private func value(of states: [String: String]) -> JSONValue {
    .object(states.sorted { $0.key < $1.key }.map { JSONMember($0.key, .string($0.value)) })
  }

  /// Appends how a replay ended, without a line end.
  func append(_ outcome: LinkReplayOutcome, to buffer: inout [UInt8]) {
    if let divergence = outcome.divergence {
      return append(
        place(outcome.time, divergence.place) + fields(of: divergence), to: &buffer)
    }
    var members = place(outcome.time, nil)
    members += [
      JSONMember("type", "end"), JSONMember("state", .string("\(outcome.state)")),
      JSONMember("openCalls", .array(outcome.openCalls.map { .object(fields(of: $0)) })),
    ]
    if let unsent = outcome.unsent { members.append(JSONMember("unsent", .string(unsent))) }
    append(members, to: &buffer)
  }
}
