import RepriseCore
import Testing
import Wire

/// Sessions of WebSocket as a world.
@Suite struct FrameReplayTests {
  @Test(arguments: Array(0..<40) as [UInt64])
  func replayGivesTheSameEvents(_ seed: UInt64) async throws {
    let recorder = try RecordingClient(
      RandomServer(seed: seed, losses: Int(seed % 4), .frames), to: MemorySink(),
      url: "ws://test/api")
    let live = try await RandomUser.run(recorder, seed: seed, inFrames: true)
    try recorder.finish()
    #expect(live.count > 15)
    let events = try recorder.sink.events()
    let options = ReplayOptions(match: .strict, actors: .readerOnly)
    let replay = try ReplayClient(events, options: options)
    #expect(replay.capabilities == [.frames, .push, .binary])
    #expect(try await RandomUser.run(replay, seed: seed, inFrames: true) == live)
    try replay.finish()

    // A replay that is recorded again gives the same recording.
    let again = try RecordingClient(
      ReplayClient(events, options: options), to: MemorySink(), url: "ws://test/api")
    #expect(try await RandomUser.run(again, seed: seed, inFrames: true) == live)
    try again.finish()
    let lines = recorder.sink.text.split(separator: "\n").dropFirst().dropLast()
    let others = again.sink.text.split(separator: "\n").dropFirst().dropLast()
    #expect(lines.elementsEqual(others))
  }

  private func user(_ session: FrameSession, _ options: ReplayOptions = ReplayOptions()) throws
    -> Actor
  {
    Actor(try ReplayClient(session.events, options: options))
  }

  @Test func fragmentsAndCompressedMessagesAreWhole() async throws {
    var session = FrameSession()
    session.open(0)
    session.frame(1, .client, .text, "Hel", isFinal: false)
    session.frame(1.1, .client, .ping, "p")
    session.frame(1.2, .client, .continuation, "lo")
    session.frame(2, .server, .pong, "p")
    session.frame(3, .server, .binary, "\u{1}", isFinal: false, inflatingTo: [7, 8])
    session.frame(3.5, .server, .continuation, "\u{2}", inflatingTo: [9])
    session.close(4, by: .client, code: 1000)
    var user = try user(session)
    try await user.do(.connect(ConnectOptions(clientID: "any", keepAlive: 9)))
    #expect(try await user.client.next(before: nil) == .connected(.init()))
    try await user.do(.sendText("Hello"))
    #expect(try await user.client.next(before: nil) == .binary([7, 8, 9]))
    #expect(user.client.now == SessionBuilder.time(3.5))
    try await user.do(.disconnect)
    #expect(try await user.client.next(before: nil) == .closed(.byUser))
    #expect(try await user.client.next(before: nil) == .ended)
  }

