import RepriseCore
import TestSupport
import Testing

@testable import DeviceSDK

/// What is the application's to choose of requests: keys, format, parser; and the numbers that it sees.
@Suite struct RequestFormatTests {
  private static let ownKeys: JSONRequestFormat = {
    var format = JSONRequestFormat()
    format.idKey = "n"
    format.serviceKey = "path"
    format.methodKey = "verb"
    format.productKey = "app"
    format.contentKey = "body"
    format.errorKey = "fault"
    format.errorCodeKey = "no"
    format.errorMessageKey = "why"
    format.heartbeatService = "ping"
    format.writesContentAsText = false
    return format
  }()

  @Test func speaksWithKeysOfTheApplication() throws {
    var bench = try RequestBench.open {
      $0.format = Self.ownKeys
      $0.heartbeatInterval = .seconds(5)
    }
    bench.request("a", ["x": [1, "y"]])
    bench.wait(5)
    bench.receive(.text(#"{"n":2,"path":"s/a","body":{"ok":true}}"#))
    bench.request("b")
    bench.receive(.text(#"{"n":4,"path":"s/b","fault":{"no":9,"why":"full"}}"#))
    bench.receive(.text(#"{"uniqueId":4,"service":"s/b","content":{}}"#))
    #expect(
      bench.take() == [
        #"{"body":{"x":[1,"y"]},"verb":"POST","app":"app","path":"s/a","n":2}"#,
        #"{"verb":"POST","app":"app_iOS","path":"ping","n":3}"#, #"a = {"ok":true}"#,
        #"{"body":{},"verb":"POST","app":"app","path":"s/b","n":4}"#, "b failed -1/9",
        #"push {"uniqueId":4,"service":"s/b","content":{}}"#,
      ])
  }

  /// Lines in place of JSON: `3 s/a {"x":1}`, answered by `3 s/a words`.
  private struct Lines: RequestFormat {
    func text(of request: RequestContent, id: Int) -> String {
      "\(id) \(request.service) \(request.parameters)"
    }
    func heartbeat(product: String, id: Int) -> String { "\(id) alive" }
    func read(_ text: String) -> ServerText {
      let parts = text.split(separator: " ", maxSplits: 2)
      guard parts.count == 3, let id = Int(parts[0]) else { return .push(nil) }
      let body = Array(parts[2].utf8)
      return .answer(
        id: id, .success(RequestAnswer(service: "\(parts[1])", content: .null, body: body)))
    }
    func read(
      _ response: ResponseMessage, of service: String
    ) -> Result<RequestAnswer, RequestError> {
      .failure(RequestError(.invalidResponse, "there is no HTTP here"))
    }
  }

  @Test func speaksWithoutJSON() throws {
    var bench = try RequestBench.open { $0.format = Lines() }
    bench.request("a", ["x": 1], parser: .text)
    bench.request("b")
    bench.receive(.text("1 s/a all well"))
    bench.receive(.text("2 s/b all well"))
    bench.receive(.text("hello"))
    #expect(
      bench.take() == [
        #"1 s/a {"x":1}"#, "2 s/b {}", #"a = "all well""#, "b failed -14", "push text hello",
      ])
  }

  // MARK: Parsers

  /// Comma-separated values, as a parser of an application might read them.
  private static let table = RequestParser { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.contains(",") else { throw RequestError(.invalidResponse, "no comma") }
    return .array(text.split(separator: ",").map { .string(String($0)) })
  }

  @Test(
    arguments: [
      (.json, #"{"a":1}"#, #"a = {"a":1}"#), (.json, "[1]", "a = [1]"),
      (.json, "x,y", "a failed -14"), (.json, "7", "a failed -14"), (.json, "", "a failed -14"),
      (.text, "x,y", #"a = "x,y""#), (.text, "", #"a = """#),
      (table, "x,y", #"a = ["x","y"]"#), (table, "xy", "a failed -14"),
    ] as [(RequestParser, String, String)])
  func aTargetChoosesItsParser(_ parser: RequestParser, _ came: String, _ line: String) throws {
    var frames = try RequestBench.open()
    frames.request("a", parser: parser)
    let answer: JSONValue = ["uniqueId": 1, "service": "s/a", "content": .string(came)]
    frames.receive(.text("\(answer)"))
    var http = try RequestBench.open([.requests])
    http.request("a", parser: parser)
    http.respond(1, came)
    #expect(frames.take().last == line && http.take().last == line)
  }

  @Test func whatIsNoUTF8IsNoText() throws {
    var bench = try RequestBench.open([.requests])
    bench.request("a", parser: .text)
    bench.receive(.response(ClientAction.ID(rawValue: 1), ResponseMessage(body: [0xFF])))
    #expect(bench.take().last == "a failed -14")
  }

  // MARK: Numbers

  @Test func answersAndErrorsKnowTheirNumber() throws {
    var bench = try RequestBench.open()
    var results: [Result<RequestAnswer, RequestError>] = []
    func note(_ outputs: [RequestStateMachine.Output]) {
      for case .complete(_, let result) in outputs {
        results.append(
          result.map {
            if case .answer(let answer) = $0 { answer } else { .init(service: "", content: .null) }
          })
      }
    }
    func ask(_ call: UInt64) {
      let target = SampleAPI.bare
      note(
        bench.machine.handle(
          .called(
            CallID(rawValue: call),
            .request(OutgoingRequest(target, bench.machine.configuration, ticket: call))),
          now: bench.now))
    }
    for call in 101...103 { ask(UInt64(call)) }
    #expect(bench.machine.number(ofTicket: 102) == 2 && bench.machine.number(ofTicket: 9) == nil)
    for text in [
      #"{"uniqueId":2,"service":"bare","content":{}}"#,
      #"{"uniqueId":1,"service":"bare","error":{"code":2}}"#,
    ] { note(bench.machine.handle(.received(.text(text)), now: bench.now)) }
    bench.now = bench.now.advanced(by: .seconds(9))
    note(bench.machine.handle(.received(.deadline), now: bench.now))
    #expect(bench.machine.number(ofTicket: 102) == nil, "it is completed")
    #expect(try results.first?.get().id == 2)
    let errors = results.compactMap { result -> RequestError? in
      if case .failure(let error) = result { error } else { nil }
    }
    #expect(errors.map(\.id) == [1, 3] && errors.map(\.kind) == [.server, .timedOut])
    #expect(errors.last?.description == "-11: no answer came in time (request 3)")
  }

  @Test(arguments: [(false, [1, 1]), (true, [1, 2])])
  func countsOnOverConnectionsIfItIsWanted(_ countsOn: Bool, _ ids: [Int]) throws {
    var bench = try RequestBench.open { $0.countsOnAfterReconnecting = countsOn }
    bench.request("a", resendCount: 1)
    bench.receive(.closed(.lost("test")))
    bench.wait(3)
    bench.receive(.connected(.init()))
    // The answer on the first connection comes after its end: it is the request's own only where numbers go on.
    bench.answer(2)
    let lines = bench.take()
    #expect(lines.filter { $0.hasPrefix("s/a") } == ids.map { "s/a \($0)" })
    #expect(lines.contains(#"a = {"ok":1}"#) == countsOn)
  }

  @Test func aTokenTellsItsNumber() async throws {
    let client = ScriptedClient(capabilities: [.frames]) { action, _ in
      switch action.kind {
      case .connect: [.connected(.init())]
      case .disconnect: [.closed(.byUser)]
      default: []
      }
    }
    var configuration = RequestConfiguration()
    configuration.heartbeatInterval = nil
    try await withRequests(on: client, configuration: configuration) { connection in
      try await connection.open()
      let provider = RequestProvider<SampleAPI>(connection)
      let error = await withCheckedContinuation { continuation in
        let first = provider.request(.bare) { _ in }
        let second = provider.request(.bare) { result in
          if case .failure(let error) = result { continuation.resume(returning: error) }
        }
        #expect(first.id == 1 && second.id == 2)
        second.cancel()
        second.cancel()
      }
      #expect(error.kind == .cancelled && error.id == 2)
    }
  }

  // MARK: Over a provider

  @Test func aCallMayMakeAnythingOfAnAnswer() async throws {
    let provider = RequestProvider<SampleAPI>(answeringFromSamples: [])
    let count = try await provider.answer(to: .analyze(question: "?")) { $0.body.count }
    #expect(count == SampleAPI.analyze(question: "?").sampleData?.count)
    await #expect(throws: CancellationError.self) {
      try await provider.answer(to: .analyze(question: "?")) { _ in throw CancellationError() }
    }
  }
}
