import DataClient
import DeviceSDK
import Testing

@testable import ConformanceKit

/// Whatever is wrong with a gateway, some scenario says so.
@Suite struct WrongGatewayTests {
  /// The scenario that is there for each defect; others may notice it too.
  static let catching: [WrongGateway.Defect: String] = [
    .opensASecondConnection: "gateway-start", .listensToNothing: "gateway-start",
    .sendsWithoutAConnection: "gateway-before-connected",
    .alwaysWaitsOneSecond: "gateway-back-off", .hammersARefusingCloud: "refused",
    .kicksAreNotNoticed: "gateway-kicked-out", .opensNobody: "sub-device-opens",
    .neverGivesUpOpening: "sub-device-never-ready", .oldConnectionsAreKept: "line",
    .signaturesAreNotPassedOn: "signatures", .takesAnotherDevice: "sub-device-changes",
    .errorsHaveAnotherClass: "sub-device-fails", .sessionsAreSentWithReceipts: "login",
    .topologyKeyIsTheLogins: "signatures", .missingTopologyIsBusiness: "login-without-topology",
    .deletedTopologyStays: "topology-deleted", .changesAreNotAnswered: "topology-change",
    .wishesAreAnsweredByAnotherID: "add-wish", .enableAndDisableAreSwapped: "topology-change",
    .onlyTheFirstOfSeveral: "batch", .everyLoginIsSent: "two-logins",
    .commandsAreNotSubscribed: "login-commands", .publishesBeforeTheSuback: "post",
    .numericIDsAreUnknown: "reply-forms", .textCodesAreUnknown: "reply-forms",
    .emptyDataIsData: "reply-forms", .neverTimesOut: "no-reply",
    .lateRepliesAreDelivered: "reply-late", .repeatedRepliesAreDelivered: "reply-late",
    .codesAreIgnored: "post", .throttledAreFinal: "throttled", .faultsAreFinal: "faults",
    .repeatsPosts: "post-never-repeated", .refusedFiltersCount: "subscribe",
    .errorsOfSessionsMatchNothing: "post-on-ready",
    .errorsOfSessionsMatchAnybody: "post-on-ready",
    .errorsOfSessionsAreNotTold: "session-errors", .linesGetEverything: "gateway-messages",
    .ownAnswersAreDelivered: "own-answers", .commandsAreLost: "commands",
    .answersHaveTextIDs: "commands", .disablingIsNotAnswered: "disable-enable-delete",
    .linesStayOnline: "lost-while-online", .nobodyComesBack: "lost-while-online",
    .isConnectedBeforeTheyAreBack: "lost-while-online",
    .waitsForEverToBeConnected: "restore-not-ready", .kickedComeBack: "restore-refused",
    .stopForgetsNothing: "stop-forgets", .lostConnectionsLeaveCallsOpen: "lost-while-ready",
    .topologyIsNotAskedFor: "resync",
  ]

  /// A defect is caught in process, on the recording and on the capture alike.
  @Test(arguments: WrongGateway.Defect.allCases)
  func isCaught(_ defect: WrongGateway.Defect) async throws {
    try await RecordedScenarios.expectCaught(defect, by: Self.catching[defect]) { scenario, world in
      try await ScenarioRunner(scenario) { scenario, pen in
        try GatewaySubject(scenario, pen: pen) { WrongGateway($0, defect) }
      }.run(in: world)
    }
  }

  /// What is wrong with how two machines share a connection.
  @Test func aRiderThatClosesTheConnectionIsCaught() async throws {
    let scenario = try #require(ScenarioTests.all.first { $0.name == "riding" })
    let outcome = try await ScenarioRunner(scenario) { scenario, pen in
      ClosingRider(right: try GatewaySubject(scenario, pen: pen))
    }.run(in: ScriptedWorld())
    #expect(!outcome.hasPassed)
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
