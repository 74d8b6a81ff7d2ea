import RepriseCore
import Synchronization
import TestSupport
import Testing

@testable import DeviceSDK

/// The links as applications use them.
@Suite struct LinkTests {
  /// A server that accepts everything.
  static let server: ScriptedClient.Responder = { action, _ in
    switch action.kind {
    case .connect: [.connected(.init())]
    case .subscribe(let wanted): [.subscribed(action.id, wanted.map { $0.qos })]
    case .unsubscribe: [.unsubscribed(action.id)]
    case .publish(let message): [.published(action.id)] + answer(message)
    case .disconnect: [.closed(.byUser)]
    case .send, .sendText, .sendBinary: []
    }
  }

  private static func answer(_ message: Message) -> [ClientEvent] {
    let levels = message.topic.split(separator: "/")
    guard levels.dropLast().last == "up" else { return [] }
    let base = levels.dropLast(2).joined(separator: "/")
    if levels.last == "ping" {
      return [.message(Message(topic: base + "/down/pong", payload: message.payload))]
    }
    guard let request = JSONValue(parsing: message.payload), let id = request["id"] else {
      return []
    }
    var answers = [tell("reply", ["id": id, "code": 0, "expiresIn": 86_400], base)]
    if levels.last == "subscribe", let channel = request["channel"] {
      answers.append(tell("snapshot", ["channel": channel, "type": 1, "users": []], base))
    }
    return answers
  }

  static func tell(_ verb: String, _ payload: JSONValue, _ base: String) -> ClientEvent {
    .message(Message(topic: "\(base)/down/\(verb)", payload: payload.utf8))
  }

  /// The worlds of stream channels that were made, by their names.
  final class Streams: Sendable {
    let clients = Mutex<[String: ScriptedClient]>([:])

    @Sendable func make(_ channel: String) throws -> any DataClient {
      guard channel != "none" else { throw DataClientError(.unsupported, "test") }
      let client = ScriptedClient(responder: LinkTests.server)
      clients.withLock { $0[channel] = client }
      return client
    }

    func client(_ channel: String) throws -> ScriptedClient {
      try #require(clients.withLock { $0[channel] })
    }
  }

  func run<Value: Sendable>(
    _ client: ScriptedClient = ScriptedClient(responder: LinkTests.server),
    streams: Streams = Streams(), _ body: (Link, ScriptedClient, Streams) async throws -> Value
  ) async throws -> Value {
    try await withLink(
      on: client, configuration: SampleLink.configuration(), streamClient: streams.make
    ) {
      try await body($0, client, streams)
    }
  }

  // MARK: The message service

  @Test func logsInTalksAndLogsOut() async throws {
    try await run { link, client, _ in
      #expect(link.state == .idle)
      let events = link.stateEvents
      let messages = link.messages(in: "lobby")
      try await link.login(token: "t")
      try await link.subscribe("lobby")
      #expect(link.state == .connected && link.subscribedChannels == ["lobby"])
      try await link.publish("hello", in: "lobby")
      try await link.setStates(["mood": "good"], in: "lobby")
      try await link.removeStates(["mood"], in: "lobby")
      try await link.renewToken("u")
      let topic = "link/app/channel/message/lobby/message/bob"
      client.feed(.message(Message(topic: topic, payload: Array("hi".utf8))))
      var message = messages.makeAsyncIterator()
      #expect(await message.next()?.text == "hi")
      try await link.unsubscribe("lobby")
      try await link.logout()
      #expect(link.state == .idle)
      client.feed(.ended)
      let states = await events.reduce(into: []) { $0.append($1.current) }
      #expect(states == [.connecting, .connected, .idle])
    }
  }

  @Test func logsOutWhenTheScopeEnds() async throws {
    let client = ScriptedClient(responder: Self.server)
    try await run(client) { link, _, _ in try await link.login() }
    let last = client.performed.suffix(2)
    guard case .publish(let farewell) = last.first?.kind, case .disconnect = last.last?.kind else {
      Issue.record("the scope did not log out")
      return
    }
    #expect(farewell.topic == SampleLink.base + "/up/logout")
  }

