import RepriseCore
import Testing

@testable import DeviceSDK

/// The tables of transitions, beside the description of the system and beside the machines.
@Suite struct LinkTableTests {
  /// A row as the description has it: from, to, operation, reason.
  private struct Row: Hashable {
    let from: LinkState
    let to: LinkState
    let operation: LinkOperation
    let reason: LinkReason

    init(
      _ from: LinkState, _ to: LinkState, _ operation: LinkOperation, _ reason: LinkReason
    ) {
      self.from = from
      self.to = to
      self.operation = operation
      self.reason = reason
    }
  }

  private static func rows(_ table: LinkTable) -> Set<Row> {
    Set(
      table.rows.flatMap { row in
        row.reasons.map { Row(row.from, row.to, row.operation, $0) }
      })
  }

  /// What the description says of the message service (section 3.4), pair by pair.
  private static let described: [Row] =
    [LinkState.idle, .failed, .suspended].map { Row($0, .connecting, .login, .login) }
    + [LinkState.failed, .suspended].map { Row($0, .connecting, .login, .relogin) }
    + [Row(.connecting, .connected, .login, .loginSuccess)]
    + [
      LinkReason.invalidToken, .tokenExpired, .loginNotAuthorized, .loginRejected,
      .inconsistentAppID, .operationRateExceedLimitation, .serviceNotSupported, .loginTooFrequent,
    ].map { Row(.connecting, .failed, .serverReject, $0) }
    + [
      Row(.connecting, .failed, .login, .loginTimeout),
      Row(.connected, .disconnected, .heartbeatTimeout, .keepAliveTimeout),
      Row(.connected, .disconnected, .serverTimeout, .connectionError),
      Row(.connected, .disconnected, .networkChange, .networkChange),
      Row(.disconnected, .connecting, .autoReconnect, .autoReconnect),
      Row(.suspended, .connecting, .autoReconnect, .autoReconnect),
      Row(.connecting, .connected, .reconnected, .reconnectSuccess),
      Row(.connecting, .disconnected, .autoReconnect, .connectionError),
      Row(.connecting, .suspended, .autoReconnect, .connectionError),
      Row(.disconnected, .suspended, .autoReconnect, .connectionError),
    ]
    + [LinkState.connecting, .disconnected, .suspended].map {
      Row($0, .failed, .autoReconnect, .reconnectTimeout)
    }
    + [LinkReason.sameUIDLogin, .kickedOutByServer, .tokenExpired].map {
      Row(.connected, .failed, .serverReject, $0)
    }
    + [LinkState.connecting, .connected, .disconnected, .suspended, .failed].map {
      Row($0, .idle, .logout, .logout)
    }

  /// What the description says of stream channels (section 3.5).
  private static let describedStreams = [
    Row(.idle, .connecting, .join, .join),
    Row(.failed, .connecting, .join, .rejoin),
    Row(.connecting, .connected, .join, .joinSuccess),
    Row(.connecting, .failed, .join, .joinFailed),
    Row(.connected, .connecting, .join, .rejoin),
    Row(.connecting, .idle, .leave, .leave),
    Row(.connected, .idle, .leave, .leave),
    Row(.failed, .idle, .leave, .leave),
  ]

  private typealias Rows = (LinkState, LinkState, LinkOperation, [LinkReason])

  /// What the table of the message service has besides, where the description leaves it open.
  private static let added: [Rows] = [
    (.connected, .failed, .serverReject, [.invalidToken]),
    (.connecting, .failed, .serverReject, [.invalidUserID, .kickedOutByServer, .sameUIDLogin]),
    (.disconnected, .connecting, .login, [.login, .relogin]),
    (.disconnected, .failed, .login, [.loginTimeout]),
    (.disconnected, .failed, .serverReject, [.tokenExpired]),
    (.suspended, .failed, .login, [.loginTimeout]),
    (.suspended, .failed, .serverReject, [.tokenExpired]),
  ]

  /// What the table of stream channels has besides.
  private static let addedToStreams: [Rows] = [
    (
      .connected, .failed, .serverReject,
      [.invalidToken, .kickedOutByServer, .sameUIDLogin, .serviceNotConnected, .tokenExpired]
    ),
    (.connecting, .failed, .serverReject, [.serviceNotConnected]),
    (.failed, .connecting, .join, [.join]),
  ]

  private static func rows(_ added: [Rows]) -> Set<Row> {
    Set(added.flatMap { rows in rows.3.map { Row(rows.0, rows.1, rows.2, $0) } })
  }

