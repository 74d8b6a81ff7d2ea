package import DeviceSDK
package import RepriseCore

/// What the people and the code of a recorded app did with its gateway.
///
/// Logging in again after a loss, asking for the topology, subscribing to commands and answering notices is the
/// gateway's own work in a replay; lines, posts, answers to commands are the application's. What sub-devices say of
/// themselves is what was recorded of it.
package struct GatewayPlan: ReplayPlan {
  /// How the gateway has to behave.
  package let configuration: GatewayConfiguration
  /// What was taken for granted.
  package let notes: [String]
  /// Which values differ from run to run.
  package let roles: ReplayRoles
  let recorded: RecordedGateway

  /// Makes a plan of a session.
  /// - Parameter dialogue: What the gateway's client and its server said to each other.
  /// - Throws: `DataClientError` when it is no gateway's session.
  package init(_ dialogue: ReplayDialogue) throws(DataClientError) {
    try self.init(dialogue, isRiding: false)
  }

  /// Makes a plan of what a gateway said in a session.
  /// - Parameters:
  ///   - dialogue: What is of the gateway in it.
  ///   - isRiding: Whether it has no connection of its own, but that of an app's channel.
  /// - Throws: `DataClientError` when it is no gateway's session, or begins in the middle of an app's connection.
  init(
    _ dialogue: some Sequence<ReplayDialogue.Step>, isRiding: Bool
  ) throws(DataClientError) {
    let recorded = try RecordedGateway(dialogue)
    guard !isRiding || recorded.session.actions.first?.isImplied != true else {
      throw DataClientError(
        .unsupported,
        "the session begins in the middle of a connection that the gateway \(recorded.device) shares "
          + "with an app, and nobody knows what of it was whose; take --from back to its CONNECT, or "
          + "capture it from there")
    }
    let guess = try GatewayGuess(recorded, isRiding: isRiding)
    configuration = guess.configuration
    notes = guess.notes + Self.notes(on: recorded.before)
    var roles = ReplayRoles.standard
    // A client that signs in by another name still is the same gateway on its topics.
    let device = recorded.device
    if recorded.session.firstConnect?.username != "\(device.deviceName)&\(device.productKey)" {
      roles.connectFields.insert(.username)
    }
    self.roles = roles
    self.recorded = recorded
  }

  private static func notes(on before: ConnectionBefore) -> [String] {
    let filters = before.filters.map(\.filter)
    guard before.wasUp else {
      guard !filters.isEmpty else { return [] }
      return [
        "the gateway comes up with \(filters.count) filters that it was not asked for, and so is taken to have come "
          + "back after a loss"
      ]
    }
    func list(_ names: [String]) -> String {
      names.isEmpty ? "nothing" : names.joined(separator: ", ")
    }
    let online = before.online.map(\.description)
    return [
      "the session begins in the middle of a connection; the gateway is taken to have subscribed to "
        + "\(list(filters)) before, to have had online \(list(online)), and to have tried nothing in vain"
    ]
      + before.comingOnline.map {
        "the login of \($0) was under way when the session began, and a replay can't go on with it; take --from "
          + "back to its PUBLISH, or on to where it is over"
      }
  }

  /// Whose session it is.
  package var subject: String {
    "gateway \(recorded.device.deviceName)&\(recorded.device.productKey)"
  }
  /// Whether the session ends while its last connection is open.
  package var breaksOff: Bool { recorded.session.breaksOff }

  // MARK: The machine

  /// Makes the gateway with what it had before the session began.
  package func makeMachine(_ capabilities: Capabilities) throws -> GatewayStateMachine {
    var configuration = configuration
    configuration.log = DeviceLog(level: .warning, levels: [.call: .debug]) { _ in }
    var machine = try GatewayStateMachine(configuration)
    let before = recorded.before
    if before.wasUp {
      machine.adopt(before.filters, online: before.online.compactMap(recorded.line))
    } else {
      machine.resume(before.filters)
    }
    return machine
  }

  /// Stops the gateway.
  package var goodbye: GatewayStateMachine.Call { .stop }

  /// Takes events until the end.
  package static func loop(_ driver: Driver<GatewayStateMachine>) async throws {
    try await driver.loop()
  }

  /// The ways to sub-devices are open, and each says what it was recorded to say next; one that the rest of the
  /// connection does not show is not near.
  package func answers(
    to effect: GatewayStateMachine.Effect, on machine: GatewayStateMachine, at time: Timestamp
  ) -> [GatewayStateMachine.Call] {
    guard case .openConnection(let id) = effect,
      let subdevice = recorded.connections.first(where: { $0.value == id })?.key,
      !recorded.isSilent(subdevice, from: time), let info = recorded.info(of: subdevice, at: time)
    else { return [] }
    return [.noteOpened(id, .success(info))]
  }

  /// Returns why no call brings an action about.
  package func reason(against action: ClientAction.Kind?) -> String {
    switch action {
    case .unsubscribe(let filters) where filters.contains("/ext/error/\(recorded.device)"):
      "only a gateway that rides on an app's connection takes that back; take --from back to where the app "
        + "sends something"
    case .subscribe, .unsubscribe:
      "the gateway has no call for several filters in one packet; only what was lost with a connection, "
        + "and what a sub-device that comes online needs, is asked for at once"
    default: "the gateway has no call for it"
    }
  }

  // MARK: What is told

  /// What is known of a session as it goes on.
  package struct Ending: Sendable {
    /// The connection's state.
    package var state = ChannelState.disconnected
    /// The states of the lines.
    package var lines: [Subdevice: LineState] = [:]
    /// The commands that were told and not answered.
    var commands: [GatewayCommand] = []
  }

  /// How a session ends in which nothing happens.
  package static var start: Ending { Ending() }

  /// Notes the states, and the commands that are to be answered.
  package static func note(_ effect: GatewayStateMachine.Effect, in ending: inout Ending) {
    switch effect {
    case .changeState(let change): ending.state = change.state
    case .changeLine(let change): ending.lines[change.subdevice] = change.state
    case .command(let command):
      guard command.needsAnswer else { return }
      ending.commands.append(command)
      if ending.commands.count > 1_024 { ending.commands.removeFirst(512) }
    case .deliver, .notice, .openConnection, .giveUpOpening, .forgetConnection, .log: return
    }
  }

  /// Shows all but the ways to sub-devices, and what the log says of states, which are told.
  package static func isShown(_ effect: GatewayStateMachine.Effect) -> Bool {
    switch effect {
    case .deliver, .command, .notice, .changeState, .changeLine: return true
    case .openConnection, .giveUpOpening, .forgetConnection: return false
    case .log(let entry):
      switch entry.module {
      case .call, .subscription, .listener: return true
      case .connection, .account, .line: return false
      }
    }
  }
}
