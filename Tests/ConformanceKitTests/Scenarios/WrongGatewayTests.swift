import DeviceSDK
import RepriseCore
import Testing

@testable import ConformanceKit

/// Whatever is wrong with a gateway, some scenario says so.
@Suite struct WrongGatewayTests {
  /// The scenarios that are there for each defect, each with the only clause that it is held against and
  /// the step at which it is; others may notice it too.
  static let catching: [WrongGateway.Defect: [String: Blame]] = [
    .opensASecondConnection: ["gateway-start": .clause(1, step: 2)],
    .listensToNothing: ["gateway-start": .clause(37, step: 3)],
    .sendsWithoutAConnection: ["gateway-before-connected": .clause(22, step: 11)],
    .alwaysWaitsOneSecond: ["gateway-back-off": .clause(68, step: 5)],
    .hammersARefusingCloud: ["refused": .clause(68, step: 2)],
    .kicksAreNotNoticed: ["gateway-kicked-out": .clause(68, step: 12)],
    .opensNobody: ["sub-device-opens": .clause(6, step: 5)],
    .neverGivesUpOpening: ["sub-device-never-ready": .clause(7, step: 7)],
    .oldConnectionsAreKept: ["line": .clause(10, step: 11)],
    .signaturesAreNotPassedOn: ["signatures": .clause(9, step: 7)],
    .takesAnotherDevice: ["sub-device-changes": .clause(8, step: 6)],
    .errorsHaveAnotherClass: ["sub-device-fails": .clause(5, step: 5)],
    .sessionsAreSentWithReceipts: ["login": .clause(36, step: 10)],
    .topologyKeyIsTheLogins: ["login": .clause(41, step: 6)],
    .missingTopologyIsBusiness: ["login-without-topology": .clause(5, step: 7)],
    .deletedTopologyStays: ["topology-deleted": .clause(27, step: 15)],
    .changesAreNotAnswered: ["topology-change": .clause(47, step: 6)],
    .wishesAreAnsweredByAnotherID: ["add-wish": .clause(48, step: 4)],
    .enableAndDisableAreSwapped: ["topology-change": .clause(29, step: 8)],
    .onlyTheFirstOfSeveral: ["batch": .clause(42, step: 8)],
    .everyLoginIsSent: ["two-logins": .clause(33, step: 11)],
    .commandsAreNotSubscribed: ["login-commands": .clause(38, step: 11)],
    .publishesBeforeTheSuback: ["post": .clause(39, step: 5)],
    .numericIDsAreUnknown: ["reply-forms": .clause(44, step: 15)],
    .textCodesAreUnknown: ["reply-forms": .clause(44, step: 18)],
    .emptyDataIsData: ["reply-forms": .clause(44, step: 27)],
    .neverTimesOut: ["no-reply": .clause(56, step: 8)],
    .lateRepliesAreDelivered: ["reply-late": .clause(57, step: 17)],
    .repeatedRepliesAreDelivered: ["reply-late": .clause(57, step: 21)],
    .codesAreIgnored: ["post": .clause(69, step: 28)],
    .throttledAreFinal: ["throttled": .clause(55, step: 8)],
    .faultsAreFinal: ["faults": .clause(55, step: 8)],
    .repeatsPosts: ["post-never-repeated": .clause(58, step: 15)],
    .refusedFiltersCount: ["subscribe": .clause(15, step: 7)],
    .errorsOfSessionsMatchNothing: ["post-on-ready": .clause(45, step: 8)],
    .errorsOfSessionsMatchAnybody: ["post-on-ready": .clause(45, step: 24)],
    .errorsOfSessionsAreNotTold: ["session-errors": .clause(28, step: 12)],
    .linesGetEverything: ["gateway-messages": .clause(40, step: 21)],
    .ownAnswersAreDelivered: ["own-answers": .clause(49, step: 13)],
    .commandsAreLost: ["commands": .clause(49, step: 18)],
    .answersHaveTextIDs: ["commands": .clause(49, step: 22)],
    .disablingIsNotAnswered: ["disable-enable-delete": .clause(50, step: 13)],
    .linesStayOnline: ["lost-while-online": .clause(30, step: 18)],
    .nobodyComesBack: ["lost-while-online": .clause(30, step: 22)],
    .isConnectedBeforeTheyAreBack: ["lost-while-online": .clause(30, step: 21)],
    .waitsForEverToBeConnected: ["restore-not-ready": .clause(31, step: 17)],
    .kickedComeBack: ["restore-refused": .clause(32, step: 21)],
    .stopForgetsNothing: ["stop-forgets": .clause(34, step: 17)],
    .lostConnectionsLeaveCallsOpen: ["lost-while-ready": .clause(56, step: 8)],
    .topologyIsNotAskedFor: ["resync": .clause(52, step: 14)],
  ]

  /// A defect is caught in process, on the recording and on the capture alike.
  @Test(arguments: WrongGateway.Defect.allCases)
  func isCaught(_ defect: WrongGateway.Defect) async throws {
    try await RecordedScenarios.expectBlamed(defect, by: Self.catching[defect]) { scenario, world in
      try await ScenarioRunner(scenario) { scenario, pen in
        try GatewaySubject(scenario, pen: pen) { WrongGateway($0, defect) }
      }.run(in: world)
    }
  }

  /// What is wrong with how two machines share a connection.
  @Test func aRiderThatClosesTheConnectionIsCaught() async throws {
    try await RecordedScenarios.expectBlamed("a rider", by: ["riding": .clause(2, step: 16)]) {
      scenario, world in
      try await ScenarioRunner(scenario) { scenario, pen in
        ClosingRider(right: try GatewaySubject(scenario, pen: pen))
      }.run(in: world)
    }
  }
}

/// A gateway whose stop takes the channel's connection with it.
private struct ClosingRider: ScenarioSubject {
  typealias Machine = GatewayStage<GatewayStateMachine>

  let right: GatewaySubject<GatewayStateMachine>

  var goodbye: Machine.Call { right.goodbye }
  func makeMachine() throws -> Machine { try right.makeMachine() }
  func message(_ step: ScenarioStep) throws -> Message { try right.message(step) }
  func line(_ action: ClientAction) -> String { right.line(action) }
  func take(_ effect: Machine.Effect) { right.take(effect) }
  func finish() { right.finish() }

  func line(_ name: String, _ result: Result<Machine.Value, any Error>) -> String {
    right.line(name, result)
  }

  func perform(_ step: ScenarioStep) throws -> ScenarioAct<Machine> {
    guard case .call(.gateway(.stop), let name) = try right.perform(step) else {
      return try right.perform(step)
    }
    return .call(.channel(.stop), as: name)
  }
}