  @Test func holdsEveryPairOfTheDescription() {
    let message = Self.rows(.message)
    for row in Self.described { #expect(message.contains(row), "\(row)") }
    let stream = Self.rows(.stream)
    for row in Self.describedStreams { #expect(stream.contains(row), "\(row)") }
    #expect(message.subtracting(Self.described) == Self.rows(Self.added))
    #expect(stream.subtracting(Self.describedStreams) == Self.rows(Self.addedToStreams))
  }

  @Test(arguments: [LinkTable.message, .stream])
  func isAFunctionOfStateAndTrigger(table: LinkTable) {
    let keys = table.rows.map { "\($0.from) \($0.trigger)" }
    #expect(Set(keys).count == keys.count)
    for row in table.rows {
      #expect(!row.reasons.isEmpty && row.from != row.to)
      #expect(table.row(row.from, row.trigger) == row)
    }
  }

  @Test func knowsNoStateOfTheOtherService() {
    let states = Set(LinkTable.stream.rows.flatMap { [$0.from, $0.to] })
    #expect(states == [.idle, .connecting, .connected, .failed])
    #expect(Set(LinkTable.message.rows.flatMap { [$0.from, $0.to] }) == Set(LinkState.allCases))
  }

  // MARK: Machine and table

  @Test(arguments: LinkTable.message.rows)
  func takesTheStepOfEachRow(row: LinkTransition) throws {
    var bench = try Self.bench(before: row)
    #expect(bench.machine.state == row.from)
    _ = bench.takeEvents()
    try Self.fire(row.trigger, &bench)
    let event = try #require(bench.events.first)
    #expect(event.previous == row.from && event.current == row.to)
    #expect(event.operation == row.operation)
    #expect(row.reasons.contains(event.reason))
    #expect(event.service == .message)
  }

  /// Returns a link in the state of a row, to which its trigger can come.
  private static func bench(
    before row: LinkTransition
  ) throws -> LinkBench<MessageLinkMachine> {
    switch row.trigger {
    case .login, .accepted, .rejected: try firstBench(in: row.from)
    case .loginTimedOut, .reconnectTimedOut: try patientBench(before: row)
    case .tokenFoundExpired: try lostBench(in: row.from, expiresIn: 60)
    case .attemptFailedLate:
      // Tries from +2 to +52, from +56 to +106, and from +114.
      try lostBench(in: row.from, after: 115, world: .silent) {
        $0.attemptTimeout = .seconds(50)
      }
    default: try lostBench(in: row.from)
    }
  }

  /// A link that has never been connected.
  private static func firstBench(in state: LinkState) throws -> LinkBench<MessageLinkMachine> {
    var bench = try LinkBench()
    bench.world = state == .connecting ? .silent : .gone
    guard state != .idle else { return bench }
    if state == .failed {
      bench.world = .well
      bench.refusal = 5
    }
    bench.call("login", .login(token: "t"))
    bench.refusal = nil
    if state == .suspended { bench.wait(121) }
    return bench
  }

  /// A link that has been connected.
  private static func lostBench(
    in state: LinkState, after seconds: Double = 2,
    world: LinkBench<MessageLinkMachine>.World? = nil,
    expiresIn: Int = 1_000, _ change: (inout LinkConfiguration) -> Void = { _ in }
  ) throws -> LinkBench<MessageLinkMachine> {
    var bench = try LinkBench(change)
    let lifetime = state == .suspended && expiresIn < 125 ? 125 : expiresIn
    bench.greeting = ["code": 0, "expiresIn": .number("\(lifetime)")]
    bench.call("login", .login(token: "t"))
    if state == .connected { return bench }
    if state == .failed {
      bench.kick(.kickedOutByServer)
      return bench
    }
    bench.world = world ?? (state == .connecting ? .silent : .gone)
    bench.lose()
    if state == .connecting { bench.wait(seconds) }
    if state == .suspended { bench.wait(121) }
    return bench
  }

  /// A link just before it gives up in a state, whatever time-out it takes for that.
  private static func patientBench(
    before row: LinkTransition
  ) throws -> LinkBench<MessageLinkMachine> {
    for timeout in 15...300 {
      var bench = try LinkBench { $0.reconnectTimeout = .seconds(timeout) }
      bench.world = row.trigger == .loginTimedOut ? .silent : .well
      bench.call("login", .login(token: "t"))
      if row.trigger == .reconnectTimedOut {
        bench.world = .silent
        bench.lose()
      }
      bench.wait(Double(timeout) - 0.5)
      if bench.machine.state == row.from { return bench }
    }
    throw Wrong("no time-out meets \(row.from)")
  }

  private static func fire(
    _ trigger: LinkTrigger, _ bench: inout LinkBench<MessageLinkMachine>
  ) throws {
    switch trigger {
    case .login, .relogin: bench.call("again", .login(token: "t"))
    case .logout: bench.call("logout", .logout)
    case .accepted, .acceptedAgain:
      bench.world = .well
      bench.receive(.connected(.init()))
    case .rejected: bench.receive(.closed(.refused(code: 5)))
    case .attemptFailed, .connectionLost: bench.lose()
    case .attemptFailedLate: bench.wait(60)
    case .retryDue: bench.wait(40)
    case .twoMinutesPassed: bench.jumpPastTries()
    case .loginTimedOut, .reconnectTimedOut: bench.wait(0.5)
    case .heartbeatMissed:
      bench.world = .silent
      bench.wait(15)
    case .networkLost: bench.call("network", .noteNetwork(.lost))
    case .kicked: bench.kick(.sameUIDLogin)
    case .tokenFoundExpired: bench.jump(100)
    case .join, .rejoin, .leave, .serviceFailed:
      Issue.record("\(trigger) is no trigger of the message service")
    }
  }
}

extension LinkBench<MessageLinkMachine> {
  /// Lets two minutes pass with all tries, and forgets what they did.
  fileprivate mutating func jumpPastTries() {
    wait(119)
    _ = takeEvents()
    wait(1)
  }
}
