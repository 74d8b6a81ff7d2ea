import Foundation
import RepriseCore
import TestSupport
import Testing
import Wire

@testable import Capture

/// Captures in which secrets are hidden.
@Suite struct RedactionTests {
  private func redacted(
    _ path: String, _ rules: RedactionRules = RedactionRules()
  ) throws -> (bytes: [UInt8], outcome: CaptureRedaction.Outcome) {
    let format = try #require(try CaptureConversion.captureFormat(path))
    var options = CaptureCopier.Options(application: "test")
    options.hidden = rules
    let sink = Conversions.Sink()
    let outcome = try CaptureRedaction(path, InputOptions(), rules)
      .write(CaptureCopier(to: format, options, sink))
    return (sink.bytes, outcome)
  }

  /// The events of a capture as lines in which secrets are hidden.
  private func lines(_ events: [Event], _ rules: RedactionRules = RedactionRules()) -> [String] {
    let writer = EventJSONWriter(hiding: rules)
    return events.map { event in
      event.withView { view in
        var line: [UInt8] = []
        writer.append(view, to: &line)
        return String(decoding: line, as: UTF8.self)
      }
    }
  }

  /// The first line in which two lists differ.
  private func difference(_ one: [String], _ other: [String]) -> String? {
    let pair = zip(one, other).first { $0 != $1 }
    return pair.map { "\($0)\n\($1)" } ?? (one.count == other.count ? nil : "one is longer")
  }

  @Test func `captures of others tell the same, and nothing that is hidden`() throws {
    var compared = 0
    for path in Conversions.paths {
      guard let redacted = try? redacted(path), redacted.outcome.cut == 0,
        redacted.outcome.damage == nil
      else { continue }
      let before = try EventList.events(of: path).events
      let after = try Conversions.events(redacted.bytes)
      #expect(difference(lines(after), lines(before)) == nil, "\(path)")
      let (old, new) = (
        try Conversions.frames(Array(try Data(contentsOf: URL(filePath: path)))),
        try Conversions.frames(redacted.bytes)
      )
      #expect(new.map(\.count) == old.map(\.count), "\(path)")
      #expect(zip(new, old).count { $0 != $1 } == redacted.outcome.changed, "\(path)")
      compared += 1
    }
    #expect(compared >= PackageFolder.captured.count)
  }

  // MARK: Sessions with secrets everywhere

  /// What stands in every place where a secret may; each has a number of its own.
  private static let mark = "sEcReT"

  private static func string(_ text: String) -> [UInt8] {
    [UInt8(text.utf8.count >> 8), UInt8(text.utf8.count & 0xff)] + Array(text.utf8)
  }

  private static func packet(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
    var length: [UInt8] = []
    var rest = body.count
    repeat {
      length.append(UInt8(rest % 128) | (rest >= 128 ? 0x80 : 0))
      rest /= 128
    } while rest > 0
    return [type] + length + body
  }

