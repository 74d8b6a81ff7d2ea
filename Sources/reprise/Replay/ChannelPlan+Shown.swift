import DeviceSDK
import RepriseCore
import SDKReplay

extension ChannelPlan: ShownPlan {
  static let system = "channel"
  static let callKeys = (subject: "topic", details: "params")

  static func answer(in value: ChannelStateMachine.Value) -> ShownAnswer? {
    guard case .reply(let reply) = value else { return nil }
    return ShownAnswer(code: reply.code, data: reply.data)
  }

  static func members(of error: ChannelError) -> [JSONMember] {
    ObservationJSON.error(error.kind.rawValue, error.cloudCode, error.message)
  }

  static func line(
    of effect: ChannelStateMachine.Effect, in text: ObservationText
  ) -> ShownLine {
    switch effect {
    case .changeState(let change):
      ShownLine(
        name: "state", style: .state, fields: ["\(change.state)"],
        fault: change.error.map { "\($0)" + (change.isFinal ? " (it stays so)" : "") })
    case .changeAccount(let state):
      ShownLine(name: "account", style: .state, fields: [state.rawValue])
    case .deliver(let message): text.line("message", message)
    case .forward(let message): text.line("foreign", message)
    case .log(let entry):
      ShownLine(direction: "· ", name: "note", style: .quiet, fields: [entry.message])
    }
  }

  static func members(
    of effect: ChannelStateMachine.Effect, in json: ObservationJSON
  ) -> [JSONMember] {
    switch effect {
    case .changeState(let change):
      var members = [JSONMember("type", "state"), JSONMember("state", .string("\(change.state)"))]
      if let error = change.error { members += Self.members(of: error) }
      if change.isFinal { members.append(JSONMember("final", true)) }
      return members
    case .changeAccount(let state):
      return [JSONMember("type", "account"), JSONMember("account", .string(state.rawValue))]
    case .deliver(let message):
      return [JSONMember("type", "message")] + json.fields(of: message)
    case .forward(let message):
      return [JSONMember("type", "foreign-message")] + json.fields(of: message)
    case .log(let entry): return ObservationJSON.note(entry)
    }
  }

  static func members(of outcome: ReplayOutcome<Self>) -> [JSONMember] {
    [
      JSONMember("state", .string("\(outcome.ending.state)")),
      JSONMember("account", .string(outcome.ending.account.rawValue)),
    ] + outcome.machine.statistics.members
  }

  static func summary(of outcome: ReplayOutcome<Self>) -> (state: String, counts: String?) {
    let ending = outcome.ending
    return (
      "\(ending.state), account \(ending.account.rawValue)", outcome.machine.statistics.summary
    )
  }
}
