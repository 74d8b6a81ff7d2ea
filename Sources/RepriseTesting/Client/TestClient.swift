public import RepriseCore
import Synchronization
public import Testing

/// The world of a test: its recording, or the live client that it is recorded from.
///
/// The code under test gets it as any other `DataClient`, and can't tell which of both it is. When the
/// test does something else than its recording has, that is an issue of the test at the line of the call that did it.
public final class TestClient: DataClient {
  @TaskLocal static var scoped: TestClient?

  /// The client of the test that runs; that of its last trait where it has several, which ``named(_:)`` tells apart.
  ///
  /// - Throws: ``CassetteError/Code/noScope`` outside of a test with the trait `.replay`.
  public static var current: TestClient {
    get throws {
      guard let scoped else {
        throw CassetteError(
          .noScope,
          "there is no client here, as no test with a recording runs; give the test the trait .replay, and ask in "
            + "its own task or a child of it")
      }
      return scoped
    }
  }

  /// Returns the client of one recording of the test that runs, where it has several.
  /// - Parameter name: The name that the recording has in its trait `.replay`, or that of the test's function.
  /// - Returns: The client.
  /// - Throws: ``CassetteError/Code/noScope`` where the test has no such recording, and outside of a test with one.
  public static func named(_ name: String) throws -> TestClient {
    let clients = TestWorld.current?.clients ?? [:]
    guard let client = clients[name] else {
      let names = clients.keys.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
      throw CassetteError(
        .noScope,
        clients.isEmpty
          ? "there is no client \"\(name)\" here, as no test with a recording runs; give the test a trait "
            + ".replay for each, and ask in its own task or a child of it"
          : "the test has no recording \"\(name)\"; it has \(names)")
    }
    return client
  }

  private struct State {
    var isTold = false
    var steps: [Int: SourceLocation] = [:]
    var lastStep = 0
    var failures = 0
    var lines: [String] = []
  }

  let replay: ReplayClient?
  private let world: RecordingClient<AnyWorld, MemorySink>
  private let reporter: RunReporter
  private let text: TranscriptText
  private let state = Mutex(State())

  /// Creates a client that replays.
  convenience init(
    replaying replay: ReplayClient, _ reporter: RunReporter, _ settings: CassetteSettings
  ) throws {
    try self.init(on: replay, replay, reporter, settings)
  }

  /// Creates a client that records, or only runs, on a live one.
  convenience init(
    on live: any DataClient, _ reporter: RunReporter, _ settings: CassetteSettings
  ) throws {
    try self.init(on: live, nil, reporter, settings)
  }

  private init(
    on client: any DataClient, _ replay: ReplayClient?, _ reporter: RunReporter,
    _ settings: CassetteSettings
  ) throws {
    self.replay = replay
    self.reporter = reporter
    text = TranscriptText(roles: settings.options.roles, hiding: settings.redact)
    world = try RecordingClient(
      AnyWorld(client), to: MemorySink(), url: settings.url, redaction: settings.redact)
  }

  /// Whether the world is a recording; otherwise it is the live client.
  public var isReplaying: Bool { replay != nil }

  // MARK: The port

  /// Those of the recording, or of the live client.
  public var capabilities: Capabilities { world.capabilities }

  /// The time of the recording, or of the live client.
  public var now: Timestamp { world.now }

  /// Performs an action, whose line the test knows.
  /// - Parameters:
  ///   - action: What to do.
  ///   - sourceLocation: Where that stands, for the issue if the recording has something else.
  /// - Throws: What the world throws.
  public func perform(
    _ action: ClientAction, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await perform(action, at: sourceLocation)
  }

  /// Returns the next event, or the passing of a deadline, to a line that the test knows.
  /// - Parameters:
  ///   - deadline: When to stop waiting.
  ///   - sourceLocation: Where that stands, for the issue if the recording waits for an action.
  /// - Returns: The event.
  /// - Throws: What the world throws.
  public func next(
    before deadline: Timestamp?, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> ClientEvent {
    try await next(before: deadline, at: sourceLocation)
  }

  /// Performs an action.
  /// - Parameter action: What to do.
  /// - Throws: What the world throws.
  @_disfavoredOverload public func perform(_ action: ClientAction) async throws {
    try await perform(action, at: nil)
  }

  /// Returns the next event, or the passing of a deadline.
  /// - Parameter deadline: When to stop waiting.
  /// - Returns: The event.
  /// - Throws: What the world throws.
  @_disfavoredOverload public func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try await next(before: deadline, at: nil)
  }

  /// Wakes the world.
  public func wake() { world.wake() }

