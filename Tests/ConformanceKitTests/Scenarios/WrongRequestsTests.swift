import Testing

@testable import ConformanceKit

/// Whatever is wrong with requests, some scenario says so.
@Suite struct WrongRequestsTests {
  /// The scenarios that are there for each defect, each with the only clause that it is held against and
  /// the step at which it is; others may notice it too.
  static let catching: [WrongRequests.Defect: [String: Blame]] = [
    .contentIsAnObject: ["ask": .clause(2, step: 3)],
    .keysAreUnordered: ["ask-compact": .clause(3, step: 3)],
    .idsRepeat: ["answers-crossing": .clause(5, step: 3)],
    .methodIsLeftOut: ["ask-cancel": .clause(4, step: 3)],
    .heartbeatsHaveOneID: ["socket-heartbeat": .clause(13, step: 6)],
    .objectsAreUnreadable: ["answer-content": .clause(7, step: 6)],
    .anyContentIsGood: ["answer-unreadable": .clause(8, step: 4)],
    .errorsAreIgnored: ["answer-errors": .clause(10, step: 4)],
    .contentWins: ["answer-error-wins": .clause(51, step: 4)],
    .answersAreTakenInOrder: ["answers-crossing": .clause(6, step: 6)],
    .repeatedAnswersAreTold: ["answer-twice": .clause(52, step: 5)],
    .lateAnswersAreTold: ["ask-timeout": .clause(25, step: 6)],
    .pushesAreDropped: ["push": .clause(48, step: 3)],
    .bytesAreDropped: ["push": .clause(48, step: 8)],
    .heartbeatAnswersAreTold: ["socket-heartbeat": .clause(14, step: 4)],
    .neverTimesOut: ["ask-timeout": .clause(23, step: 5)],
    .cannotBeTakenBack: ["ask-cancel": .clause(26, step: 4)],
    .sendsWithoutAConnection: ["ask-unconnected": .clause(22, step: 1)],
    .networkIsNoReason: ["ask-unconnected": .clause(22, step: 3)],
    .lostConnectionsLeaveRequestsOpen: ["socket-lost-while-asking": .clause(27, step: 5)],
    .opensASecondConnection: ["socket-open-twice": .clause(44, step: 2)],
    .comesBackAfterAClose: ["socket-close": .clause(43, step: 5)],
    .closeLeavesTheTry: ["socket-close-between-tries": .clause(44, step: 5)],
    .neverTriesAgain: ["socket-back-off": .clause(29, step: 2)],
    .alwaysWaitsThreeSeconds: ["socket-back-off": .clause(53, step: 5)],
    .triesOnceMore: ["socket-given-up": .clause(30, step: 42)],
    .waitsForeverToOpen: ["socket-unanswered": .clause(32, step: 2)],
    .refusalsAreFinal: ["socket-refused": .clause(37, step: 3)],
    .statesAreToldTwice: ["socket-open": .clause(36, step: 1)],
    .networkIsNotWaitedFor: ["socket-network-away": .clause(34, step: 6)],
    .returnIsIgnored: ["socket-network-back": .clause(33, step: 7)],
    .returnOpensAnother: ["socket-network-back": .clause(44, step: 9)],
    .opensWithoutANetwork: ["socket-network-absent": .clause(34, step: 2)],
    .staysGivenUp: ["socket-given-up-network-back": .clause(33, step: 8)],
    .firstHeartbeatIsMissing: ["socket-heartbeat": .clause(28, step: 2)],
    .heartbeatsGoOnWithoutNetwork: ["socket-heartbeat-network": .clause(34, step: 5)],
    .heartbeatsAreTwo: ["socket-heartbeat-restart": .clause(45, step: 2)],
    .queueIsForgotten: ["ask-queued": .clause(55, step: 9)],
    .queueIsReversed: ["ask-queued": .clause(55, step: 9)],
    .logsInForEach: ["login-wanted": .clause(58, step: 5)],
    .isNotSentAfterTheLogin: ["login-wanted": .clause(58, step: 9)],
    .failedLoginsLeaveRequestsOpen: ["login-fails": .clause(59, step: 9)],
  ]

  /// A defect is caught in process, on the recording and on the capture alike.
  @Test(arguments: WrongRequests.Defect.allCases)
  func isCaught(_ defect: WrongRequests.Defect) async throws {
    try await RecordedScenarios.expectBlamed(defect, by: Self.catching[defect]) { scenario, world in
      try await ScenarioRunner(scenario) { scenario, pen in
        try RequestSubject(scenario, pen: pen) { WrongRequests($0, defect) }
      }.run(in: world)
    }
  }

}
