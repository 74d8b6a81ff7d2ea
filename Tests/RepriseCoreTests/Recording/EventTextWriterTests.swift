import RepriseCore
import Testing
import Wire

@Suite struct EventTextWriterTests {
  /// The line of an event without its header.
  private func line(
    _ event: Event, color: Bool = false, secrets: Bool = false
  ) -> String {
    var writer = EventTextWriter(usesColor: color, showsSecrets: secrets)
    var buffer: [UInt8] = []
    event.withView { writer.append($0, to: &buffer) }
    let text = String(decoding: buffer, as: UTF8.self)
    return text.split(separator: "\n").last.map(String.init) ?? ""
  }

  /// What stands behind the type.
  private func fields(_ content: MQTTPacket.Content, _ version: MQTTVersion = .v3_1_1) throws
    -> String
  {
    let line = line(try Sample.event(MQTTPacket(content, version: version)))
    return String(line.dropFirst(43))
  }

  @Test func showsPlaceAndFields() throws {
    let event = try Sample.publish("a/b", "21.5", qos: 1, retain: true)
    let time = Sample.time.description.dropFirst(11).dropLast()
    #expect(
      line(event)
        == "\(time)      2  #1   → PUBLISH     a/b  qos 1  id 7  retain  4 B  \"21.5\"")
  }

  @Test func putsFileAndDateAboveTheirEvents() throws {
    var writer = EventTextWriter()
    var buffer: [UInt8] = []
    writer.beginFile("a\u{1B}.pcap")
    for seconds: Int64 in [0, 1, 86_400] {
      try Sample.publish("a", at: seconds).withView { writer.append($0, to: &buffer) }
      buffer.append(0x0A)
    }
    let lines = String(decoding: buffer, as: UTF8.self).split(separator: "\n")
    #expect(lines.map { $0.hasPrefix("#") } == [true, false, false, true, false])
    #expect(lines[0] == "# a\\u{1b}.pcap, \(Sample.time.description.prefix(10)) (UTC)")
  }

  @Test func showsEventsThatAreNoPackets() {
    #expect(line(Sample.opening).hasSuffix("10.0.0.1:5000 → 10.0.0.2:1883  mqtt-3.1.1"))
    #expect(line(Sample.closing).hasSuffix("CLOSE       reset"))
    var lost = Sample.closing
    if case .closed(var closing) = lost.body {
      closing.reason = "the server closed with 1001 \"go\u{7}\""
      lost.body = .closed(closing)
    }
    #expect(line(lost).hasSuffix(#"CLOSE       reset  the server closed with 1001 "go\u{7}""#))
    #expect(line(Sample.gap).hasSuffix("! 1448 bytes missing (acknowledged)"))
    #expect(
      line(Sample.malformed).hasSuffix("! no control packet starts here (byte 17 of the stream)"))
  }

  @Test func showsFaultsInTheirPlace() {
    let event = Sample.event(bytes: [0x36, 5, 0, 1, 0x61, 0, 0], .v3_1_1)
    #expect(
      line(event).hasSuffix(
        "qos 3  id 0  0 B    ! QoS 3 does not exist (fixedHeader, byte 0)  "
          + "! the packet identifier is 0 (packetID, byte 5)"))
    let cut = Sample.event(bytes: [0x30, 9, 0, 1, 0x61, 0x62], .v3_1_1)
    #expect(line(cut).hasSuffix("\"b\"  ! 5 bytes missing"))
  }

  @Test func showsTheFieldsOfOtherPackets() throws {
    #expect(
      try fields(.connect(.init(clientID: "", username: "u", password: [1])))
        == "\"\"  mqtt-3.1.1  clean  keep-alive 60 s  user u  password ***")
    #expect(try fields(.connack(.init(sessionPresent: true))) == "accepted  session present")
    #expect(try fields(.connack(.init(code: 5))) == "refused  code 0x05 (not authorized)")
    #expect(
      try fields(.subscribe(packetID: 3, [.init("a b", options: 0b0010_0101)], []), .v5_0)
        == "id 3  \"a b\" qos 1 no-local retain-handling 2")
    #expect(
      try fields(.suback(packetID: 3, codes: [1, 0x80], []))
        == "id 3  qos 1  code 0x80 (unspecified error)")
    #expect(
      try fields(
        .disconnect(.init(0x8E, properties: [.init(.reasonString, .string("bye"))])), .v5_0)
        == "code 0x8e (session taken over)  {reasonString \"bye\"}")
    #expect(try fields(.pingreq) == "")
  }

  @Test func endsListsThatAreTooLong() throws {
    let filters = (0..<500).map { "f/\($0)" }
    #expect(try fields(.unsubscribe(packetID: 1, filters, [])).hasSuffix("f/9  and 490 more"))
  }

  @Test(arguments: [
    ("plain", "\"plain\""), ("{\"a\":1}", "\"{\"a\":1}\""), ("two\nlines\t", "\"two\\nlines\\t\""),
    ("\u{1B}]0;title\u{7}", "0x1b5d303b7469746c6507"), ("\u{1B}[31mred", "\"\\u{1b}[31mred\""),
    ("\u{9B}31m", "\"\\u{9b}31m\""), ("a\u{202E}b", "\"a\\u{202e}b\""),
    ("ümläut 😀", "\"ümläut 😀\""),
    (
      String(repeating: "é", count: 200), "\"" + String(repeating: "é", count: 60) + "…\""
    ),
    ("{\"accessToken\":\"abc\"}", "\"{\"accessToken\":\"***\"}\""),
    ("back\\slash", "\"back\\slash\""),
  ])
  func showsPayloadsSafely(payload: String, shown: String) throws {
    let text = try fields(.publish(.init(topic: "t", payload: Array(payload.utf8))))
    #expect(text == "t  qos 0  \(payload.utf8.count) B  \(shown)")
  }

  @Test(arguments: [
    (10, "\"0123456789…\""), (60, "\"" + String(repeating: "0123456789", count: 6) + "…\""),
    (70, "\"" + String(repeating: "0123456789", count: 7) + "\""),
  ])
  func showsAsMuchOfAPayloadAsIsWanted(limit: Int, shown: String) throws {
    let event = try Sample.publish("t", String(repeating: "0123456789", count: 7))
    var writer = EventTextWriter(payloadLimit: limit)
    var line: [UInt8] = []
    event.withView { writer.append($0, to: &line) }
    #expect(String(decoding: line, as: UTF8.self).hasSuffix(shown))
  }

  @Test func showsSecretsOnlyWhenAsked() throws {
    let event = try Sample.publish("t", "{\"accessToken\":\"abc\"}")
    #expect(line(event, secrets: true).contains("abc"))
    #expect(!line(event).contains("abc"))
    let connect = try Sample.event(
      MQTTPacket(
        .connect(.init(clientID: "c", username: "u", password: Array("geheim".utf8))),
        version: .v3_1_1))
    #expect(line(connect, secrets: true).contains("geheim"))
    #expect(!line(connect).contains("geheim"))
  }

  @Test(arguments: 0...255)
  func letsNoControlCharacterThrough(byte: Int) throws {
    let raw = [UInt8(truncatingIfNeeded: byte), 0xC2, 0x85, 0xE2, 0x80, 0xAE]
    // The byte as topic, client identifier, filter, payload and property.
    let bytes: [[UInt8]] = [
      [0x30, 12, 0, 6] + raw + [0, 0x61] + raw.prefix(2),
      [0x82, 11, 0, 1, 0, 6] + raw + [0],
      [0x10, 18, 0, 4, 0x4D, 0x51, 0x54, 0x54, 4, 2, 0, 60, 0, 6] + raw,
    ]
    for packet in bytes {
      let text = line(Sample.event(bytes: packet, .v3_1_1))
      let unsafe = text.unicodeScalars.filter { scalar in
        scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) || scalar.value == 0x202E
      }
      #expect(unsafe.isEmpty, "\(text.debugDescription)")
    }
  }

  @Test func coloursOnlyWhenAsked() throws {
    let event = try Sample.publish("t")
    #expect(line(event, color: true).contains("\u{1B}[32mPUBLISH\u{1B}[0m"))
    #expect(!line(event).contains("\u{1B}"))
  }
}
