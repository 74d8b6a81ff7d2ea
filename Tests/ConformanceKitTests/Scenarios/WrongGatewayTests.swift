import DeviceSDK
import RepriseCore
import Testing

@testable import ConformanceKit

/// Whatever is wrong with a gateway, some scenario says so.
@Suite struct WrongGatewayTests {
  /// The scenarios that are there for each defect, each with the number of the only clause that it is held
  /// against; others may notice it too.
  static let catching: [WrongGateway.Defect: [String: Int]] = [
    .opensASecondConnection: ["gateway-start": 1],
    .listensToNothing: ["gateway-start": 37],
    .sendsWithoutAConnection: ["gateway-before-connected": 22],
    .alwaysWaitsOneSecond: ["gateway-back-off": 68],
    .hammersARefusingCloud: ["refused": 68],
    .kicksAreNotNoticed: ["gateway-kicked-out": 68],
    .opensNobody: ["sub-device-opens": 6],
    .neverGivesUpOpening: ["sub-device-never-ready": 7],
    .oldConnectionsAreKept: ["line": 10],
    .signaturesAreNotPassedOn: ["signatures": 9],
    .takesAnotherDevice: ["sub-device-changes": 8],
    .errorsHaveAnotherClass: ["sub-device-fails": 5],
    .sessionsAreSentWithReceipts: ["login": 36],
    .topologyKeyIsTheLogins: ["login": 41],
    .missingTopologyIsBusiness: ["login-without-topology": 5],
    .deletedTopologyStays: ["topology-deleted": 27],
    .changesAreNotAnswered: ["topology-change": 47],
    .wishesAreAnsweredByAnotherID: ["add-wish": 48],
    .enableAndDisableAreSwapped: ["topology-change": 29],
    .onlyTheFirstOfSeveral: ["batch": 42],
    .everyLoginIsSent: ["two-logins": 33],
    .commandsAreNotSubscribed: ["login-commands": 38],
    .publishesBeforeTheSuback: ["post": 39],
    .numericIDsAreUnknown: ["reply-forms": 44],
    .textCodesAreUnknown: ["reply-forms": 44],
    .emptyDataIsData: ["reply-forms": 44],
    .neverTimesOut: ["no-reply": 56],
    .lateRepliesAreDelivered: ["reply-late": 57],
    .repeatedRepliesAreDelivered: ["reply-late": 57],
    .codesAreIgnored: ["post": 69],
    .throttledAreFinal: ["throttled": 55],
    .faultsAreFinal: ["faults": 55],
    .repeatsPosts: ["post-never-repeated": 58],
    .refusedFiltersCount: ["subscribe": 15],
    .errorsOfSessionsMatchNothing: ["post-on-ready": 45],
    .errorsOfSessionsMatchAnybody: ["post-on-ready": 45],
    .errorsOfSessionsAreNotTold: ["session-errors": 28],
    .linesGetEverything: ["gateway-messages": 40],
    .ownAnswersAreDelivered: ["own-answers": 49],
    .commandsAreLost: ["commands": 49],
    .answersHaveTextIDs: ["commands": 49],
    .disablingIsNotAnswered: ["disable-enable-delete": 50],
    .linesStayOnline: ["lost-while-online": 30],
    .nobodyComesBack: ["lost-while-online": 30],
    .isConnectedBeforeTheyAreBack: ["lost-while-online": 30],
    .waitsForEverToBeConnected: ["restore-not-ready": 31],
    .kickedComeBack: ["restore-refused": 32],
    .stopForgetsNothing: ["stop-forgets": 34],
    .lostConnectionsLeaveCallsOpen: ["lost-while-ready": 56],
    .topologyIsNotAskedFor: ["resync": 52],
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
    try await RecordedScenarios.expectBlamed("a rider", by: ["riding": 2]) { scenario, world in
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
