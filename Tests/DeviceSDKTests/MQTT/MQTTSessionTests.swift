import RepriseCore
import TestSupport
import Testing

@testable import DeviceSDK

/// An ordinary MQTT session as an application has it, in a world whose server the test plays.
@Suite struct MQTTSessionTests {
  private static let configuration = MQTTConfiguration(clientID: "c")

  /// A server that takes everything, and sends each message back to its sender.
  private static func server(
    _ capabilities: Capabilities = [.messages, .push, .binary, .retain, .properties, .exactlyOnce]
  ) -> ScriptedClient {
    ScriptedClient(capabilities: capabilities) { action, _ in
      switch action.kind {
      case .connect: [.connected(.init())]
      case .subscribe(let subscriptions):
        [.subscribed(action.id, subscriptions.map { $0.filter == "secret" ? nil : $0.qos })]
      case .unsubscribe: [.unsubscribed(action.id)]
      case .publish(let message): [.message(message), .published(action.id)]
      case .disconnect: [.closed(.byUser)]
      case .send, .sendText, .sendBinary: []
      }
    }
  }

  private static func kinds(_ client: ScriptedClient) -> [String] {
    client.performed.map { action in
      switch action.kind {
      case .connect: "connect"
      case .subscribe(let all): "subscribe " + all.map(\.filter).joined(separator: " ")
      case .unsubscribe(let filters): "unsubscribe " + filters.joined(separator: " ")
      case .publish(let message): "publish \(message.topic)"
      case .disconnect: "disconnect"
      case .send, .sendText, .sendBinary: "other"
      }
    }
  }

