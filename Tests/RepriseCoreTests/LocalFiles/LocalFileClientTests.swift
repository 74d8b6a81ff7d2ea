import RepriseCore
import Testing

@Suite struct LocalFileClientTests {
  private static func client(_ topics: String) throws(DataClientError) -> LocalFileClient {
    try LocalFileClient(files: ["topics.json": Array(topics.utf8)])
  }

  private static func connected(_ topics: String) async throws -> Actor {
    var user = Actor(try client(topics))
    try await user.connect()
    #expect(try await user.next() == .connected(.init()))
    return user
  }

  private static let bind = #"""
    {"publish": [{"topic": "/sys/+/+/app/up/account/bind",
      "answers": [{"topic": "/sys/{{topic.3}}/{{topic.4}}/app/down/account/bind_reply",
                   "payload": {"id": "{{id}}", "code": 200, "data": {"n": "{{payload.params.n}}",
                               "text": "n={{payload.params.n}}, {{topic.7}}"}},
                   "qos": 1, "after": 0.25}]}]}
    """#

  @Test func answersAreMadeFromWhatWasAsked() async throws {
    var user = try await Self.connected(Self.bind)
    let start = user.client.now
    let subscription = try await user.subscribe("/sys/pk/dn/app/down/#")
    #expect(try await user.next() == .subscribed(subscription, [.atLeastOnce]))
    // Of two equal keys the last counts, as for the application.
    for (id, shown) in [("\"7\"", "\"7\""), ("8", "8"), ("1,\"id\":9", "9")] {
      let action = try await user.publish(
        "/sys/pk/dn/app/up/account/bind", #"{"id":\#(id),"params":{"n":{"x":[1]}}}"#,
        qos: .atLeastOnce)
      #expect(try await user.next() == .published(action))
      let payload =
        #"{"id":\#(shown),"code":200,"data":{"n":{"x":[1]},"text":"n={\"x\":[1]}, account"}}"#
      #expect(
        try await user.next()
          == .message(
            Message("/sys/pk/dn/app/down/account/bind_reply", payload, qos: .atLeastOnce)))
    }
    #expect(user.client.now == start.advanced(by: .milliseconds(750)))
  }

  @Test func answersComeToSubscribersOnly() async throws {
    var user = try await Self.connected(Self.bind)
    let action = try await user.publish(
      "/sys/pk/dn/app/up/account/bind", #"{"id":1,"params":{"n":1}}"#)
    #expect(try await user.next() == .published(action))
    let deadline = user.client.now.advanced(by: .seconds(10))
    #expect(try await user.client.next(before: deadline) == .deadline)
    #expect(user.client.now == deadline)
  }

  @Test func missingValuesAndTopicsAreTold() async throws {
    var user = try await Self.connected(Self.bind)
    let lacking = await #expect(throws: DataClientError.self) {
      try await user.publish("/sys/pk/dn/app/up/account/bind", #"{"id":1}"#)
    }
    #expect(lacking?.code == .noAnswer)
    #expect(lacking?.message.contains("{{payload.params.n}}") == true)
    let unknown = await #expect(throws: DataClientError.self) { try await user.publish("t") }
    #expect(unknown?.code == .noAnswer)
    #expect(unknown?.message.contains(#"{"topic":"t","answers":[]}"#) == true)
  }

  @Test func subscriptionsCanBeRefusedAndFed() async throws {
    var user = try await Self.connected(
      #"""
      {"subscribe": [{"filter": "secret/#", "refuse": true},
        {"filter": "state/+", "qos": 0, "messages": [
          {"topic": "state/a", "base64": "/w==", "retain": true, "after": 1},
          {"topic": "state/b", "payload": "plain"}]}]}
      """#)
    let id = try await user.subscribe("secret/#", "state/+", "free")
    #expect(try await user.next() == .subscribed(id, [nil, .atMostOnce, .atLeastOnce]))
    #expect(try await user.next() == .message(Message("state/b", "plain")))
    #expect(
      try await user.next()
        == .message(Message(topic: "state/a", payload: [0xFF], isRetained: true)))
    let end = try await user.do(.unsubscribe(["state/+"]))
    #expect(try await user.next() == .unsubscribed(end))
    try await user.do(.disconnect)
    #expect(try await user.next() == .closed(.byUser))
  }

  @Test func connectionsCanBeRefused() async throws {
    var user = Actor(try Self.client(#"{"connect": {"refuse": 5}}"#))
    for _ in 0..<2 {
      try await user.connect()
      #expect(try await user.next() == .closed(.refused(code: 5)))
    }
    let error = await #expect(throws: DataClientError.self) { try await user.publish("t") }
    #expect(error?.code == .notConnected)
  }

  @Test(
    arguments: [
      .publish(Message("a/#", "")), .publish(Message("+", "")), .publish(Message("", "")),
      .publish(Message("a\u{0}", "")), .publish(Message(String(repeating: "a", count: 65_536), "")),
      .subscribe([]), .unsubscribe([]), .subscribe([Subscription("a/#/b")]),
      .subscribe([Subscription("a"), Subscription("")]), .unsubscribe(["a+"]),
    ] as [ClientAction.Kind])
  func refusesWhatABrokerWould(_ kind: ClientAction.Kind) async throws {
    var user = try await Self.connected(##"{"publish": [{"topic": "#", "answers": []}]}"##)
    let error = await #expect(throws: DataClientError.self) { try await user.do(kind) }
    #expect(error?.code == .invalidAction)
    let deadline = user.client.now.advanced(by: .seconds(1))
    #expect(try await user.client.next(before: deadline) == .deadline)
  }

  @Test(arguments: ["get", "GET", "Get"]) func methodsAreAnsweredInAnyCase(_ method: String)
    async throws
  {
    let requests = #"{"requests": [{"path": "a", "method": "get", "status": 204}]}"#
    let client = try LocalFileClient(files: ["requests.json": Array(requests.utf8)])
    var user = Actor(client)
    let id = try await user.do(.send(RequestMessage(path: "a", method: method)))
    #expect(try await user.next() == .response(id, ResponseMessage(status: 204, body: [])))
  }

  @Test func waitsForActionsAndWakes() async throws {
    let client = try Self.client("{}")
    async let first = client.next(before: nil)
    client.wake()
    #expect(try await first == .woken)
    await withThrowingTaskGroup(of: ClientEvent.self) { group in
      group.addTask { try await client.next(before: nil) }
      group.cancelAll()
      await #expect(throws: CancellationError.self) { try await group.next() }
    }
    async let second = client.next(before: nil)
    var user = Actor(client)
    try await user.connect()
    #expect(try await second == .connected(.init()))
  }

  @Test(arguments: [
    (["topics.json": "{"], "topics.json: a key in quotes should stand here (line 1, column 2)"),
    (["topics.json": "[]"], "topics.json: the file is an array, not an object"),
    (
      ["topics.json": #"{"publsh":[]}"#],
      "topics.json: publsh is no key here; did you mean \"publish\"?"
    ),
    (
      ["topics.json": #"{"publish":[{"topic":"a"}]}"#],
      "topics.json: publish[0].answers is missing; [] says that nothing is answered"
    ),
    (
      ["topics.json": #"{"publish":[{"topic":"a/#/b","answers":[]}]}"#],
      "topics.json: publish[0].topic is no topic filter of MQTT"
    ),
    (
      ["topics.json": #"{"publish":[{"topic":"a","answers":[{"topic":"b","after":-1}]}]}"#],
      "topics.json: publish[0].answers[0].after is no number of seconds that is 0 or more"
    ),
    (
      ["topics.json": #"{"publish":[{"topic":"a","answers":[{"topic":"b/{{idd}}"}]}]}"#],
      "publish[0].answers[0].payload or topic has {{idd}}"
    ),
    (
      ["topics.json": #"{"publish":[{"topic":"a","answers":[{"topic":"b/{{topic.x}}"}]}]}"#],
      "publish[0].answers[0].payload or topic has {{topic.x}}"
    ),
    (
      [
        "topics.json":
          #"{"publish":[{"topic":"a","answers":[{"topic":"b","payload":"{{id.a}}"}]}]}"#
      ],
      "publish[0].answers[0].payload or topic has {{id.a}}"
    ),
    (
      ["topics.json": #"{"publish":[],"subscribe":[],"publish":[]}"#],
      "topics.json: publish stands here twice; keep one"
    ),
    (
      ["topics.json": #"{"subscribe":[{"filter":"a","qos":3}]}"#],
      "topics.json: subscribe[0].qos is no whole number in 0...2"
    ),
    (
      ["topics.json": #"{"connect":{"refuse":"no"}}"#],
      "topics.json: connect.refuse is no whole number in 1...255"
    ),
    (
      ["a.json": "{}", "a/response.json": "{}"],
      "a/response.json: answers requests of the path \"a\""
    ),
    (["a.json": "{}\n{"], "a.json: text behind the value (line 2, column 1)"),
    (
      ["requests.json": #"{"requests":[{"path":"a","file":"b.json"}]}"#],
      "requests.json: requests[0].file names no .json file here"
    ),
  ])
  func namesFileAndKeyOfAMistake(_ files: [String: String], _ message: String) {
    let error = #expect(throws: DataClientError.self) {
      try LocalFileClient(files: files.mapValues { Array($0.utf8) })
    }
    #expect(error?.code == .unreadable)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test func missingFolderIsTold() {
    let error = #expect(throws: DataClientError.self) {
      try LocalFileClient(folder: "/nowhere/at/all")
    }
    #expect(error?.message.hasPrefix("/nowhere/at/all: no such folder") == true)
  }
}
