import DataClient
import DeviceSDK

/// Runs a scenario on the driver of a system, and compares what happens line by line.
///
/// It knows neither the system, which is the ``ScenarioSubject``'s affair, nor the world.
package struct ScenarioRunner<Subject: ScenarioSubject>: Sendable {
  private let scenario: Scenario
  private let makeSubject: @Sendable (Scenario, ScenarioPen) throws -> Subject

  /// Creates a runner.
  /// - Parameters:
  ///   - scenario: The scenario.
  ///   - makeSubject: Makes the subject of one run, which writes by the pen.
  package init(
    _ scenario: Scenario,
    makeSubject: @escaping @Sendable (Scenario, ScenarioPen) throws -> Subject
  ) {
    self.scenario = scenario
    self.makeSubject = makeSubject
  }

  /// Runs the scenario from its first step to its end.
  /// - Parameter world: The world, which is ended then.
  /// - Returns: The lines, and what is not as it should be.
  /// - Throws: ``ConformanceError`` when the scenario makes no sense, and `CancellationError`.
  package func run(in world: any ScenarioWorld) async throws -> ScenarioOutcome {
    let pen = ScenarioPen()
    let subject = try makeSubject(scenario, pen)
    let client = SteppedClient(world.client, patience: world.patience, pen: pen) { action in
      pen.write(subject.line(action))
    }
    let driver = Driver(try subject.makeMachine(), client: client, tell: subject.take)
    var run = ScenarioRun(scenario, world: world, client: client, pen: pen)
    let goodbye = subject.goodbye
    do {
      try await driver.run(
        goodbye: goodbye, loop: { try await driver.loop(goodbye) }, helper: {},
        finish: subject.finish
      ) {
        defer { client.end() }
        try await play(&run, subject, driver)
      }
    } catch let error as DataClientError {
      // A step has noted it already, unless the world broke on the way out.
      run.note(error: ScenarioRun.text(of: error))
    } catch {
      _ = await run.end()
      throw error
    }
    let outcome = await run.end()
    try Task.checkCancellation()
    return outcome
  }

  /// Plays the steps, and then lets the subject say goodbye.
  private func play(
    _ run: inout ScenarioRun, _ subject: Subject, _ driver: Driver<Subject.Machine>
  ) async throws {
    await run.client.settle()
    for step in scenario.steps {
      try await perform(step, &run, subject, driver)
      guard await run.finish(step) else { return }
    }
    driver.submit(subject.goodbye) { _ in }
    await run.client.settle()
    await run.leave()
  }

  private func perform(
    _ step: ScenarioStep, _ run: inout ScenarioRun, _ subject: Subject,
    _ driver: Driver<Subject.Machine>
  ) async throws {
    if let duration = step.wait { return await run.client.permit(.time(duration)) }
    if let duration = step.jump { return await run.client.permit(.jump(duration)) }
    if let cloud = try step.cloud(message: subject.message) { return await run.perform(cloud) }
    switch try subject.perform(step) {
    case .call(let call, let name):
      let pen = run.pen
      driver.submit(call) { pen.write(subject.line(name, $0)) }
      await run.client.settle()
    case .ask(let question): for line in driver.read(question) { run.pen.write(line) }
    case .done: break
    }
  }
}

/// One run of a scenario, as far as it got.
struct ScenarioRun {
  let client: SteppedClient
  let pen: ScenarioPen
  private let scenario: Scenario
  private let world: any ScenarioWorld
  private var transcript: [[String]] = []
  private var findings: [ScenarioFinding] = []
  /// What went wrong on the cloud's side of the current step.
  private var problem: String?

  init(
    _ scenario: Scenario, world: any ScenarioWorld, client: SteppedClient, pen: ScenarioPen
  ) {
    self.scenario = scenario
    self.world = world
    self.client = client
    self.pen = pen
  }

  mutating func perform(_ step: CloudStep) async {
    do {
      if case .send(let message) = step { client.expect(message) }
      try await world.perform(step)
    } catch {
      problem = Self.text(of: error)
      return
    }
    // Before it is closed, a connection may bring the acknowledgement of a last word.
    await client.permit(step == .close ? .closing : .events(step.events))
  }

  /// Ends a step.
  /// - Returns: Whether the scenario can go on.
  mutating func finish(_ step: ScenarioStep) async -> Bool {
    if problem == nil {
      do { try await world.settle() } catch { problem = Self.text(of: error) }
    }
    let lines = pen.take()
    transcript.append(lines)
    let problem = problem ?? client.failure?.message
    if let problem {
      note(step, problem, actual: lines)
    } else if lines != step.expected {
      note(step, "something else came of it than should", actual: lines)
    }
    return problem == nil
  }

  private mutating func note(_ step: ScenarioStep, _ message: String, actual: [String]) {
    findings.append(
      ScenarioFinding(
        step: transcript.count, action: step.summary, message: message,
        expected: Self.shown(step.expected), actual: Self.shown(actual)))
  }

  /// Closes what the subject's goodbye wants closed.
  mutating func leave() async {
    do {
      if client.isLeaving {
        try await world.perform(.close)
        await client.permit(.closing)
      }
      try await world.settle()
    } catch { note(error: Self.text(of: error)) }
    if let failure = client.failure { note(error: failure.message) }
    _ = pen.take()
  }

  /// Notes what is wrong at the end, unless it is known already.
  mutating func note(error message: String) {
    guard findings.isEmpty else { return }
    findings.append(
      ScenarioFinding(
        step: scenario.steps.count + 1, action: "the end", message: message,
        expected: "an orderly end, and nothing left of the session", actual: "another end"))
  }

  /// Ends the world.
  mutating func end() async -> ScenarioOutcome {
    do { try await world.end() } catch { note(error: Self.text(of: error)) }
    return ScenarioOutcome(scenario: scenario.name, transcript: transcript, findings: findings)
  }

  private static func shown(_ lines: [String]) -> String {
    lines.isEmpty ? "nothing" : lines.joined(separator: " | ")
  }

  static func text(of error: any Error) -> String {
    let message = (error as? DataClientError)?.message ?? "\(error)"
    // A divergence has a line for each thing that is known of it.
    let lines = message.split(separator: "\n").map { line in
      line.split(separator: " ").joined(separator: " ")
    }
    return lines.joined(separator: "; ")
  }
}

extension SteppedClient.Failure {
  /// What is wrong, in one sentence.
  fileprivate var message: String {
    switch self {
    case .broken(let message): message
    case .silent(let limit): "no event came within \(limit) of the world's time"
    case .ended: "the world has no more events"
    case .cancelled: "it was cancelled"
    }
  }
}
