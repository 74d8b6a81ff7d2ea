import DataClient
import Testing

@testable import DeviceSDK

@Suite struct ConnectionTests {
  @Test func subscribesToAllOnceAfterTheFirstConnection() throws {
    var bench = try MachineBench()
    bench.call("start", .start)
    #expect(bench.take() == ["CONNECT dev1&a1pk", "state connecting"])
    bench.accept()
    #expect(bench.take() == ["SUBSCRIBE {down}/#", "state connected", "start ok"])
    bench.grant()
    bench.close()
    bench.wait(1)
    bench.accept()
    #expect(
      bench.take() == [
        "state disconnected 4101", "CONNECT dev1&a1pk", "state connecting", "SUBSCRIBE {down}/#",
      ])
    bench.grant()
    #expect(bench.take() == ["state connected"])
  }

  @Test func startsOnlyOneConnection() throws {
    var bench = try MachineBench()
    bench.call("first", .start)
    bench.call("second", .start)
    bench.accept()
    bench.call("third", .start)
    #expect(
      bench.take() == [
        "CONNECT dev1&a1pk", "state connecting", "SUBSCRIBE {down}/#", "state connected",
        "first ok", "second ok", "third ok",
      ])
  }

  @Test func failsAtOnceBeforeItIsConnected() throws {
    var bench = try MachineBench()
    try bench.invoke("invoke", "/a")
    bench.call("start", .start)
    bench.call("publish", .publish(try ChannelTopic("/a"), [:]))
    bench.call("subscribe", .subscribe(try ChannelTopic("/a")))
    bench.call("unsubscribe", .unsubscribe(try ChannelTopic("/a")))
    bench.call("bind", .bind(token: "t"))
    #expect(
      bench.take() == [
        "invoke error 4101", "CONNECT dev1&a1pk", "state connecting", "publish error 4101",
        "subscribe error 4101", "unsubscribe error 4101", "bind error 4101",
      ])
    #expect(bench.machine.calls.count == 1)
  }

  @Test func stopsInEveryState() throws {
    var bench = try MachineBench()
    bench.call("idle", .stop)
    #expect(bench.take() == ["idle ok"])

    bench.call("start", .start)
    bench.call("stop", .stop)
    bench.call("again", .start)
    #expect(
      bench.take() == [
        "CONNECT dev1&a1pk", "state connecting", "DISCONNECT", "start error 4101",
        "state disconnected final", "again error 4201",
      ])
    bench.close(.byUser)
    #expect(bench.take() == ["stop ok"])

    bench.call("start", .start)
    bench.accept()
    bench.grant()
    bench.call("stop", .stop)
    bench.close(.byUser)
    bench.call("stop2", .stop)
    #expect(
      bench.take().suffix(4) == [
        "DISCONNECT", "state disconnected final", "stop ok", "stop2 ok",
      ])

    bench.call("start", .start)
    bench.close()
    bench.call("stop", .stop)
    #expect(bench.take().suffix(3) == ["state disconnected 4101", "start error 4101", "stop ok"])
    #expect(bench.machine.deadline == nil)
  }

  @Test func stopsEvenIfNobodyAnswers() throws {
    var bench = try MachineBench.connected()
    bench.call("stop", .stop)
    bench.wait(5)
    #expect(bench.take() == ["DISCONNECT", "state disconnected final", "stop ok"])
  }

  @Test func comesBackAfterOneTwoFourSecondsUpToSixty() throws {
    var bench = try MachineBench()
    bench.call("start", .start)
    var delays: [Int64] = []
    for _ in 0..<8 {
      bench.close()
      let lost = bench.now
      guard let deadline = bench.machine.deadline else { break }
      delays.append(deadline.nanoseconds(since: lost) / 1_000_000_000)
      bench.wait(delays.last ?? 0)
    }
    #expect(delays == [1, 2, 4, 8, 16, 32, 60, 60])
  }

  @Test func addsJitterThatDependsOnTheSeedAlone() throws {
    func delay(seed: UInt64) throws -> Int64 {
      var bench = try MachineBench {
        $0.reconnect = BackOff()
        $0.jitterSeed = seed
      }
      bench.call("start", .start)
      bench.close()
      return bench.machine.deadline?.nanoseconds(since: bench.now) ?? 0
    }
    let delays = try (0..<20).map { try delay(seed: $0) }
    #expect(delays.allSatisfy { (1_000_000_000...1_250_000_000).contains($0) })
    #expect(Set(delays).count > 10)
    #expect(try delay(seed: 7) == delays[7])
  }

  @Test func forgetsFailedAttemptsAfterAMessageOrASuback() throws {
    var bench = try MachineBench { $0.kickWindow = .zero }
    bench.call("start", .start)
    bench.close()
    bench.wait(1)
    bench.close()
    bench.wait(2)
    bench.accept()
    #expect(bench.machine.failedAttempts == 2)
    bench.grant()
    #expect(bench.machine.failedAttempts == 0)
    bench.close()
    bench.wait(1)
    #expect(bench.machine.failedAttempts == 1)
    bench.accept()
    bench.message("/thing/status", [:])
    #expect(bench.machine.failedAttempts == 0)
  }

  @Test(arguments: [UInt8(4), 5])
  func doesNotHammerWhenItIsNotAccepted(code: UInt8) throws {
    var bench = try MachineBench()
    bench.call("start", .start)
    bench.close(.refused(code: code))
    #expect(
      bench.take().suffix(2) == [
        "start error 4001/\(code)", "state disconnected 4001/\(code) final",
      ])
    #expect(bench.machine.deadline == nil)
    bench.call("again", .start)
    #expect(bench.take() == ["CONNECT dev1&a1pk", "state connecting"])
  }

  @Test(arguments: [(UInt8(1), true), (2, true), (3, false), (99, false)])
  func takesOtherRefusalsForTheGateway(code: UInt8, isFinal: Bool) throws {
    var bench = try MachineBench()
    bench.call("start", .start)
    bench.close(.refused(code: code))
    #expect(bench.take().last == "state disconnected 4102/\(code)" + (isFinal ? " final" : ""))
    #expect((bench.machine.deadline == nil) == isFinal)
  }

  @Test func reportsNoStateTwice() throws {
    var bench = try MachineBench()
    bench.call("start", .start)
    bench.close()
    bench.close()
    #expect(bench.take() == ["CONNECT dev1&a1pk", "state connecting", "state disconnected 4101"])
  }

  @Test func givesUpWhenAnotherProcessKicksItOut() throws {
    var bench = try MachineBench.connected()
    for _ in 0..<2 {
      bench.close()
      bench.wait(4)
      bench.accept()
      bench.grant()
    }
    _ = bench.take()
    bench.close()
    #expect(bench.take() == ["state disconnected 4102 final"])
    #expect(bench.machine.deadline == nil)
    bench.call("again", .start)
    bench.accept()
    #expect(bench.machine.state == .connected)
  }

  @Test func toleratesKicksThatAreAMinuteApart() throws {
    var bench = try MachineBench.connected()
    for _ in 0..<10 {
      bench.close()
      bench.wait(30)
      bench.accept()
      bench.grant()
    }
    #expect(bench.machine.state == .connected)
    #expect(bench.machine.statistics.lostConnections == 10)
  }

  @Test func restoresWhatWasGranted() throws {
    var bench = try MachineBench.connected()
    bench.call("a", .subscribe(try ChannelTopic("/a")))
    bench.grant()
    bench.call("b", .subscribe(try ChannelTopic("/b")))
    bench.grant([nil])
    bench.call("c", .unsubscribe(try ChannelTopic("#")))
    bench.acknowledgeUnsubscribe()
    bench.close()
    bench.wait(1)
    _ = bench.take()
    bench.accept()
    #expect(bench.take() == ["SUBSCRIBE {down}/a"])
    bench.grant([nil])
    #expect(bench.take() == ["state connected"])
    #expect(bench.machine.grants.isEmpty)
  }

  @Test func triesAgainWhenConnectingOrRestoringTakesTooLong() throws {
    var bench = try MachineBench.connected()
    bench.close()
    bench.wait(31)
    #expect(bench.take().suffix(2) == ["state connecting", "DISCONNECT"])
    bench.close(.byUser)
    bench.wait(2)
    bench.accept()
    bench.wait(30)
    #expect(bench.take().suffix(2) == ["SUBSCRIBE {down}/#", "DISCONNECT"])
    bench.wait(5)
    #expect(bench.take() == ["state disconnected 4101"])
  }

  @Test func startsWhileItTriesAgain() throws {
    var bench = try MachineBench()
    bench.call("start", .start)
    bench.wait(30)
    bench.call("second", .start)
    bench.close(.byUser)
    bench.wait(1)
    bench.accept()
    #expect(bench.take().suffix(3) == ["state connected", "start ok", "second ok"])
  }

  @Test func doesNotRestoreWhatWasTakenBackBeforeItWasGranted() throws {
    var bench = try MachineBench()
    bench.call("start", .start)
    bench.accept()
    bench.call("u", .unsubscribe(try ChannelTopic("/#")))
    bench.grant()
    bench.acknowledgeUnsubscribe()
    #expect(bench.machine.grants.isEmpty && !bench.machine.needsSubscribeAll)
    bench.close()
    bench.wait(1)
    _ = bench.take()
    bench.accept()
    #expect(bench.take() == ["state connected"])
  }

  @Test func logsOnlyWhatIsWanted() {
    let log = ChannelLog(level: .warning, levels: [.call: .debug]) { _ in }
    #expect(log.takes(.error, .connection) && log.takes(.warning, .connection))
    #expect(!log.takes(.info, .connection) && log.takes(.debug, .call))
    #expect(!ChannelLog(level: .debug).takes(.error, .call))
  }

  @Test func waitsForItsIdentity() throws {
    var bench = try MachineBench { $0.identity = nil }
    #expect(bench.machine.clientID == nil)
    bench.call("start", .start)
    #expect(bench.take() == ["state connecting"])
    bench.call("identify", .identify(try SampleChannel.identity()))
    #expect(bench.take() == ["CONNECT dev1&a1pk", "identify ok"])
    #expect(bench.machine.clientID == "dev1&a1pk")
    let other = try ChannelIdentity(productKey: "a1pk", deviceName: "dev2")
    bench.call("other", .identify(other))
    #expect(bench.take() == ["other error 4201"])
  }

  @Test func treatsAConnectThatWasNotSentAsLost() throws {
    var bench = try MachineBench()
    bench.call("start", .start)
    bench.refuse(.transport)
    #expect(bench.take().last == "state disconnected 4101")
    bench.wait(1)
    bench.refuse(.unsupported)
    #expect(bench.take().suffix(2) == ["start error 4201", "state disconnected 4201 final"])
  }

  @Test func endsWithItsWorld() throws {
    var bench = try MachineBench.connected()
    bench.call("publish", .publish(try ChannelTopic("/a"), [:]))
    _ = bench.take()
    bench.input(.received(.ended))
    bench.input(.received(.ended))
    #expect(bench.take() == ["publish error 4101", "state disconnected 4101 final"])
    bench.call("start", .start)
    #expect(bench.take() == ["start error 4101"])
  }

  @Test func tellsNoSecretsInItsLog() throws {
    var bench = try MachineBench {
      $0.log = ChannelLog(level: .debug) { _ in }
      $0.authCode = "s3cret"
    }
    bench.call("start", .start)
    bench.accept()
    bench.call("bind", .bind(token: "s3cret"))
    bench.grant()
    bench.grant()
    bench.reply("/account/bind", "#1", code: 2043)
    bench.close()
    let log = bench.take().filter { $0.hasPrefix("log ") }
    #expect(log.count > 3)
    #expect(!log.contains { $0.contains("s3cret") })
  }
}
