import Testing

@testable import ConformanceKit
@testable import DeviceSDK

/// Whatever is wrong with a link, some scenario says so.
@Suite struct WrongLinkTests {
  /// The scenarios that are there for each defect, each with the only clause that it is held against and
  /// the step at which it is; others may notice it too.
  static let catching: [LinkDefect: [String: Blame]] = [
    .statesAreToldTwice: ["link-login": .clause(3, step: 1), "stream-join": .clause(45, step: 1)],
    .previousStateIsLost: ["link-lost": .clause(3, step: 5)],
    .affectedIsLost: [
      "link-restore": .clause(4, step: 18), "stream-presence": .clause(4, step: 1),
    ],
    .unrestoredIsNotTold: [
      "link-unrestored": .clause(5, step: 29), "topic-unrestored": .clause(83, step: 18),
    ],
    .isAlwaysResumed: [
      "link-back-off": .clause(6, step: 5), "link-login": .clause(6, step: 5),
      "stream-given-up": .clause(6, step: 5),
    ],
    .isNeverResumed: [
      "link-lost": .clause(6, step: 11), "link-resumed-late": .clause(6, step: 20),
      "stream-lost": .clause(6, step: 17),
    ],
    .isNeverSuspended: ["link-back-off": .clause(20, step: 17)],
    .reasonsAreUnknown: ["link-login": .clause(3, step: 1)],
    .rejoiningIsJoining: [
      "stream-kicked": .clause(45, step: 9), "stream-rejoin": .clause(45, step: 12),
    ],
    .streamsAreDisconnected: ["stream-lost": .clause(42, step: 13)],
    .emptyTokensStayEmpty: ["link-login-empty-token": .clause(35, step: 3)],
    .openingIsDoneTooEarly: [
      "link-login": .clause(12, step: 1), "stream-join": .clause(45, step: 1),
    ],
    .formerLoginsWait: [
      "link-two-logins": .clause(34, step: 5), "link-logout-while-logging-in": .clause(34, step: 5),
      "stream-two-joins": .clause(34, step: 5),
    ],
    .refusalsAreTriedAgain: [
      "link-login-refused-by-broker": .clause(15, step: 2), "stream-refused": .clause(15, step: 9),
    ],
    .unavailableIsFinal: ["link-broker-unavailable": .clause(15, step: 2)],
    .rejectionsAreTaken: [
      "link-login-refused": .clause(14, step: 5), "stream-refused": .clause(14, step: 5),
    ],
    .serverReasonsAreLost: [
      "link-login-refused": .clause(14, step: 5), "link-kicked": .clause(26, step: 14),
    ],
    .greetsAlwaysAsNew: ["link-lost": .clause(60, step: 9), "stream-lost": .clause(48, step: 15)],
    .neverGivesUp: [
      "link-login-timeout": .clause(23, step: 7), "link-reconnect-timeout": .clause(24, step: 11),
    ],
    .goodbyeIsNotSaid: [
      "link-logout": .clause(28, step: 14), "stream-join": .clause(43, step: 19),
    ],
    .comesBackByItself: [
      "link-logout": .clause(28, step: 15), "link-kicked": .clause(26, step: 7),
      "stream-rejoin": .clause(26, step: 10),
    ],
    .intervalIsNotSaid: ["link-clamped": .clause(8, step: 3)],
    .leavesNoWill: ["link-login": .clause(12, step: 1)],
    .heartbeatsAreMissing: [
      "link-heartbeat": .clause(49, step: 6), "stream-join": .clause(41, step: 7),
    ],
    .pongsAreNotHeard: [
      "link-heartbeat": .clause(49, step: 10), "hour-with-outages": .clause(49, step: 17),
    ],
    .answersItsOwnHeartbeats: [
      "link-heartbeat-missed": .clause(17, step: 6), "stream-silent": .clause(42, step: 7),
    ],
    .heartbeatsAreMadeUpFor: ["link-clock-jump": .clause(49, step: 6)],
    .lossesAreNotNoticed: [
      "link-lost": .clause(16, step: 6), "stream-lost": .clause(42, step: 13),
      "flapping-network": .clause(74, step: 14),
    ],
    .networkIsIgnored: [
      "link-network-change": .clause(18, step: 6), "stream-network": .clause(42, step: 6),
    ],
    .waitsNotBeforeNewTries: [
      "link-lost": .clause(19, step: 6), "stream-back-off": .clause(42, step: 6),
    ],
    .alwaysWaitsTwoSeconds: [
      "link-back-off": .clause(19, step: 9), "stream-back-off": .clause(42, step: 10),
    ],
    .kicksAreLosses: ["link-kicked": .clause(26, step: 6), "stream-rejoin": .clause(26, step: 9)],
    .kicksAreNotHeard: [
      "link-kicked": .clause(26, step: 6), "stream-rejoin": .clause(26, step: 9),
    ],
    .serviceFailureIsIgnored: ["stream-service-failed": .clause(47, step: 6)],
    .sendsBeforeALogin: ["link-before-login": .clause(31, step: 1)],
    .modulesHaveOneCode: [
      "link-while-down": .clause(32, step: 12), "topic-while-down": .clause(87, step: 17),
    ],
    .lostCallsWait: [
      "link-lost-while-waiting": .clause(33, step: 14), "stream-calls": .clause(33, step: 11),
      "topic-while-down": .clause(87, step: 17),
    ],
    .serverCodesAreLost: ["link-subscribe-refused": .clause(71, step: 14)],
    .publishIsDoneBeforeThePuback: ["link-publish": .clause(77, step: 6)],
    .refusedFiltersCount: [
      "link-subscribe-refused": .clause(71, step: 7), "link-topics-refused": .clause(14, step: 3),
    ],
    .usersAreNotWaitedFor: ["link-users-late": .clause(58, step: 9)],
    .snapshotsAreDropped: ["link-subscribe": .clause(57, step: 10)],
    .unsubscribingIsForgotten: ["link-unsubscribe-while-down": .clause(64, step: 16)],
    .unsubscribingIsNotSaid: ["link-unsubscribe": .clause(54, step: 14)],
    .limitsAreNone: ["link-limits": .clause(69, step: 27)],
    .ownPresenceIsTold: [
      "link-presence": .clause(76, step: 15), "stream-presence": .clause(76, step: 8),
    ],
    .subscriptionsDoNotComeBack: [
      "link-restore": .clause(60, step: 21), "flapping-network": .clause(60, step: 17),
    ],
    .statesDoNotComeBack: [
      "link-restore": .clause(60, step: 21), "link-restore-suspended": .clause(60, step: 27),
      "stream-lost": .clause(48, step: 15),
    ],
    .failuresAreForgotten: ["link-new-session": .clause(63, step: 12)],
    .isConnectedBeforeAllIsBack: ["link-restore": .clause(61, step: 21)],
    .unrestoredStaysThere: [
      "link-unrestored": .clause(5, step: 29), "topic-unrestored": .clause(83, step: 18),
    ],
    .topicsDoNotComeBack: ["topic-lost": .clause(82, step: 16)],
    .sourcesDoNotComeBack: ["topic-lost": .clause(82, step: 15)],
    .topicsNeedNoJoin: [
      "topic-publish": .clause(78, step: 6), "topic-leave": .clause(88, step: 19),
      "topic-unrestored": .clause(83, step: 19),
    ],
    .orderedTopicsAreUnordered: ["topic-publish": .clause(79, step: 14)],
    .leavingTopicsIsNotSaid: [
      "topic-publish": .clause(78, step: 18), "topic-while-down": .clause(84, step: 29),
    ],
    .ownTopicsAreTold: ["topic-subscribe": .clause(86, step: 8)],
    .topicEventsAreDropped: ["topic-subscribe": .clause(86, step: 7)],
    .topicMessagesAreDropped: [
      "topic-subscribe": .clause(80, step: 12), "topic-lost": .clause(82, step: 19),
    ],
    .topicsHaveNoLimit: ["topic-limits": .clause(85, step: 30)],
    .joinFeaturesAreLost: ["topic-publish": .clause(90, step: 3)],
    .onePublisherIsEnough: ["topic-subscribe": .clause(81, step: 10)],
    .tokenEndIsNotTold: [
      "link-token-ends-soon": .clause(65, step: 7), "stream-token": .clause(65, step: 6),
    ],
    .tokenEndIsToldTwice: [
      "link-token-ends-soon": .clause(65, step: 7),
      "link-token-ended-offline": .clause(65, step: 9),
    ],
    .endedTokensAreShown: ["link-clock-jump-token": .clause(68, step: 7)],
    .renewedTokensAreForgotten: ["link-renewed-token": .clause(66, step: 12)],
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
