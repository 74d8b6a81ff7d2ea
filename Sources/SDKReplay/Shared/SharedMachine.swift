package import DeviceSDK
package import RepriseCore

/// A channel and the gateway that rides on its connection, as one machine.
///
/// The session that both share is its router here: what one member sends is renamed on its way out, and what comes is
/// given to those whom it concerns, one after the other, as a `SharedSession` does.
package struct SharedMachine: StateMachine {
  /// A call of one of them, or the end of both.
  package enum Call: Sendable {
    /// The app calls its channel.
    case channel(ChannelStateMachine.Call)
    /// The app calls its gateway.
    case gateway(GatewayStateMachine.Call)
    /// The app goes: the gateway is stopped first, as its scope is the inner one.
    case stop
  }

  /// What a call of one of them results in.
  package enum Value: Sendable {
    /// Of a call of the channel.
    case channel(ChannelStateMachine.Value)
    /// Of a call of the gateway.
    case gateway(GatewayStateMachine.Value)
  }

  /// What one of them tells the app.
  package enum Effect: Sendable {
    /// The channel tells it.
    case channel(ChannelStateMachine.Effect)
    /// The gateway tells it.
    case gateway(GatewayStateMachine.Effect)
  }

  /// Why a call of one of them fails.
  package enum Failure: Error, Sendable, CustomStringConvertible {
    /// A call of the channel.
    case channel(ChannelError)
    /// A call of the gateway.
    case gateway(GatewayError)

    /// What is wrong, for people.
    package var description: String {
      switch self {
      case .channel(let error): "\(error)"
      case .gateway(let error): "\(error)"
      }
    }
  }

  /// The number of the call that stops the gateway when the app goes; those of the app count from 1.
  private static let farewell = CallID(rawValue: .max)

  /// The channel, which owns the connection.
  package private(set) var channel: ChannelStateMachine
  /// The gateway, which rides on it.
  package private(set) var gateway: GatewayStateMachine
  private var router = SessionRouter()
  private let owner: SessionRouter.Seat
  private let rider: SessionRouter.Seat
  private var told: [SessionRouter.Output] = []
  private var time = Timestamp(nanoseconds: 0)
  private var outputs: [MachineOutput<Value, Effect, Failure>] = []

  init(_ channel: ChannelStateMachine, _ gateway: GatewayStateMachine) {
    self.channel = channel
    self.gateway = gateway
    owner = router.join(isOwner: true)
    rider = router.join(isOwner: false)
  }

  /// The filters that are taken back when the gateway stops.
  var filtersOfGateway: [String] { router.filters(onlyOf: rider) }

  /// When one of them wants to be asked again.
  package var deadline: Timestamp? {
    switch (channel.deadline, gateway.deadline) {
    case (let one?, let other?): min(one, other)
    case (let one, let other): one ?? other
    }
  }

  /// Takes in one thing that happened.
  package mutating func handle(
    _ input: MachineInput<Call>, now: Timestamp
  ) -> [MachineOutput<Value, Effect, Failure>] {
    time = now
    switch input {
    case .received(.deadline), .received(.woken):
      giveChannel(.received(.deadline))
      giveGateway(.received(.deadline))
    case .received(let event): told += router.receive(event)
    case .refused(let id, let error):
      guard let (seat, id) = router.takeBack(id) else { break }
      refuse(id, error, of: seat)
    case .called(let id, .channel(let call)): giveChannel(.called(id, call))
    case .called(let id, .gateway(let call)): giveGateway(.called(id, call))
    case .called(let id, .stop):
      giveGateway(.called(Self.farewell, .stop))
      deliver()
      giveChannel(.called(id, .stop))
    case .cancelled(let id):
      giveChannel(.cancelled(id))
      giveGateway(.cancelled(id))
    }
    deliver()
    defer { outputs = [] }
    return outputs
  }

  /// Gives each member what it is told, the oldest first; that may lead to more.
  private mutating func deliver() {
    while !told.isEmpty {
      let next = told.removeFirst()
      if next.seat == owner {
        giveChannel(.received(next.event))
      } else {
        giveGateway(.received(next.event))
      }
    }
  }

  private mutating func giveChannel(_ input: MachineInput<ChannelStateMachine.Call>) {
    for output in channel.handle(input, now: time) {
      switch output {
      case .perform(let action): perform(action, of: owner)
      case .complete(let id, let result):
        outputs.append(
          .complete(id, result.map(Value.channel).mapError(Failure.channel)))
      case .tell(let effect): outputs.append(.tell(.channel(effect)))
      }
    }
  }

  private mutating func giveGateway(_ input: MachineInput<GatewayStateMachine.Call>) {
    for output in gateway.handle(input, now: time) {
      switch output {
      case .perform(let action): perform(action, of: rider)
      case .complete(Self.farewell, _): continue
      case .complete(let id, let result):
        outputs.append(
          .complete(id, result.map(Value.gateway).mapError(Failure.gateway)))
      case .tell(let effect): outputs.append(.tell(.gateway(effect)))
      }
    }
  }

  private mutating func perform(_ action: ClientAction, of seat: SessionRouter.Seat) {
    do throws(DataClientError) {
      let outcome = try router.perform(action, of: seat)
      if let forwarded = outcome.forwarded { outputs.append(.perform(forwarded)) }
      told += outcome.told
    } catch {
      refuse(action.id, error, of: seat)
    }
  }

  private mutating func refuse(
    _ id: ClientAction.ID, _ error: DataClientError, of seat: SessionRouter.Seat
  ) {
    if seat == owner {
      giveChannel(.refused(id, error))
    } else {
      giveGateway(.refused(id, error))
    }
  }
}

extension SharedMachine: OutlinedMachine {
  /// How both are: first the channel, and then the gateway.
  package var outline: MachineOutline { channel.outline.joined(with: gateway.outline) }
}
