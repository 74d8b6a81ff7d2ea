import RepriseCore

/// A machine whose connection a keeper opens and keeps open.
protocol ConnectionOwner: CallMachine {
  /// What an open action is for.
  associatedtype Purpose: Sendable

  var actions: ActionBook<Purpose> { get set }

  // MARK: What happens

  mutating func receive(_ event: ClientEvent)
  /// The client did not take an action: nothing was sent.
  mutating func noteRefusal(of action: ClientAction.ID, _ error: DataClientError)
  mutating func begin(_ call: Call, _ id: CallID)

  // MARK: What the keeper wants, step by step

  mutating func connect()
  mutating func restore()
  mutating func noteOpened()
  mutating func disconnect()
  mutating func goDown(_ reason: ConnectionKeeper.Reason, isFinal: Bool)
  mutating func finishStop()
}

extension ConnectionOwner {
  /// Takes in one thing that happened.
  mutating func take(
    _ input: MachineInput<Call>, now: Timestamp
  ) -> [MachineOutput<Value, Effect, Failure>] {
    time = now
    switch input {
    case .received(let event): receive(event)
    case .refused(let action, let error): noteRefusal(of: action, error)
    case .called(let id, let call): begin(call, id)
    case .cancelled(let id): cancel(id)
    }
    defer { outputs = [] }
    return outputs
  }

  /// Does what the keeper wants.
  mutating func follow(_ steps: [ConnectionKeeper.Step]) {
    for step in steps {
      switch step {
      case .connect: connect()
      case .restore: restore()
      case .opened: noteOpened()
      case .disconnect: disconnect()
      case .down(let reason, let isFinal): goDown(reason, isFinal: isFinal)
      case .stopped: finishStop()
      }
    }
  }

  /// Has an action performed, and notes what it is for.
  @discardableResult
  mutating func perform(_ kind: ClientAction.Kind, for purpose: Purpose?) -> ClientAction.ID {
    let id = actions.open(for: purpose)
    outputs.append(.perform(ClientAction(id, kind)))
    return id
  }
}
