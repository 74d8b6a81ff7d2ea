import RepriseCore
import TestSupport
import Testing

@testable import DeviceSDK

@Suite struct ReconnectTests {
  @Test func comesBackAfterOneTwoFourSecondsUpToSixty() throws {
    var bench = try ChannelBench()
    bench.call("start", .start)
    var delays: [Int64] = []
    for _ in 0..<8 {
      bench.close()
      let lost = bench.now
      guard let deadline = bench.machine.deadline else { break }
      delays.append(deadline.nanoseconds(since: lost) / 1_000_000_000)
      bench.wait(Double(delays.last ?? 0))
    }
    #expect(delays == [1, 2, 4, 8, 16, 32, 60, 60])
  }

  @Test func triesNothingWithoutANetworkAndAtOnceWhenItIsBack() throws {
    var bench = try ChannelBench()
    bench.call("start", .start)
    bench.close()
    bench.call("gone", .setReachable(false))
    #expect(bench.machine.deadline == nil)
    bench.wait(100)
    #expect(bench.machine.state == .disconnected)
    bench.call("back", .setReachable(true))
    #expect(bench.machine.state == .connecting)
    bench.accept()
    bench.call("again", .setReachable(true))
    #expect(bench.machine.state == .connected)
    // The back-off has begun anew.
    bench.close()
    #expect(bench.machine.deadline?.nanoseconds(since: bench.now) == 1_000_000_000)
  }

  @Test func aGatewayDoesSoToo() throws {
    var bench = try GatewayBench()
    bench.call("start", .start)
    bench.close()
    bench.call("gone", .setReachable(false))
    #expect(bench.machine.deadline == nil)
    bench.wait(100)
    #expect(bench.machine.state == .disconnected)
    bench.call("back", .setReachable(true))
    #expect(bench.machine.state == .connecting)
  }

