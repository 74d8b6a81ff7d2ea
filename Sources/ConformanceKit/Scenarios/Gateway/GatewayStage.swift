package import DeviceSDK
package import RepriseCore

/// A machine that can stand in the place of the gateway's.
package protocol GatewayMachine: StateMachine
where
  Call == GatewayStateMachine.Call, Value == GatewayStateMachine.Value,
  Effect == GatewayStateMachine.Effect, Failure == GatewayError
{
  /// What was counted.
  var statistics: GatewayStatistics { get }
  /// The sub-devices that have lines, in their order.
  var subdevices: [Subdevice] { get }

  /// Returns the state of a sub-device's line; nil when it has none.
  func lineState(of subdevice: Subdevice) -> LineState?
}

extension GatewayStateMachine: GatewayMachine {}

/// A gateway with what is beside it in an app, as one machine: its sub-devices, and the channel on
/// whose connection it rides, if it has none of its own.
///
/// In an app the two machines take turns on a `SharedSession`. Here they do as one value, by the same
/// router, so that no scenario depends on whose turn it is.
package struct GatewayStage<Gateway: GatewayMachine>: StateMachine {
  /// What the application, or one of its sub-devices, does.
  package enum Call: Sendable {
    /// The application asks the gateway for something.
    case gateway(GatewayStateMachine.Call)
    /// The application asks the channel for something.
    case channel(ChannelStateMachine.Call)
    /// What came of opening the way to a sub-device.
    case opened(ConnectionID, Result<SubdeviceInfo, GatewayError>)
    /// The application closes what it has opened.
    case leave
  }

  /// What a call results in.
  package enum Value: Sendable {
    /// What the gateway says.
    case gateway(GatewayStateMachine.Value)
    /// What the channel says.
    case channel(ChannelStateMachine.Value)
  }

  /// What the application is told.
  package enum Effect: Sendable {
    /// By the gateway.
    case gateway(GatewayStateMachine.Effect)
    /// By the channel.
    case channel(ChannelStateMachine.Effect)
  }

  /// Why a call fails: an error of the gateway or of the channel.
  package typealias Failure = any Error
  /// What the machine gives out.
  package typealias Output = MachineOutput<Value, Effect, Failure>

  private enum Turn {
    case gateway(MachineInput<GatewayStateMachine.Call>)
    case channel(MachineInput<ChannelStateMachine.Call>)
  }

  /// What sub-devices say at once is waited for by no step.
  private static var nobody: CallID { CallID(rawValue: .max) }

  /// The gateway.
  package private(set) var gateway: Gateway
  private var channel: ChannelStateMachine?
  private let devices: GatewayDevices
  private var router = SessionRouter()
  private let owner: SessionRouter.Seat
  private let rider: SessionRouter.Seat
  /// Whose each action of the session is, to tell its member when it is refused.
  private var actions: [ClientAction.ID: (seat: SessionRouter.Seat, id: ClientAction.ID)] = [:]
  private var turns: [Turn] = []
  private var outputs: [Output] = []

  /// Creates a stage.
  /// - Parameters:
  ///   - gateway: The gateway.
  ///   - channel: The channel whose connection the gateway uses; nil when it has its own.
  ///   - devices: The sub-devices.
  init(_ gateway: Gateway, channel: ChannelStateMachine?, devices: GatewayDevices) {
    self.gateway = gateway
    self.channel = channel
    self.devices = devices
    owner = router.join(isOwner: true)
    rider = router.join(isOwner: false)
  }

  /// When the first of the machines wants to be asked again.
  package var deadline: Timestamp? {
    [gateway.deadline, channel?.deadline].compactMap { $0 }.min()
  }

  /// Takes in one thing that happened.
  package mutating func handle(_ input: MachineInput<Call>, now: Timestamp) -> [Output] {
    switch input {
    case .called(let id, let call): turns.append(turn(of: call, id))
    case .cancelled(let id): turns += [.gateway(.cancelled(id)), .channel(.cancelled(id))]
    case .refused(let action, let error): refuse(action, error)
    case .received(.deadline): wake(now)
    case .received(let event): receive(event)
    }
    while !turns.isEmpty {
      switch turns.removeFirst() {
      case .gateway(let input): for output in gateway.handle(input, now: now) { take(output) }
      case .channel(let input):
        for output in channel?.handle(input, now: now) ?? [] { take(output) }
      }
    }
    defer { outputs = [] }
    return outputs
  }

  private func turn(of call: Call, _ id: CallID) -> Turn {
    switch call {
    case .gateway(let call): .gateway(.called(id, call))
    case .channel(let call): .channel(.called(id, call))
    case .opened(let connection, let result): .gateway(.called(id, .noteOpened(connection, result)))
    case .leave: channel == nil ? .gateway(.called(id, .stop)) : .channel(.called(id, .stop))
    }
  }

  private mutating func wake(_ now: Timestamp) {
    guard let channel else { return turns.append(.gateway(.received(.deadline))) }
    if let deadline = channel.deadline, deadline <= now {
      turns.append(.channel(.received(.deadline)))
    }
    if let deadline = gateway.deadline, deadline <= now {
      turns.append(.gateway(.received(.deadline)))
    }
  }

  // MARK: The session

  private mutating func receive(_ event: ClientEvent) {
    guard channel != nil else { return turns.append(.gateway(.received(event))) }
    tell(router.receive(event))
  }

  private mutating func tell(_ told: [SessionRouter.Output]) {
    for output in told {
      turns.append(
        output.seat == owner ? .channel(.received(output.event)) : .gateway(.received(output.event))
      )
    }
  }

  private mutating func perform(_ action: ClientAction, of seat: SessionRouter.Seat) {
    do throws(DataClientError) {
      let outcome = try router.perform(action, of: seat)
      if let forwarded = outcome.forwarded {
        actions[forwarded.id] = (seat, action.id)
        outputs.append(.perform(forwarded))
      }
      tell(outcome.told)
    } catch {
      refuse(action.id, of: seat, error)
    }
  }

  private mutating func refuse(_ action: ClientAction.ID, _ error: DataClientError) {
    guard channel != nil else { return turns.append(.gateway(.refused(action, error))) }
    router.takeBack(action)
    if let (seat, id) = actions[action] { refuse(id, of: seat, error) }
  }

  private mutating func refuse(
    _ action: ClientAction.ID, of seat: SessionRouter.Seat, _ error: DataClientError
  ) {
    turns.append(
      seat == owner ? .channel(.refused(action, error)) : .gateway(.refused(action, error)))
  }

  // MARK: What comes out

  private mutating func take(
    _ output: MachineOutput<GatewayStateMachine.Value, GatewayStateMachine.Effect, GatewayError>
  ) {
    switch output {
    case .perform(let action):
      if channel == nil { outputs.append(.perform(action)) } else { perform(action, of: rider) }
    case .complete(Self.nobody, _): break
    case .complete(let id, let result):
      outputs.append(.complete(id, result.map { .gateway($0) }.mapError { $0 }))
    case .tell(.openConnection(let connection)):
      guard let answer = devices.answer(connection) else {
        return outputs.append(.tell(.gateway(.openConnection(connection))))
      }
      turns.append(.gateway(.called(Self.nobody, .noteOpened(connection, answer))))
    case .tell(let effect): outputs.append(.tell(.gateway(effect)))
    }
  }

  private mutating func take(
    _ output: MachineOutput<ChannelStateMachine.Value, ChannelStateMachine.Effect, ChannelError>
  ) {
    switch output {
    case .perform(let action): perform(action, of: owner)
    case .complete(let id, let result):
      outputs.append(.complete(id, result.map { .channel($0) }.mapError { $0 }))
    case .tell(let effect): outputs.append(.tell(.channel(effect)))
    }
  }
}
