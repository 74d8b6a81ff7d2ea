import RepriseCore
import Testing

@testable import DeviceSDK

@Suite struct ConnectionTests {
  @Test func subscribesToAllOnceAfterTheFirstConnection() throws {
    var bench = try ChannelBench()
    bench.call("start", .start)
    #expect(bench.take() == ["CONNECT {client}", "state connecting"])
    bench.accept()
    #expect(bench.take() == ["SUBSCRIBE {down}/#", "state connected", "start ok"])
    bench.grant()
    bench.close()
    bench.wait(1)
    bench.accept()
    #expect(
      bench.take() == [
        "state disconnected 4101", "CONNECT {client}", "state connecting", "SUBSCRIBE {down}/#",
      ])
    bench.grant()
    #expect(bench.take() == ["state connected"])
  }

  @Test func startsOnlyOneConnection() throws {
    var bench = try ChannelBench()
    bench.call("first", .start)
    bench.call("second", .start)
    bench.accept()
    bench.call("third", .start)
    #expect(
      bench.take() == [
        "CONNECT {client}", "state connecting", "SUBSCRIBE {down}/#", "state connected",
        "first ok", "second ok", "third ok",
      ])
  }

  @Test func failsAtOnceBeforeItIsConnected() throws {
    var bench = try ChannelBench()
    try bench.invoke("invoke", "/a")
    bench.call("start", .start)
    bench.call("publish", .publish(try ChannelTopic("/a"), [:]))
    bench.call("subscribe", .subscribe(try ChannelTopic("/a")))
    bench.call("unsubscribe", .unsubscribe(try ChannelTopic("/a")))
    bench.call("bind", .bind(token: "t"))
    #expect(
      bench.take() == [
        "invoke error 4101", "CONNECT {client}", "state connecting", "publish error 4101",
        "subscribe error 4101", "unsubscribe error 4101", "bind error 4101",
      ])
    #expect(bench.machine.calls.count == 1)
  }

  @Test func stopsInEveryState() throws {
    var bench = try ChannelBench()
    bench.call("idle", .stop)
    #expect(bench.take() == ["idle ok"])

    bench.call("start", .start)
    bench.call("stop", .stop)
    bench.call("again", .start)
    #expect(
      bench.take() == [
        "CONNECT {client}", "state connecting", "DISCONNECT", "start error 4101",
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
    var bench = try ChannelBench.connected()
    bench.call("stop", .stop)
    bench.wait(5)
    #expect(bench.take() == ["DISCONNECT", "state disconnected final", "stop ok"])
  }

  @Test func reportsNoStateTwice() throws {
    var bench = try ChannelBench()
    bench.call("start", .start)
    bench.close()
    bench.close()
    #expect(bench.take() == ["CONNECT {client}", "state connecting", "state disconnected 4101"])
  }

  @Test func stopsWhileItTriesAgain() throws {
    var bench = try ChannelBench()
    bench.call("start", .start)
    bench.wait(30)
    _ = bench.take()
    bench.call("stop", .stop)
    bench.close(.byUser)
    #expect(bench.take() == ["start error 4101", "state disconnected final", "stop ok"])
  }

  @Test func aStartThatComesTooEarlyIsLogged() throws {
    var bench = try ChannelBench.connected { $0.log = DeviceLog(level: .warning) { _ in } }
    bench.call("stop", .stop)
    _ = bench.take()
    bench.call("start", .start)
    #expect(bench.take().count == 2)
  }

  @Test func aStopIsNoErrorInTheLog() throws {
    var bench = try ChannelBench { $0.log = DeviceLog(level: .warning) { _ in } }
    bench.call("start", .start)
    bench.close()
    _ = bench.take()
    bench.call("stop", .stop)
    #expect(bench.take() == ["start error 4101", "stop ok"])
  }

  @Test func startsFailWhenTheirTimeIsOverAndTheChannelGoesOn() throws {
    var bench = try ChannelBench { $0.startTimeout = .seconds(5) }
    bench.call("start", .start)
    for _ in 0..<3 {
      bench.close()
      bench.wait(2)
    }
    let lines = bench.take()
    #expect(lines.count { $0 == "start error 4101" } == 1)
    #expect(lines.last == "start error 4101")
    bench.call("again", .start)
    bench.wait(2)
    bench.accept()
    #expect(bench.take().suffix(2) == ["state connected", "again ok"])
    bench.wait(9)
    #expect(bench.take().isEmpty)
  }

  @Test func startsWhileItTriesAgain() throws {
    var bench = try ChannelBench()
    bench.call("start", .start)
    bench.wait(30)
    bench.call("second", .start)
    bench.close(.byUser)
    bench.wait(1)
    bench.accept()
    #expect(bench.take().suffix(3) == ["state connected", "start ok", "second ok"])
  }

  @Test func logsOnlyWhatIsWanted() {
    let log = DeviceLog(level: .warning, levels: [.call: .debug]) { _ in }
    #expect(log.takes(.error, .connection) && log.takes(.warning, .connection))
    #expect(!log.takes(.info, .connection) && log.takes(.debug, .call))
    #expect(!DeviceLog(level: .debug).takes(.error, .call))
  }

  @Test func waitsForItsIdentity() throws {
    var bench = try ChannelBench { $0.identity = nil }
    #expect(bench.machine.clientID == nil)
    bench.call("start", .start)
    #expect(bench.take() == ["state connecting"])
    bench.call("identify", .identify(try SampleChannel.identity()))
    #expect(bench.take() == ["CONNECT {client}", "identify ok"])
    #expect(bench.machine.clientID == "dev1&a1pk")
    let other = try ChannelIdentity(productKey: "a1pk", deviceName: "dev2")
    bench.call("other", .identify(other))
    #expect(bench.take() == ["other error 4201"])
  }

  @Test func treatsAConnectThatWasNotSentAsLost() throws {
    var bench = try ChannelBench()
    bench.call("start", .start)
    bench.refuse(.transport)
    #expect(bench.take().last == "state disconnected 4101")
    bench.wait(1)
    bench.refuse(.unsupported)
    #expect(bench.take().suffix(2) == ["start error 4201", "state disconnected 4201 final"])
  }

  @Test func endsWithItsWorld() throws {
    var bench = try ChannelBench.connected()
    bench.call("publish", .publish(try ChannelTopic("/a"), [:]))
    _ = bench.take()
    bench.input(.received(.ended))
    bench.input(.received(.ended))
    #expect(bench.take() == ["publish error 4101", "state disconnected 4101 final"])
    bench.call("start", .start)
    #expect(bench.take() == ["start error 4101"])
  }

  @Test func tellsNoSecretsInItsLog() throws {
    var bench = try ChannelBench {
      $0.log = DeviceLog(level: .debug) { _ in }
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
