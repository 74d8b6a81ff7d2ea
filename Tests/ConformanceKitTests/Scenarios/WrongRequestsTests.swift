import DataClient
import DeviceSDK
import Testing

@testable import ConformanceKit

/// Whatever is wrong with requests, some scenario says so.
@Suite struct WrongRequestsTests {
  /// The scenario that is there for each defect; others may notice it too.
  static let catching: [WrongRequests.Defect: String] = [
    .contentIsAnObject: "ask", .keysAreUnordered: "ask-compact", .idsRepeat: "answers-crossing",
    .methodIsLeftOut: "ask", .heartbeatsHaveOneID: "socket-heartbeat",
    .objectsAreUnreadable: "answer-content", .anyContentIsGood: "answer-unreadable",
    .errorsAreIgnored: "answer-errors", .contentWins: "answer-error-wins",
    .answersAreTakenInOrder: "answers-crossing", .repeatedAnswersAreTold: "answer-twice",
    .lateAnswersAreTold: "ask-timeout", .pushesAreDropped: "push", .bytesAreDropped: "push",
    .heartbeatAnswersAreTold: "socket-heartbeat", .neverTimesOut: "ask-timeout",
    .cannotBeTakenBack: "ask-cancel",
    .sendsWithoutAConnection: "ask-unconnected", .networkIsNoReason: "ask-unconnected",
    .lostConnectionsLeaveRequestsOpen: "socket-lost-while-asking",
    .opensASecondConnection: "socket-open-twice", .comesBackAfterAClose: "socket-close",
    .closeLeavesTheTry: "socket-close-between-tries", .neverTriesAgain: "socket-back-off",
    .alwaysWaitsThreeSeconds: "socket-back-off", .triesOnceMore: "socket-given-up",
    .waitsForeverToOpen: "socket-unanswered", .refusalsAreFinal: "socket-refused",
    .statesAreToldTwice: "socket-open", .networkIsNotWaitedFor: "socket-lost-without-network",
    .returnIsIgnored: "socket-network-back", .returnOpensAnother: "socket-network-back",
    .firstHeartbeatIsMissing: "socket-heartbeat",
    .heartbeatsGoOnWithoutNetwork: "socket-heartbeat-network",
    .heartbeatsAreTwo: "socket-heartbeat-restart", .queueIsForgotten: "ask-queued",
    .queueIsReversed: "ask-queued", .logsInForEach: "login-wanted",
    .isNotSentAfterTheLogin: "login-wanted",
    .failedLoginsLeaveRequestsOpen: "login-fails",
  ]

  /// A defect is caught in process, on the recording and on the capture alike.
  @Test(arguments: WrongRequests.Defect.allCases)
  func isCaught(_ defect: WrongRequests.Defect) async throws {
    try await RecordedScenarios.expectCaught(defect, by: Self.catching[defect]) { scenario, world in
      try await ScenarioRunner(scenario) { scenario, pen in
        try RequestSubject(scenario, pen: pen) { WrongRequests($0, defect) }
      }.run(in: world)
    }
  }

}
