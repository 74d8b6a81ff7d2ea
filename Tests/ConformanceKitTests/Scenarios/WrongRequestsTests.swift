import DeviceSDK
import RepriseCore
import Testing

@testable import ConformanceKit

/// Whatever is wrong with requests, some scenario says so.
@Suite struct WrongRequestsTests {
  /// The scenarios that are there for each defect, each with the number of the only clause that it is held
  /// against; others may notice it too.
  static let catching: [WrongRequests.Defect: [String: Int]] = [
    .contentIsAnObject: ["ask": 2],
    .keysAreUnordered: ["ask-compact": 3],
    .idsRepeat: ["answers-crossing": 5],
    .methodIsLeftOut: ["ask-cancel": 4],
    .heartbeatsHaveOneID: ["socket-heartbeat": 13],
    .objectsAreUnreadable: ["answer-content": 7],
    .anyContentIsGood: ["answer-unreadable": 8],
    .errorsAreIgnored: ["answer-errors": 10],
    .contentWins: ["answer-error-wins": 51],
    .answersAreTakenInOrder: ["answers-crossing": 6],
    .repeatedAnswersAreTold: ["answer-twice": 52],
    .lateAnswersAreTold: ["ask-timeout": 25],
    .pushesAreDropped: ["push": 48],
    .bytesAreDropped: ["push": 48],
    .heartbeatAnswersAreTold: ["socket-heartbeat": 14],
    .neverTimesOut: ["ask-timeout": 23],
    .cannotBeTakenBack: ["ask-cancel": 26],
    .sendsWithoutAConnection: ["ask-unconnected": 22],
    .networkIsNoReason: ["ask-unconnected": 22],
    .lostConnectionsLeaveRequestsOpen: ["socket-lost-while-asking": 27],
    .opensASecondConnection: ["socket-open-twice": 44],
    .comesBackAfterAClose: ["socket-close": 43],
    .closeLeavesTheTry: ["socket-close-between-tries": 44],
    .neverTriesAgain: ["socket-back-off": 29],
    .alwaysWaitsThreeSeconds: ["socket-back-off": 53],
    .triesOnceMore: ["socket-given-up": 30],
    .waitsForeverToOpen: ["socket-unanswered": 32],
    .refusalsAreFinal: ["socket-refused": 37],
    .statesAreToldTwice: ["socket-open": 36],
    .networkIsNotWaitedFor: ["socket-network-away": 34],
    .returnIsIgnored: ["socket-network-back": 33],
    .returnOpensAnother: ["socket-network-back": 44],
    .opensWithoutANetwork: ["socket-network-absent": 34],
    .staysGivenUp: ["socket-given-up-network-back": 33],
    .firstHeartbeatIsMissing: ["socket-heartbeat": 28],
    .heartbeatsGoOnWithoutNetwork: ["socket-heartbeat-network": 34],
    .heartbeatsAreTwo: ["socket-heartbeat-restart": 45],
    .queueIsForgotten: ["ask-queued": 55],
    .queueIsReversed: ["ask-queued": 55],
    .logsInForEach: ["login-wanted": 58],
    .isNotSentAfterTheLogin: ["login-wanted": 58],
    .failedLoginsLeaveRequestsOpen: ["login-fails": 59],
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
