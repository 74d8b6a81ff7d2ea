import Capture
import RepriseCore
import Testing

@testable import ConformanceKit
@testable import DeviceSDK

/// Whatever is wrong with a link, some scenario says so.
@Suite struct WrongLinkTests {
  /// The scenarios that are there for each defect, each with the number of the only clause that it is held
  /// against; others may notice it too.
  static let catching: [LinkDefect: [String: Int]] = [
    .statesAreToldTwice: ["link-login": 3, "stream-join": 45],
    .previousStateIsLost: ["link-lost": 3],
    .affectedIsLost: ["link-restore": 4, "stream-presence": 4],
    .unrestoredIsNotTold: ["link-unrestored": 5, "topic-unrestored": 83],
    .isAlwaysResumed: ["link-back-off": 6, "link-login": 6, "stream-given-up": 6],
    .isNeverResumed: ["link-lost": 6, "link-resumed-late": 6, "stream-lost": 6],
    .isNeverSuspended: ["link-back-off": 20],
    .reasonsAreUnknown: ["link-login": 3],
    .rejoiningIsJoining: ["stream-kicked": 45, "stream-rejoin": 45],
    .streamsAreDisconnected: ["stream-lost": 42],
    .emptyTokensStayEmpty: ["link-login-empty-token": 35],
    .openingIsDoneTooEarly: ["link-login": 12, "stream-join": 45],
    .formerLoginsWait: [
      "link-two-logins": 34, "link-logout-while-logging-in": 34, "stream-two-joins": 34,
    ],
    .refusalsAreTriedAgain: ["link-login-refused-by-broker": 15, "stream-refused": 15],
    .unavailableIsFinal: ["link-broker-unavailable": 15],
    .rejectionsAreTaken: ["link-login-refused": 14, "stream-refused": 14],
    .serverReasonsAreLost: ["link-login-refused": 14, "link-kicked": 26],
    .greetsAlwaysAsNew: ["link-lost": 60, "stream-lost": 48],
    .neverGivesUp: ["link-login-timeout": 23, "link-reconnect-timeout": 24],
    .goodbyeIsNotSaid: ["link-logout": 28, "stream-join": 43],
    .comesBackByItself: ["link-logout": 28, "link-kicked": 26, "stream-rejoin": 26],
    .intervalIsNotSaid: ["link-clamped": 8],
    .leavesNoWill: ["link-login": 12],
    .heartbeatsAreMissing: ["link-heartbeat": 49, "stream-join": 41],
    .pongsAreNotHeard: ["link-heartbeat": 49, "hour-with-outages": 49],
    .answersItsOwnHeartbeats: ["link-heartbeat-missed": 17, "stream-silent": 42],
    .heartbeatsAreMadeUpFor: ["link-clock-jump": 49],
    .lossesAreNotNoticed: ["link-lost": 16, "stream-lost": 42, "flapping-network": 74],
    .networkIsIgnored: ["link-network-change": 18, "stream-network": 42],
    .waitsNotBeforeNewTries: ["link-lost": 19, "stream-back-off": 42],
    .alwaysWaitsTwoSeconds: ["link-back-off": 19, "stream-back-off": 42],
    .kicksAreLosses: ["link-kicked": 26, "stream-rejoin": 26],
    .kicksAreNotHeard: ["link-kicked": 26, "stream-rejoin": 26],
    .serviceFailureIsIgnored: ["stream-service-failed": 47],
    .sendsBeforeALogin: ["link-before-login": 31],
    .modulesHaveOneCode: ["link-while-down": 32, "topic-while-down": 87],
    .lostCallsWait: [
      "link-lost-while-waiting": 33, "stream-calls": 33, "topic-while-down": 87,
    ],
    .serverCodesAreLost: ["link-subscribe-refused": 71],
    .publishIsDoneBeforeThePuback: ["link-publish": 77],
    .refusedFiltersCount: ["link-subscribe-refused": 71, "link-topics-refused": 14],
    .usersAreNotWaitedFor: ["link-users-late": 58],
    .snapshotsAreDropped: ["link-subscribe": 57],
    .unsubscribingIsForgotten: ["link-unsubscribe-while-down": 64],
    .unsubscribingIsNotSaid: ["link-unsubscribe": 54],
    .limitsAreNone: ["link-limits": 69],
    .ownPresenceIsTold: ["link-presence": 76, "stream-presence": 76],
    .subscriptionsDoNotComeBack: ["link-restore": 60, "flapping-network": 60],
    .statesDoNotComeBack: ["link-restore": 60, "link-restore-suspended": 60, "stream-lost": 48],
    .failuresAreForgotten: ["link-new-session": 63],
    .isConnectedBeforeAllIsBack: ["link-restore": 61],
    .unrestoredStaysThere: ["link-unrestored": 5, "topic-unrestored": 83],
    .topicsDoNotComeBack: ["topic-lost": 82],
    .sourcesDoNotComeBack: ["topic-lost": 82],
    .topicsNeedNoJoin: ["topic-publish": 78, "topic-leave": 88, "topic-unrestored": 83],
    .orderedTopicsAreUnordered: ["topic-publish": 79],
    .leavingTopicsIsNotSaid: ["topic-publish": 78, "topic-while-down": 84],
    .ownTopicsAreTold: ["topic-subscribe": 86],
    .topicEventsAreDropped: ["topic-subscribe": 86],
    .topicMessagesAreDropped: ["topic-subscribe": 80, "topic-lost": 82],
    .topicsHaveNoLimit: ["topic-limits": 85],
    .joinFeaturesAreLost: ["topic-publish": 90],
    .onePublisherIsEnough: ["topic-subscribe": 81],
    .tokenEndIsNotTold: ["link-token-ends-soon": 65, "stream-token": 65],
    .tokenEndIsToldTwice: ["link-token-ends-soon": 65, "link-token-ended-offline": 65],
    .endedTokensAreShown: ["link-clock-jump-token": 68],
    .renewedTokensAreForgotten: ["link-renewed-token": 66],
  ]

  /// A defect is caught in process, on the recording and on the capture alike.
  @Test(arguments: LinkDefect.allCases)
  func isCaught(_ defect: LinkDefect) async throws {
    try await RecordedScenarios.expectBlamed(defect, by: Self.catching[defect]) { scenario, world in
      try await run(scenario, defect, in: world)
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
