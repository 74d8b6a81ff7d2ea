import RepriseCore
import SDKReplay

/// A replay of whichever system of the SDK a session is of.
protocol PreparedReplay: Sendable {
  /// Whose session it is, for people: `app dev1&a1pk`.
  var subject: String { get }
  /// What was taken for granted.
  var notes: [String] { get }

  /// Runs the replay, and writes what is seen.
  /// - Parameter lines: The writer.
  /// - Returns: How it ended, to be written when all else is.
  /// - Throws: `DataClientError` when the session has a hole, and `CancellationError`.
  func run(_ lines: ObservationLines) async throws -> any PreparedOutcome

  /// Runs the replay, and takes its steps down.
  /// - Parameter recorder: What takes them.
  /// - Throws: `DataClientError` when the session has a hole, and `CancellationError`.
  func run(_ recorder: StepRecorder) async throws
}

/// How a replay ended.
protocol PreparedOutcome: Sendable {
  /// Where the SDK left the session; nil when it went through it.
  var divergence: ReplayDivergence? { get }
  /// Appends how it ended for people, without the last line's end.
  func append(to buffer: inout [UInt8], as text: inout ObservationText)
  /// Appends how it ended for programs, without a line end.
  func append(to buffer: inout [UInt8], as json: ObservationJSON)
}

extension SystemReplay: PreparedReplay where Plan: ShownPlan {
  var subject: String { plan.subject }
  var notes: [String] { plan.notes }

  func run(_ lines: ObservationLines) async throws -> any PreparedOutcome {
    try await run { (observation: Observation) in lines.write(observation, of: Plan.self) }
  }
}

extension ReplayOutcome: PreparedOutcome where Plan: ShownPlan {
  func append(to buffer: inout [UInt8], as text: inout ObservationText) {
    text.append(self, to: &buffer)
  }

  func append(to buffer: inout [UInt8], as json: ObservationJSON) {
    json.append(self, to: &buffer)
  }
}

extension RecordedSystem {
  /// Prepares a replay of a session of the system.
  /// - Parameters:
  ///   - events: The events of the client.
  ///   - options: How to compare and to tell the time.
  ///   - envelope: What the parts of requests are called.
  /// - Returns: The replay.
  /// - Throws: `DataClientError` when the session can't be played.
  func replay(
    _ events: ReplayEvents, _ options: ReplayOptions, _ envelope: RequestEnvelope
  ) throws(DataClientError) -> any PreparedReplay {
    switch self {
    case .channel: try SystemReplay<ChannelPlan>(events, options: options)
    case .gateway: try SystemReplay<GatewayPlan>(events, options: options)
    case .channelWithGateway: try SystemReplay<SharedPlan>(events, options: options)
    case .messageLink: try SystemReplay<MessageLinkPlan>(events, options: options)
    case .streamLink: try SystemReplay<StreamLinkPlan>(events, options: options)
    case .requests:
      try SystemReplay<RequestPlan>(events, options: options) {
        dialogue throws(DataClientError) in try RequestPlan(dialogue, in: envelope)
      }
    }
  }
}
