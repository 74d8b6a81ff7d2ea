import RepriseCore
import TestSupport
import Testing

@testable import DeviceSDK

/// Every timer of the message service's link, in virtual time.
@Suite struct LinkTimeTests {
  // MARK: Heartbeats

  @Test func sendsAHeartbeatEachInterval() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.wait(60)
    #expect(bench.pingTimes == stride(from: 5, through: 60, by: 5).map { Double($0) })
    #expect(bench.machine.state == .connected)
  }

  /// What is lost just after a heartbeat was answered is noticed 10 seconds after the next one.
  @Test(arguments: [5, 9, 10, 11, 30, 600, 1_800])
  func noticesSilence(interval: Int) throws {
    var bench = try LinkBench<MessageLinkMachine>.connected {
      $0.heartbeatInterval = .seconds(interval)
    }
    bench.wait(Double(interval))
    bench.world = .silent
    bench.wait(Double(2 * interval) + 9.999)
    let event = try #require(bench.events.first)
    // The oldest heartbeat without an answer counts, however many came after it.
    #expect(
      event.time.nanoseconds(since: ScriptedClient.start) == Int64(2 * interval + 10)
        * 1_000_000_000)
    #expect(event.operation == .heartbeatTimeout && event.reason == .keepAliveTimeout)
  }

  @Test func staysConnectedIfAnAnswerComesJustInTime() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.world = .silent
    bench.wait(14.999)
    bench.tell("pong", 1, to: SampleLink.base)
    bench.wait(5)
    #expect(bench.take() == [])
    // The second, of +10, was not answered.
    bench.wait(0.001)
    #expect(bench.take() == ["+20 disconnected heartbeatTimeout keepAliveTimeout"])
  }

  @Test func takesALaterAnswerForEarlierHeartbeats() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.world = .silent
    bench.wait(11)
    bench.tell("pong", 2, to: SampleLink.base)
    bench.wait(13)
    #expect(bench.take() == [])
    bench.wait(1)
    #expect(bench.take().count == 1)
  }

  @Test(arguments: [0, 3, 99])
  func ignoresAnswersToHeartbeatsThatWereNotSent(number: Int) throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.world = .silent
    bench.wait(11)
    bench.tell("pong", .number("\(number)"), to: SampleLink.base)
    bench.wait(4)
    #expect(bench.take() == ["+15 disconnected heartbeatTimeout keepAliveTimeout"])
  }

  // MARK: Tries

  /// The table of a connection that fails at once each time.
  @Test func triesAgainLaterAndLater() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.world = .gone
    bench.lose()
    bench.wait(270)
    #expect(bench.connectTimes.dropFirst() == [2, 6, 14, 30, 62, 150, 180, 210, 240, 270])
    let suspended = bench.events.first { $0.current == .suspended }
    #expect(suspended?.previous == .disconnected)
    #expect(suspended?.time.nanoseconds(since: ScriptedClient.start) == 120_000_000_000)
    #expect(bench.events.filter { $0.current == .suspended }.count == 6)
  }

  @Test func countsTwoMinutesFromTheLossWhateverHappensInBetween() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.world = .silent
    bench.lose()
    bench.wait(119.5)
    #expect(bench.machine.state == .disconnected)
    bench.wait(0.5)
    #expect(bench.machine.state == .suspended)
  }

  @Test(arguments: [(10.0, true), (62.0, true), (119.0, true), (150.0, false), (600.0, false)])
  func isResumedWithinTwoMinutes(outage: Double, isResumed: Bool) throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.world = .gone
    bench.lose()
    bench.wait(outage - 0.5)
    bench.world = .well
    bench.call("network", .noteNetwork(.regained))
    let event = try #require(bench.events.last)
    #expect(event.current == .connected && event.operation == .reconnected)
    #expect(event.isResumed == isResumed)
    #expect(bench.events.dropLast().allSatisfy { !$0.isResumed })
  }

  @Test(arguments: [(4.0, true), (4.001, false)])
  func isResumedToTheLastMomentOfTwoMinutes(answer: Double, isResumed: Bool) throws {
    // Tries from +2 to +52, +56 to +106, +114.
    var bench = try LinkBench<MessageLinkMachine>.connected { $0.attemptTimeout = .seconds(50) }
    bench.world = .silent
    bench.lose()
    bench.wait(116)
    bench.world = .well
    bench.wait(answer)
    bench.receive(.connected(.init()))
    #expect(bench.events.last?.current == .connected)
    #expect(bench.events.last?.isResumed == isResumed)
  }

  @Test func startsWithTwoSecondsAfterEachLoss() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.world = .gone
    bench.lose()
    bench.wait(20)
    bench.world = .well
    bench.wait(10)
    #expect(bench.machine.state == .connected)
    bench.lose()
    bench.wait(1.9)
    #expect(bench.machine.state == .disconnected)
    bench.wait(0.1)
    #expect(bench.machine.state == .connected)
  }

  @Test func addsJitterIfAsked() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected {
      $0.reconnect.jitterPercent = 25
    }
    bench.world = .gone
    bench.lose()
    bench.wait(30)
    let first = bench.connectTimes[1]
    #expect(first > 2 && first <= 2.5)
  }

  @Test func givesATryTenSeconds() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.world = .silent
    bench.lose()
    bench.wait(16)
    #expect(
      bench.take() == [
        "+0 disconnected serverTimeout connectionError",
        "+2 connecting autoReconnect autoReconnect",
        "+12 disconnected autoReconnect connectionError",
        "+16 connecting autoReconnect autoReconnect",
      ])
  }

  // MARK: Giving up

  @Test(arguments: [15, 60, 121, 3_600])
  func givesUpAfterTheReconnectTimeout(timeout: Int) throws {
    var bench = try LinkBench<MessageLinkMachine>.connected {
      $0.reconnectTimeout = .seconds(timeout)
    }
    bench.world = .gone
    bench.wait(1)
    bench.lose()
    bench.wait(Double(timeout))
    #expect(bench.take().last == "+\(timeout + 1) failed autoReconnect reconnectTimeout")
    bench.wait(10_000)
    #expect(bench.take() == [])
  }

  @Test func givesALoginUpAfterTheReconnectTimeout() throws {
    var bench = try LinkBench { $0.reconnectTimeout = .seconds(15) }
    bench.world = .gone
    bench.call("login", .login(token: "t"))
    bench.wait(20)
    #expect(bench.take().suffix(2) == ["+15 failed login loginTimeout", "+15 login -10011"])
    #expect(bench.machine.deadline == nil)
  }

  @Test func neverGivesUpWithoutATimeout() throws {
    var bench = try LinkBench()
    bench.world = .gone
    bench.call("login", .login(token: "t"))
    bench.wait(7 * 86_400)
    #expect(bench.machine.state == .suspended)
    bench.world = .well
    bench.wait(30)
    #expect(
      bench.take().suffix(2).map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
        == ["connected login loginSuccess", "login ok"])
  }

  // MARK: Worked cases of the description (section 3.6), as the link sees them

  @Test(arguments: [(5, 15.0), (10, 20.0), (30, 40.0), (1_800, 1_810.0)])
  func noticesALossOfTheWorkedCases(interval: Int, suspectAfter: Double) throws {
    var bench = try LinkBench<MessageLinkMachine>.connected {
      $0.heartbeatInterval = .seconds(interval)
    }
    // The network goes just after the login: the link knows when the server suspects.
    bench.world = .silent
    bench.wait(suspectAfter)
    #expect(
      bench.take() == ["+\(Int(suspectAfter)) disconnected heartbeatTimeout keepAliveTimeout"])
  }
}
