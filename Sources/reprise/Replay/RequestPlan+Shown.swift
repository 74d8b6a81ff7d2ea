import DeviceSDK
import RepriseCore
import SDKReplay

extension RequestPlan: ShownPlan {
  static let system = "connection"
  static let callKeys = (subject: "service", details: "parameters")

  static func answer(in value: RequestStateMachine.Value) -> ShownAnswer? {
    guard case .answer(let answer) = value else { return nil }
    return ShownAnswer(data: answer.content)
  }

  static func members(of error: RequestError) -> [JSONMember] {
    ObservationJSON.error(error.kind.rawValue, error.serverCode, error.message)
  }

  static func line(
    of effect: RequestStateMachine.Effect, in text: ObservationText
  ) -> ShownLine {
    switch effect {
    case .changeState(let change):
      ShownLine(
        name: "state", style: .state, fields: [change.state.rawValue],
        fault: change.error.map { "\($0)" })
    case .push(let message):
      ShownLine(name: "message", style: .message, fields: [text.shown(message)])
    case .needsLogin: ShownLine(name: "login", style: .state, fields: ["wanted"])
    }
  }

  static func members(
    of effect: RequestStateMachine.Effect, in json: ObservationJSON
  ) -> [JSONMember] {
    switch effect {
    case .changeState(let change):
      [JSONMember("type", "state"), JSONMember("state", .string(change.state.rawValue))]
        + (change.error.map { Self.members(of: $0) } ?? [])
    case .push(.json(let value)): [JSONMember("type", "message"), JSONMember("data", value)]
    case .push(.text(let text)):
      [JSONMember("type", "message"), JSONMember("payload", json.value(of: Array(text.utf8)))]
    case .push(.binary(let bytes)):
      [JSONMember("type", "message"), JSONMember("payload", json.value(of: bytes))]
    case .needsLogin: [JSONMember("type", "login")]
    }
  }

  static func members(of outcome: ReplayOutcome<Self>) -> [JSONMember] {
    let counts = outcome.machine.statistics
    return [
      JSONMember("state", .string(outcome.ending.rawValue)),
      JSONMember("messages", .number("\(counts.pushes)")),
      JSONMember("lateAnswers", .number("\(counts.lateAnswers)")),
      JSONMember("duplicateAnswers", .number("\(counts.duplicateAnswers)")),
      JSONMember("lostConnections", .number("\(counts.lostConnections)")),
    ]
  }

  static func summary(of outcome: ReplayOutcome<Self>) -> (state: String, counts: String?) {
    let counts = outcome.machine.statistics
    return (
      outcome.ending.rawValue,
      "messages \(counts.pushes), late answers \(counts.lateAnswers), "
        + "repeated \(counts.duplicateAnswers), lost connections \(counts.lostConnections)"
    )
  }
}
