public import RepriseCore
public import Testing

/// Tries whether a client keeps to what a `DataClient` owes its users: for whoever writes another one.
///
/// ```swift
/// @Test(.timeLimit(.minutes(1))) func isADataClient() async throws {
///   let outcomes = try await DataClientConformance.check { makeClient() }
///   #expect(outcomes[.deliversInOrder] == .kept)
/// }
/// ```
///
/// Each obligation is tried on a client of its own, which is not connected yet, with client identifiers and topics of
/// its own. The client has to reach a server that takes them; one of messages gives back what is sent to a topic that it
/// subscribed to. What is wrong is an issue of the test that runs; a client that never returns is for the test's time limit.
public enum DataClientConformance {
  /// What came of an obligation.
  public enum Outcome: Sendable, Hashable {
    /// The client kept it.
    case kept
    /// The client did not, and what it did instead.
    case broken(String)
    /// The client says that it can't do what it is about, by its capabilities.
    case notApplicable
  }

  /// Tries everything that a client owes.
  /// - Parameters:
  ///   - topic: What its topics begin with, without a slash at its end.
  ///   - request: What a client of requests asks for; any answer will do.
  ///   - patience: How long an answer may take, in the client's time, more than 0.
  ///   - quiet: How long nothing has to come where nothing is to come, in the client's time, more than 0.
  ///   - sourceLocation: The line of the issues.
  ///   - makeClient: Makes a client that is not connected.
  /// - Returns: What came of each obligation.
  /// - Throws: What `makeClient` throws, and `CancellationError`.
  @discardableResult public static func check(
    topic: String = "reprise/conformance",
    request: RequestMessage = RequestMessage(path: "", method: "GET"),
    patience: Duration = .seconds(10), quiet: Duration = .milliseconds(200),
    sourceLocation: SourceLocation = #_sourceLocation,
    makeClient: () async throws -> any DataClient
  ) async throws -> [ClientObligation: Outcome] {
    var outcomes: [ClientObligation: Outcome] = [:]
    for obligation in ClientObligation.allCases {
      let bench = ConformanceBench(
        try await makeClient(), name: "\(topic)/\(obligation.rawValue)", request: request,
        patience: patience, quiet: quiet)
      let outcome = try await outcome(of: obligation, on: bench)
      outcomes[obligation] = outcome
      guard case .broken(let text) = outcome, Test.current != nil else { continue }
      Issue.record(
        "\(obligation.rawValue): \(obligation.sentence); \(text)", sourceLocation: sourceLocation)
    }
    return outcomes
  }

  private static func outcome(
    of obligation: ClientObligation, on bench: ConformanceBench
  ) async throws -> Outcome {
    guard obligation.applies(to: bench.client.capabilities) else { return .notApplicable }
    do {
      try await bench.check(obligation)
      return .kept
    } catch let violation as ConformanceBench.Violation {
      return .broken(violation.text)
    } catch let error as CancellationError {
      // The one that a client throws in a task that nobody cancelled is the client's fault.
      if Task.isCancelled { throw error }
      return .broken("it threw a CancellationError in a task that was not cancelled")
    } catch {
      return .broken("it threw: \(error)")
    }
  }
}

extension ClientObligation {
  /// Whether a client of some capabilities can be tried.
  fileprivate func applies(to capabilities: Capabilities) -> Bool {
    let connects = !capabilities.isDisjoint(with: [.messages, .frames])
    switch self {
    case .tellsDeadlines, .wakes, .tellsCancellation, .refusesWhatItLacks: return true
    case .needsAConnection, .losesNothingByCancellation, .answersConnect, .closesOnce,
      .connectsAgain:
      return connects
    case .refusesWhatCannotBe, .answersSubscribe, .answersUnsubscribe, .answersPublish,
      .deliversInOrder:
      return capabilities.contains(.messages)
    case .retains: return capabilities.isSuperset(of: [.messages, .retain])
    case .answersRequests: return capabilities.contains(.requests)
    case .takesFrames: return capabilities.contains(.frames)
    }
  }
}