  @Test func logsOutWhenTheScopeIsCancelled() async throws {
    let client = ScriptedClient(responder: Self.server)
    await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await run(client) { link, _, _ in
          try await link.login()
          for await _ in link.stateEvents {}
          try Task.checkCancellation()
        }
      }
      await client.waitForActions(3)
      await client.settle()
      group.cancelAll()
      await #expect(throws: CancellationError.self) { try await group.waitForAll() }
    }
    guard case .disconnect = client.performed.last?.kind else {
      Issue.record("the scope did not disconnect")
      return
    }
  }

  @Test func failsWithTheVendorsNumber() async throws {
    try await run { link, _, _ in
      let error = try await #require(throws: LinkError.self) { try await link.subscribe("lobby") }
      #expect(error.code == .notLogin && "\(error)" == "-10002: the user is not logged in")
    }
    let configuration = LinkConfiguration(appID: "", userID: "u")
    let error = await #expect(throws: LinkError.self) {
      try await withLink(on: ScriptedClient(), configuration: configuration) { _ in }
    }
    #expect(error?.code == .invalidAppID)
  }

  @Test func tellsPresenceAndTokens() async throws {
    try await run { link, client, _ in
      var presence = link.presenceEvents.makeAsyncIterator()
      var tokens = link.tokenEvents.makeAsyncIterator()
      try await link.login()
      try await link.subscribe("lobby", .presence)
      #expect(await presence.next()?.kind == .snapshot)
      await client.advance(by: .seconds(86_400))
      #expect(await tokens.next()?.service == .message)
      #expect(link.state == .connected)
    }
  }

  @Test func restoresAfterALoss() async throws {
    try await run { link, client, _ in
      try await link.login()
      try await link.subscribe("lobby")
      var events = link.stateEvents.makeAsyncIterator()
      client.feed(.closed(.lost("test")))
      await client.advance(by: .seconds(2))
      #expect(await events.next()?.current == .disconnected)
      #expect(await events.next()?.current == .connecting)
      let event = try #require(await events.next())
      #expect(event.current == .connected && event.isResumed && event.affected == ["lobby"])
      #expect(event.timestamp == event.time.nanoseconds / 1_000_000)
    }
  }

  @Test func throwsWhatBrokeItsWorld() async throws {
    let client = ScriptedClient { action, now in
      if case .publish(let message) = action.kind, message.topic.hasSuffix("renew") {
        throw DataClientError(.diverged, "test")
      }
      return try Self.server(action, now)
    }
    let code = Mutex<LinkErrorCode?>(nil)
    let error = await #expect(throws: DataClientError.self) {
      try await run(client) { link, _, _ in
        try await link.login()
        do {
          try await link.renewToken("u")
        } catch let error as LinkError {
          code.withLock { $0 = error.code }
        }
      }
    }
    #expect(error?.code == .diverged && code.withLock { $0 } == .initServiceFailed)
  }

  @Test(arguments: [false, true]) func leavesAWillWhereOneIsKept(isKept: Bool) async throws {
    let capabilities: Capabilities = [.messages, .push, .binary]
    let client = ScriptedClient(
      capabilities: isKept ? capabilities.union(.will) : capabilities, responder: Self.server)
    try await run(client) { link, _, _ in try await link.login() }
    guard case .connect(let options) = client.performed.first?.kind else {
      Issue.record("the first action is no CONNECT")
      return
    }
    #expect((options.will != nil) == isKept)
  }

  // MARK: Completions and delegates

  private final class Recorder: LinkDelegate {
    let heard = Mutex<[String]>([])
    var lines: [String] { heard.withLock { $0 } }

    func didReceiveLinkStateEvent(_ event: LinkStateEvent) {
      heard.withLock { $0.append("\(event.service) \(event.current)") }
    }
    func didReceivePresenceEvent(_ event: LinkPresenceEvent) {
      heard.withLock { $0.append("\(event.kind)") }
    }
    func didReceiveMessageEvent(_ message: LinkMessage) {
      heard.withLock { $0.append(message.publisher) }
    }
    func tokenPrivilegeWillExpire(_ event: LinkTokenEvent) {
      heard.withLock { $0.append("token") }
    }
  }

  private final class MainRecorder: LinkDelegate {
    let count = Mutex(0)
    func didReceiveLinkStateEvent(_ event: LinkStateEvent) {
      MainActor.assumeIsolated { count.withLock { $0 += 1 } }
    }
  }

  @Test func tellsDelegates() async throws {
    let (recorder, onMain) = (Recorder(), MainRecorder())
    weak var gone: Recorder?
    try await run { link, client, _ in
      do {
        let short = Recorder()
        gone = short
        link.addDelegate(short)
      }
      link.addDelegate(recorder, uiSafety: false)
      link.addDelegate(onMain)
      try await link.login()
      try await link.subscribe("lobby")
      let topic = "link/app/channel/message/lobby/message/bob"
      client.feed(.message(Message(topic: topic, payload: [])))
      await client.advance(by: .seconds(86_380))
      link.removeDelegate(recorder)
    }
    #expect(gone == nil)
    #expect(
      recorder.lines == ["message connecting", "message connected", "snapshot", "bob", "token"])
    #expect(onMain.count.withLock { $0 } == 3)
  }

  private final class TopicRecorder: LinkDelegate {
    let heard = Mutex<[String]>([])
    func didReceiveTopicEvent(_ event: LinkTopicEvent) {
      heard.withLock { $0.append("\(event.kind) of \(event.channel)") }
    }
    func didReceiveMessageEvent(_ message: LinkMessage) {
      heard.withLock { $0.append("\(message.channel) \(message.topic ?? "-")") }
    }
  }

  @Test func tellsDelegatesOfTopics() async throws {
    let recorder = TopicRecorder()
    let heard = Mutex<[String]>([])
    @Sendable func note(_ response: LinkResponse?, _ error: LinkErrorInfo?) {
      heard.withLock {
        $0.append(
          response?.operation ?? error.map { "\($0.operation) \($0.errorCode.rawValue)" } ?? "-")
      }
    }
    try await run { link, _, streams in
      let room = try link.streamChannel("room")
      link.addDelegate(recorder, uiSafety: false)
      room.joinTopic("chat", completion: note)
      try await link.login()
      try await room.join()
      room.joinTopic("chat", completion: note)
      let client = try streams.client("room")
      await client.settle()
      room.publishTopicMessage("chat", message: [1], completion: note)
      room.subscribeTopic("chat", users: ["bob"], completion: note)
      await client.settle()
      let topic = "link/app/channel/stream/room/topic/chat/bob"
      client.feed(.message(Message(topic: topic, payload: [])))
      let payload: JSONValue = ["event": "snapshot", "topics": []]
      let base = "link/app/stream/alice/s1/room"
      client.feed(.message(Message(topic: base + "/down/topics", payload: payload.utf8)))
      await client.settle()
      room.unsubscribeTopic("chat", completion: note)
      room.leaveTopic("chat", completion: note)
      room.leaveTopic("chat", completion: note)
      await client.settle()
    }
    #expect(recorder.heard.withLock { $0 } == ["room chat", "snapshot of room"])
    #expect(
      heard.withLock { $0.sorted() } == [
        "joinTopic", "joinTopic -11001", "leaveTopic", "leaveTopic -11016", "publishTopicMessage",
        "subscribeTopic", "unsubscribeTopic",
      ])
  }

  @Test func completesEachCallOnce() async throws {
    let heard = Mutex<[String]>([])
    @Sendable func note(_ response: LinkResponse?, _ error: LinkErrorInfo?) {
      heard.withLock {
        $0.append(
          response?.operation ?? error.map { "\($0.operation) \($0.errorCode.rawValue)" } ?? "-")
      }
    }
    try await run { link, client, streams in
      let room = try link.streamChannel("room")
      room.joinWithOption(LinkJoinOption(), completion: note)
      room.leave(completion: note)
      link.renewToken("u", completion: note)
      link.loginByToken("t", completion: note)
      await client.settle()
      link.subscribeWithChannel("lobby", completion: note)
      link.renewToken("u", completion: note)
      room.joinWithOption(LinkJoinOption(token: "r"), completion: note)
      await client.settle()
      try await streams.client("room").settle()
      link.unsubscribeWithChannel("lobby", completion: note)
      await withCheckedContinuation { done in
        room.leave { response, error in
          note(response, error)
          done.resume()
        }
      }
      link.logout(completion: note)
      await client.settle()
    }
    #expect(
      heard.withLock { $0.sorted() } == [
        "join", "join -10002", "leave", "leave -11001", "login", "logout", "renewToken",
        "renewToken -10002", "subscribe", "unsubscribe",
      ])
  }
}
