import Capture
import DataClient
import Testing

@testable import ConformanceKit
@testable import DeviceSDK

/// Whatever is wrong with a link, some scenario says so.
@Suite struct WrongLinkTests {
  /// The scenarios that are there for each defect; others may notice it too.
  static let catching: [LinkDefect: [String]] = [
    .statesAreToldTwice: ["link-login", "stream-join"], .previousStateIsLost: ["link-lost"],
    .affectedIsLost: ["link-restore", "stream-join"], .unrestoredIsNotTold: ["link-unrestored"],
    .isAlwaysResumed: ["link-back-off", "link-login", "stream-join"],
    .isNeverResumed: ["link-lost", "link-resumed-late", "stream-lost"],
    .isNeverSuspended: ["link-back-off"], .reasonsAreUnknown: ["link-login-refused"],
    .rejoiningIsJoining: ["stream-lost", "stream-rejoin"], .streamsAreDisconnected: ["stream-lost"],
    .emptyTokensStayEmpty: ["link-login-empty-token"],
    .openingIsDoneTooEarly: ["link-login", "stream-join"],
    .formerLoginsWait: ["link-two-logins", "link-logout-while-logging-in", "stream-two-joins"],
    .refusalsAreTriedAgain: ["link-login-refused-by-broker", "stream-refused"],
    .unavailableIsFinal: ["link-broker-unavailable"],
    .rejectionsAreTaken: ["link-login-refused", "stream-refused"],
    .serverReasonsAreLost: ["link-login-refused", "link-kicked"],
    .greetsAlwaysAsNew: ["link-lost", "stream-lost"],
    .neverGivesUp: ["link-login-timeout", "link-reconnect-timeout"],
    .goodbyeIsNotSaid: ["link-logout", "stream-join"],
    .comesBackByItself: ["link-logout", "link-kicked", "stream-rejoin"],
    .intervalIsNotSaid: ["link-clamped"], .leavesNoWill: ["link-login"],
    .heartbeatsAreMissing: ["link-heartbeat", "stream-join"],
    .pongsAreNotHeard: ["link-heartbeat", "hour-with-outages"],
    .answersItsOwnHeartbeats: ["link-heartbeat-missed", "stream-silent"],
    .heartbeatsAreMadeUpFor: ["link-clock-jump"],
    .lossesAreNotNoticed: ["link-lost", "stream-lost", "flapping-network"],
    .networkIsIgnored: ["link-network-change", "stream-network"],
    .waitsNotBeforeNewTries: ["link-lost", "stream-back-off"],
    .alwaysWaitsTwoSeconds: ["link-back-off", "stream-back-off"],
    .kicksAreLosses: ["link-kicked", "stream-rejoin"],
    .kicksAreNotHeard: ["link-kicked", "stream-rejoin"],
    .serviceFailureIsIgnored: ["stream-service-failed"],
    .sendsBeforeALogin: ["link-before-login"], .modulesHaveOneCode: ["link-while-down"],
    .lostCallsWait: ["link-lost-while-waiting", "stream-calls"],
    .serverCodesAreLost: ["link-subscribe-refused"],
    .publishIsDoneBeforeThePuback: ["link-publish"],
    .refusedFiltersCount: ["link-subscribe-refused", "link-topics-refused"],
    .usersAreNotWaitedFor: ["link-users-late"], .snapshotsAreDropped: ["link-subscribe"],
    .unsubscribingIsForgotten: ["link-unsubscribe-while-down"],
    .unsubscribingIsNotSaid: ["link-unsubscribe"], .limitsAreNone: ["link-limits"],
    .ownPresenceIsTold: ["link-presence", "stream-presence"],
    .subscriptionsDoNotComeBack: ["link-restore", "flapping-network"],
    .statesDoNotComeBack: ["link-restore", "link-restore-suspended", "stream-lost"],
    .failuresAreForgotten: ["link-new-session"],
    .isConnectedBeforeAllIsBack: ["link-restore"], .unrestoredStaysThere: ["link-unrestored"],
    .tokenEndIsNotTold: ["link-token-ends-soon", "stream-token"],
    .tokenEndIsToldTwice: ["link-token-ends-soon", "link-token-ended-offline"],
    .endedTokensAreShown: ["link-token-ended-offline", "link-token-ended-suspended"],
    .renewedTokensAreForgotten: ["link-renewed-token"],
  ]

  /// A defect is caught in process, on the recording and on the capture alike, all of which a right link
  /// goes through (`ScenarioTests`).
  @Test(arguments: LinkDefect.allCases)
  func isCaught(_ defect: LinkDefect) async throws {
    let names = try #require(Self.catching[defect], "say which scenarios are there for \(defect)")
    for name in names {
      let scenario = try #require(ScenarioTests.all.first { $0.name == name }, "\(name)")
      for (world, make) in RecordedScenarios.worlds {
        let wrong = try await run(scenario, defect, in: make(scenario))
        #expect(!wrong.hasPassed, "\(name), \(world) does not notice that \(defect)")
      }
    }
  }

  private func run(
    _ scenario: Scenario, _ defect: LinkDefect, in world: any ScenarioWorld
  ) async throws -> ScenarioOutcome {
    guard try LinkSettings(scenario).streamChannel == nil else {
      return try await ScenarioRunner(scenario) { scenario, pen in
        try LinkSubject(scenario, pen: pen) { settings in
          let settings = defect.spoil(settings)
          let channel = settings.streamChannel ?? ""
          return WrongLink(try StreamLinkMachine(channel, settings.configuration), defect)
        }
      }.run(in: world)
    }
    return try await ScenarioRunner(scenario) { scenario, pen in
      try LinkSubject(scenario, pen: pen) {
        WrongLink(try MessageLinkMachine(defect.spoil($0).configuration), defect)
      }
    }.run(in: world)
  }
}
