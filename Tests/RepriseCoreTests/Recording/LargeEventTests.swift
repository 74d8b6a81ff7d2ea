import RepriseCore
import TestSupport
import Testing
import Wire

/// What is written of events that no line could hold whole: it can be read, and says what it leaves out.
@Suite struct LargeEventTests {
  private func recorded(_ event: Event, showsSecrets: Bool = true) throws -> [Event] {
    var writer = try RecordingWriter(
      MemorySink(), header: RecordingHeader(created: nil, source: .init(kind: "client")),
      showsSecrets: showsSecrets)
    try event.withView { view throws in try writer.consume(view) }
    try writer.finish()
    return try EventList(recording: writer.sink.bytes).events
  }

  /// Control characters are what takes the most room in a line.
  @Test(arguments: [0, 5]) func cutsAPacketThatNoLineCanHold(_ excess: Int) throws {
    let head: [UInt8] = [0x30, 0xF9 + UInt8(excess), 0xFF, 0xFF, 0x07, 0, 1, 0x61]
    let bytes = head + [UInt8](repeating: 1, count: (16 << 20) - head.count + excess)
    let event = Sample.event(bytes: bytes, .v3_1_1)
    let remaining = bytes.count - 5
    var whole = event
    if case .mqtt(var packet) = whole.body {
      packet.bytes.replaceSubrange(1..<5, with: Self.length(remaining))
      whole.body = .mqtt(packet)
    }
    let read = try recorded(whole)
    guard excess > 0 else {
      #expect(read.map(\.body) == [whole.body])
      return
    }
    guard case .mqtt(let packet) = whole.body, case .mqtt(let start) = try #require(read.first).body
    else {
      Issue.record("what is read is no packet")
      return
    }
    #expect(start.bytes == Array(packet.bytes.prefix(16 << 20)) && start.size == packet.size)
    #expect(read.dropFirst().map(\.body) == [.gap(Gap(bytes: excess, reason: .limit))])
  }

  private static func length(_ value: Int) -> [UInt8] {
    (0..<4).map { UInt8(value >> (7 * $0) & 0x7F) | ($0 < 3 ? 0x80 : 0) }
  }

  @Test func readsLengthsThatNothingCanHave() throws {
    let header: [UInt8] = [0x82, 0x7F, 0x40, 0, 0, 0, 0, 0, 0, 0]
    let frame = try #require(WebSocketFrame(bytes: header + [1, 2, 3]))
    let event = Event(Sample.context(.webSocket, sender: .server), .webSocket(frame))
    #expect(try recorded(event) == [event])
    var gap = Sample.gap
    gap.body = .gap(Gap(bytes: 1 << 62, reason: .unfilled))
    // JSON has no exact number for it.
    #expect(try recorded(gap).map(\.body) == [.gap(Gap(bytes: 1 << 53, reason: .unfilled))])
  }

  private static let cutWithSecrets: [(String, String)] = [
    ("\u{30}\u{7F}\0\u{1}t{\"token\":\"hush\"", "PUBLISH"),
    ("\u{10}\u{7F}\0\u{4}MQTT\u{4}\u{42}\0\u{3C}\0\u{1}c\0\u{1}u\0\u{4}hush", "CONNECT"),
    ("\u{10}\u{6}\0\u{4}hush", "CONNECT"),
  ]

  /// Bytes that would tell the secret are not there, so that the fields are all that is known.
  @Test(arguments: cutWithSecrets)
  func readsWhatIsCutBesideASecret(_ packet: String, _ type: String) throws {
    var bytes = Array(packet.utf8)
    // A user name and a password, of which text of UTF-8 can not have the flags.
    if bytes.count > 9, bytes[9] == 0x42 { bytes[9] = 0xC2 }
    let event = Sample.event(bytes: bytes, .v3_1_1)
    let read = try recorded(event, showsSecrets: false)
    #expect(read.count == 1)
    var line: [UInt8] = []
    try #require(read.first).withView { EventJSONWriter(showsSecrets: true).append($0, to: &line) }
    let text = String(decoding: line, as: UTF8.self)
    #expect(text.contains(#""type":"\#(type)""#) && !text.contains("hush"), "\(text)")
    #expect(!text.contains("aHVzaA"))
  }

  /// What moves a terminal's cursor or turns text round is written by its number, in JSON as in text.
  @Test func escapesWhatATerminalObeys() throws {
    let payload =
      "a\u{7F}\u{85}\u{9B}\u{AD}\u{200B}\u{2028}\u{2029}\u{202E}\u{2066}\u{FEFF}\u{E0041}é“漢”😀"
    let event = try Sample.publish("t", payload)
    var line: [UInt8] = []
    event.withView { EventJSONWriter().append($0, to: &line) }
    let text = String(decoding: line, as: UTF8.self)
    #expect(
      text.contains(
        #""a\u007f\u0085\u009b\u00ad\u200b\u2028\u2029\u202e\u2066\ufeff\udb40\udc41é“漢”😀""#),
      "\(text)")
    #expect(try recorded(event) == [event])
    // Whatever piece of a long text a character falls into.
    for count in 160..<175 {
      let long = try Sample.publish(
        "t", String(repeating: "x", count: count) + "\u{2028}é漢\u{202E}")
      #expect(try recorded(long) == [long])
    }
  }
}
