package import DeviceSDK
package import RepriseCore

/// What the people and the code of a recorded app did with a channel and with the gateway that rides on its connection.
///
/// Each of them has a plan of its own, of what is its in the session. The gateway opens no connection that could be seen:
/// it is started, or comes back after a loss, when it has to send what only a gateway that has just come up sends.
package struct SharedPlan: ReplayPlan {
  /// What one action of the session is for the members.
  private struct Share: Sendable {
    /// Whose it is; nil for the connection itself.
    let member: RecordedMember?
    /// Its number in the plan of its member; the connection's is the channel's.
    let ordinal: Int
    let filters: [String]?
  }

  /// What is called of the channel.
  package let channel: ChannelPlan
  /// What is called of the gateway.
  package let gateway: GatewayPlan
  private let shares: [Share]

  /// Makes a plan of a session.
  /// - Parameter dialogue: What the app's client and its server said to each other.
  /// - Throws: `DataClientError` when it is not the session of an app with a gateway, or begins in the middle of a
  ///   connection.
  package init(_ dialogue: ReplayDialogue) throws(DataClientError) {
    channel = try ChannelPlan(MemberDialogue(dialogue, of: .channel))
    gateway = try GatewayPlan(MemberDialogue(dialogue, of: .gateway), isRiding: true)
    var shares: [Share] = []
    var counts: [RecordedMember: Int] = [:]
    for step in dialogue {
      guard case .action(let action) = step.content else { continue }
      let member = RecordedMember(of: action.kind)
      let filters: [String]? = if case .unsubscribe(let all) = action.kind { all } else { nil }
      let ordinal = counts[member ?? .channel, default: 0]
      shares.append(Share(member: member, ordinal: ordinal, filters: filters))
      for member in member.map({ [$0] }) ?? RecordedMember.allCases {
        counts[member, default: 0] += 1
      }
    }
    self.shares = shares
  }

  /// Whose session it is.
  package var subject: String { "\(channel.subject) with \(gateway.subject)" }
  /// What was taken for granted.
  package var notes: [String] { channel.notes + gateway.notes }
  /// Whether the session ends while its last connection is open.
  package var breaksOff: Bool { channel.breaksOff }

  /// Which values differ from run to run: the channel's are those of any system, and more.
  package var roles: ReplayRoles { channel.roles }

  // MARK: The machine

  /// Makes both machines.
  package func makeMachine(_ capabilities: Capabilities) throws -> SharedMachine {
    SharedMachine(
      try channel.makeMachine(capabilities), try gateway.makeMachine(capabilities))
  }

  /// Stops both.
  package var goodbye: SharedMachine.Call { .stop }

  /// Takes events until the end.
  package static func loop(_ driver: Driver<SharedMachine>) async throws {
    try await driver.loop(.stop)
  }

  // MARK: The application

  /// Returns what the app called of whom the action is.
  package func calls(
    for ordinal: Int, on machine: SharedMachine, _ ending: Ending
  ) -> [SharedMachine.Call] {
    guard shares.indices.contains(ordinal) else { return [] }
    let share = shares[ordinal]
    guard share.member == .gateway else {
      return channel.calls(for: share.ordinal, on: machine.channel, ending.channel).map {
        .channel($0)
      }
    }
    guard machine.gateway.isStarted else { return [.gateway(.start)] }
    // Its own delay shows nowhere: what it sends at last tells that it is over.
    guard machine.gateway.state != .disconnected else { return [.gateway(.setReachable(true))] }
    if let filters = share.filters, filters == machine.filtersOfGateway { return [.gateway(.stop)] }
    return gateway.calls(for: share.ordinal, on: machine.gateway, ending.gateway).map {
      .gateway($0)
    }
  }

  /// Returns calls that send an action just as it is.
  package func plainCalls(for ordinal: Int) -> [SharedMachine.Call] {
    guard shares.indices.contains(ordinal) else { return [] }
    let share = shares[ordinal]
    return share.member == .gateway
      ? gateway.plainCalls(for: share.ordinal).map { .gateway($0) }
      : channel.plainCalls(for: share.ordinal).map { .channel($0) }
  }

  /// Returns what the app's own code does at once when it is told something.
  package func answers(
    to effect: SharedMachine.Effect, on machine: SharedMachine, at time: Timestamp
  ) -> [SharedMachine.Call] {
    switch effect {
    case .channel(let effect):
      channel.answers(to: effect, on: machine.channel, at: time).map { .channel($0) }
    case .gateway(let effect):
      gateway.answers(to: effect, on: machine.gateway, at: time).map { .gateway($0) }
    }
  }

  /// Returns a call in words, with the name of whom it is made of; that a gateway comes back is its own doing.
  package func words(for call: SharedMachine.Call) -> ReplayedCall.Words? {
    switch call {
    case .channel(let call): channel.words(for: call)?.of("channel")
    case .gateway(.setReachable), .stop: nil
    case .gateway(let call): gateway.words(for: call)?.of("gateway")
    }
  }

  /// Returns why no call brings an action about.
  package func reason(against action: ClientAction.Kind?) -> String {
    action.flatMap(RecordedMember.init(of:)) == .gateway
      ? gateway.reason(against: action) : channel.reason(against: action)
  }

  // MARK: What is told

  /// How a session ends for both.
  package struct Ending: Sendable {
    /// For the channel.
    package var channel = ChannelPlan.start
    /// For the gateway.
    package var gateway = GatewayPlan.start
  }

  /// How a session ends in which nothing happens.
  package static var start: Ending { Ending() }

  /// Notes what either of them tells.
  package static func note(_ effect: SharedMachine.Effect, in ending: inout Ending) {
    switch effect {
    case .channel(let effect): ChannelPlan.note(effect, in: &ending.channel)
    case .gateway(let effect): GatewayPlan.note(effect, in: &ending.gateway)
    }
  }

  /// Shows what is shown of either of them.
  package static func isShown(_ effect: SharedMachine.Effect) -> Bool {
    switch effect {
    case .channel(let effect): ChannelPlan.isShown(effect)
    case .gateway(let effect): GatewayPlan.isShown(effect)
    }
  }
}

extension ReplayedCall.Words {
  fileprivate func of(_ member: String) -> Self { Self("\(member) \(name)", subject, details) }
}

extension ReplayOutcome where Plan == SharedPlan {
  /// How it ended for the channel.
  package var ofChannel: ReplayOutcome<ChannelPlan> {
    ReplayOutcome<ChannelPlan>(
      divergence: divergence, time: time, ending: ending.channel, openCalls: openCalls,
      unsent: unsent, machine: machine.channel)
  }

  /// How it ended for the gateway.
  package var ofGateway: ReplayOutcome<GatewayPlan> {
    ReplayOutcome<GatewayPlan>(
      divergence: divergence, time: time, ending: ending.gateway, openCalls: openCalls,
      unsent: unsent, machine: machine.gateway)
  }
}
