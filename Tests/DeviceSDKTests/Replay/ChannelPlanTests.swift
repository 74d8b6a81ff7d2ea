import AppSessions
import DeviceSDK
import RepriseCore
import SDKReplay
import Testing

/// Channels that are replayed from the recordings of the scenarios.
@Suite struct ChannelPlanTests {
  /// The recordings and captures of all scenarios of a channel.
  static let names = SDKRecording.names(of: "channel")

  @Test func thereAreRecordings() { #expect(Self.names.count > 80) }

  @Test(arguments: names)
  func goesThroughItsSessionAgain(name: String) async throws {
    let events = try SDKRecording.events(name)
    #expect(try RecordedSystem(events) == .channel)
    let played = try await PlayedRecording(events, as: ChannelPlan.self)
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
  }

  /// Minutes lie between tries then: one that comes when it was recorded is answered in time.
  @Test(arguments: names.filter { $0.hasSuffix(".jsonl") })
  func goesThroughItAgainInItsOwnTime(name: String) async throws {
    let text = SDKRecording.slowing(try SDKRecording.text(name), 20)
    let played = try await PlayedRecording(text: text, as: ChannelPlan.self)
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
  }

  /// The delay grows from try to try, and each try is seen when it was made.
  @Test func triesAreMadeWhenTheyWereRecorded() async throws {
    let text = SDKRecording.slowing(try SDKRecording.text("channel/back-off.jsonl"), 20)
    let events = try AppSession.events(Array(text.utf8))
    let tried = try events.dialogue().compactMap { step -> Timestamp? in
      guard case .action(let action) = step.content, case .connect = action.kind else { return nil }
      return step.place.time
    }
    let played = try await PlayedRecording(events, as: ChannelPlan.self)
    let seen = played.told.compactMap { effect -> Timestamp? in
      guard case .changeState(let change) = effect, change.state == .connecting else { return nil }
      return change.time
    }
    #expect(seen == tried)
  }
}