  @Test func idsAreMappedByTheirRole() async throws {
    var session = FrameSession()
    session.open(0)
    session.frame(
      1, .client, .text, #"{"uniqueId":17,"service":"s","content":"{\"a\":1,\"b\":2}"}"#)
    session.frame(2, .server, .text, #"{"uniqueId":17,"service":"s","content":{"x":17}}"#)
    var user = try user(session)
    try await user.do(.connect(ConnectOptions()))
    _ = try await user.client.next(before: nil)
    try await user.do(.sendText(#"{"content":"{ \"b\":2,\"a\":1 }","service":"s","uniqueId":3}"#))
    #expect(
      try await user.client.next(before: nil)
        == .text(#"{"uniqueId":3,"service":"s","content":{"x":17}}"#))
  }

  @Test func divergenceSaysWhatDiffers() async throws {
    var session = FrameSession()
    session.open(0)
    session.frame(1, .client, .text, #"{"uniqueId":1,"service":"a","content":"{\"n\":1}"}"#)
    var user = try user(session)
    try await user.do(.connect(ConnectOptions()))
    _ = try await user.client.next(before: nil)
    let error = await #expect(throws: DataClientError.self) {
      try await user.do(.sendText(#"{"uniqueId":9,"service":"b","content":"{\"n\":2}"}"#))
    }
    #expect(error?.code == .diverged)
    let divergence = (user.client as? ReplayClient)?.divergence
    #expect(divergence?.kind == .otherAction && divergence?.place?.frame == 4)
    #expect(
      divergence?.differences == [
        ReplayDifference(place: "text.service", expected: #""a""#, actual: #""b""#),
        ReplayDifference(place: "text.content.n", expected: "1", actual: "2"),
      ])
    #expect(divergence?.actual?.hasPrefix("TEXT") == true)
  }

  @Test func textIsNoBinary() async throws {
    var session = FrameSession()
    session.open(0)
    session.frame(1, .client, .text, "x")
    var user = try user(session)
    try await user.do(.connect(ConnectOptions()))
    _ = try await user.client.next(before: nil)
    let error = await #expect(throws: DataClientError.self) {
      try await user.do(.sendBinary([0x78]))
    }
    #expect(error?.message.contains("expected TEXT, actual BINARY") == true)
  }

  @Test func whatIsNotHandedOutIsLeftOver() async throws {
    var session = FrameSession()
    session.open(0)
    session.frame(1, .server, .ping, "")
    session.frame(2, .server, .text, "unread")
    session.close(3, by: .server, code: 1001)
    var user = try user(session)
    try await user.do(.connect(ConnectOptions()))
    _ = try await user.client.next(before: nil)
    let replay = try #require(user.client as? ReplayClient)
    #expect(replay.leftOvers.first?.place.frame == 5)
    let error = #expect(throws: DataClientError.self) { try replay.finish() }
    #expect(error?.message.contains("unread") == true)
  }

  @Test func serverMessagesWaitForWhatBroughtThemAbout() async throws {
    var session = FrameSession()
    session.open(0)
    session.frame(1, .client, .text, "ask")
    session.frame(2, .server, .text, "answer")
    var user = try user(session, ReplayOptions(actors: .readerOnly))
    try await user.do(.connect(ConnectOptions()))
    _ = try await user.client.next(before: nil)
    let error = await #expect(throws: DataClientError.self) {
      try await user.client.next(before: nil)
    }
    #expect(error?.message.contains("that nobody performs") == true)
  }

  @Test func serverThatClosesSaysWhy() async throws {
    var session = FrameSession()
    session.open(0)
    session.close(1, by: .server, code: 1001, saying: "going away")
    session.connection = 2
    session.open(5)
    var user = try user(session)
    for _ in 0..<2 {
      try await user.do(.connect(ConnectOptions()))
      #expect(try await user.client.next(before: nil) == .connected(.init()))
      guard user.client.now < SessionBuilder.time(4) else { break }
      #expect(
        try await user.client.next(before: nil)
          == .closed(
            .byServer(code: nil, "the server closed the connection with code 1001: going away")))
    }
    // The capture ends while the second one is open.
    #expect(try await user.client.next(before: nil) == .ended)
  }

  @Test(arguments: ConnectionClosing.How.allCases)
  func connectionsAlsoEndWithoutACloseFrame(_ how: ConnectionClosing.How) async throws {
    var session = FrameSession()
    session.open(0)
    session.end(1, by: .server, how)
    var user = try user(session)
    try await user.do(.connect(ConnectOptions()))
    _ = try await user.client.next(before: nil)
    let expected: ClientEvent =
      switch how {
      case .fin: .closed(.lost("the peer closed the connection"))
      case .reset: .closed(.lost("the connection was reset"))
      case .endOfCapture: .ended
      }
    #expect(try await user.client.next(before: nil) == expected)
  }

  @Test func refusedHandshakeIsTold() async throws {
    var session = FrameSession()
    session.open(0, status: 403)
    session.end(1, by: .server, .fin)
    var user = try user(session)
    try await user.do(.connect(ConnectOptions()))
    guard case .closed(.lost(let reason)) = try await user.client.next(before: nil) else {
      Issue.record("not closed")
      return
    }
    #expect(reason.contains("403"))
    #expect(try await user.client.next(before: nil) == .ended)
  }

  @Test func connectionThatWasOpenBeforeTheCaptureIsOpened() async throws {
    var session = FrameSession()
    session.open(0, isFromStart: false)
    session.frame(1, .client, .text, "x")
    session.frame(2, .server, .text, "y")
    var user = try user(session)
    try await user.do(.connect(ConnectOptions()))
    #expect(try await user.client.next(before: nil) == .connected(.init(isSessionPresent: true)))
    try await user.do(.sendText("x"))
    #expect(try await user.client.next(before: nil) == .text("y"))
  }

  @Test func messageThatIsNotThereAsAWholeIsAHole() async throws {
    var session = FrameSession()
    session.open(0)
    session.frame(1, .server, .text, "x", missing: 3)
    var user = try user(session)
    try await user.do(.connect(ConnectOptions()))
    _ = try await user.client.next(before: nil)
    let error = await #expect(throws: DataClientError.self) {
      try await user.client.next(before: nil)
    }
    #expect(error?.code == .unreadable)
  }

  @Test func connectionsAtATimeHaveToBeChosenFrom() async throws {
    var session = FrameSession()
    session.open(0)
    session.connection = 2
    session.open(0.5)
    session.connection = 1
    session.frame(1, .server, .text, "one")
    session.connection = 2
    session.frame(1, .server, .text, "two")
    let error = #expect(throws: DataClientError.self) { try ReplayClient(session.events) }
    #expect(error?.message.contains("connection 1, 2") == true)
    var user = Actor(try ReplayClient(session.events, of: .connection(2)))
    try await user.do(.connect(ConnectOptions()))
    _ = try await user.client.next(before: nil)
    #expect(try await user.client.next(before: nil) == .text("two"))
  }

  @Test func topicsAreForMQTT() async throws {
    var session = FrameSession()
    session.open(0)
    var user = try user(session)
    let error = await #expect(throws: DataClientError.self) { try await user.publish("t") }
    #expect(error?.code == .unsupported)
    // Where there is MQTT too, it is what is replayed.
    var mqtt = SessionBuilder()
    mqtt.connection = 2
    mqtt.connect(3)
    #expect(try ReplayClient(session.events + mqtt.events).capabilities.contains(.messages))
  }
}

/// Writes a session of WebSocket down, frame by frame, as a capture would have it.
struct FrameSession {
  private(set) var events: [Event] = []
  var connection = 1

  private mutating func add(_ seconds: Double, _ sender: Peer, _ body: Event.Body) {
    let context = EventContext(
      time: SessionBuilder.time(seconds), frame: events.count + 1, connection: connection,
      sender: sender, wire: .webSocket)
    events.append(Event(context, body))
  }

  /// OPEN, and UPGRADE with its answer if the capture has them.
  mutating func open(_ seconds: Double, isFromStart: Bool = true, status: Int = 101) {
    add(
      seconds, .client,
      .opened(
        ConnectionOpening(
          client: "192.0.2.1:50000", server: "192.0.2.2:80", isFromStart: isFromStart,
          firstFrame: events.count + 1, firstTime: SessionBuilder.time(seconds))))
    guard isFromStart else { return }
    let request = WebSocketRequest(target: "/", fields: [.init("Upgrade", "websocket")])
    add(seconds, .client, .handshake(.request(request)))
    let head = HTTPHead(startLine: "HTTP/1.1 \(status) X", fields: [.init("Upgrade", "websocket")])
    add(seconds + 0.01, .server, .handshake(.response(WebSocketResponse(head, to: nil))))
  }

  mutating func frame(
    _ seconds: Double, _ sender: Peer, _ opcode: WebSocketOpcode, _ payload: String,
    isFinal: Bool = true, inflatingTo inflated: [UInt8]? = nil, missing: Int = 0
  ) {
    var frame = WebSocketFrame(
      opcode, Array(payload.utf8), isFinal: isFinal, maskingKey: sender == .client ? 7 : nil)
    frame.inflated = inflated
    frame.header.payloadLength += UInt64(missing)
    add(seconds, sender, .webSocket(frame))
  }

  /// Close frames of both sides, and FIN.
  mutating func close(_ seconds: Double, by peer: Peer, code: UInt16, saying reason: String = "") {
    for (number, sender) in [peer, peer.other].enumerated() {
      let payload = [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8)
      let frame = WebSocketFrame(.close, payload, maskingKey: sender == .client ? 7 : nil)
      add(seconds + Double(number) * 0.01, sender, .webSocket(frame))
    }
    end(seconds + 0.02, by: peer, .fin)
  }

  mutating func end(_ seconds: Double, by peer: Peer, _ how: ConnectionClosing.How) {
    add(
      seconds, peer,
      .closed(
        ConnectionClosing(
          how: how, firstFrame: events.count + 1, firstTime: SessionBuilder.time(seconds))))
  }
}
