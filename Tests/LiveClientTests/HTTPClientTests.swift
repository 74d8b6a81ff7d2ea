import Foundation
import Glibc
import LiveHTTP
import RepriseCore
import Testing

/// Requests over HTTP, against a server of the test's own.
@Suite struct HTTPClientTests {
  /// Answers by the path: the status in it, and the request itself as the body.
  private static func serve(_ socket: Socket) {
    let (line, body) = socket.readHTTPRequest()
    let status = line.contains("/missing") ? "404 Not Found" : "200 OK"
    let answer = [UInt8]("\(line)|".utf8) + body + [0xff]
    socket.writeHTTPAnswer(answer, status: status, isHead: line.hasPrefix("HEAD"))
  }

  private func ask(_ client: HTTPClient, _ request: RequestMessage) async throws -> ResponseMessage
  {
    let id = ClientAction.ID(rawValue: 1)
    try await client.perform(ClientAction(id, .send(request)))
    let deadline = Timestamp(nanoseconds: client.now.nanoseconds + 600_000_000_000)
    guard case .response(id, let answer) = try await client.next(before: deadline) else {
      throw Child.Failure(description: "no response")
    }
    return answer
  }

  @Test(
    arguments: [
      (
        "GET", "suggestion/", ["k": "a b&c", "é": "+"], 200,
        "GET /v1/suggestion/?k=a%20b%26c&%C3%A9=%2B HTTP/1.1|"
      ),
      ("get", "/a", [:], 200, "GET /v1/a HTTP/1.1|"),
      ("HEAD", "a", ["x": "1"], 200, ""),
      (
        "POST", "a ü", ["b": "/", "a": "1"], 200,
        "POST /v1/a%20%C3%BC HTTP/1.1|{\"a\":\"1\",\"b\":\"/\"}"
      ),
      (
        "PATCH", "a", ["n": 1.5, "o": ["l": [1, true]]], 200,
        "PATCH /v1/a HTTP/1.1|{\"n\":1.5,\"o\":{\"l\":[1,true]}}"
      ),
      (
        "GET", "a", ["n": 1.5, "o": ["l": 1]], 200, "GET /v1/a?n=1.5&o=%7B%22l%22%3A1%7D HTTP/1.1|"
      ),
      ("PUT", "a", [:], 200, "PUT /v1/a HTTP/1.1|{}"),
      ("DELETE", "missing", ["x": "1"], 404, "DELETE /v1/missing HTTP/1.1|{\"x\":\"1\"}"),
      ("TRACE", "a", ["x": "1"], 200, "TRACE /v1/a?x=1 HTTP/1.1|"),
    ] as [(String, String, [String: JSONValue], Int, String)])
  func asks(
    _ method: String, _ path: String, _ parameters: [String: JSONValue], _ status: Int,
    _ echo: String
  ) async throws {
    let server = try ScriptedServer(Self.serve)
    let client = try HTTPClient(url: "http://127.0.0.1:\(server.port)/v1/")
    let answer = try await ask(
      client, RequestMessage(path: path, method: method, parameters: parameters))
    #expect(answer.status == status)
    #expect(answer.body == (method == "HEAD" ? [] : [UInt8](echo.utf8) + [0xff]))
  }

  @Test func tellsThatNobodyListens() async throws {
    let port = try Socket.freePort()
    #expect(try await cause(HTTPClient(url: "http://127.0.0.1:\(port)")) == .unreachable)
  }

  @Test func tellsThatANameDoesNotResolve() async throws {
    #expect(try await cause(HTTPClient(url: "http://no-such-host.invalid")) == .nameNotResolved)
  }

  @Test func tellsThatNoAnswerComesInTime() async throws {
    let silent = try ScriptedServer { socket in _ = socket.read(100_000) }
    let client = try HTTPClient(url: "http://127.0.0.1:\(silent.port)", timeout: 1)
    #expect(try await cause(client) == .timedOut)
  }