  private func perform(_ action: ClientAction, at place: SourceLocation?) async throws {
    do {
      try await world.perform(action)
    } catch {
      tellDivergence(at: place)
      throw error
    }
    let line = text.line(action.kind)
    state.withLock { $0.lines.append(line) }
  }

  private func next(
    before deadline: Timestamp?, at place: SourceLocation?
  ) async throws -> ClientEvent {
    let event: ClientEvent
    do {
      event = try await world.next(before: deadline)
    } catch {
      tellDivergence(at: place)
      throw error
    }
    if let line = text.line(event) { state.withLock { $0.lines.append(line) } }
    return event
  }

  // MARK: What went wrong

  /// Whether the test was told that this run diverged.
  var isTold: Bool { state.withLock { $0.isTold } }

  /// How many issues of the test were failures.
  var failures: Int { state.withLock { $0.failures } }

  /// Takes an issue of the test.
  /// - Returns: It; nil when nobody is to hear of it, as the test runs again.
  func take(_ issue: Issue) -> Issue? {
    if reporter.isTentative, replay?.divergence != nil { return nil }
    if issue.isFailure { state.withLock { $0.failures += 1 } }
    return issue
  }

  /// Tells the test of the divergence, if there is one and a test to tell.
  func tellDivergence(at place: SourceLocation?) {
    guard reporter.isHeard, let divergence = replay?.divergence else { return }
    tell(divergence, at: place)
  }

  private func tell(_ divergence: ReplayDivergence, at place: SourceLocation?) {
    guard !reporter.isTentative else { return }
    let (isFirst, step) = state.withLock { state in
      defer { state.isTold = true }
      return (!state.isTold, state.steps.count == 1 ? state.steps.values.first : nil)
    }
    guard isFirst else { return }
    reporter.tell(divergence, at: place ?? step ?? reporter.callPlace, run: world.sink.bytes)
  }

  /// Ends the replay here: what the recording has and the test has not done becomes an issue of this line.
  ///
  /// Without it the end of the test does, at the line of the test. A client that records is not ended by it.
  /// - Parameter sourceLocation: The line of the issue.
  /// - Throws: `DataClientError` where no test runs that could be told.
  public func finish(sourceLocation: SourceLocation = #_sourceLocation) throws {
    try finish(at: sourceLocation)
  }

  /// Ends the replay.
  /// - Parameter place: The line of the issue.
  /// - Throws: `DataClientError` where no test runs that could be told.
  func finish(at place: SourceLocation) throws {
    guard let replay else { return }
    do {
      try replay.finish()
    } catch {
      guard reporter.isHeard, let divergence = replay.divergence else {
        throw reporter.explained(error)
      }
      tell(divergence, at: place)
    }
  }

  /// Notes that the test failed, where nobody hands its issues on.
  func noteFailure() { state.withLock { $0.failures += 1 } }

  /// Ends the recording.
  /// - Returns: All of it.
  /// - Throws: What kept it from being recorded.
  func finishRecording() throws -> [UInt8] {
    try world.finish()
    return world.sink.bytes
  }

  // MARK: What a test says

  /// Does something of which this line is to be told when it diverges.
  ///
  /// For calls that another task carries out. Where several steps are under way, none of them is told.
  /// - Parameters:
  ///   - sourceLocation: The line.
  ///   - body: What is done.
  /// - Returns: What the body returns.
  /// - Throws: What the body throws.
  @discardableResult public func step<Result>(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    let number = state.withLock { state in
      state.lastStep += 1
      state.steps[state.lastStep] = sourceLocation
      return state.lastStep
    }
    defer { state.withLock { _ = $0.steps.removeValue(forKey: number) } }
    return try await body()
  }

  /// What was done and told so far, a line each.
  ///
  /// An action begins with `→`, an event with `←`. Values that each run makes anew stand as their role in angle
  /// brackets, secrets as `***`. That a message is published is not told, as a replay knows its moment only above QoS 0.
  public var transcript: [String] { state.withLock { $0.lines } }

  /// Expects that just this was done and told so far; what differs becomes an issue.
  /// - Parameters:
  ///   - expected: The lines of ``transcript``.
  ///   - sourceLocation: The line of the issue.
  public func expect(
    transcript expected: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let expected = expected.split(separator: "\n").map(String.init)
    let actual = transcript
    guard expected != actual else { return }
    let lines = LineDifference.lines(from: expected, to: actual)
    Issue.record(
      """
      the test saw something else (- expected, + actual):
      \(lines.joined(separator: "\n"))
      """, sourceLocation: sourceLocation)
  }
}

extension TestClient: HeardTime {
  package var heard: Timestamp { world.heard }
}
