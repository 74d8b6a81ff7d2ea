import RepriseCore
import Testing

@testable import DeviceSDK

@Suite struct RequestMachineTests {
  // MARK: Requests

  @Test func answersByTheirIDsInAnyOrder() throws {
    var bench = try RequestBench.open()
    bench.request("a")
    bench.request("b")
    bench.answer(2, ["b": 1])
    bench.answer(1, ["a": 1])
    #expect(bench.take() == ["s/a 1", "s/b 2", #"b = {"b":1}"#, #"a = {"a":1}"#])
  }

  @Test func failsAtOnceWithoutAConnection() throws {
    var bench = try RequestBench()
    bench.request("a")
    bench.call("net", .setReachable(false))
    bench.request("b")
    #expect(bench.take() == ["a failed -13", "net done", "b failed -12"])
  }

  @Test func givesUpARequestAfterItsTimeAndCountsTheLateAnswer() throws {
    var bench = try RequestBench.open()
    bench.request("a", timeout: .seconds(2))
    bench.request("b")
    bench.wait(2)
    bench.answer(1)
    bench.wait(13)
    #expect(bench.take() == ["s/a 1", "s/b 2", "a failed -11", "b failed -11"])
    #expect(bench.machine.statistics.lateAnswers == 1)
    #expect(bench.machine.deadline == nil)
  }

  @Test func completesOnceWhateverComesLater() throws {
    var bench = try RequestBench.open()
    bench.request("a")
    bench.answer(1)
    bench.answer(1)
    bench.takeBack("a")
    bench.cancel("a")
    bench.wait(60)
    #expect(bench.take() == ["s/a 1", #"a = {"ok":1}"#, "taking back done"])
    #expect(bench.machine.statistics.duplicateAnswers == 1)
  }

