import RepriseCore

/// The queue of what a machine wants, and who is at it.
extension Driver.State {
  /// Gives the machine an input, and puts what it wants into the queue.
  mutating func enter(_ input: MachineInput<Machine.Call>, now: Timestamp) {
    let outputs = machine.handle(input, now: now)
    // With most inputs there is nothing to append to, and so nothing to copy.
    if queue.isEmpty { queue = outputs } else { queue += outputs }
  }

  /// Takes over the queue with what is in it; nil when somebody is at it, or there is nothing.
  mutating func takeAttendance() -> [Driver.Output]? {
    guard !isAttended, !queue.isEmpty else { return nil }
    isAttended = true
    defer { queue = [] }
    inHand = queue
    return queue
  }

  /// The calls that the machine has not completed.
  ///
  /// One that it has is in the queue, or in the hands of who is at it, as long as that one has not come to it.
  var unsettled: [CallID] {
    let settled = Set(
      (isAttended ? inHand + queue : []).compactMap { output in
        if case .complete(let id, _) = output { id } else { nil }
      })
    return waiters.keys.filter { !settled.contains($0) }.sorted()
  }

  /// Takes what is in the queue, with the loop if it waits for room; nil, and the queue unattended, when there is
  /// nothing, or the rest is left to the loop.
  mutating func takeQueue(
    goesOn: Bool
  ) -> (outputs: [Driver.Output]?, heldUp: CheckedContinuation<Void, Never>?) {
    let loop = heldUp.take()
    guard goesOn || failure != nil, !queue.isEmpty else {
      isAttended = false
      inHand = []
      return (nil, loop)
    }
    defer { queue = [] }
    inHand = queue
    return (queue, loop)
  }

  /// What the loop does next.
  enum Step {
    case read(before: Timestamp?)
    /// The task at the queue does not come after: so events wait in the client, which keeps a bounded number.
    case holdUp
    /// The moment of somebody who sleeps has come.
    case rouse
    case leave
  }

  /// How many outputs may wait while somebody else is at the queue.
  private static var queueLimit: Int { 1_024 }

  var isFull: Bool { isAttended && queue.count >= Self.queueLimit }

  /// Whether the loop waits for another deadline than it should, or knows nothing of what is left to it.
  var mustWakeLoop: Bool { deadline != awaitedDeadline || !isAttended && !queue.isEmpty }

  /// When the machine, or somebody who sleeps, wants to be asked again if nothing happens before.
  private var deadline: Timestamp? { earlier(machine.deadline, sleepers.deadline) }

  /// Whether the machine's deadline has come.
  func isMachineDue(at now: Timestamp) -> Bool { machine.deadline.map { $0 <= now } ?? false }

  mutating func prepareToWait(_ client: any DataClient) throws -> Step {
    if let failure { throw failure }
    if isLeaving { return .leave }
    if isFull { return .holdUp }
    if let first = sleepers.deadline, first <= client.lastHeard { return .rouse }
    // While somebody else performs what the machine wants, its deadlines are those of actions that the
    // client does not have yet: time must not pass to them. The task that performs wakes the client when done.
    awaitedDeadline = isAttended || !queue.isEmpty ? nil : deadline
    return .read(before: awaitedDeadline)
  }
}
