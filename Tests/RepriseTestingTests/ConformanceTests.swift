import CloudSimulator
import RepriseCore
import Synchronization
import TestSupport
import Testing

@testable import RepriseTesting

/// Our own clients keep to what a client owes, and one that does not is told what it broke.
@Suite(.timeLimit(.minutes(10))) struct ConformanceTests {
  typealias Outcomes = [ClientObligation: DataClientConformance.Outcome]

  private static let ofConnections: Set<ClientObligation> = [
    .needsAConnection, .losesNothingByCancellation, .answersConnect, .closesOnce, .connectsAgain,
  ]
  private static let ofMessages: Set<ClientObligation> = [
    .refusesWhatCannotBe, .answersSubscribe, .answersUnsubscribe, .answersPublish,
    .deliversInOrder, .retains,
  ]
  private static let ofAll: Set<ClientObligation> = [
    .tellsDeadlines, .wakes, .tellsCancellation, .refusesWhatItLacks,
  ]

  /// Everything kept that applies, a line each.
  private static func kept(_ applying: Set<ClientObligation>...) -> [String] {
    let all = applying.reduce(into: Set<ClientObligation>()) { $0.formUnion($1) }
    return lines(
      Dictionary(
        uniqueKeysWithValues: ClientObligation.allCases.map {
          ($0, all.contains($0) ? .kept : .notApplicable)
        }))
  }

  private static func lines(_ outcomes: Outcomes) -> [String] {
    outcomes.map { "\($0.key.rawValue): \($0.value)" }.sorted()
  }

  @Test func aBrokerInProcessIsOne() async throws {
    let outcomes = try await DataClientConformance.check {
      InProcessBroker().client(named: "app")
    }
    #expect(Self.lines(outcomes) == Self.kept(Self.ofAll, Self.ofConnections, Self.ofMessages))
  }

  @Test func aBrokerThatCanDoLittleIsOne() async throws {
    let outcomes = try await DataClientConformance.check {
      InProcessBroker().client(named: "app", capabilities: .messages)
    }
    let messages = Self.ofMessages.subtracting([.retains])
    #expect(Self.lines(outcomes) == Self.kept(Self.ofAll, Self.ofConnections, messages))
  }

  @Test func aServerOfFramesInProcessIsOne() async throws {
    let outcomes = try await DataClientConformance.check { InProcessRequestServer() }
    #expect(Self.lines(outcomes) == Self.kept(Self.ofAll, Self.ofConnections, [.takesFrames]))
  }

  @Test func aServerOfRequestsIsOne() async throws {
    let outcomes = try await DataClientConformance.check { ScriptedClient.echo() }
    #expect(Self.lines(outcomes) == Self.kept(Self.ofAll, [.answersRequests]))
  }

  @Test func aRecordedClientIsOne() async throws {
    let outcomes = try await DataClientConformance.check {
      try RecordingClient(InProcessBroker().client(named: "app"), to: MemorySink())
    }
    #expect(Self.lines(outcomes) == Self.kept(Self.ofAll, Self.ofConnections, Self.ofMessages))
  }

  @Test func aClientInFasterTimeIsOne() async throws {
    let outcomes = try await DataClientConformance.check {
      try ScaledTimeClient(InProcessBroker().client(named: "app"), speed: 60)
    }
    #expect(Self.lines(outcomes) == Self.kept(Self.ofAll, Self.ofConnections, Self.ofMessages))
  }

  @Test(arguments: FaultyClient.Fault.allCases)
  func aClientThatIsWrongInOneThingIsTold(_ fault: FaultyClient.Fault) async throws {
    let outcomes = Mutex<Outcomes>([:])
    let told = try await ToldIssues.gathering {
      let result = try await DataClientConformance.check { FaultyClient(fault) }
      outcomes.withLock { $0 = result }
    }
    let broken = outcomes.withLock { $0 }.filter { $0.value != .kept && $0.value != .notApplicable }
    #expect(Set(broken.keys).subtracting(fault.mayBreak) == fault.breaks)
    #expect(told.thrown == nil && told.issues.count == broken.count)
    for obligation in broken.keys {
      #expect(
        told.issues.contains {
          $0.text.hasPrefix("\(obligation.rawValue): \(obligation.sentence); ")
        })
    }
  }
}
