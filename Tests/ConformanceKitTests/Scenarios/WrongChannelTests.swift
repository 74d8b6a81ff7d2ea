import Capture
import DeviceSDK
import Foundation
import RepriseCore
import Testing

@testable import ConformanceKit

/// Whatever is wrong with a channel, some scenario says so.
@Suite struct WrongChannelTests {
  /// The scenarios that are there for each defect, each with the number of the only clause that it is held
  /// against; others may notice it too.
  static let catching: [WrongChannel.Defect: [String: Int]] = [
    .topicsAreNotCompleted: ["reply-unknown": 21],
    .stripsInsideLevels: ["messages": 25],
    .gatewayMessagesAreDelivered: ["messages": 26],
    .emptyPayloadsAreDropped: ["messages": 54],
    .opensASecondConnection: ["start-twice": 9],
    .startIsDoneTooEarly: ["start": 57],
    .statesAreToldTwice: ["start": 11],
    .waitsNotBeforeNewTries: ["back-off": 16],
    .alwaysWaitsOneSecond: ["back-off": 16],
    .hammersARefusingCloud: ["refused-4": 51],
    .comesBackAfterAStop: ["stop": 19],
    .takesAStartWhileItStops: ["stop": 55],
    .kicksAreNotNoticed: ["kicked-out": 52],
    .lossesAreTakenForKicks: ["losses": 52],
    .subscribesToNothing: ["start": 12],
    .subscriptionsDoNotComeBack: ["restore": 18],
    .isConnectedBeforeTheyAreBack: ["restore": 18],
    .refusedFiltersCount: ["reply-topic-refused": 30],
    .unsubscribesUnderARequest: ["covered-reply-topic": 33],
    .publishesBeforeTheSuback: ["request": 27],
    .publishIsDoneBeforeThePuback: ["publish": 40],
    .sendsWithoutAConnection: ["before-connected": 14],
    .neverTimesOut: ["request-timeout": 34],
    .takesRepliesOfAnyID: ["reply-unknown": 36],
    .lateRepliesAreDelivered: ["request-timeout": 35],
    .repeatedRepliesAreDelivered: ["reply-twice": 37],
    .numericIDsAreUnknown: ["request-crossing": 42],
    .codesAreIgnored: ["request": 29],
    .errorsHaveAnotherClass: ["request": 29],
    .lostConnectionsLeaveCallsOpen: ["lost-while-waiting": 38],
    .extraParametersAreLost: ["extra-parameters": 39],
    .bindingIsLostWithTheConnection: ["bind": 46],
    .refusedTokensAreBusiness: ["bind-token-refused": 47],
    .tooManyRequestsAreFinal: ["bind-throttled": 49],
    .lockIsNotWaitedFor: ["bind-lock-held": 48],
  ]

  /// A defect is caught in process, on the recording and on the capture alike.
  @Test(arguments: WrongChannel.Defect.allCases)
  func isCaught(_ defect: WrongChannel.Defect) async throws {
    try await RecordedScenarios.expectBlamed(defect, by: Self.catching[defect]) { scenario, world in
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
    let number = defect == .nobodyIsAsked ? 6 : 5
    try await RecordedScenarios.expectBlamed(defect, by: ["listeners": number]) { scenario, world in
      try await ScenarioRunner(scenario) { scenario, pen in
        WrongListening(right: try ChannelSubject(scenario, pen: pen), defect: defect)
      }.run(in: world)
    }
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
