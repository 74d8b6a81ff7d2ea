import DeviceSDK
import RepriseCore

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
        finish: {
          subject.finish()
          client.finish()
        }
      ) {
        defer { client.end() }
        try await play(&run, subject, driver)
      }
    } catch let error as DataClientError {
      // A step has noted it already, unless the world broke on the way out.
      run.note(error: error)
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
    if let cloud = try subject.cloud(step) { return await run.perform(cloud) }
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
