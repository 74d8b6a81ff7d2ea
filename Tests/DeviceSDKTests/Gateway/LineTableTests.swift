import RepriseCore
import Testing

@testable import DeviceSDK

/// The table of lines, and that the machine does what it says.
@Suite struct LineTableTests {
  /// A way in which an event reaches the machine.
  struct Cause: Sendable, CustomTestStringConvertible {
    let event: LineEvent
    let name: String
    let happen: @Sendable (inout GatewayBench) throws -> Void
    var testDescription: String { "\(event.rawValue) by \(name)" }
  }

  private static func operation(_ kind: LineCall) -> Cause {
    Cause(event: kind.event, name: "the application") { bench in
      bench.operate("call", kind)
      if !bench.requests.isEmpty { bench.reply() }
    }
  }

  private static func sessionError(_ code: JSONValue, _ event: LineEvent) -> Cause {
    Cause(event: event, name: "an error of the session") { $0.sessionError(code) }
  }

  private static func change(_ status: JSONValue, _ event: LineEvent) -> Cause {
    Cause(event: event, name: "a change of the topology") { bench in
      bench.message(
        "/sys/{gw}/thing/topo/change",
        ["id": "9", "params": ["status": status, "subList": [GatewayBench.sub.json]]])
    }
  }

  static let causes: [Cause] =
    LineCall.allCases.map { operation($0) }
    + [427, 520, 521, 522].map { sessionError($0, .sessionLost) }
    + [
      sessionError(6401, .topologyLost), sessionError("6401", .topologyLost),
      change(0, .topologyAdded), change(1, .topologyLost), change("1", .topologyLost),
      Cause(event: .setUp, name: "the same connection") { $0.setUp(1) },
      Cause(event: .setUp, name: "another connection") { bench in
        bench.devices[ConnectionID(rawValue: 9)] = .ready(try GatewayBench.info())
        bench.setUp(9)
      },
      Cause(event: .topologyLost, name: "a deletion") { bench in
        bench.message("/sys/{sub}/thing/delete", ["id": "7", "params": [:]])
      },
      Cause(event: .topologyLost, name: "the reply to a post") { bench in
        try bench.post("post")
        bench.reply(code: 6401)
      },
      Cause(event: .sessionLost, name: "the reply to a post") { bench in
        try bench.post("post")
        bench.reply(code: 520)
      },
      Cause(event: .gatewayLost, name: "a lost connection") { $0.close() },
      Cause(event: .gatewayLost, name: "a stop") { $0.call("stop", .stop) },
    ]

  /// SDK-gateway-23, 26, 27, 28.
  @Test(arguments: [LineState.ready, .topology, .online], causes)
  func holdsForTheMachine(state: LineState, cause: Cause) throws {
    var bench = try GatewayBench.line(in: state)
    try cause.happen(&bench)
    #expect(
      bench.machine.lineState(of: GatewayBench.sub) == LineTable.next(state, cause.event))
  }

  /// A sub-device that has not said who it is has no line, whatever the cloud says of it.
  ///
  /// SDK-gateway-23.
  @Test(arguments: causes.filter { $0.event != .setUp })
  func leavesNewLinesNew(cause: Cause) throws {
    var bench = try GatewayBench.connected()
    bench.devices[ConnectionID(rawValue: 1)] = .silent
    bench.setUp(1)
    try cause.happen(&bench)
    #expect(bench.machine.lineState(of: GatewayBench.sub) == nil)
    #expect(LineTable.next(.new, cause.event) == .new)
    bench.noteOpened(ConnectionID(rawValue: 1), .success(try GatewayBench.info()))
    #expect(bench.machine.lineState(of: GatewayBench.sub) == LineTable.next(.new, .setUp))
  }

  @Test func hasACauseForEveryEvent() {
    #expect(Set(Self.causes.map(\.event)) == Set(LineEvent.allCases))
  }

  @Test func hasEveryPairOnce() {
    let pairs = LineTable.transitions.map { "\($0.from) \($0.event)" }
    #expect(pairs.count == LineState.allCases.count * LineEvent.allCases.count)
    #expect(Set(pairs).count == pairs.count)
  }

  /// What the description of the system draws, arrow by arrow; no other event changes a state.
  ///
  /// SDK-gateway-23.
  @Test func hasTheArrowsOfTheDescription() {
    let arrows = LineTable.transitions.filter { $0.from != $0.to }
      .map { "\($0.from) \($0.event) \($0.to)" }
    #expect(
      Set(arrows) == [
        "new setUp ready",
        "ready topologyAdded topology", "ready loggedIn online",
        "topology topologyDeleted ready", "topology topologyLost ready",
        "topology loggedIn online",
        "online topologyDeleted ready", "online topologyLost ready", "online loggedOut topology",
        "online sessionLost topology", "online gatewayLost topology",
      ])
  }

  // MARK: Disabled and enabled

  private static func command(_ name: String) -> Cause {
    Cause(event: .setUp, name: name) { bench in
      bench.message("/sys/{sub}/thing/\(name)", ["id": "7", "params": [:]])
    }
  }

  /// SDK-gateway-29.
  @Test(arguments: [
    sessionError(522, .sessionLost), command("disable"), change(8, .setUp), change("8", .setUp),
    Cause(event: .setUp, name: "a reply") { bench in
      bench.operate("add", .addTopology)
      bench.reply(code: 6204)
    },
  ])
  func isDisabledBy(cause: Cause) throws {
    for state in [LineState.ready, .topology, .online] {
      var bench = try GatewayBench.line(in: state)
      try cause.happen(&bench)
      #expect(bench.machine.isDisabled(GatewayBench.sub))
    }
  }

  /// SDK-gateway-29.
  @Test(arguments: [
    command("enable"), change(2, .setUp),
    Cause(event: .loggedIn, name: "a login") { bench in
      bench.operate("login", .logIn)
      bench.reply()
    },
  ])
  func isEnabledBy(cause: Cause) throws {
    var bench = try GatewayBench.line(in: .topology)
    bench.message("/sys/{sub}/thing/disable", ["id": "7", "params": [:]])
    #expect(bench.machine.isDisabled(GatewayBench.sub))
    try cause.happen(&bench)
    #expect(!bench.machine.isDisabled(GatewayBench.sub))
  }
}
