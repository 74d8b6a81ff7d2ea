import AppSessions
import Capture
import DeviceSDK
import RepriseCore
import SDKReplay
import Synchronization

/// A recording as it is played: the calls in their order, what was told, and how it ended.
struct PlayedRecording<Plan: ReplayPlan> {
  let plan: Plan
  let outcome: ReplayOutcome<Plan>
  private(set) var calls: [ReplayedCall] = []
  private(set) var failed: [ReplayedCall] = []
  private(set) var told: [Plan.Machine.Effect] = []
  /// What was completed with what.
  private(set) var values: [(call: ReplayedCall, value: Plan.Machine.Value)] = []

  init(
    _ events: ReplayEvents, as plan: Plan.Type, options: ReplayOptions = ReplayOptions(),
    makePlan: (ReplayDialogue) throws(DataClientError) -> Plan = Plan.init
  ) async throws {
    let seen = Mutex<[SystemReplay<Plan>.Observation]>([])
    let replay = try SystemReplay<Plan>(events, options: options, makePlan: makePlan)
    self.plan = replay.plan
    outcome = try await replay.run { observation in seen.withLock { $0.append(observation) } }
    for observation in seen.withLock({ $0 }) {
      switch observation.content {
      case .called(let call): calls.append(call)
      case .completed(let call, .success(let value)): values.append((call, value))
      case .completed(let call, .failure): failed.append(call)
      case .told(let effect): told.append(effect)
      }
    }
  }

  init(text: String, as plan: Plan.Type) async throws {
    try await self.init(try AppSession.events(Array(text.utf8)), as: plan)
  }

  /// The calls as `name subject`.
  var words: [String] {
    calls.map { [$0.name, $0.subject].compactMap(\.self).joined(separator: " ") }
  }

  /// Where the session was left, for messages of tests.
  var divergence: String { outcome.divergence.map { "\($0)" } ?? "" }
}

extension SDKRecording {
  /// The events of a recording or a capture.
  static func events(_ name: String) throws -> ReplayEvents {
    var events = ReplayEvents(rereading: SessionFile(path(name)))
    _ = try SessionInput.read(path(name), options: InputOptions(), into: &events)
    return events
  }
}
