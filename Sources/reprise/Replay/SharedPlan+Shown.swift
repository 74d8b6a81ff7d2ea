import RepriseCore
import SDKReplay

extension SharedPlan: ShownPlan {
  static let system = "app"
  static let callKeys = (subject: "topic", details: "params")

  static func answer(in value: SharedMachine.Value) -> ShownAnswer? {
    switch value {
    case .channel(let value): ChannelPlan.answer(in: value)
    case .gateway(let value): GatewayPlan.answer(in: value)
    }
  }

  static func members(of error: SharedMachine.Failure) -> [JSONMember] {
    switch error {
    case .channel(let error): ChannelPlan.members(of: error)
    case .gateway(let error): GatewayPlan.members(of: error)
    }
  }

  // MARK: What is told

  static func line(of effect: SharedMachine.Effect, in text: ObservationText) -> ShownLine {
    switch effect {
    case .channel(let effect): ChannelPlan.line(of: effect, in: text).of(ChannelPlan.system)
    case .gateway(let effect): GatewayPlan.line(of: effect, in: text).of(GatewayPlan.system)
    }
  }

  static func members(
    of effect: SharedMachine.Effect, in json: ObservationJSON
  ) -> [JSONMember] {
    let (system, members) =
      switch effect {
      case .channel(let effect): (ChannelPlan.system, ChannelPlan.members(of: effect, in: json))
      case .gateway(let effect): (GatewayPlan.system, GatewayPlan.members(of: effect, in: json))
      }
    return members.prefix(1) + [JSONMember("system", .string(system))] + members.dropFirst()
  }

  // MARK: The end

  static func members(of outcome: ReplayOutcome<Self>) -> [JSONMember] {
    [
      JSONMember(ChannelPlan.system, .object(ChannelPlan.members(of: outcome.ofChannel))),
      JSONMember(GatewayPlan.system, .object(GatewayPlan.members(of: outcome.ofGateway))),
    ]
  }

  static func summary(of outcome: ReplayOutcome<Self>) -> (state: String, counts: String?) {
    let channel = ChannelPlan.summary(of: outcome.ofChannel)
    let gateway = GatewayPlan.summary(of: outcome.ofGateway)
    let counts = [
      channel.counts.map { "\(ChannelPlan.system): \($0)" },
      gateway.counts.map { "\(GatewayPlan.system): \($0)" },
    ]
    return (
      "\(ChannelPlan.system) \(channel.state); \(GatewayPlan.system) \(gateway.state)",
      counts.compactMap(\.self).joined(separator: "; ")
    )
  }
}

extension ShownLine {
  fileprivate func of(_ system: String) -> ShownLine {
    ShownLine(
      direction: direction, name: "\(system) \(name)", style: style, fields: fields, fault: fault)
  }
}
