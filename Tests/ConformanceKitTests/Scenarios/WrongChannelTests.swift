import DeviceSDK
import RepriseCore
import Testing

@testable import ConformanceKit

/// Whatever is wrong with a channel, some scenario says so.
@Suite struct WrongChannelTests {
  /// The scenarios that are there for each defect, each with the only clause that it is held against and
  /// the step at which it is; others may notice it too.
  static let catching: [WrongChannel.Defect: [String: Blame]] = [
    .topicsAreNotCompleted: ["reply-unknown": .clause(21, step: 4)],
    .stripsInsideLevels: ["messages": .clause(25, step: 9)],
    .gatewayMessagesAreDelivered: ["messages": .clause(26, step: 10)],
    .emptyPayloadsAreDropped: ["messages": .clause(54, step: 11)],
    .opensASecondConnection: ["start-twice": .clause(9, step: 2)],
    .startIsDoneTooEarly: ["start": .clause(57, step: 1)],
    .statesAreToldTwice: ["start": .clause(11, step: 1)],
    .waitsNotBeforeNewTries: ["back-off": .clause(16, step: 2)],
    .alwaysWaitsOneSecond: ["back-off": .clause(16, step: 5)],
    .hammersARefusingCloud: ["refused-4": .clause(51, step: 2)],
    .comesBackAfterAStop: ["stop": .clause(19, step: 6)],
    .takesAStartWhileItStops: ["stop": .clause(55, step: 5)],
    .kicksAreNotNoticed: ["kicked-out": .clause(52, step: 12)],
    .lossesAreTakenForKicks: ["losses": .clause(52, step: 12)],
    .subscribesToNothing: ["start": .clause(12, step: 2)],
    .subscriptionsDoNotComeBack: ["restore": .clause(18, step: 10)],
    .isConnectedBeforeTheyAreBack: ["restore": .clause(18, step: 10)],
    .refusedFiltersCount: ["reply-topic-refused": .clause(30, step: 5)],
    .unsubscribesUnderARequest: ["covered-reply-topic": .clause(33, step: 6)],
    .publishesBeforeTheSuback: ["request": .clause(27, step: 4)],
    .publishIsDoneBeforeThePuback: ["publish": .clause(40, step: 4)],
    .sendsWithoutAConnection: ["before-connected": .clause(14, step: 4)],
    .neverTimesOut: ["request-timeout": .clause(34, step: 6)],
    .takesRepliesOfAnyID: ["reply-unknown": .clause(36, step: 5)],
    .lateRepliesAreDelivered: ["request-timeout": .clause(35, step: 8)],
    .repeatedRepliesAreDelivered: ["reply-twice": .clause(37, step: 6)],
    .numericIDsAreUnknown: ["request-crossing": .clause(42, step: 8)],
    .codesAreIgnored: ["request": .clause(29, step: 9)],
    .errorsHaveAnotherClass: ["request": .clause(29, step: 9)],
    .lostConnectionsLeaveCallsOpen: ["lost-while-waiting": .clause(38, step: 9)],
    .extraParametersAreLost: ["extra-parameters": .clause(39, step: 4)],
    .bindingIsLostWithTheConnection: ["bind": .clause(46, step: 6)],
    .refusedTokensAreBusiness: ["bind-token-refused": .clause(47, step: 5)],
    .tooManyRequestsAreFinal: ["bind-throttled": .clause(49, step: 5)],
    .lockIsNotWaitedFor: ["bind-lock-held": .clause(48, step: 5)],
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
    let blame = defect == .nobodyIsAsked ? Blame.clause(6, step: 7) : .clause(5, step: 9)
    try await RecordedScenarios.expectBlamed(defect, by: ["listeners": blame]) { scenario, world in
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