  @Test func takesARequestBackOnce() throws {
    var bench = try RequestBench.open()
    bench.request("a")
    bench.takeBack("a")
    bench.takeBack("a")
    bench.answer(1)
    #expect(
      bench.take() == ["s/a 1", "a failed -15", "taking back done", "taking back done"])
    #expect(bench.machine.statistics.lateAnswers == 1)
  }

  @Test func forgetsARequestWhoseCallerIsGone() throws {
    var bench = try RequestBench.open()
    bench.request("a")
    bench.cancel("a")
    #expect(bench.take() == ["s/a 1"] && bench.machine.deadline == nil)
  }

  @Test func failsARequestThatWasNotHandedOver() throws {
    var bench = try RequestBench.open()
    bench.request("a")
    bench.refuseLast(.notConnected)
    bench.request("b")
    bench.refuseLast(.invalidAction)
    #expect(bench.take() == ["s/a 1", "a failed -13", "s/b 2", "b failed -3"])
  }

  @Test(arguments: [
    (#"{"uniqueId":1,"service":"s","content":"{\"a\":[1]}"}"#, #"a = {"a":[1]}"#),
    (#"{"uniqueId":1,"service":"s","content":{"a":1}}"#, #"a = {"a":1}"#),
    (#"{"uniqueId":1,"service":"s","content":"[1]"}"#, "a = [1]"),
    (#"{"uniqueId":1,"service":"s","content":"no"}"#, "a failed -14"),
    (#"{"uniqueId":1,"service":"s","content":"7"}"#, "a failed -14"),
    (#"{"uniqueId":1,"service":"s"}"#, "a failed -14"),
    (#"{"uniqueId":1,"service":7,"content":"{}"}"#, "a failed -14"),
    (#"{"uniqueId":1,"service":"s","error":{"code":2},"content":"{}"}"#, "a failed -1/2"),
    (#"{"uniqueId":1,"service":"s","error":{"code":4}}"#, "a failed -1/4"),
    (#"{"uniqueId":1,"service":"s","error":null,"content":"{}"}"#, "a = {}"),
    (
      #"{"uniqueId":"1","service":"s","content":"{}"}"#,
      #"push {"uniqueId":"1","service":"s","content":"{}"}"#
    ),
    (#"{"uniqueId":9,"content":"{}"}"#, #"push {"uniqueId":9,"content":"{}"}"#),
    (#"[1]"#, "push text [1]"), ("hello", "push text hello"), ("", "push text "),
  ])
  func readsAnswers(text: String, line: String) throws {
    var bench = try RequestBench.open()
    bench.request("a")
    _ = bench.take()
    bench.receive(.text(text))
    #expect(bench.take() == [line])
  }

  @Test func handsOverWhatTheServerSaysOnItsOwn() throws {
    var bench = try RequestBench.open()
    bench.receive(.binary([1, 2, 3]))
    bench.receive(.text(#"{"service":"news"}"#))
    #expect(bench.take() == ["push 3 bytes", #"push {"service":"news"}"#])
    #expect(bench.machine.statistics.pushes == 2)
  }

  // MARK: Queueing and sending again

  @Test func waitsForTheTryThatIsUnderWay() throws {
    var bench = try RequestBench()
    bench.call("open", .open)
    bench.request("a")
    bench.receive(.connected(.init()))
    bench.receive(.closed(.lost("test")))
    bench.request("b")
    bench.wait(3)
    bench.request("c")
    bench.receive(.closed(.lost("test")))
    #expect(
      bench.take() == [
        "CONNECT", "state connecting", "state open", "open done", "s/a 1", "a failed -13",
        "state waiting", "b failed -13", "CONNECT", "state connecting", "c failed -13",
        "state waiting",
      ])
  }

  @Test func queuesAsManyAsItIsTold() throws {
    var bench = try RequestBench { $0.whileConnecting = .queue(limit: 2) }
    bench.call("open", .open)
    bench.receive(.closed(.lost("test")))
    for name in ["a", "b", "c"] { bench.request(name) }
    _ = bench.take()
    bench.wait(3)
    bench.receive(.connected(.init()))
    #expect(
      bench.take() == [
        "CONNECT", "state connecting", "state open", "open done", "s/a 1", "s/b 2",
      ])
  }

  @Test func sendsAgainAsOftenAsItIsTold() throws {
    var bench = try RequestBench.open {
      $0.whileConnecting = .queue(limit: 9)
      $0.resendCount = 1
    }
    bench.request("a")
    bench.receive(.closed(.lost("test")))
    bench.wait(3)
    bench.receive(.connected(.init()))
    bench.receive(.closed(.lost("test")))
    #expect(
      bench.take() == [
        "s/a 1", "state waiting", "CONNECT", "state connecting", "state open", "s/a 1",
        "a failed -13", "state waiting",
      ])
    #expect(bench.machine.statistics.resent == 1)
  }

  @Test func sendsAgainAsOftenAsTheRequestSays() throws {
    var bench = try RequestBench.open { $0.resendCount = 1 }
    bench.request("a", resendCount: 0)
    bench.request("b", resendCount: 2)
    bench.request("c")
    bench.request("d", resendCount: -1)
    for _ in 0..<3 {
      bench.receive(.closed(.lost("test")))
      bench.wait(3)
      bench.receive(.connected(.init()))
    }
    #expect(
      bench.take().filter { !$0.contains("state") && $0 != "CONNECT" } == [
        "s/a 1", "s/b 2", "s/c 3", "d failed -3", "a failed -13", "s/b 1", "s/c 2",
        "c failed -13", "s/b 1", "b failed -13",
      ])
    #expect(bench.machine.statistics.resent == 3)
  }

  // MARK: Logging in

  @Test func logsInOnceForAllThatWait() throws {
    var bench = try RequestBench.open(canLogIn: true)
    bench.request("a")
    bench.request("b")
    bench.refuse(1, code: 4)
    bench.refuse(2, code: 4)
    bench.request("login", isLogin: true)
    bench.answer(3)
    bench.call("finish", .finishLogin(nil))
    bench.refuse(4, code: 4)
    bench.answer(5)
    #expect(
      bench.take() == [
        "s/a 1", "s/b 2", "login", "s/login 3", #"login = {"ok":1}"#, "s/a 4", "s/b 5",
        "finish done", "a failed -1/4", #"b = {"ok":1}"#,
      ])
  }

  @Test func logsInAgainOnTheNextConnection() throws {
    var bench = try RequestBench.open(canLogIn: true) { $0.resendCount = 1 }
    bench.request("a", timeout: .seconds(60))
    bench.refuse(1, code: 4)
    bench.call("finish", .finishLogin(nil))
    bench.receive(.closed(.lost("test")))
    bench.wait(3)
    bench.receive(.connected(.init()))
    bench.refuse(1, code: 4)
    bench.call("finish", .finishLogin(nil))
    bench.refuse(2, code: 4)
    #expect(
      bench.take() == [
        "s/a 1", "login", "s/a 2", "finish done", "state waiting", "CONNECT", "state connecting",
        "state open", "s/a 1", "login", "s/a 2", "finish done", "a failed -1/4",
      ])
  }

  @Test func logsInAgainWhenTheConnectionOfTheLoginIsGone() throws {
    var bench = try RequestBench.open(canLogIn: true)
    bench.request("a", timeout: .seconds(60))
    bench.refuse(1, code: 4)
    bench.receive(.closed(.lost("test")))
    bench.call("finish", .finishLogin(nil))
    bench.wait(3)
    bench.receive(.connected(.init()))
    bench.refuse(1, code: 4)
    bench.call("finish", .finishLogin(nil))
    bench.answer(2)
    #expect(
      bench.take() == [
        "s/a 1", "login", "state waiting", "finish done", "CONNECT", "state connecting",
        "state open", "s/a 1", "login", "s/a 2", "finish done", #"a = {"ok":1}"#,
      ])
  }

  @Test func failsWhatWaitsForALoginThatFails() throws {
    var bench = try RequestBench.open(canLogIn: true)
    bench.request("a")
    bench.refuse(1, code: 4)
    bench.request("login", isLogin: true)
    bench.refuse(2, code: 4)
    bench.call("finish", .finishLogin(RequestError(.server, "no", serverCode: 4)))
    #expect(
      bench.take() == [
        "s/a 1", "login", "s/login 2", "login failed -1/4", "a failed -1/4", "finish done",
      ])
  }
}