  @Test func anAppOfItsOwnTopics() async throws {
    let client = Self.server()
    try await withSession(on: client, configuration: Self.configuration) { mqtt in
      #expect(mqtt.state == .connected(isSessionPresent: false))
      try await mqtt.withSubscription(to: "home/+/door") { doors in
        try await mqtt.publish("home/kitchen/door", "open", qos: .exactlyOnce, retain: true)
        try await mqtt.publish("home/kitchen/lamp", json: ["level": 0.5])
        try await mqtt.publish("home/hall/door", [], qos: .atMostOnce)
        var seen: [Message] = []
        for try await message in doors {
          seen.append(message)
          if seen.count == 2 { break }
        }
        #expect(
          seen == [
            Message(
              topic: "home/kitchen/door", payload: Array("open".utf8), qos: .exactlyOnce,
              isRetained: true),
            Message(topic: "home/hall/door", payload: []),
          ])
        // The subscription is the scope's: another loop goes on.
        try await mqtt.publish("home/hall/door", "shut")
        for try await message in doors {
          #expect(message.text == "shut")
          break
        }
      }
    }
    #expect(
      Self.kinds(client) == [
        "connect", "subscribe home/+/door", "publish home/kitchen/door",
        "publish home/kitchen/lamp",
        "publish home/hall/door", "publish home/hall/door", "unsubscribe home/+/door", "disconnect",
      ])
    let lamp = client.performed.compactMap { action -> String? in
      guard case .publish(let message) = action.kind, message.topic.hasSuffix("lamp") else {
        return nil
      }
      return message.text
    }
    #expect(lamp == [#"{"level":0.5}"#])
  }

  @Test func aLoopSubscribesAndWhoLeavesItTakesItBack() async throws {
    let client = Self.server()
    try await withSession(on: client, configuration: Self.configuration) { mqtt in
      let messages = mqtt.messages(matching: "$share/group/a/#", qos: .atMostOnce)
      #expect(client.performed.count == 1)
      async let first: Message? = {
        for try await message in messages { return message }
        return nil
      }()
      await client.waitForActions(2)
      client.feed(.message(Message(topic: "b", payload: [1])))
      client.feed(.message(Message(topic: "a/b", payload: [2])))
      let payload = try await first?.payload
      #expect(payload == [2])
      await client.waitForActions(3)
    }
    #expect(
      Self.kinds(client) == [
        "connect", "subscribe $share/group/a/#", "unsubscribe $share/group/a/#", "disconnect",
      ])
  }

  @Test(arguments: [
    ("secret", MQTTError.Kind.refused), ("a/#/b", .invalid), ("a+", .invalid), ("", .invalid),
  ])
  func aFilterThatIsNoneIsToldByTheLoop(_ filter: String, _ kind: MQTTError.Kind) async throws {
    try await withSession(on: Self.server(), configuration: Self.configuration) { mqtt in
      let error = await #expect(throws: MQTTError.self) {
        for try await _ in mqtt.messages(matching: filter) {}
      }
      #expect(error?.kind == kind)
      await #expect(throws: MQTTError.self) {
        try await mqtt.withSubscription(to: filter) { _ in }
      }
    }
  }

  @Test(arguments: ["", "a/#", "a/+", "a\u{0}", String(repeating: "a", count: 65_536)])
  func whatIsNoTopicIsNotSent(_ topic: String) async throws {
    let client = Self.server()
    try await withSession(on: client, configuration: Self.configuration) { mqtt in
      let error = await #expect(throws: MQTTError.self) { try await mqtt.publish(topic, "") }
      #expect(error?.kind == .invalid)
      let other = await #expect(throws: MQTTError.self) { try await mqtt.request(topic, "") }
      #expect(other?.kind == .invalid)
    }
    #expect(Self.kinds(client) == ["connect", "disconnect"])
  }

  @Test func anAnswerComesToWhoAsked() async throws {
    let client = Self.server()
    try await withSession(on: client, configuration: Self.configuration) { mqtt in
      // The server sends the request back; who serves it answers.
      try await mqtt.withSubscription(to: "service") { requests in
        async let answer = mqtt.request("service", "question")
        for try await request in requests {
          #expect(request.properties.responseTopic == "c/response")
          try await mqtt.respond(to: request, json: ["on": [true, 0.5]])
          break
        }
        let reply = try await answer
        #expect(reply.text == #"{"on":[true,0.5]}"# && reply.json == ["on": [true, 0.5]])
        #expect(Message(topic: "t", payload: Array("{".utf8)).json == nil)
        let error = await #expect(throws: MQTTError.self) {
          try await mqtt.respond(to: Message(topic: "t", payload: []), [])
        }
        #expect(error?.kind == .invalid)
      }
    }
  }

  @Test func aFolderAnswersRequests() async throws {
    let topics = #"""
      {"publish": [
        {"topic": "lamp/get",
         "answers": [{"topic": "{{responseTopic}}", "payload": {"on": true}, "after": 0.5},
                     {"topic": "c/{{payload.q}}", "payload": "beside"}]},
        {"topic": "dead", "answers": []}]}
      """#
    let folder = try LocalFileClient(files: ["topics.json": Array(topics.utf8)])
    try await withSession(on: folder, configuration: Self.configuration) { mqtt in
      try await mqtt.withSubscription(to: "c/#") { messages in
        let reply = try await mqtt.request("lamp/get", #"{"q": "x"}"#)
        #expect(reply.topic == "c/response" && reply.json == ["on": true])
        for try await message in messages {
          // No answer to the request, so it has nothing of its correlation data.
          #expect(message.topic == "c/x" && message.properties.isEmpty)
          break
        }
      }
      let error = await #expect(throws: MQTTError.self) {
        try await mqtt.request("dead", "?", timeout: .seconds(2))
      }
      #expect(
        error
          == MQTTError(
            .timedOut,
            #"nobody answered the request on "dead" within 2.0 seconds; see that its responder is "#
              + "there and subscribed"))
      let unasked = await #expect(throws: MQTTError.self) {
        try await mqtt.publish("lamp/get", #"{"q": "x"}"#)
      }
      #expect(unasked?.message.contains("needs {{responseTopic}}") == true)
    }
  }

  @Test func aWrongConfigurationIsTold() async throws {
    var configuration = MQTTConfiguration()
    configuration.cleanStart = false
    let wrong = configuration
    let error = await #expect(throws: MQTTError.self) {
      try await withSession(on: Self.server(), configuration: wrong) { _ in }
    }
    #expect(error?.kind == .invalid)
  }

  @Test func aRefusedConnectionIsTold() async throws {
    let client = ScriptedClient { action, _ in
      if case .connect = action.kind { [.closed(.refused(code: 5))] } else { [] }
    }
    let error = await #expect(throws: MQTTError.self) {
      try await withSession(on: client, configuration: Self.configuration) { _ in
        Issue.record("there is no connection")
      }
    }
    #expect(error?.kind == .refused && error?.reasonCode == 5)
  }

  @Test func whoIsSlowHoldsUpTheServer() async throws {
    let client = Self.server()
    try await withSession(on: client, configuration: Self.configuration) { mqtt in
      try await mqtt.withSubscription(to: "#", limit: 10) { messages in
        client.feed((0..<100).map { .message(Message(topic: "t", payload: [$0])) })
        // The tenth message is the last that is read while nobody takes any.
        while client.unread > 90 { await Task.yield() }
        for _ in 0..<1_000 { await Task.yield() }
        #expect(client.unread == 90)
        // An answer that is behind them is read all the same.
        try await mqtt.publish("t", [100])
        #expect(client.unread == 0)
        var payloads: [UInt8] = []
        for try await message in messages {
          payloads += message.payload
          if payloads.count == 101 { break }
        }
        #expect(payloads == Array(0...100))
      }
      #expect(mqtt.droppedMessages == 0)
    }
  }

  @Test func aFloodThatNobodyReadsIsBounded() async throws {
    let client = Self.server()
    try await withSession(on: client, configuration: Self.configuration) { mqtt in
      try await mqtt.withSubscription(to: "#", limit: 1) { messages in
        client.feed((0..<100).map { .message(Message(topic: "t", payload: [$0])) })
        try await mqtt.publish("t", [100])
        #expect(mqtt.droppedMessages == 101 - 16)
        for try await message in messages {
          #expect(message.payload == [85])
          break
        }
      }
    }
  }

  @Test func aLoopEndsWithTheSessionOrWithItsReason() async throws {
    let client = Self.server()
    var configuration = Self.configuration
    configuration.reconnect = nil
    try await withSession(on: client, configuration: configuration) { mqtt in
      async let error: MQTTError? = {
        do throws(MQTTError) {
          for try await _ in mqtt.messages(matching: "t") {}
          return nil
        } catch { return error }
      }()
      await client.waitForActions(2)
      await client.settle()
      client.feed(.closed(.lost("cut")))
      let kind = await error?.kind
      #expect(kind == .notConnected)
    }
    let other = Self.server()
    let task = try await withSession(on: other, configuration: Self.configuration) { mqtt in
      let task = Task { for try await _ in mqtt.messages(matching: "t") {} }
      await other.waitForActions(2)
      return task
    }
    try await task.value
  }

  @Test func changesOfTheConnectionAreTold() async throws {
    let client = Self.server()
    try await withSession(on: client, configuration: Self.configuration) { mqtt in
      let changes = mqtt.stateChanges
      client.feed(.closed(.lost("cut")))
      _ = await client.waitForDeadline()
      await client.advance(by: .seconds(2))
      var states: [MQTTStateChange.State] = []
      for await change in changes {
        states.append(change.state)
        if states.count == 3 { break }
      }
      #expect(states == [.disconnected, .connecting, .connected(isSessionPresent: false)])
    }
  }
}
