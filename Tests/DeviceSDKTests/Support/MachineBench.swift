import RepriseCore

@testable import DeviceSDK

/// Drives a machine by hand, and writes down what comes out: what the benches of all machines have in common.
protocol MachineBench {
  associatedtype Machine: StateMachine

  var machine: Machine { get set }
  var now: Timestamp { get set }
  var book: BenchBook { get set }

  /// Writes down what comes out of the machine.
  mutating func take(_ outputs: [MachineOutput<Machine.Value, Machine.Effect, Machine.Failure>])
}

extension MachineBench {
  /// Returns the lines since the last time.
  mutating func take() -> [String] {
    defer { book.lines = [] }
    return book.lines
  }

  mutating func input(_ input: MachineInput<Machine.Call>) { take(machine.handle(input, now: now)) }

  mutating func call(_ name: String, _ call: Machine.Call) {
    input(.called(book.newCall(named: name), call))
  }

  mutating func cancel(_ name: String) {
    if let id = book.call(named: name) { input(.cancelled(id)) }
  }

  mutating func receive(_ event: ClientEvent) { input(.received(event)) }

  /// Lets time pass, with every deadline on the way.
  mutating func wait(_ seconds: Double) {
    let end = now.advanced(by: .nanoseconds(Int64(seconds * 1_000_000_000)))
    while let deadline = machine.deadline, deadline <= end {
      now = max(now, deadline)
      receive(.deadline)
    }
    now = end
  }

  // MARK: Actions that the world has not answered yet

  var open: [ClientAction] { book.open }

  /// The cloud accepts the connection.
  mutating func accept() {
    _ = book.takeOpen { if case .connect = $0 { true } else { false } }
    receive(.connected(.init()))
  }

  /// The client refuses the oldest open action.
  mutating func refuse(_ code: DataClientError.Code) {
    let id = book.open.removeFirst().id
    input(.refused(id, DataClientError(code, "refused by the test")))
  }
}

/// What a bench remembers.
struct BenchBook {
  /// What came out since the last time.
  var lines: [String] = []
  /// The actions that the world has not answered yet, the oldest first.
  var open: [ClientAction] = []
  private(set) var lastCall: UInt64 = 0
  private var names: [CallID: String] = [:]
  private var ids: [String: CallID] = [:]

  /// Begins a call.
  mutating func newCall(named name: String? = nil) -> CallID {
    lastCall += 1
    let id = CallID(rawValue: lastCall)
    guard let name else { return id }
    names[id] = name
    ids[name] = id
    return id
  }

  func name(of id: CallID) -> String? { names[id] }

  func call(named name: String) -> CallID? { ids[name] }

  /// Takes the oldest open action that is meant; of none a line tells.
  mutating func takeOpen(where isMeant: (ClientAction.Kind) -> Bool) -> ClientAction.ID {
    guard let index = open.firstIndex(where: { isMeant($0.kind) }) else {
      lines.append("nothing open is like that")
      return ClientAction.ID(rawValue: 0)
    }
    return open.remove(at: index).id
  }
}
