import RepriseCore
import TestSupport
import Testing
import Wire

@Suite struct RecordingRoundTripTests {
  private static let header = RecordingHeader(created: Sample.time, source: .capture("a.pcap"))

  private func record(_ events: [Event], showsSecrets: Bool = true) throws -> [UInt8] {
    var writer = try RecordingWriter(
      MemorySink(), header: Self.header, showsSecrets: showsSecrets)
    for event in events { try event.withView { view throws in try writer.consume(view) } }
    try writer.finish()
    return writer.sink.bytes
  }

  private func read(_ bytes: [UInt8], pieces: Int = .max) throws -> [Event] {
    var stream = RecordingStream()
    var list = EventList()
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(pieces))
      try stream.consume(piece.span.bytes, into: &list)
      rest = rest.dropFirst(pieces)
    }
    try stream.finish(into: &list)
    #expect(stream.reader.header == Self.header)
    return list.events
  }

  @Test(arguments: Sample.packets)
  func givesTheBytesOfEveryPacketBack(packet: MQTTPacket) throws {
    let event = try Sample.event(packet)
    let recording = try record([event])
    #expect(try read(recording) == [event], "\(String(decoding: recording, as: UTF8.self))")
  }

  @Test(arguments: Sample.oddBytes.map(\.bytes), [0, 3])
  func keepsBytesThatFieldsDoNotTell(bytes: [UInt8], missing: Int) throws {
    let version = try #require(Sample.oddBytes.first { $0.bytes == bytes }).version
    var bytes = bytes
    bytes[1] += UInt8(missing)
    let event = Sample.event(bytes: bytes, version)
    let recording = try record([event])
    #expect(try read(recording) == [event], "\(String(decoding: recording, as: UTF8.self))")
  }

  @Test func writesNoBytesWhereFieldsAreEnough() throws {
    let events = [
      try Sample.publish("a/b", "21.5", qos: 1), try Sample.publish("a", "", version: .v5_0),
    ]
    let text = String(decoding: try record(events), as: UTF8.self)
    #expect(!text.contains("\"bytes\""))
  }

  @Test(arguments: [
    Sample.opening, Sample.ownOpening, Sample.closing,
    Sample.lonelyClosing, Sample.lateClosing, Sample.gap, Sample.malformed,
  ])
  func keepsEventsThatAreNoPackets(event: Event) throws {
    #expect(try read(try record([event])) == [event])
  }

  @Test func keepsAVersionThatWasInferred() throws {
    let context = Sample.context(.mqttInferred(.v5_0))
    let event = Event(context, .mqtt(PacketBytes([0x40, 3, 0, 1, 0x10])))
    #expect(try read(try record([event])) == [event])
  }

  @Test func countsLinesAsFrames() throws {
    let events = [Sample.opening, try Sample.publish("a"), Sample.closing]
    #expect(try read(try record(events)).map(\.context.frame) == [2, 3, 4])
  }

  @Test(arguments: [1, 2, 7, 100, 4_096])
  func takesPiecesOfAnySize(size: Int) throws {
    let events = [Sample.opening, try Sample.publish("a", "x"), Sample.gap]
    let bytes = try record(events)
    #expect(try read(bytes, pieces: size) == (try read(bytes)))
  }

  @Test func readsAFileCutAnywhereToItsLastCompleteEvent() throws {
    let bytes = try record([Sample.opening, try Sample.publish("a", "x"), Sample.gap])
    let headerEnd = try #require(bytes.firstIndex(of: 0x0A))
    for end in (headerEnd + 1)..<bytes.count {
      var stream = RecordingStream()
      var list = EventList()
      let cut = Array(bytes[..<end])
      try stream.consume(cut.span.bytes, into: &list)
      try stream.finish(into: &list)
      let wholeLines = cut.count { $0 == 0x0A }
      let isLastComplete = bytes[end] == 0x0A
      #expect(list.events.count == wholeLines - 1 + (isLastComplete ? 1 : 0))
      #expect(stream.notes.isEmpty == (isLastComplete || cut.last == 0x0A))
    }
  }

  @Test(arguments: [UInt8](#""{0\,"#.utf8) + [0x0A, 0xFF])
  func survivesDamageAtAnyByte(damage: UInt8) throws {
    let bytes = try record([
      Sample.opening, Sample.closing,
      try Sample.event(
        MQTTPacket(
          .connack(.init(properties: [.init(.userProperty, .pair("a", "b"))])), version: .v5_0)),
      Sample.event(bytes: [0x36, 5, 0, 1, 0x61, 0, 1], .v3_1_1),
    ])
    for index in bytes.indices {
      var damaged = bytes
      damaged[index] = damage
      var stream = RecordingStream()
      var list = EventList()
      do {
        try stream.consume(damaged.span.bytes, into: &list)
        try stream.finish(into: &list)
      } catch let error as RecordingError {
        #expect(error.column >= 1)
        #expect(error.line <= stream.lineCount)
      }
      // What was read all the same can be shown.
      var writer = EventTextWriter()
      var shown: [UInt8] = []
      for event in list.events { event.withView { writer.append($0, to: &shown) } }
      #expect(shown.isEmpty == list.events.isEmpty)
    }
  }

  @Test func tellsNoHiddenSecretInBytes() throws {
    // A bridge's odd flags make the bytes necessary, and they would tell the password.
    var bytes = try MQTTPacket(
      .connect(.init(clientID: "c", username: "u", password: Array("geheim".utf8))),
      version: .v3_1_1
    ).encoded()
    bytes[9] |= 1
    let event = Sample.event(bytes: bytes, .v3_1_1)
    let open = String(decoding: try record([event]), as: UTF8.self)
    let hidden = String(decoding: try record([event], showsSecrets: false), as: UTF8.self)
    #expect(open.contains("\"bytes\"") && open.contains("geheim"))
    #expect(!hidden.contains("\"bytes\"") && hidden.contains("\"password\":\"***\""))
    let packet = try #require(try read(Array(hidden.utf8)).first?.packet)
    guard case .connect(let connect) = packet.content else {
      Issue.record("not a CONNECT")
      return
    }
    #expect(connect.password == Array("***".utf8))
  }
}