  /// A CONNECT of 5.0 with authentication data, a user property, a will and a password.
  private static var connect: [UInt8] {
    let properties =
      [0x15] + string("PLAIN") + [0x16] + string("\(mark)-1") + [0x26] + string("token")
      + string("\(mark)-2")
    let will = [UInt8(0)] + string("will") + string(#"{"password":"\#(mark)-3"}"#)
    return packet(
      0x10,
      string("MQTT") + [5, 0xc6, 0, 60, UInt8(properties.count)] + properties + string("a")
        + will + string("user") + string("\(mark)-4"))
  }

  private static var packets: [(Peer, [UInt8])] {
    [
      (.client, connect), (.server, [0x20, 3, 0, 0, 0]),
      (
        .client,
        packet(
          0x30,
          string("a/b") + [0]
            + Array(#"{"accessToken":"\#(mark)-5","pin_token": 12345, "n":1}"#.utf8))
      ),
      (.client, packet(0x82, [0, 1, 0] + string("x/token=\(mark)-6") + [0])),
      (.server, [0x90, 4, 0, 1, 0, 0]),
      (.server, packet(0x30, string("a/b") + [0] + [0xff, 0xfe] + Array("sign=\(mark)-7".utf8))),
      (.client, [0xe0, 0]),
    ]
  }

  private static let request =
    "GET /mqtt?token=\(mark)-8 HTTP/1.1\r\nHost: u:\(mark)-9@h.example\r\nUpgrade: websocket\r\n"
    + "Connection: Upgrade\r\nAuthorization: Bearer \(mark)-10\r\nCookie: id=\(mark)-11\r\n"
    + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    + "Sec-WebSocket-Protocol: PROTOCOL, bearer.\(mark)-12\r\n\r\n"
  private static let response =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    + "Set-Cookie: s=\(mark)-13\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"

  /// What is said on a connection of each kind.
  enum Kind: String, CaseIterable {
    case mqtt, mqttOverWebSocket, webSocket, http
  }

  private static func turns(_ kind: Kind) -> [(Peer, [UInt8])] {
    switch kind {
    case .mqtt: packets
    case .mqttOverWebSocket: handshake("mqtt") + frames(packets.map { ($0.0, $0.1, .binary) })
    case .webSocket:
      handshake("")
        + frames([
          (.client, Array(#"{"token":"\#(mark)-14","x":1}"#.utf8), .text),
          (.server, Array(#"{"m":{"clientSecret":"\#(mark)-15"}}"#.utf8), .text),
          (.server, Array("token=\(mark)-16".utf8), .ping),
        ])
    case .http:
      [
        (.client, Array("POST /x HTTP/1.1\r\nAuthorization: Basic \(mark)-17\r\n\r\n".utf8)),
        (.server, Array("HTTP/1.1 200 OK\r\n\r\n{\"password\":\"\(mark)-18\"}".utf8)),
      ]
    }
  }

  private static func handshake(_ subprotocol: String) -> [(Peer, [UInt8])] {
    let name = subprotocol.isEmpty ? "chat" : subprotocol
    return [
      (.client, Array(request.replacing("PROTOCOL", with: name).utf8)),
      (.server, Array((response + "Sec-WebSocket-Protocol: \(name)\r\n\r\n").utf8)),
    ]
  }

  /// Frames, the longer ones in two, so that packets go on from one to the next.
  private static func frames(
    _ messages: [(Peer, [UInt8], WebSocketOpcode)]
  ) -> [(Peer, [UInt8])] {
    var key: UInt32 = 0x1234_5678
    func encoded(_ sender: Peer, _ frame: WebSocketFrame) -> [UInt8] {
      key &+= 0x0101_0307
      var frame = frame
      frame.header.maskingKey = sender == .client ? key : nil
      return frame.encoded()
    }
    return messages.map { sender, bytes, opcode in
      guard bytes.count > 20, opcode == .binary else {
        return (sender, encoded(sender, WebSocketFrame(opcode, bytes)))
      }
      let half = bytes.count / 2
      return (
        sender,
        encoded(sender, WebSocketFrame(opcode, Array(bytes[..<half]), isFinal: false))
          + encoded(sender, WebSocketFrame(.continuation, Array(bytes[half...])))
      )
    }
  }

  private func capture(
    _ kind: Kind, pieces: Int, _ change: (inout [Segment]) -> Void = { _ in }
  ) throws -> TemporaryCapture {
    var dialogue = Dialogue(client: .max - 100, serverPort: kind == .http ? 8_080 : 1_883)
    dialogue.open()
    for (sender, bytes) in Self.turns(kind) { dialogue.send(sender, bytes, pieces: pieces) }
    dialogue.close()
    change(&dialogue.segments)
    var file = PcapngBuilder()
    file.section()
    file.interface(linkType: 101)
    file.secrets(type: SecretsBlock.tlsKeyLog, Array(Self.mark.utf8))
    for segment in dialogue.segments { file.enhancedPacket(Readout.packet(segment)) }
    return try TemporaryCapture(file.bytes)
  }

  /// What each end sends, as far as the frames of a file have it, without masks.
  private func said(_ bytes: [UInt8]) throws -> [String] {
    let events = try Conversions.events(bytes)
    let plain = events.flatMap { event -> [UInt8] in
      switch event.body {
      case .mqtt(let packet): packet.bytes
      case .webSocket(let frame): frame.payload
      case .handshake(let handshake): handshake.head.bytes
      default: []
      }
    }
    return [String(decoding: plain, as: UTF8.self), String(decoding: bytes, as: UTF8.self)]
  }

  @Test(arguments: Kind.allCases, [1, 2, 7, 20, 1_460])
  func `no secret is left, and nothing else is lost`(_ kind: Kind, _ pieces: Int) throws {
    let capture = try capture(kind, pieces: pieces)
    let (bytes, outcome) = try redacted(capture.path)
    #expect(outcome.cut == 0 && outcome.changed > 0)
    for text in try said(bytes) { #expect(!text.contains(Self.mark)) }
    let before = try EventList.events(of: capture.path).events
    #expect(try difference(lines(Conversions.events(bytes)), lines(before)) == nil)
    #expect((before.count > 6) == (kind != .http))
    let file = try TemporaryCapture(bytes)
    #expect(
      try Tshark.lines(
        file.path,
        [
          "-o", "tcp.check_checksum:TRUE", "-Y",
          "tcp.checksum.status==0 && !(frame.number in {\(bad(capture).joined(separator: ","))})",
        ], fields: ["frame.number"]) == [])
  }

  /// The frames whose checksum is wrong from the beginning: those of the builder have none.
  private func bad(_ capture: TemporaryCapture) throws -> [String] {
    try ["0"]
      + Tshark.lines(
        capture.path, ["-o", "tcp.check_checksum:TRUE", "-Y", "tcp.checksum.status==0"],
        fields: ["frame.number"]
      ).map(String.init)
  }

  @Test(arguments: Kind.allCases, 1...6)
  func `no secret is left where segments are lost, repeated and out of order`(
    _ kind: Kind, _ seed: Int
  ) throws {
    var generator = SplitMix64(seed: UInt64(seed))
    let capture = try capture(kind, pieces: 11) { segments in
      for _ in 0..<6 {
        let place = Int(generator.next() % UInt64(segments.count - 1))
        switch generator.next() % 3 {
        case 0: segments.remove(at: place)
        case 1: segments.swapAt(place, place + 1)
        default: segments.insert(segments[place], at: min(segments.count, place + 9))
        }
      }
    }
    let bytes = try redacted(capture.path).bytes
    for text in try said(bytes) + frameTexts(bytes) { #expect(!text.contains(Self.mark)) }
  }

  /// What stands in frames, each by itself and after the one before of the same end.
  private func frameTexts(_ bytes: [UInt8]) throws -> [String] {
    var streams: [[UInt8]: [UInt8]] = [:]
    for frame in try Conversions.frames(bytes) {
      streams[Array(frame[20..<24]), default: []] += frame.dropFirst(40)
    }
    return streams.values.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `what can't be read is cut off`() throws {
    // The capture ends inside of the CONNECT, whose password is in it.
    var dialogue = Dialogue()
    dialogue.open()
    dialogue.send(.client, Array(Self.connect.dropLast(1)), acknowledged: false)
    var file = PcapBuilder(linkType: 101)
    file.records = dialogue.segments.map { .init(data: Readout.packet($0)) }
    let capture = try TemporaryCapture(file.bytes)
    let (bytes, outcome) = try redacted(capture.path)
    #expect(outcome.changed == 1 && outcome.cut == 1)
    let frames = try Conversions.frames(bytes)
    #expect(frames.count == dialogue.segments.count)
    #expect(frames.last?.count == 40)
    #expect(!String(decoding: bytes, as: UTF8.self).contains(Self.mark))
  }

  /// A client may send while the reset of its server is under way.
  @Test(arguments: [(0, 1), (3, 1), (14, 2)])
  func `what comes behind the end of a connection is cut off`(_ before: Int, _ cut: Int) throws {
    var dialogue = Dialogue()
    dialogue.open()
    if before > 0 { dialogue.send(.client, Array(Self.connect[..<before])) }
    dialogue.add(.server, .reset)
    dialogue.add(.client, .push, Array(Self.connect[before...]))
    var file = PcapBuilder(linkType: 101)
    file.records = dialogue.segments.map { .init(data: Readout.packet($0)) }
    let capture = try TemporaryCapture(file.bytes)
    let (bytes, outcome) = try redacted(capture.path)
    // Of a CONNECT that is known as one, what is there of it is cut off as well.
    #expect(outcome.changed == cut && outcome.cut == cut)
    let frames = try Conversions.frames(bytes)
    #expect(frames.count == dialogue.segments.count)
    #expect(frames.last?.count == 40)
    #expect(!String(decoding: bytes, as: UTF8.self).contains(Self.mark))
  }

  @Test func `what is read before the end of a connection stays`() throws {
    var dialogue = Dialogue()
    dialogue.open()
    dialogue.send(.client, Array("hello\n".utf8))
    dialogue.send(.server, Array("good bye\n".utf8))
    dialogue.add(.server, .reset)
    dialogue.add(.client, [])
    var file = PcapBuilder(linkType: 101)
    file.records = dialogue.segments.map { .init(data: Readout.packet($0)) }
    let capture = try TemporaryCapture(file.bytes)
    let (bytes, outcome) = try redacted(capture.path)
    #expect(outcome.changed == 0 && outcome.cut == 0 && outcome.lookedThrough == 2)
    #expect(try Conversions.frames(bytes) == Conversions.frames(file.bytes))
  }

  @Test func `a ping before it is clear what messages carry does not hide less`() throws {
    var dialogue = Dialogue()
    dialogue.open()
    dialogue.send(.client, Array(Self.request.replacing("PROTOCOL", with: "mqtt").utf8))
    dialogue.send(.server, Array((Self.response + "\r\n").utf8))
    func send(_ opcode: WebSocketOpcode, _ bytes: [UInt8], isFinal: Bool = true) {
      var frame = WebSocketFrame(opcode, bytes, isFinal: isFinal)
      frame.header.maskingKey = 0x1122_3344
      dialogue.send(.client, frame.encoded())
    }
    send(.binary, Array(Self.connect[..<4]), isFinal: false)
    send(.ping, [])
    send(.continuation, Array(Self.connect[4...]))
    dialogue.close()
    var file = PcapBuilder(linkType: 101)
    file.records = dialogue.segments.map { .init(data: Readout.packet($0)) }
    let capture = try TemporaryCapture(file.bytes)
    let (bytes, outcome) = try redacted(capture.path)
    for text in try said(bytes) { #expect(!text.contains(Self.mark)) }
    #expect(outcome.cut == 0)
    #expect(
      try difference(
        lines(Conversions.events(bytes)), lines(EventList.events(of: capture.path).events)) == nil)
  }

  @Test func `what TLS only signs is cut off`() throws {
    let session = try TLSSessions.named("NULL-SHA256")
    var file = PcapBuilder(linkType: 101)
    file.records = session.dialogue().segments.map { .init(data: Readout.packet($0)) }
    let capture = try TemporaryCapture(file.bytes)
    let text = String(decoding: try redacted(capture.path).bytes, as: UTF8.self)
    #expect(!text.contains("xxxxend") && !text.contains("yyyyend"))
    #expect(String(decoding: file.bytes, as: UTF8.self).contains("xxxxend"))
  }

  @Test func `rules of the user hide more`() throws {
    let capture = try capture(.mqtt, pieces: 1_460)
    var rules = RedactionRules()
    rules.topics = ["a/#"]
    rules.hidesUsernames = true
    let (bytes, outcome) = try redacted(capture.path, rules)
    #expect(outcome.cut == 0)
    let text = try said(bytes)[0]
    #expect(text.contains("a/b") && !text.contains("\"n\":1") && !text.contains("user"))
    #expect(
      lines(try Conversions.events(bytes), rules)
        == lines(try EventList.events(of: capture.path).events, rules))
  }
}
