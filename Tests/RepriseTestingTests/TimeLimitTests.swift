#if os(Linux)
  import Foundation
  import RepriseCore
  import RepriseTesting
  import Testing

  /// What is told of a test that takes longer than it may.
  ///
  /// The shortest limit of Testing is a minute.
  @Suite struct TimeLimitTests {
    private static let variable = "REPRISE_TESTS_RUN_INTO_LIMIT"
    /// The name of this suite, as `--filter` takes it.
    private static let suite = "\(#fileID.prefix { $0 != "/" }).TimeLimitTests"
    private static let isInner = ProcessInfo.processInfo.environment[variable] != nil

    /// Reads for ever, where only an action could bring anything.
    @Test(
      .enabled(if: isInner), .timeLimit(.minutes(1)),
      .replay("lamp", options: ReplayOptions(patience: .unlimited)))
    func waitsForEver() async throws {
      let client = try TestClient.current
      let options = ConnectOptions(clientID: "lamp")
      try await client.perform(ClientAction(.init(rawValue: 1), .connect(options)))
      while true { _ = try await client.next(before: nil) }
    }

    /// Waits for something that is none of the recording's.
    @Test(.enabled(if: isInner), .timeLimit(.minutes(1)), .replay("lamp"))
    func sleepsForEver() async throws {
      _ = try TestClient.current
      try await Task.sleep(for: .seconds(3_600))
    }

    /// One that is cancelled for another reason.
    @Test(.enabled(if: isInner), .timeLimit(.minutes(1)), .replay("lamp"))
    func isCancelledAtOnce() async throws {
      let client = try TestClient.current
      let task = Task { try await client.next(before: nil) }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      withUnsafeCurrentTask { $0?.cancel() }
      throw CancellationError()
    }

    @Test(
      .timeLimit(.minutes(5)), .enabled(if: !isInner),
      arguments: [
        ("waitsForEver", "expected: SUBSCRIBE home/lamp"),
        ("sleepsForEver", #"expected: CONNECT as "lamp","#),
      ])
    func whatIsWaitedForIsTold(_ test: String, _ expected: String) async throws {
      let (status, output) = try await TestProgram.run(
        "\(Self.suite)/\(test)", [Self.variable: "1"])
      #expect(status == 1)
      #expect(output.contains("Time limit was exceeded: 60.000 seconds"), "\(output)")
      #expect(
        output.contains("the replay diverged: the session has an action here that nobody performs"),
        "\(output)")
      #expect(output.contains(expected), "\(output)")
      #expect(
        output.contains("actual:   the test reached its time limit, and had not performed it"),
        "\(output)")
    }

    /// The near miss: where a test is cancelled before, the recording has nothing to do with it.
    @Test(.timeLimit(.minutes(5)), .enabled(if: !isInner))
    func otherCancellationsAreNotExplained() async throws {
      let (_, output) = try await TestProgram.run(
        "\(Self.suite)/isCancelledAtOnce", [Self.variable: "1"])
      #expect(output.contains("Test isCancelledAtOnce() "), "\(output)")
      #expect(!output.contains("the replay diverged"), "\(output)")
    }
  }
#endif
