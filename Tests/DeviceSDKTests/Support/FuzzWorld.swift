import RepriseCore
import TestSupport

@testable import DeviceSDK

/// A machine that gets inputs in no sensible order, with what has to hold for every machine: each call
/// is completed once, no action has the identifier of an open one, and deadlines pass.
protocol FuzzWorld {
  associatedtype Machine: StateMachine

  var machine: Machine { get set }
  var fuzz: FuzzState { get set }

  /// Looks at how a call ended.
  mutating func note(_ result: Result<Machine.Value, Machine.Failure>)

  /// Looks at how one of the calls ended.
  mutating func note(_ id: CallID, _ result: Result<Machine.Value, Machine.Failure>)

  /// Looks at what the client is to do.
  mutating func note(_ action: ClientAction)

  /// Looks at what the application is told.
  mutating func note(_ effect: Machine.Effect)
}

/// What a ``FuzzWorld`` has beside its machine.
struct FuzzState {
  var random: SeededGenerator
  var now = ScriptedClient.start
  var lastCall: UInt64 = 0
  /// The calls that are not completed.
  var open: Set<CallID> = []
  /// The actions that nobody has answered.
  var actions: [ClientAction] = []
  /// What does not hold.
  var problems: [String] = []
  /// What has happened, for whoever looks into a problem.
  var story: [String] = []

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }
}

extension FuzzWorld {
  mutating func note(_ result: Result<Machine.Value, Machine.Failure>) {}

  mutating func note(_ id: CallID, _ result: Result<Machine.Value, Machine.Failure>) {
    note(result)
  }

  mutating func note(_ action: ClientAction) {}

  /// Returns a number below a limit.
  mutating func number(_ limit: Int) -> Int { Int(fuzz.random.next() % UInt64(limit)) }

  mutating func input(_ input: MachineInput<Machine.Call>) {
    for output in machine.handle(input, now: fuzz.now) {
      switch output {
      case .perform(let action):
        if fuzz.actions.contains(where: { $0.id == action.id }) {
          fuzz.problems.append("id used twice")
        }
        fuzz.actions.append(action)
        note(action)
      case .complete(let id, let result):
        note(id, result)
        if fuzz.open.remove(id) == nil {
          fuzz.problems.append("completed twice, or after a cancellation")
        }
      case .tell(let effect): note(effect)
      }
    }
  }

  mutating func call(_ call: Machine.Call) {
    fuzz.lastCall += 1
    fuzz.open.insert(CallID(rawValue: fuzz.lastCall))
    input(.called(CallID(rawValue: fuzz.lastCall), call))
  }

  /// Lets nobody wait for the earliest call any more.
  /// - Returns: Whether there was one.
  mutating func cancelFirst() -> Bool {
    guard let id = fuzz.open.sorted().first else { return false }
    fuzz.open.remove(id)
    input(.cancelled(id))
    return true
  }

  /// Takes one of the actions that nobody has answered.
  mutating func takeAction() -> ClientAction? {
    fuzz.actions.isEmpty ? nil : fuzz.actions.remove(at: number(fuzz.actions.count))
  }

  /// Takes the action that has waited longest for an answer.
  mutating func takeFirstAction() -> ClientAction? {
    fuzz.actions.isEmpty ? nil : fuzz.actions.removeFirst()
  }

  /// Closes the connection, behind which nobody answers.
  mutating func close(_ reason: ClientEvent.Closed) {
    fuzz.actions = []
    input(.received(.closed(reason)))
  }

  /// Lets time pass, with every deadline on the way.
  mutating func wait(_ seconds: Int) {
    let end = fuzz.now.advanced(by: .seconds(seconds))
    var rounds = 0
    while let deadline = machine.deadline, deadline <= end, rounds < 1_000 {
      fuzz.now = max(fuzz.now, deadline)
      input(.received(.deadline))
      rounds += 1
    }
    if rounds == 1_000 { fuzz.problems.append("a deadline does not pass") }
    fuzz.now = end
  }
}
