import RepriseCore

/// One run of a scenario, as far as it got.
struct ScenarioRun {
  let client: SteppedClient
  let pen: ScenarioPen
  private let scenario: Scenario
  private let world: any ScenarioWorld
  private var transcript: [[String]] = []
  private var findings: [ScenarioFinding] = []
  /// What went wrong on the cloud's side of the current step.
  private var problem: Problem?

  /// What ends a scenario before its last step.
  private struct Problem {
    let message: String
    /// Whether it says nothing of the subject.
    let isOfWorld: Bool

    init(_ failure: SteppedClient.Failure) {
      (message, isOfWorld) = (failure.message, failure.isOfWorld)
    }

    /// What the cloud could not do: that nothing is open for it to answer is of the subject.
    init(_ error: any Error) {
      message = ScenarioRun.text(of: error)
      let code = (error as? DataClientError)?.code
      isOfWorld = code != .noAnswer && code != .diverged
    }
  }

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
      problem = Problem(error)
      return
    }
    // Before it is closed, a connection may bring the acknowledgement of a last word.
    await client.permit(step == .close ? .closing : .events(step.events))
  }

  /// Ends a step.
  /// - Returns: Whether the scenario can go on.
  mutating func finish(_ step: ScenarioStep) async -> Bool {
    if problem == nil {
      do { try await world.settle() } catch { problem = Problem(error) }
    }
    let lines = pen.take()
    transcript.append(lines)
    let problem = problem ?? client.failure.map(Problem.init)
    if let problem {
      note(step, problem.message, actual: lines, isOfWorld: problem.isOfWorld)
    } else if lines != step.expected {
      note(step, Self.difference(step.expected, lines), actual: lines, isOfWorld: false)
    }
    return problem == nil
  }

  private mutating func note(
    _ step: ScenarioStep, _ message: String, actual: [String], isOfWorld: Bool
  ) {
    let blamed = scenario.blamed(step: transcript.count - 1, actual: actual)
    var finding = ScenarioFinding(
      step: transcript.count, action: step.summary, clauses: isOfWorld ? [] : blamed,
      place: place, isOfWorld: isOfWorld, message: message, expected: Self.shown(step.expected),
      actual: Self.shown(actual))
    if !isOfWorld, let divergence = world.divergence {
      finding = finding.telling(divergence)
    }
    findings.append(finding)
  }

  /// Where the scenario is.
  private var place: ReplayPlace { world.place ?? client.place }

  /// Closes what the subject's goodbye wants closed.
  mutating func leave() async {
    do {
      if client.isLeaving {
        try await world.perform(.close)
        await client.permit(.closing)
      }
      try await world.settle()
    } catch { note(end: Problem(error)) }
    if let failure = client.failure { note(end: Problem(failure)) }
    _ = pen.take()
  }

  /// Notes what is wrong at the end, unless it is known already.
  mutating func note(error: any Error) { note(end: Problem(error)) }

  private mutating func note(end problem: Problem) {
    guard findings.isEmpty else { return }
    let finding = ScenarioFinding(
      step: scenario.steps.count + 1, action: "the end", clauses: [], place: place,
      isOfWorld: problem.isOfWorld, message: problem.message,
      expected: "an orderly end, and nothing left of the session", actual: "another end")
    if !problem.isOfWorld, let divergence = world.divergence {
      findings.append(finding.telling(divergence))
    } else {
      findings.append(finding)
    }
  }

  /// Ends the world.
  mutating func end() async -> ScenarioOutcome {
    do { try await world.end() } catch { note(end: Problem(error)) }
    return ScenarioOutcome(scenario: scenario.name, transcript: transcript, findings: findings)
  }

  /// Says at which of the lines that come of a step something else came than should.
  private static func difference(_ expected: [String], _ actual: [String]) -> String {
    let place = zip(expected, actual).prefix { $0 == $1 }.count
    let message = "something else came of it than should"
    switch (place < expected.count, place < actual.count) {
    case (true, true): return message + ": line \(place + 1) is another"
    case (true, false):
      return message
        + (actual.isEmpty ? ": nothing came" : ": line \(place + 1) and all behind it are missing")
    case (false, _):
      return message
        + (expected.isEmpty
          ? ": nothing should come" : ": line \(place + 1) and all behind it are too many")
    }
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

extension ScenarioFinding {
  /// The same, with what a replay knows of the place at which the subject left its session.
  ///
  /// What differs tells it from others, with what should have been done and was. Places, times and the names of files,
  /// of which the replay tells as well, are others when the same is recorded elsewhere; so are the lines of the step
  /// behind it, which tell the replay's own words again.
  fileprivate func telling(_ divergence: ReplayDivergence) -> ScenarioFinding {
    let headline = "\(divergence)".prefix { $0 != "\n" }
    var message = [String(headline)] + divergence.differences.prefix(8).map { "\($0)" }
    let others = divergence.differences.count - 8
    if others > 0 { message.append("and \(others) differences more") }
    if let error = divergence.applicationError { message.append("after the error \(error)") }
    if let later = divergence.laterPlace { message.append("the session has it later, at \(later)") }
    var finding = ScenarioFinding(
      step: step, action: action, clauses: clauses, place: place, isOfWorld: isOfWorld,
      message: message.joined(separator: "; "),
      expected: divergence.expected ?? "no further action",
      actual: divergence.actual ?? "no action")
    finding.remedies = [divergence.remedy] + divergence.advice
    // Of an action that is missing, or one too many, nothing differs: it is the action that tells.
    let actions = [finding.expected, finding.actual]
    finding.identity =
      [divergence.kind.rawValue, expected] + actions.map(Fingerprint.masked)
      + (divergence.differences.isEmpty ? actions : divergence.differences.map { "\($0)" })
    return finding
  }
}
