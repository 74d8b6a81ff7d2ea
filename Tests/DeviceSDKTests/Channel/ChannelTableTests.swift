import RepriseCore
import Testing

@testable import DeviceSDK

/// The table of the channel's phases, beside its machine.
///
/// That the machine has no other transitions is
/// asserted in the machine itself, and so in every test of it.
@Suite struct ChannelTableTests {
  @Test func isAFunctionOfPhaseAndTrigger() {
    let keys = ChannelTable.transitions.map { "\($0.from) \($0.trigger)" }
    #expect(Set(keys).count == keys.count)
    for row in ChannelTable.transitions {
      #expect(row.from != row.to)
      #expect(ChannelTable.next(row.from, row.trigger) == row.to)
    }
    #expect(Set(ChannelTable.transitions.map(\.trigger)) == Set(ChannelTrigger.allCases))
  }

  /// The arrows, written down once more: one that is added, or leads elsewhere, is meant.
  @Test func hasTheseArrows() {
    let arrows = ChannelTable.transitions.map { "\($0.from) \($0.trigger) \($0.to)" }
    #expect(
      Set(arrows) == [
        "idle started connecting", "idle startedUnknown identifying", "idle worldEnded ended",
        "identifying identified connecting", "identifying stopped idle",
        "identifying worldEnded ended",
        "connecting accepted connected", "connecting acceptedAgain restoring",
        "connecting closed backingOff", "connecting failed backingOff",
        "connecting timedOut breakingOff", "connecting refused idle", "connecting stopped closing",
        "connecting worldEnded ended",
        "restoring restored connected", "restoring closed backingOff", "restoring kicked idle",
        "restoring timedOut breakingOff", "restoring failed breakingOff",
        "restoring stopped closing", "restoring worldEnded ended",
        "connected closed backingOff", "connected kicked idle", "connected stopped closing",
        "connected worldEnded ended",
        "backingOff retryDue connecting", "backingOff stopped idle", "backingOff worldEnded ended",
        "breakingOff closed backingOff", "breakingOff timedOut backingOff",
        "breakingOff failed backingOff", "breakingOff stopped closing",
        "breakingOff worldEnded ended",
        "closing closed idle", "closing timedOut idle", "closing failed idle",
        "closing worldEnded ended",
      ])
  }

  @Test(arguments: ChannelTable.transitions)
  func takesTheStepOfEachRow(row: ChannelTransition) throws {
    var bench = try Self.bench(before: row)
    #expect(bench.machine.keeper.link.phase == row.from)
    try Self.fire(row, &bench)
    #expect(bench.machine.keeper.link.phase == row.to)
  }

  private static let kick = ClientEvent.Closed.byServer(code: nil, "another connected")

  /// Returns a channel in the phase of a row, to which its trigger can come.
  private static func bench(before row: ChannelTransition) throws -> ChannelBench {
    let isUnknown = row.from == .identifying || row.trigger == .startedUnknown
    let isKicked = row.trigger == .kicked
    var bench = try ChannelBench {
      if isUnknown { $0.identity = nil }
      if isKicked { $0.kickLimit = row.from == .connected ? 1 : 2 }
    }
    switch row.from {
    case .idle: break
    case .identifying: bench.call("start", .start)
    case .connecting:
      if row.trigger == .acceptedAgain { lose(&bench) }
      if row.trigger != .acceptedAgain { bench.call("start", .start) }
    case .restoring:
      lose(&bench, by: kick)
      bench.accept()
    case .connected: open(&bench)
    case .backingOff:
      bench.call("start", .start)
      bench.close()
    case .breakingOff:
      bench.call("start", .start)
      bench.wait(bench.connectTimeout)
    case .closing:
      open(&bench)
      bench.call("stop", .stop)
    case .ended: bench.input(.received(.ended))
    }
    return bench
  }

  /// Opens a connection, with a subscription to restore after it.
  private static func open(_ bench: inout ChannelBench) {
    bench.call("start", .start)
    bench.accept()
    bench.grant()
  }

  /// Loses an open connection, and begins the next try.
  private static func lose(
    _ bench: inout ChannelBench, by end: ClientEvent.Closed = .lost("test")
  ) {
    open(&bench)
    bench.close(end)
    bench.wait(2)
  }

  private static func fire(_ row: ChannelTransition, _ bench: inout ChannelBench) throws {
    switch row.trigger {
    case .started, .startedUnknown: bench.call("start", .start)
    case .identified: bench.call("identify", .identify(try SampleChannel.identity()))
    case .accepted, .acceptedAgain: bench.accept()
    case .restored: bench.grant()
    case .closed: bench.close()
    case .kicked: bench.close(kick)
    case .refused: bench.close(.refused(code: 5))
    case .retryDue: bench.wait(2)
    case .timedOut:
      bench.wait(
        row.from == .closing || row.from == .breakingOff ? bench.closeTimeout : bench.connectTimeout
      )
    case .failed: for _ in bench.open { bench.refuse(.transport) }
    case .stopped: bench.call("halt", .stop)
    case .worldEnded: bench.input(.received(.ended))
    }
  }
}

extension ChannelBench {
  /// In seconds, until the next deadline is behind.
  fileprivate var connectTimeout: Double {
    Double(machine.configuration.connectTimeout.components.seconds)
  }
  /// In seconds, until the next deadline is behind.
  fileprivate var closeTimeout: Double {
    Double(machine.configuration.closeTimeout.components.seconds)
  }
}
