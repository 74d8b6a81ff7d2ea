import RepriseCore
import Testing

@testable import DeviceSDK

/// Requests over a transport that answers them itself, such as HTTP.
@Suite struct RequestTransportTests {
  @Test func asksAServerThatAnswersRequests() throws {
    var bench = try RequestBench([.requests], canLogIn: false)
    bench.call("open", .open)
    bench.request("a", ["text": "x", "list": [1, "y"]])
    bench.receive(
      .response(ClientAction.ID(rawValue: 1), ResponseMessage(body: Array("{}".utf8))))
    bench.request("b")
    bench.receive(
      .response(ClientAction.ID(rawValue: 2), ResponseMessage(status: 404, body: [])))
    bench.request("c")
    bench.receive(.response(ClientAction.ID(rawValue: 3), ResponseMessage(body: [])))
    bench.call("close", .close)
    #expect(
      bench.take() == [
        "state open", "open done", #"POST s/a ["list=[1,\"y\"]", "text=x"]"#, "a = {}",
        "POST s/b []", "b failed -1/404", "POST s/c []", "c failed -14", "state idle",
        "close done",
      ])
  }

  @Test func takesTheErrorInTheBodyOfAnAnswerForOne() throws {
    var bench = try RequestBench.open([.requests], canLogIn: true)
    bench.request("a")
    bench.respond(1, #"{"error":{"code":4,"desc":"login first"},"content":{}}"#)
    bench.call("finish", .finishLogin(nil))
    bench.respond(2, #"{"error":{"code":4}}"#)
    bench.request("b")
    bench.respond(3, #"{"error":{"code":2,"desc":"busy"}}"#)
    bench.request("c")
    bench.respond(4, #"{"error":null,"mood":"well"}"#)
    #expect(
      bench.take() == [
        "POST s/a []", "login", "POST s/a []", "finish done", "a failed -1/4", "POST s/b []",
        "b failed -1/2", "POST s/c []", #"c = {"error":null,"mood":"well"}"#,
      ])
  }

  @Test(
    arguments: [Capabilities.frames, .requests],
    [[1], "text", 7, .bool(true), .null] as [JSONValue])
  func sendsNoParametersThatAreNoObject(_ transport: Capabilities, _ value: JSONValue) throws {
    var bench = try RequestBench.open(transport)
    bench.request("a", value)
    #expect(bench.take() == ["a failed -3"])
    #expect(bench.machine.pending.isEmpty && bench.machine.deadline == nil)
  }

  @Test(arguments: [
    (ActionFailure.unanswered(.timedOut, "x"), -11), (.unanswered(.malformed, "x"), -14),
    (.unanswered(.noNetwork, "x"), -12), (.unanswered(.unreachable, "x"), -13),
    (.unanswered(.lost, "x"), -13),
    (.refused(code: 0x97, reason: nil), -1),
  ])
  func failsARequestThatGetsNoAnswer(_ failure: ActionFailure, _ code: Int) throws {
    var bench = try RequestBench.open([.requests])
    bench.request("a")
    bench.request("b")
    _ = bench.take()
    bench.receive(.failed(ClientAction.ID(rawValue: 1), failure))
    bench.receive(.failed(ClientAction.ID(rawValue: 1), failure))
    bench.receive(.failed(ClientAction.ID(rawValue: 99), failure))
    #expect(bench.take() == ["a failed \(code)"])
    #expect(bench.machine.pending.count == 1)
  }

  @Test func refusesAClientThatCarriesNothing() {
    #expect(throws: RequestError.self) { try RequestBench([.messages]) }
  }
}
