import RepriseCore
import Testing
import Wire

/// Clients of messages without topics, recorded.
@Suite struct FrameRecordingTests {
  private func recorded(
    _ redaction: RedactionRules = RedactionRules(),
    url: String = "ws://me@host:81/api?token=hush-1",
    _ use: (inout Actor) async throws -> Void
  ) async throws -> MemorySink {
    let recorder = try RecordingClient(
      RandomServer(seed: 1, .frames), to: MemorySink(), url: url, redaction: redaction)
    var user = Actor(recorder)
    try await user.do(.connect(ConnectOptions()))
    _ = try await recorder.next(before: nil)
    try await use(&user)
    try recorder.finish()
    return recorder.sink
  }

  @Test func isWrittenAsFramesThatBreakNoRule() async throws {
    let recorder = try RecordingClient(
      RandomServer(seed: 4, .frames), to: MemorySink(), url: "ws://host:81/api")
    #expect(recorder.capabilities == [.frames, .push, .binary])
    var user = Actor(recorder)
    try await user.do(.connect(ConnectOptions()))
    _ = try await recorder.next(before: nil)
    try await user.do(.sendText("ä"))
    _ = try await recorder.next(before: nil)
    try await user.do(.sendBinary([0, 255]))
    try await user.do(.disconnect)
    _ = try await recorder.next(before: nil)
    try recorder.finish()
    let events = try recorder.sink.events()
    #expect(
      events.map(\.shownType) == [
        "client OPEN", "client UPGRADE", "server UPGRADED", "client TEXT", "server TEXT",
        "client BINARY", "client CLOSE", "server CLOSE", "client CLOSE fin",
      ])
    for (index, event) in events.enumerated() {
      #expect(event.context.frame == index + 2 && event.context.wire == .webSocket)
      switch event.body {
      case .handshake(let handshake): #expect(handshake.faults.isEmpty)
      case .webSocket(let frame):
        #expect(frame.header.isMasked == (event.context.sender == .client))
        frame.withView(from: event.context.sender.role) { #expect($0.faults.isEmpty) }
      default: continue
      }
    }
    let text = recorder.sink.text
    #expect(text.contains(#""method":"GET","target":"/api""#))
    #expect(text.contains(#"["Host","host:81"]"#))
    #expect(text.contains(#""payload":{"utf8":"ä"}"#) && text.contains(#"{"base64":"AP8="}"#))
    #expect(text.contains(#""closeCode":1000"#))
  }

  @Test func aLossIsToldInTheWordsOfTheClient() async throws {
    let recorder = try RecordingClient(
      RandomServer(seed: 0, losses: 9, .frames), to: MemorySink())
    let events = try await RandomUser.run(recorder, seed: 0, inFrames: true)
    #expect(events.contains(.closed(.lost("the line is \"dead\""))))
    #expect(recorder.sink.text.contains(#""how":"reset""#))
    #expect(recorder.sink.text.contains(#"the line is \"dead\""#))
  }

