import RepriseCore
import Testing

@testable import DeviceSDK

@Suite struct AccountTests {
  private func bench() throws -> ChannelBench {
    try ChannelBench.connected { $0.replySubscription = .unlessCovered }
  }

  @Test func bindsAndUnbinds() throws {
    var bench = try bench()
    bench.call("bind", .bind(token: "t"))
    bench.call("second", .bind(token: "t"))
    bench.reply("/account/bind", "#1")
    #expect(
      bench.take().filter { !$0.hasPrefix("PUBLISH") } == [
        "account binding", "second error 4201", "account bound", "bind ok -",
      ])
    bench.call("unbind", .unbind)
    bench.reply("/account/unbind", "#2")
    #expect(
      bench.take().filter { !$0.hasPrefix("PUBLISH") } == [
        "account unbinding", "account unbound", "unbind ok -",
      ])
  }

  @Test func staysBoundWhenTheConnectionIsLost() throws {
    var bench = try bench()
    bench.call("bind", .bind(token: "t"))
    bench.reply("/account/bind", "#1")
    bench.close()
    #expect(bench.machine.account == .bound)
  }

  @Test func isAsBeforeWhenBindingWasNotAnswered() throws {
    var bench = try bench()
    bench.call("bind", .bind(token: "t"))
    bench.wait(10)
    #expect(bench.take().suffix(2) == ["account unbound", "bind error 4101"])
    bench.call("bind", .bind(token: "t"))
    bench.reply("/account/bind", "#2")
    bench.call("unbind", .unbind)
    bench.close()
    #expect(bench.machine.account == .bound)
  }

  @Test(arguments: [2043, 2401])
  func needsALoginAfterThreeRefusedTokens(code: Int) throws {
    var bench = try bench()
    for attempt in 1...3 {
      bench.call("bind", .bind(token: "t\(attempt)"))
      bench.reply("/account/bind", "#\(attempt)", code: .number(String(code)))
      #expect(bench.take().last == "bind error 4001/\(code)")
    }
    #expect(bench.machine.account == .needsLogin)
    bench.call("bind", .bind(token: "t4"))
    try bench.invoke("raw", "/account/bind")
    #expect(bench.take() == ["bind error 4001", "raw error 4001"])
    bench.call("login", .noteLogin)
    #expect(bench.take() == ["account unbound", "login ok"])
    bench.call("bind", .bind(token: "t5"))
    bench.reply("/account/bind", "#4")
    #expect(bench.machine.account == .bound && bench.machine.refusedTokens == 0)
  }

  @Test func triesAgainWhenTheLockIsHeld() throws {
    var bench = try bench()
    bench.call("bind", .bind(token: "t"))
    bench.reply("/account/bind", "#1", code: 2152)
    bench.wait(1)
    bench.reply("/account/bind", "#2", code: 2152)
    bench.wait(2)
    bench.reply("/account/bind", "#3", code: 2152)
    let lines = bench.take()
    #expect(lines.count { $0.hasPrefix("PUBLISH") } == 3)
    #expect(lines.suffix(2) == ["account unbound", "bind error 4103/2152"])
    #expect(bench.machine.deadline == nil)
  }

  @Test func waitsAMinuteWhenThereWereTooManyRequests() throws {
    var bench = try bench()
    bench.call("bind", .bind(token: "t"))
    bench.reply("/account/bind", "#1", code: 429)
    _ = bench.take()
    bench.wait(59)
    #expect(bench.take().isEmpty)
    bench.wait(1)
    #expect(bench.take().count == 1)
    bench.reply("/account/bind", "#2", code: 429)
    bench.close()
    #expect(bench.take().first == "account unbound")
    #expect(bench.machine.calls.isEmpty)
  }

  @Test func hearsOfBindingByAnyRequest() throws {
    var bench = try bench()
    try bench.invoke("raw", "account//bind", params: ["iotToken": "t"])
    bench.reply("/account/bind", "#1", code: 2043)
    #expect(bench.take().suffix(2) == ["account unbound", "raw error 4103/2043"])
  }

  @Test func isBusyFromTheCallOn() throws {
    var bench = try ChannelBench.connected()
    bench.call("bind", .bind(token: "t"))
    bench.call("second", .bind(token: "u"))
    bench.call("unbind", .unbind)
    #expect(
      bench.take() == [
        "SUBSCRIBE {down}/account/bind_reply", "second error 4201", "unbind error 4201",
      ])
    bench.cancel("bind")
    bench.call("third", .bind(token: "t"))
    #expect(bench.take() == ["SUBSCRIBE {down}/account/bind_reply"])
  }

  @Test func needsALoginAlsoAfterUnbinding() throws {
    var bench = try bench()
    for attempt in 1...3 {
      bench.call("bind", .bind(token: "t"))
      bench.reply("/account/bind", "#\(attempt)", code: 2043)
    }
    _ = bench.take()
    bench.call("unbind", .unbind)
    bench.reply("/account/unbind", "#4")
    #expect(
      bench.take().filter { !$0.hasPrefix("PUBLISH") } == [
        "account unbinding", "account needsLogin", "unbind ok -",
      ])
    bench.call("bind", .bind(token: "t"))
    #expect(bench.take() == ["bind error 4001"])
  }

  @Test func refusesAnEmptyToken() throws {
    var bench = try bench()
    bench.call("bind", .bind(token: ""))
    #expect(bench.take() == ["bind error 4201"])
  }
}
