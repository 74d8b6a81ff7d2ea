import RepriseCore
import Testing

@testable import DeviceSDK

@Suite struct RequestConnectionTests {
  @Test func opensOnceForAllWhoAsk() throws {
    var bench = try RequestBench()
    bench.call("one", .open)
    bench.call("two", .open)
    bench.receive(.connected(.init()))
    bench.call("three", .open)
    #expect(
      bench.take() == [
        "CONNECT", "state connecting", "state open", "one done", "two done", "three done",
      ])
  }

  @Test func closesWithoutTryingAgain() throws {
    var bench = try RequestBench.open()
    bench.request("a")
    bench.call("close", .close)
    bench.receive(.closed(.byUser))
    bench.wait(600)
    #expect(
      bench.take() == [
        "s/a 1", "DISCONNECT", "a failed -13", "state closing", "state idle", "close done",
      ])
  }

  @Test func closesWhenNobodySaysThatItIsClosed() throws {
    var bench = try RequestBench.open()
    bench.call("close", .close)
    bench.wait(5)
    #expect(bench.take() == ["DISCONNECT", "state closing", "state idle", "close done"])
  }

  @Test func givesATryUpAfterItsTime() throws {
    var bench = try RequestBench()
    bench.call("open", .open)
    bench.wait(5)
    bench.receive(.closed(.byUser))
    bench.wait(2.5)
    #expect(bench.take() == ["CONNECT", "state connecting", "DISCONNECT", "state waiting"])
    bench.wait(0.5)
    #expect(bench.take() == ["CONNECT", "state connecting"])
  }

  @Test func givesUpAfterTwentyNewTries() throws {
    var bench = try RequestBench.open()
    bench.receive(.closed(.lost("test")))
    var tries = 0
    while bench.machine.state == .waiting {
      bench.wait(3)
      tries += 1
      bench.receive(.closed(.lost("test")))
    }
    #expect(tries == 20 && bench.machine.state == .gaveUp)
    _ = bench.take()
    bench.wait(600)
    bench.request("a")
    bench.call("open", .open)
    #expect(bench.take() == ["a failed -13", "CONNECT", "state connecting"])
  }

  @Test func startsCountingAnewWhenItWasOpen() throws {
    var bench = try RequestBench.open { $0.reconnectLimit = 1 }
    for _ in 0..<5 {
      bench.receive(.closed(.lost("test")))
      bench.wait(3)
      bench.receive(.connected(.init()))
    }
    #expect(bench.machine.state == .open && bench.machine.statistics.lostConnections == 5)
  }

  @Test func waitsLongerEachTime() throws {
    var bench = try RequestBench.open {
      $0.reconnect = BackOff(first: .seconds(3), jitterPercent: 0)
    }
    var delays: [Int64] = []
    for _ in 0..<6 {
      bench.receive(.closed(.lost("test")))
      let until = try #require(bench.machine.deadline)
      delays.append(until.nanoseconds(since: bench.now) / 1_000_000_000)
      bench.wait(Double(delays.last ?? 0))
    }
    #expect(delays == [3, 6, 12, 24, 48, 60])
  }

  @Test func startsItsIDsAnewOnEveryConnection() throws {
    var bench = try RequestBench.open()
    bench.request("a")
    bench.receive(.closed(.lost("test")))
    bench.wait(3)
    bench.receive(.connected(.init()))
    bench.request("b")
    #expect(bench.take().filter { $0.hasPrefix("s/") } == ["s/a 1", "s/b 1"])
  }

  @Test func failsEverythingWhenTheWorldEnds() throws {
    var bench = try RequestBench.open()
    bench.request("a")
    bench.receive(.ended)
    bench.receive(.ended)
    bench.call("open", .open)
    #expect(bench.take() == ["s/a 1", "a failed -13", "state idle", "open failed -13"])
  }

  // MARK: The network

  @Test func triesAtOnceWhenTheNetworkIsBack() throws {
    var bench = try RequestBench.open()
    bench.call("off", .setReachable(false))
    bench.receive(.closed(.lost("test")))
    bench.wait(600)
    bench.call("on", .setReachable(true))
    #expect(
      bench.take() == ["off done", "state unreachable", "CONNECT", "state connecting", "on done"])
  }

  @Test func opensNothingBeforeTheNetworkIsThere() throws {
    var bench = try RequestBench()
    bench.call("off", .setReachable(false))
    bench.call("open", .open)
    bench.request("a")
    bench.wait(600)
    bench.call("on", .setReachable(true))
    bench.receive(.connected(.init()))
    #expect(
      bench.take() == [
        "off done", "state unreachable", "a failed -12", "CONNECT", "state connecting", "on done",
        "state open", "open done",
      ])
  }

  /// The machine learns of the network by the client's own tries alone.
  @Test func learnsFromTheClientThatThereIsNoNetwork() throws {
    var bench = try RequestBench()
    bench.call("open", .open)
    bench.request("a")
    bench.receive(.closed(.unreached("no way", cause: .noNetwork)))
    bench.request("b")
    bench.wait(3)
    #expect(
      bench.take() == [
        "CONNECT", "state connecting", "a failed -12", "state unreachable", "b failed -12",
        "CONNECT", "state connecting",
      ])
    // Without a cause it is the server that is not there.
    bench.request("c")
    bench.receive(.closed(.unreached("refused")))
    bench.request("d")
    bench.wait(3)
    #expect(
      bench.take() == [
        "c failed -13", "state waiting", "d failed -13", "CONNECT", "state connecting",
      ])
    bench.receive(.connected(.init()))
    bench.receive(.closed(.lost("test")))
    bench.request("e")
    #expect(bench.take() == ["state open", "open done", "state waiting", "e failed -13"])
  }

  @Test func failsEverythingWithoutANetworkWhenItGivesUp() throws {
    var bench = try RequestBench {
      $0.reconnectLimit = 0
      $0.whileConnecting = .queue(limit: 5)
    }
    bench.call("open", .open)
    bench.request("a")
    bench.receive(.closed(.unreached("no way", cause: .noNetwork)))
    #expect(
      bench.take() == [
        "CONNECT", "state connecting", "a failed -12", "open failed -12", "state gaveUp",
      ])
    bench.request("b")
    bench.call("off", .setReachable(false))
    bench.call("on", .setReachable(true))
    bench.receive(.closed(.byServer(code: nil, "test")))
    bench.request("c")
    #expect(
      bench.take() == [
        "b failed -12", "off done", "CONNECT", "state connecting", "on done", "state gaveUp",
        "c failed -13",
      ])
  }

  /// The network was said to be back: a request that the try under way does not take finds no connection.
  @Test func believesThatTheNetworkIsBack() throws {
    var bench = try RequestBench { $0.whileConnecting = .fail }
    bench.call("open", .open)
    bench.receive(.closed(.unreached("no way", cause: .noNetwork)))
    bench.request("a")
    bench.call("off", .setReachable(false))
    bench.request("b")
    bench.call("on", .setReachable(true))
    bench.request("c")
    #expect(
      bench.take() == [
        "CONNECT", "state connecting", "state unreachable", "a failed -12", "off done",
        "b failed -12", "CONNECT", "state connecting", "on done", "c failed -13",
      ])
  }

  @Test func startsAnewWhenItGaveUpAndTheNetworkIsBack() throws {
    var bench = try RequestBench { $0.reconnectLimit = 1 }
    bench.call("open", .open)
    bench.receive(.closed(.lost("test")))
    bench.wait(3)
    bench.receive(.closed(.lost("test")))
    #expect(bench.take().last == "state gaveUp")
    bench.call("on", .setReachable(true))
    bench.call("off", .setReachable(false))
    bench.wait(600)
    bench.call("on", .setReachable(true))
    bench.receive(.closed(.lost("test")))
    #expect(
      bench.take() == [
        "on done", "off done", "CONNECT", "state connecting", "on done", "state waiting",
      ])
  }

  @Test func staysClosedWhenItGaveUpAndWasClosed() throws {
    var bench = try RequestBench { $0.reconnectLimit = 0 }
    bench.call("open", .open)
    bench.receive(.closed(.lost("test")))
    #expect(bench.take().last == "state gaveUp")
    bench.call("off", .setReachable(false))
    bench.call("close", .close)
    bench.call("on", .setReachable(true))
    bench.wait(600)
    #expect(bench.take() == ["off done", "state idle", "close done", "on done"])
  }

  @Test func opensNoSecondConnectionWhenTheNetworkIsBack() throws {
    var bench = try RequestBench.open()
    bench.receive(.closed(.lost("test")))
    bench.call("off", .setReachable(false))
    bench.call("on", .setReachable(true))
    bench.wait(3)
    bench.call("off", .setReachable(false))
    bench.call("on", .setReachable(true))
    #expect(bench.take().filter { $0 == "CONNECT" }.count == 1)
  }

  // MARK: Heartbeats

  @Test func beatsAtOnceAndEveryFifteenSeconds() throws {
    var bench = try RequestBench { $0.heartbeatInterval = .seconds(15) }
    bench.call("open", .open)
    bench.receive(.connected(.init()))
    _ = bench.take()
    bench.request("a")
    bench.wait(46)
    bench.answer(4)
    #expect(
      bench.take() == [
        "s/a 2", "a failed -11", "system/heart-beat 3", "system/heart-beat 4",
        "system/heart-beat 5",
      ])
    #expect(bench.machine.statistics.pushes == 0)
  }

  @Test func restsWithoutANetworkAndBeatsOnceWhenItIsBack() throws {
    var bench = try RequestBench.open { $0.heartbeatInterval = .seconds(15) }
    bench.call("off", .setReachable(false))
    bench.wait(60)
    bench.call("on", .setReachable(true))
    bench.call("on", .setReachable(true))
    bench.wait(15)
    #expect(
      bench.take() == [
        "off done", "system/heart-beat 2", "on done", "on done", "system/heart-beat 3",
      ])
  }
}
