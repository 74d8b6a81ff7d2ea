import DeviceSDK
import LiveClient
import RepriseCore
import Testing
import Wire

/// The simulated server of requests on a real WebSocket, with the SDK's own provider.
@Suite struct RequestServerTests {
  @Test(arguments: [true, false]) func answers(deflates: Bool) async throws {
    let script = #"{"answers":[{"service":"x/*","content":{"ok":[1,"ä"]}}]}"#
    let options = WebSocketServerOptions(acceptsDeflate: deflates)
    try await withRequestServer(script, options) { server in
      let provider = try RequestProvider<Question>(server.url)
      #expect(try await provider.outcome("any") == #"{"a":1}"#)
      #expect(try await provider.outcome("x/y") == #"{"ok":[1,"ä"]}"#)
      try await provider.close()
    }
  }

  /// Faults, and what a request comes to; in each case the connection goes on, or is opened again.
  @Test(arguments: [
    ("duplicate", #"{"a":1}"#), ("object-content", #"{"a":1}"#), ("no-service", "invalidResponse"),
    ("no-content", "invalidResponse"), ("close", "serverConnection"),
    ("drop", "serverConnection"),
  ])
  func misbehaves(fault: String, outcome: String) async throws {
    let script = #"{"answers":[{"service":"x","request":1,"faults":["\#(fault)"]}]}"#
    try await withRequestServer(script) { server in
      let provider = try RequestProvider<Question>(server.url)
      #expect(try await provider.outcome("x") == outcome)
      // Requests are counted on all connections, so that the second one is answered on a new one too.
      #expect(try await provider.outcome("x") == #"{"a":1}"#)
      try await provider.close()
    }
  }

  /// Faults that leave a request without an answer, and what comes instead.
  @Test(arguments: [
    ("no-answer", nil), ("unknown-id", "json"), ("text-id", "json"), ("no-id", "json"),
    ("malformed", "text"), ("binary", "binary"),
  ])
  func leavesARequestUnanswered(fault: String, instead: String?) async throws {
    let script = #"{"answers":[{"service":"x","faults":["\#(fault)"]}]}"#
    try await withRequestServer(script) { server in
      let provider = try RequestProvider<Question>(server.url)
      #expect(try await provider.outcome("y") == #"{"a":1}"#)
      let messages = try #require(provider.connection).serverMessages()
      #expect(try await provider.outcome("x", timeout: .milliseconds(50)) == "timedOut")
      if let instead {
        for try await message in messages.prefix(1) { #expect("\(message)".hasPrefix(instead)) }
      }
      try await provider.close()
    }
  }

  @Test func tellsErrors() async throws {
    let script = #"{"answers":[{"error":{"code":2,"desc":"busy"}}]}"#
    try await withRequestServer(script) { server in
      let provider = try RequestProvider<Question>(server.url)
      let error = await #expect(throws: RequestError.self) {
        try await provider.answer(to: Question(service: "x"))
      }
      #expect(error?.serverCode == 2 && error?.kind == .server)
      try await provider.close()
    }
  }

  @Test func pushesOnEachConnection() async throws {
    let script = #"""
      {"pushes":[{"json":{"service":"news"},"after":0.001,"every":0.001,"times":3},
                 {"bytes":[1,2],"on":"x"}]}
      """#
    try await withRequestServer(script) { server in
      for _ in 0..<2 {
        let client = try WebSocketClient(url: server.url)
        #expect(try await client.after(.connect(ConnectOptions())) == .connected(.init()))
        for _ in 0..<3 { #expect(try await client.event() == .text(#"{"service":"news"}"#)) }
        let request = #"{"service":"x","uniqueId":2}"#
        guard case .text = try await client.after(.sendText(request)) else {
          Issue.record("no answer")
          return
        }
        #expect(try await client.event() == .binary([1, 2]))
        #expect(try await client.after(.disconnect) == .closed(.byUser))
      }
    }
  }

  @Test func eachConnectionLogsIn() async throws {
    try await withRequestServer(#"{"login":"login"}"#) { server in
      let first = try RequestProvider<Question>(server.url)
      #expect(try await first.outcome("login") == #"{"a":1}"#)
      let second = try RequestProvider<Question>(server.url)
      #expect(try await second.outcome("x") == "server")
      #expect(try await first.outcome("x") == #"{"a":1}"#)
      try await first.close()
      try await second.close()
    }
  }

  @Test func servesManyAtOnce() async throws {
    let script = #"{"answers":[{"service":"late","after":0.001}]}"#
    try await withRequestServer(script) { server in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<20 {
          group.addTask {
            let provider = try RequestProvider<Question>(server.url)
            for turn in 0..<20 {
              let service = turn.isMultiple(of: 2) ? "late" : "soon"
              let asked: JSONValue = ["n": .number("\(number)"), "t": .number("\(turn)")]
              let answer = try await provider.answer(
                to: Question(service: service, parameters: asked))
              #expect(answer.content == asked)
            }
            try await provider.close()
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test func aClientThatGoesAwayHarmsNoOther() async throws {
    try await withRequestServer(#"{"answers":[{"after":0.001}]}"#) { server in
      let provider = try RequestProvider<Question>(server.url)
      for _ in 0..<5 {
        // Gone before the answer, without a Close frame.
        let gone = try await RawClient(server.port)
        gone.send(FrameRow.frame(.text, Array(#"{"service":"x","uniqueId":2}"#.utf8)))
        _ = consume gone
        #expect(try await provider.outcome("x") == #"{"a":1}"#)
      }
      try await provider.close()
    }
  }

  /// A client of the library `websockets` asks, and is treated as the script says.
  @Test(arguments: ["deflate", ""]) func servesAnotherLibrary(compression: String) async throws {
    let script = #"""
      {"answers":[{"service":"twice","faults":["duplicate"]},{"service":"broken","faults":["malformed"]},
                  {"service":"bytes","faults":["binary"]},{"service":"drop","faults":["drop"]},
                  {"service":"close","faults":["close"]},{"service":"object","faults":["object-content"]}],
       "pushes":[{"text":"hello","on":"push","after":0.001}],"answersHeartbeats":true}
      """#
    try await withRequestServer(script) { server in
      let result = try await PythonClient.run("requests:\(compression)", server.url)
      #expect(result == #"{"close": 1000, "drop": 1006}"#)
    }
  }
}
