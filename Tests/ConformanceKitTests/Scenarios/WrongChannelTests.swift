import Capture
import DataClient
import DeviceSDK
import Foundation
import Testing

@testable import ConformanceKit

/// Whatever is wrong with a channel, some scenario says so.
@Suite struct WrongChannelTests {
  /// The scenario that is there for each defect; others may notice it too.
  static let catching: [WrongChannel.Defect: String] = [
    .topicsAreNotCompleted: "topics", .stripsInsideLevels: "messages",
    .gatewayMessagesAreDelivered: "messages", .emptyPayloadsAreDropped: "messages",
    .opensASecondConnection: "start-twice", .startIsDoneTooEarly: "start",
    .statesAreToldTwice: "start", .waitsNotBeforeNewTries: "back-off",
    .alwaysWaitsOneSecond: "back-off", .hammersARefusingCloud: "refused-4",
    .comesBackAfterAStop: "stop", .takesAStartWhileItStops: "stop",
    .kicksAreNotNoticed: "kicked-out", .lossesAreTakenForKicks: "losses",
    .subscribesToNothing: "start", .subscriptionsDoNotComeBack: "restore",
    .isConnectedBeforeTheyAreBack: "restore", .refusedFiltersCount: "reply-topic-refused",
    .unsubscribesUnderARequest: "covered-reply-topic", .publishesBeforeTheSuback: "request",
    .publishIsDoneBeforeThePuback: "publish", .sendsWithoutAConnection: "before-connected",
    .neverTimesOut: "request-timeout", .takesRepliesOfAnyID: "request-crossing",
    .lateRepliesAreDelivered: "request-timeout", .repeatedRepliesAreDelivered: "reply-twice",
    .numericIDsAreUnknown: "request-crossing", .codesAreIgnored: "request",
    .errorsHaveAnotherClass: "request", .lostConnectionsLeaveCallsOpen: "lost-while-waiting",
    .extraParametersAreLost: "extra-parameters", .bindingIsLostWithTheConnection: "bind",
    .refusedTokensAreBusiness: "bind-token-refused", .tooManyRequestsAreFinal: "bind-throttled",
    .lockIsNotWaitedFor: "bind-lock-held",
  ]

  /// A defect is caught in process, on the recording and on the capture alike.
  @Test(arguments: WrongChannel.Defect.allCases)
  func isCaught(_ defect: WrongChannel.Defect) async throws {
    try await RecordedScenarios.expectCaught(defect, by: Self.catching[defect]) { scenario, world in
      try await ScenarioRunner(scenario) { scenario, pen in
        try ChannelSubject(scenario, pen: pen) { machine in
          WrongChannel(machine, defect, device: scenario.name)
        }
      }.run(in: world)
    }
  }

  /// What is wrong with how listeners are asked, and how long they are held.
  @Test(arguments: WrongListening.Defect.allCases)
  func wrongListeningIsCaught(_ defect: WrongListening.Defect) async throws {
    let scenario = try #require(ScenarioTests.all.first { $0.name == "listeners" })
    let outcome = try await ScenarioRunner(scenario) { scenario, pen in
      WrongListening(right: try ChannelSubject(scenario, pen: pen), defect: defect)
    }.run(in: ScriptedWorld())
    #expect(!outcome.hasPassed)
  }
}

/// The channel with listeners that are told more than they should.
struct WrongListening: ScenarioSubject {
  enum Defect: String, CaseIterable, Sendable {
    case nobodyIsAsked, nobodyIsLetGo
  }

  let right: ChannelSubject<ChannelStateMachine>
  let defect: Defect

  var goodbye: ChannelStateMachine.Call { right.goodbye }
  func makeMachine() throws -> ChannelStateMachine { try right.makeMachine() }
  func message(_ step: ScenarioStep) throws -> Message { try right.message(step) }
  func line(_ action: ClientAction) -> String { right.line(action) }
  func take(_ effect: ChannelStateMachine.Effect) { right.take(effect) }
  func finish() { right.finish() }

  func line(_ name: String, _ result: Result<ChannelStateMachine.Value, any Error>) -> String {
    right.line(name, result)
  }

  func perform(_ step: ScenarioStep) throws -> ScenarioAct<ChannelStateMachine> {
    switch defect {
    case .nobodyIsAsked:
      guard case .object(let members) = step.fields else { return .done }
      return try right.perform(ScenarioStep(.object(members.filter { $0.key != "topics" })))
    case .nobodyIsLetGo: return step.fields["forget"] == nil ? try right.perform(step) : .done
    }
  }
}