  @Test(arguments: [0.001, 0.5, .infinity, 1e300]) func waitsLongEnough(_ timeout: Double)
    async throws
  {
    let server = try ScriptedServer(Self.serve)
    let client = try HTTPClient(url: "http://127.0.0.1:\(server.port)", timeout: timeout)
    // On a busy machine a second may pass, but none may be over before it has begun.
    let start = client.now
    let id = ClientAction.ID(rawValue: 1)
    try await client.perform(ClientAction(id, .send(RequestMessage(path: "a", method: "GET"))))
    switch try await client.next(before: nil) {
    case .response(id, let answer): #expect(answer.status == 200)
    case .failed(id, .unanswered(.timedOut, _)):
      #expect(client.now >= start.advanced(by: .milliseconds(900)))
    case let other: Issue.record("\(other)")
    }
  }

  @Test(arguments: [0, -1, .nan, -.infinity] as [Double]) func refusesToWaitForNothing(
    _ timeout: Double
  ) {
    let error = #expect(throws: DataClientError.self) {
      try HTTPClient(url: "http://127.0.0.1", timeout: timeout)
    }
    #expect(error?.code == .invalidAction)
  }

  @Test(arguments: ["what?\r\n\r\n", "", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"])
  func tellsAnswersThatAreNone(_ answer: String) async throws {
    let rude = try ScriptedServer { socket in socket.write([UInt8](answer.utf8)) }
    #expect(try await cause(HTTPClient(url: "http://127.0.0.1:\(rude.port)")) != nil)
  }

  @Test(arguments: [true, false])
  func tellsThatAnAnswerIsTooLong(saysHowLong: Bool) async throws {
    // It never ends by itself: the client has to leave. More than a piece too much would only take the time
    // of other tests.
    let endless = try ScriptedServer { socket in
      let length = saysHowLong ? "Content-Length: 1000000000000\r\n" : ""
      socket.write([UInt8]("HTTP/1.1 200 OK\r\n\(length)\r\n".utf8))
      socket.write([UInt8](repeating: 0x61, count: (16 << 20) + (1 << 16)))
      _ = socket.read(1 << 20)
    }
    let client = try HTTPClient(url: "http://127.0.0.1:\(endless.port)")
    let id = ClientAction.ID(rawValue: 1)
    try await client.perform(ClientAction(id, .send(RequestMessage(path: "a", method: "GET"))))
    #expect(
      try await client.next(before: client.now.advanced(by: .seconds(600)))
        == .failed(id, .unanswered(.malformed, "its body is longer than 16777216 bytes")))
  }

  /// What a server may demand of its users; a request is answered by the refusal all the same.
  @Test(
    .timeLimit(.minutes(5)),
    arguments: [
      "WWW-Authenticate: Basic realm=\"x\"\r\n", "WWW-Authenticate: Bearer\r\n",
      "WWW-Authenticate: Digest realm=\"x\", nonce=\"y\"\r\n", "",
    ])
  func tellsThatAUserNameIsWanted(_ demand: String) async throws {
    let server = try ScriptedServer { socket in
      _ = socket.readHTTPRequest()
      socket.write(
        Array("HTTP/1.1 401 Unauthorized\r\n\(demand)Content-Length: 0\r\n\r\n".utf8))
    }
    for user in ["", "ann:wrong@"] {
      let client = try HTTPClient(url: "http://\(user)127.0.0.1:\(server.port)")
      for _ in 0..<2 {
        let answer = try await ask(client, RequestMessage(path: "a", method: "GET"))
        #expect(answer == ResponseMessage(status: 401, body: []))
      }
    }
  }

  @Test func goesWhereItIsSent() async throws {
    let server = try ScriptedServer { socket in
      let (line, _) = socket.readHTTPRequest()
      guard line.contains("/old") else { return socket.writeHTTPAnswer(Array("new".utf8)) }
      socket.write(
        Array("HTTP/1.1 302 Found\r\nLocation: /new\r\nContent-Length: 3\r\n\r\nold".utf8))
    }
    let client = try HTTPClient(url: "http://127.0.0.1:\(server.port)")
    let answer = try await ask(client, RequestMessage(path: "old", method: "GET"))
    #expect(answer == ResponseMessage(body: Array("new".utf8)))
  }

  @Test func requestsThrowWhatFailed() async throws {
    let client = try HTTPClient(url: "http://127.0.0.1:\(Socket.freePort())")
    let error = await #expect(throws: DataClientError.self) { try await client.send(Place()) }
    #expect(error?.code == .transport)
    #expect(error?.message.contains("; start it, or correct host and port") == true)
  }

  private struct Place: Request {
    typealias Response = [String: String]
    let path = "place"
  }

  /// Why a request failed; nil when it was answered.
  private func cause(_ client: HTTPClient) async throws -> ActionFailure.Cause? {
    let id = ClientAction.ID(rawValue: 1)
    let request = RequestMessage(path: "a", method: "GET")
    for _ in 0..<3 { try await client.perform(ClientAction(id, .send(request))) }
    var cause: ActionFailure.Cause?
    for _ in 0..<3 {
      let deadline = Timestamp(nanoseconds: client.now.nanoseconds + 600_000_000_000)
      guard
        case .failed(id, .unanswered(let why, let text)) = try await client.next(before: deadline)
      else { return nil }
      #expect(!text.isEmpty)
      cause = why
    }
    return cause
  }

  @Test func takesRequestsOnly() async throws {
    let client = try HTTPClient(url: "http://127.0.0.1:1")
    #expect(client.capabilities == [.requests, .binary])
    for kind: ClientAction.Kind in [
      .connect(ConnectOptions()), .disconnect, .subscribe([Subscription("a")]),
      .publish(Message(topic: "a", payload: [])),
    ] {
      let error = await #expect(throws: DataClientError.self) {
        try await client.perform(ClientAction(ClientAction.ID(rawValue: 1), kind))
      }
      #expect(error?.code == .unsupported)
    }
    let error = await #expect(throws: DataClientError.self) {
      let request = RequestMessage(path: "a", method: "GET / HTTP/1.1\r\nX: y")
      try await client.perform(ClientAction(ClientAction.ID(rawValue: 1), .send(request)))
    }
    #expect(error?.code == .invalidAction)
  }

  @Test func refusesTooManyRequests() async throws {
    let server = try ScriptedServer(Self.serve)
    let client = try HTTPClient(url: "http://127.0.0.1:\(server.port)")
    let request = RequestMessage(path: "a", method: "GET")
    for number in 0..<UInt32(HTTPClient.maximumOpenRequests) {
      try await client.perform(ClientAction(ClientAction.ID(rawValue: number), .send(request)))
    }
    let error = await #expect(throws: DataClientError.self) {
      try await client.perform(ClientAction(ClientAction.ID(rawValue: 999), .send(request)))
    }
    #expect(error?.code == .transport)
    var answered: Set<UInt32> = []
    while answered.count < HTTPClient.maximumOpenRequests {
      guard case .response(let id, let answer) = try await client.next(before: nil) else { break }
      #expect(answer.status == 200)
      answered.insert(id.rawValue)
    }
    #expect(answered.count == HTTPClient.maximumOpenRequests)
  }

  /// What failed is not open any more.
  @Test func countsFailedRequestsAsClosed() async throws {
    let client = try HTTPClient(url: "http://127.0.0.1:\(Socket.freePort())")
    let request = RequestMessage(path: "a", method: "GET")
    for number in 0...UInt32(HTTPClient.maximumOpenRequests) {
      let id = ClientAction.ID(rawValue: number)
      try await client.perform(ClientAction(id, .send(request)))
      guard case .failed(id, _) = try await client.next(before: nil) else {
        Issue.record("not failed")
        return
      }
    }
  }

  @Test(arguments: ["", "host", "ftp://host", "http://", "http://h?q=1", "http://h#a"])
  func refusesURLs(_ url: String) {
    #expect(throws: DataClientError.self) { try HTTPClient(url: url) }
  }
}
