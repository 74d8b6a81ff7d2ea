import DeviceSDK
import RepriseCore
import SDKReplay

extension GatewayPlan: ShownPlan {
  static let system = "gateway"
  static let callKeys = (subject: "topic", details: "params")

  static func answer(in value: GatewayStateMachine.Value) -> ShownAnswer? {
    switch value {
    case .done, .line, .replies: nil
    case .reply(let reply): ShownAnswer(code: reply.code, data: reply.data)
    case .subdevices(let subdevices): ShownAnswer(data: .names(subdevices))
    case .topics(let topics): ShownAnswer(data: .array(topics.map { .string($0) }))
    case .registered(let registered):
      ShownAnswer(
        data: .array(
          registered.map { .string("\($0.productKey ?? "-")/\($0.deviceName ?? "-")") }))
    }
  }

  static func members(of error: GatewayError) -> [JSONMember] {
    ObservationJSON.error(error.kind.rawValue, error.cloudCode, error.message)
  }

  // MARK: For people

  static func line(
    of effect: GatewayStateMachine.Effect, in text: ObservationText
  ) -> ShownLine {
    switch effect {
    case .changeState(let change):
      ShownLine(
        name: "state", style: .state, fields: ["\(change.state)"],
        fault: change.error.map { "\($0)" + (change.isFinal ? " (it stays so)" : "") })
    case .changeLine(let change):
      ShownLine(
        name: "line", style: .state,
        fields: [
          "\(change.subdevice)", change.state.rawValue, change.isDisabled ? "disabled" : nil,
        ], fault: change.error.map { "\($0)" })
    case .command(let command):
      ShownLine(
        name: "command", style: .message,
        fields: [
          "\(command.subdevice)", command.kind.name, text.text(command.params, on: command.topic),
        ])
    case .notice(let notice):
      ShownLine(name: "notice", style: .message, fields: notice.words)
    case .deliver(let message): text.line("message", message.message)
    case .log(let entry):
      ShownLine(direction: "· ", name: "note", style: .quiet, fields: [entry.message])
    case .openConnection, .giveUpOpening, .forgetConnection:
      ShownLine(direction: "· ", name: "connection", style: .quiet)
    }
  }

  // MARK: For programs

  static func members(
    of effect: GatewayStateMachine.Effect, in json: ObservationJSON
  ) -> [JSONMember] {
    switch effect {
    case .changeState(let change):
      var members = [JSONMember("type", "state"), JSONMember("state", .string("\(change.state)"))]
      if let error = change.error { members += Self.members(of: error) }
      if change.isFinal { members.append(JSONMember("final", true)) }
      return members
    case .changeLine(let change):
      return [
        JSONMember("type", "line"), JSONMember("subdevice", .string("\(change.subdevice)")),
        JSONMember("state", .string(change.state.rawValue)),
        JSONMember("disabled", .bool(change.isDisabled)),
      ] + (change.error.map { Self.members(of: $0) } ?? [])
    case .command(let command):
      return [
        JSONMember("type", "command"), JSONMember("subdevice", .string("\(command.subdevice)")),
        JSONMember("command", .string(command.kind.name)),
        JSONMember("topic", .string(command.topic)),
        JSONMember("params", json.shown(command.params, on: command.topic)),
      ]
    case .notice(let notice): return [JSONMember("type", "notice")] + notice.members
    case .deliver(let message):
      let subdevice = message.subdevice.map { [JSONMember("subdevice", .string("\($0)"))] } ?? []
      return [JSONMember("type", "message")] + subdevice + json.fields(of: message.message)
    case .log(let entry): return ObservationJSON.note(entry)
    case .openConnection, .giveUpOpening, .forgetConnection:
      return [JSONMember("type", "connection")]
    }
  }

  // MARK: The end

  static func members(of outcome: ReplayOutcome<Self>) -> [JSONMember] {
    let lines = outcome.ending.lines.sorted { $0.key < $1.key }.map { subdevice, state in
      JSONMember("\(subdevice)", .string(state.rawValue))
    }
    return [
      JSONMember("state", .string("\(outcome.ending.state)")),
      JSONMember("lines", .object(lines)),
    ] + outcome.machine.statistics.members
  }

  static func summary(of outcome: ReplayOutcome<Self>) -> (state: String, counts: String?) {
    let online = outcome.ending.lines.values.count { $0 == .online }
    let lines = outcome.ending.lines.isEmpty ? "" : ", \(online) sub-devices online"
    return ("\(outcome.ending.state)\(lines)", outcome.machine.statistics.summary)
  }
}

extension GatewayCommand.Kind {
  /// The name of the command, as it stands in its topic.
  fileprivate var name: String {
    switch self {
    case .setProperties: "property/set"
    case .getProperties: "property/get"
    case .service(let name): name
    case .disable: "disable"
    case .enable: "enable"
    case .delete: "delete"
    }
  }
}

extension GatewayNotice {
  fileprivate var words: [String] {
    switch self {
    case .topologyChanged(let change, let subdevices):
      ["topology", change.name] + subdevices.map(\.description)
    case .shouldAdd(let subdevices): ["add"] + subdevices.map(\.description)
    case .sessionError(let code, let message, let subdevice):
      ["session", "\(code)", message] + (subdevice.map { ["\($0)"] } ?? [])
    }
  }

  fileprivate var members: [JSONMember] {
    switch self {
    case .topologyChanged(let change, let subdevices):
      [
        JSONMember("notice", "topology"), JSONMember("status", .number("\(change.rawValue)")),
        JSONMember("subdevices", .names(subdevices)),
      ]
    case .shouldAdd(let subdevices):
      [JSONMember("notice", "add"), JSONMember("subdevices", .names(subdevices))]
    case .sessionError(let code, let message, let subdevice):
      [
        JSONMember("notice", "session"), JSONMember("code", .number("\(code)")),
        JSONMember("message", .string(message)),
        JSONMember("subdevices", .names(subdevice.map { [$0] } ?? [])),
      ]
    }
  }
}

extension TopologyChange {
  fileprivate var name: String {
    switch self {
    case .created: "created"
    case .deleted: "deleted"
    case .enabled: "enabled"
    case .disabled: "disabled"
    default: "status \(rawValue)"
    }
  }
}

extension JSONValue {
  fileprivate static func names(_ subdevices: [Subdevice]) -> JSONValue {
    .array(subdevices.map { .string("\($0)") })
  }
}