  @Test func secretsNeverReachTheSink() async throws {
    let sink = try await recorded(RedactionRules(keys: ["ssid"])) { user in
      try await user.do(
        .sendText(#"{"uniqueId":2,"iotToken":"hush-2","content":"{\"SSID\":\"hush-3\"}"}"#))
      try await user.do(
        .sendText(
          #"{"content":"{\"a\":{\"pass\\\"word\":1,\"password\":\"hu\\\"sh-4\"},\"n\":7}"}"#))
      try await user.do(.sendBinary(Array(#"{"token":"hush-5","n":8}"#.utf8)))
    }
    #expect(!sink.text.contains("hush-") && !sink.text.contains("sh-4"))
    #expect(!sink.text.contains("me@"))
    #expect(sink.text.contains(#"\"n\\\":7"#) && sink.text.contains(#"\"n\":8"#))
    // What is left can be read, and is JSON in JSON still.
    let texts = try sink.events().compactMap { event -> String? in
      guard case .webSocket(let frame) = event.body, frame.header.opcode == .text else {
        return nil
      }
      return String(decoding: frame.payload, as: UTF8.self)
    }
    for text in texts {
      let content = JSONValue(parsing: Array(text.utf8))?.member("content")
      #expect(content?.text.map { JSONValue(parsing: Array($0.utf8)) != nil } == true, "\(text)")
    }
  }

  @Test func secretsAreKeptWhenThatIsWanted() async throws {
    let sink = try await recorded(RedactionRules(hidesSecrets: false)) { user in
      try await user.do(.sendText(#"{"token":"t-1"}"#))
    }
    #expect(sink.text.contains("t-1"))
  }

  @Test func goesOnInAnotherFile() async throws {
    let recorder = try RecordingClient(
      RandomServer(seed: 2, .frames), to: MemorySink(), nextSink: { _ in MemorySink() })
    var user = Actor(recorder)
    try await user.do(.connect(ConnectOptions()))
    _ = try await recorder.next(before: nil)
    try recorder.startNextFile()
    try await user.do(.sendText("x"))
    #expect(try recorder.sink.events().map(\.shownType) == ["client OPEN", "client TEXT"])
  }

  @Test func topicsAreRefused() async throws {
    let recorder = try RecordingClient(RandomServer(seed: 3, .frames), to: MemorySink())
    var user = Actor(recorder)
    let error = await #expect(throws: DataClientError.self) { try await user.publish("t") }
    #expect(error?.code == .unsupported)
  }
}

/// Faults of messages without topics.
@Suite struct FrameFaultTests {
  /// What comes back of three texts that are sent one after the other.
  private func seen(_ faults: [Fault]) async throws -> [ClientEvent] {
    let client = try FaultInjector(RandomServer(seed: 2, .frames), faults)
    var user = Actor(client)
    try await user.do(.connect(ConnectOptions()))
    var seen = [try await client.next(before: nil)]
    for number in 0..<3 {
      do { try await user.do(.sendBinary([UInt8(number)])) } catch { break }
    }
    while true {
      let event = try await client.next(before: client.now.advanced(by: .seconds(10)))
      if event == .deadline || event == .ended { return Array(seen.dropFirst()) }
      seen.append(event)
    }
  }

  @Test(
    arguments: [
      ([], [0, 1, 2]), ([Fault(.drop, .at(2, .send))], [0, 2]),
      ([Fault(.drop, .at(2, .frame))], [0, 2]),
      ([Fault(.duplicate, .at(1, .frame))], [0, 0, 1, 2]),
      ([Fault(.reorder, .at(1, .frame))], [1, 0, 2]),
      ([Fault(.drop, .every(1, .send))], []),
    ] as [([Fault], [UInt8])])
  func goesWrongAsAsked(_ faults: [Fault], _ expected: [UInt8]) async throws {
    #expect(try await seen(faults) == expected.map { .binary([$0]) })
  }

  @Test(arguments: [Fault.Kind.send, .frame]) func connectionIsCut(_ kind: Fault.Kind) async throws
  {
    let events = try await seen([Fault(.disconnect, .at(1, kind))])
    guard case .closed(.lost) = events.last else {
      Issue.record("\(events)")
      return
    }
    #expect(events.count == (kind == .send ? 1 : 2))
  }
}

extension Event {
  /// Sender and type, as a recording names them.
  var shownType: String {
    let sender = context.sender.rawValue
    return withView { view in
      switch view.body {
      case .opened: "\(sender) OPEN"
      case .closed(let closing): "\(sender) CLOSE \(closing.how.rawValue)"
      case .attempted(let attempt): "\(sender) ATTEMPT \(attempt.how.rawValue)"
      case .handshake(let handshake): "\(sender) \(handshake.name)"
      case .http(let part): "\(sender) \(part.name)"
      case .tls(let part): "\(sender) \(part.name)"
      case .webSocket(let frame): "\(sender) \(frame.opcode.name)"
      case .mqtt(let packet): "\(sender) \(packet.type.name)"
      case .gap: "\(sender) GAP"
      case .malformed: "\(sender) MALFORMED"
      }
    }
  }
}

extension JSONValue {
  fileprivate func member(_ key: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.key == key }?.value
  }
}