  @Test func addsJitterThatDependsOnTheSeedAlone() throws {
    func delay(seed: UInt64) throws -> Int64 {
      var bench = try ChannelBench {
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
    var bench = try ChannelBench { $0.kickWindow = .zero }
    bench.call("start", .start)
    bench.close()
    bench.wait(1)
    bench.close()
    bench.wait(2)
    bench.accept()
    #expect(bench.machine.keeper.failedAttempts == 2)
    bench.grant()
    #expect(bench.machine.keeper.failedAttempts == 0)
    bench.close()
    bench.wait(1)
    #expect(bench.machine.keeper.failedAttempts == 1)
    bench.accept()
    bench.message("/thing/status", [:])
    #expect(bench.machine.keeper.failedAttempts == 0)
  }

  @Test(arguments: [UInt8(4), 5])
  func doesNotHammerWhenItIsNotAccepted(code: UInt8) throws {
    var bench = try ChannelBench()
    bench.call("start", .start)
    bench.close(.refused(code: code))
    #expect(
      bench.take().suffix(2) == [
        "start error 4001/\(code)", "state disconnected 4001/\(code) final",
      ])
    #expect(bench.machine.deadline == nil)
    bench.call("again", .start)
    #expect(bench.take() == ["CONNECT {client}", "state connecting"])
  }

  @Test(arguments: [(UInt8(1), true), (2, true), (3, false), (99, false)])
  func takesOtherRefusalsForTheGateway(code: UInt8, isFinal: Bool) throws {
    var bench = try ChannelBench()
    bench.call("start", .start)
    bench.close(.refused(code: code))
    #expect(bench.take().last == "state disconnected 4102/\(code)" + (isFinal ? " final" : ""))
    #expect((bench.machine.deadline == nil) == isFinal)
  }

  /// What a cloud does to a connection when the same identity connects once more.
  private static let kicks: [ClientEvent.Closed] = [
    .byServer(code: nil, "closed"), .byServer(code: 0x8E, "session taken over"),
  ]

  /// SDK-channel-52.
  @Test(arguments: kicks)
  func givesUpWhenAnotherProcessKicksItOut(_ kick: ClientEvent.Closed) throws {
    var bench = try ChannelBench.connected()
    for _ in 0..<2 {
      bench.close(kick)
      bench.wait(4)
      bench.accept()
      bench.grant()
    }
    _ = bench.take()
    bench.close(kick)
    #expect(bench.take() == ["state disconnected 4102 final"])
    #expect(bench.machine.deadline == nil)
    bench.call("again", .start)
    bench.accept()
    #expect(bench.machine.state == .connected)
  }

  @Test func toleratesKicksThatAreAMinuteApart() throws {
    var bench = try ChannelBench.connected()
    for _ in 0..<10 {
      bench.close(Self.kicks[0])
      bench.wait(30)
      bench.accept()
      bench.grant()
    }
    #expect(bench.machine.state == .connected)
    #expect(bench.machine.statistics.lostConnections == 10)
  }

  /// A tunnel, a weak network, a server that goes away and says why: SDK-channel-52.
  @Test(arguments: [
    ClientEvent.Closed.lost("the connection was reset"), .byServer(code: 0x8B, "shutting down"),
    .byServer(code: 0x89, "busy"), .byServer(code: 0x8D, "keep alive timeout"),
  ])
  func triesForEverWhatIsNoKick(_ end: ClientEvent.Closed) throws {
    var bench = try ChannelBench.connected()
    for count in 1...100 {
      bench.close(end)
      #expect(bench.take() == ["state disconnected 4101"], "after \(count)")
      bench.wait(1)
      bench.accept()
      bench.grant()
      #expect(bench.take().last == "state connected", "after \(count)")
    }
    #expect(bench.now.nanoseconds(since: ScriptedClient.start) == 100_000_000_000)
    #expect(bench.machine.statistics.lostConnections == 100)
  }

  /// Only an end soon after the beginning is a kick, unless the server says that it is one.
  @Test(arguments: [
    (UInt8?.none, 59 as Double, true), (nil, 60, false), (0x8E, 59, true), (0x8E, 60, true),
  ])
  func aConnectionThatHasLastedIsNotKickedOutByItsEnd(
    code: UInt8?, age: Double, isKick: Bool
  ) throws {
    var bench = try ChannelBench.connected()
    bench.wait(age)
    for index in 0..<3 {
      bench.close(.byServer(code: index == 0 ? code : 0x8E, "end"))
      if index == 2 { break }
      bench.wait(1)
      bench.accept()
      bench.grant()
    }
    #expect(bench.take().last == "state disconnected 410\(isKick ? "2 final" : "1")")
  }

  /// Losses between kicks neither count nor take kicks back.
  @Test func lossesBetweenKicksDoNotCount() throws {
    var bench = try ChannelBench.connected()
    let ends: [ClientEvent.Closed] = [
      .lost("a"), Self.kicks[0], .lost("b"), .lost("c"), Self.kicks[1], .lost("d"), Self.kicks[0],
    ]
    for (index, end) in ends.enumerated() {
      bench.close(end)
      let isLast = index == ends.count - 1
      #expect(bench.take().last == "state disconnected 410\(isLast ? "2 final" : "1")")
      if isLast { break }
      bench.wait(1)
      bench.accept()
      bench.grant()
    }
  }

  @Test func restoresWhatWasGranted() throws {
    var bench = try ChannelBench.connected()
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

  @Test func restoresBelowThePrefixOfTheIdentityThatItHasThen() throws {
    var bench = try ChannelBench.connected { $0.replySubscription = .unlessCovered }
    bench.call("a", .subscribe(try ChannelTopic("/a")))
    bench.grant()
    bench.call("x", .subscribe(try ChannelTopic("/sys/x/y/z")))
    bench.grant()
    bench.call("bind", .bind(token: "t"))
    bench.reply("/account/bind", "#1")
    bench.close()
    _ = bench.take()
    let other = try ChannelIdentity(productKey: "a1pk", deviceName: "dev2")
    bench.call("identify", .identify(other))
    // What is bound is the other identity.
    #expect(bench.take() == ["account unbound", "identify ok"])
    bench.wait(1)
    bench.accept()
    let down = "/sys/a1pk/dev2/app/down"
    #expect(bench.take().last == "SUBSCRIBE \(down)/# \(down)/a /sys/x/y/z")
    #expect(bench.machine.grants.map(\.filter) == ["\(down)/#", "\(down)/a", "/sys/x/y/z"])
  }

  @Test func doesNotRestoreWhatWasTakenBackBeforeItWasGranted() throws {
    var bench = try ChannelBench()
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

  @Test func triesAgainWhenConnectingOrRestoringTakesTooLong() throws {
    var bench = try ChannelBench.connected()
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

  @Test func connectsAsTheConfigurationSays() throws {
    let will = Message(topic: SampleChannel.up + "/gone", payload: [1])
    var bench = try ChannelBench {
      $0.cleanStart = false
      $0.will = will
      $0.keepAlive = 300
    }
    bench.call("start", .start)
    guard case .connect(let options)? = bench.open.first?.kind else {
      Issue.record("the channel does not connect")
      return
    }
    #expect(!options.cleanStart)
    #expect(options.will == will)
    #expect(options.keepAlive == 300)
    #expect(ChannelConfiguration(appKey: "1").cleanStart)
  }

  @Test(arguments: [
    (ChannelConfiguration.Resubscription.always, true, true), (.always, false, true),
    (.unlessSessionPresent, true, false), (.unlessSessionPresent, false, true),
  ])
  func aKeptSessionMayNeedNoSubscription(
    rule: ChannelConfiguration.Resubscription, isPresent: Bool, asks: Bool
  ) throws {
    var bench = try ChannelBench.connected {
      $0.cleanStart = false
      $0.resubscription = rule
    }
    bench.close()
    bench.wait(1)
    _ = bench.take()
    bench.input(.received(.connected(.init(isSessionPresent: isPresent))))
    #expect(bench.take() == (asks ? ["SUBSCRIBE {down}/#"] : ["state connected"]))
  }
}
