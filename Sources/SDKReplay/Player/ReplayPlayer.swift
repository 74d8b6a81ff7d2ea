import DeviceSDK
import RepriseCore
import Synchronization

/// Plays the application of a recorded session on a machine of its own.
struct ReplayPlayer<Plan: ReplayPlan>: Sendable {
  typealias Machine = Plan.Machine

  private let plan: Plan
  private let client: ReplayClient
  private let stage: ReplayStage<Plan>
  private let driver: Driver<Machine>

  init(
    _ plan: Plan, _ client: ReplayClient, _ dialogue: ReplayDialogue,
    _ watch: ReplayWatch<Plan>?,
    _ observe: @escaping @Sendable (SystemReplay<Plan>.Observation) -> Void
  ) throws {
    self.plan = plan
    self.client = client
    let stage = ReplayStage<Plan>(client, observe)
    self.stage = stage
    let answering = Answering<Plan>()
    let machine = LateBinding<@Sendable () -> Machine?>()
    let world = TimelyClient(
      client, dialogue, slack: plan.timerSlack,
      watch: watch.map { Self.watch($0, client, stage, machine) }, isOfTimer: plan.isOfTimer)
    driver = Driver(try plan.makeMachine(client.capabilities), client: world) { effect in
      stage.take(effect)
      answering.take(effect)
    }
    answering.begin(plan, stage, through: driver)
    machine.value = { [weak driver] in driver?.read { $0 } }
  }

  /// Makes what the client tells known to a watch, with the machine as it is.
  private static func watch(
    _ watch: ReplayWatch<Plan>, _ client: ReplayClient, _ stage: ReplayStage<Plan>,
    _ machine: LateBinding<@Sendable () -> Machine?>
  ) -> ClientWatch {
    ClientWatch(
      received: { watch.received($0, client.cause) },
      performed: { kind in
        watch.performed(kind, ReplayCause(place: client.place, time: client.now))
      },
      waits: {
        if let machine = machine.value?() { watch.settled(machine, stage.openCalls) }
      })
  }

  /// Runs the machine to the end of its world.
  func run() async throws -> ReplayOutcome<Plan> {
    let (world, end) = AsyncStream<Never>.makeStream()
    do {
      try await driver.run(
        goodbye: plan.goodbye, loop: { [driver] in try await Plan.loop(driver) }, helper: {},
        finish: end.finish
      ) {
        try await play()
        // The application has nothing more to do; what the server sends still comes.
        for await _ in world {}
      }
      try client.finish()
    } catch let error as DataClientError where error.code == .diverged {
      // It is part of the outcome.
    }
    try Task.checkCancellation()
    return outcome
  }

  private var outcome: ReplayOutcome<Plan> {
    var divergence = client.divergence
    var unsent: String?
    if let extra = divergence, extra.kind == .extraAction, plan.breaksOff,
      client.leftOvers.isEmpty
    {
      // Whether the recorded client sent it too is not known.
      unsent = extra.actual
      divergence = nil
    }
    return ReplayOutcome(
      divergence: divergence, time: client.now, ending: stage.ending, openCalls: stage.openCalls,
      unsent: unsent, machine: driver.read { $0 })
  }

  // MARK: The application

  /// Makes the calls of the application, each when the machine waits for it.
  private func play() async throws {
    var last: (ordinal: Int, call: ReplayedCall?, isPlain: Bool)?
    while let due = try await client.nextDueAction(), let ordinal = due.ordinal {
      guard let tried = last, tried.ordinal == ordinal else {
        let ending = stage.ending
        let calls: [Machine.Call] = driver.read { plan.calls(for: ordinal, on: $0, ending) }
        guard !calls.isEmpty else {
          client.giveUp(because: plan.reason(against: due.action))
          continue
        }
        last = (ordinal, make(calls, at: due.place), false)
        continue
      }
      let calls = tried.isPlain ? [] : plan.plainCalls(for: ordinal)
      guard !calls.isEmpty, tried.call.flatMap(stage.failure) == nil else {
        client.giveUp(because: reason(tried.call))
        continue
      }
      last = (ordinal, make(calls, at: due.place), true)
    }
  }

  /// Makes calls, and returns the last one that is worth a line.
  private func make(_ calls: [Machine.Call], at place: ReplayPlace) -> ReplayedCall? {
    let descriptions = stage.begin(calls, of: plan, at: place)
    // Not `driver.call`: the machine's own task sends and tells, so that all comes from it alone.
    driver.submit(stage.submission(calls, descriptions))
    return descriptions.compactMap(\.self).last
  }

  private func reason(_ call: ReplayedCall?) -> String {
    guard let call else { return "nothing that the application calls makes it be sent now" }
    let name = [call.name, call.subject].compactMap(\.self).joined(separator: " ")
    guard let error = stage.failure(of: call) else {
      return "the application calls \(name), and nothing is sent for it now"
    }
    return "the application calls \(name), which fails at once: \(error)"
  }
}

/// Gives the machine what the application's own code answers at once.
private final class Answering<Plan: ReplayPlan>: Sendable {
  /// A closure by itself would be wrapped once more whenever a generic lock lends it, and a session has many effects.
  private struct Answer: Sendable {
    let give: @Sendable (Plan.Machine.Effect) -> Void
  }

  private let answer = Mutex<Answer?>(nil)

  /// Answers through a driver, which keeps this and is not kept by it.
  func begin(_ plan: Plan, _ stage: ReplayStage<Plan>, through driver: Driver<Plan.Machine>) {
    answer.withLock {
      $0 = Answer { [weak driver] effect in
        guard let driver else { return }
        let calls = driver.read { plan.answers(to: effect, on: $0, at: driver.now) }
        guard !calls.isEmpty else { return }
        driver.submit(stage.submission(calls, stage.begin(calls, of: plan, at: stage.place)))
      }
    }
  }

  func take(_ effect: Plan.Machine.Effect) { answer.withLock { $0 }?.give(effect) }
}
