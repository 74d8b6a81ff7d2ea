import RepriseCore
import Testing
import Wire

/// Handshakes and frames go into recordings and come back unchanged.
@Suite struct WebSocketRecordingTests {
  private func line(_ event: Event, showsSecrets: Bool = true) -> String {
    var buffer: [UInt8] = []
    event.withView { EventJSONWriter(showsSecrets: showsSecrets).append($0, to: &buffer) }
    return String(decoding: buffer, as: UTF8.self)
  }

  private func read(_ line: String) throws -> Event {
    var reader = RecordingReader()
    let header = Array(
      #"{"reprise":1,"created":"2026-11-21T00:00:00Z","source":{"kind":"capture"},"redacted":[]}"#
        .utf8)
    _ = try reader.read(line: header.span.bytes, number: 1)
    let bytes = Array(line.utf8)
    return try #require(try reader.read(line: bytes.span.bytes, number: 2))
  }

  @Test func knowsEveryKeyThatItWrites() throws {
    let events =
      Self.frames.map { Sample.webSocket(.webSocket($0)) }
      + Self.handshakes.map { Sample.webSocket(.handshake($0)) }
    for event in events {
      var reader = RecordingReader()
      let header =
        #"{"reprise":1,"created":"2026-11-21T00:00:00Z","source":{"kind":"capture"},"redacted":[]}"#
      for (index, line) in [header, line(event)].enumerated() {
        let bytes = Array(line.utf8)
        _ = try reader.read(line: bytes.span.bytes, number: index + 1)
      }
      #expect(reader.unknown.isEmpty)
    }
  }

  /// Frames with everything that a frame can have.
  static let frames: [WebSocketFrame] = {
    var frames: [WebSocketFrame] = [
      WebSocketFrame(.text, Array("Grüße \u{1}\"".utf8)), WebSocketFrame(.text, []),
      WebSocketFrame(.text, [0xFF], maskingKey: 0x37FA_213D),
      WebSocketFrame(.binary, [0, 0xFF], isFinal: false, maskingKey: 0),
      WebSocketFrame(.continuation, [UInt8](repeating: 7, count: 70_000), maskingKey: 1),
      WebSocketFrame(.ping, [1]), WebSocketFrame(.pong, [], reservedBits: 7),
      WebSocketFrame(.close, []), WebSocketFrame(.close, [3, 232] + Array("bye".utf8)),
      WebSocketFrame(.close, [1]), WebSocketFrame(.init(rawValue: 3), [1, 2]),
      WebSocketFrame(.init(rawValue: 15), [], isFinal: false),
    ]
    let odd: [[UInt8]] = [
      [0x82, 0x7E, 0, 2, 1, 2], [0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 9, 9, 9, 9, 5],
      [0x82, 0x7F, 0x80, 0, 0, 0, 0, 0, 0, 0], [0x82, 0x7F, 0x7F, 0, 0, 0, 0, 0, 0, 0, 1],
      [0x81, 5, 0x61, 0x62],
    ]
    frames += odd.compactMap { WebSocketFrame(bytes: $0) }
    var inflated = WebSocketFrame(.text, [0xF2, 0x48, 0xCD], isFinal: false, reservedBits: 4)
    inflated.inflated = Array("Hel".utf8)
    var kept = WebSocketFrame(.text, [0xF2, 0, 0x11], reservedBits: 4)
    kept.keptCompressed = .contextLost
    kept.contextFaults = [WebSocketFault(.damagedCompression, in: .payload, at: 2)]
    var carrier = WebSocketFrame(.binary, [0xC0, 0], maskingKey: 5)
    carrier.cargo = .mqtt
    carrier.contextFaults = [
      WebSocketFault(.reservedBits, in: .rsv, at: 0),
      WebSocketFault(.dataAfterClose, in: .opcode, at: 0),
    ]
    var part = WebSocketFrame(.text, [0x10], maskingKey: 5)
    part.cargo = .mqttConcealed
    return frames + [inflated, kept, carrier, part]
  }()

  @Test(arguments: frames.indices) func keepsEveryFrame(_ index: Int) throws {
    for sender in Peer.allCases {
      var event = Sample.webSocket(.webSocket(Self.frames[index]), sender: sender)
      event.context.frame = 2
      let line = line(event)
      #expect(try read(line) == event, "\(line.prefix(300))")
      guard case .webSocket(let frame) = try read(line).body else { continue }
      #expect(frame.encoded() == Self.frames[index].encoded())
    }
  }

  static let handshakes: [WebSocketHandshake] = {
    let odd = "GET  /a HTTP/1.1\r\nHost:a\r\n  folded\r\nX: \u{1}\r\n\r\n"
    var wrong = Sample.response(subprotocol: "other", extensions: "x")
    wrong = WebSocketResponse(
      HTTPHead(
        Array(String(decoding: wrong.head.bytes, as: UTF8.self).replacing("s3", with: "S3").utf8)),
      to: Sample.request())
    return [
      .request(Sample.request()), .request(Sample.request(target: "/a?b=c&token=d")),
      .request(Sample.request(target: "*", [.init("Cookie", "a=b"), .init("Empty", "")])),
      .request(WebSocketRequest(HTTPHead(Array(odd.utf8)))),
      .request(WebSocketRequest(HTTPHead([0xFF, 0x0A, 0x0A]))),
      .response(Sample.response()), .response(wrong),
      .response(WebSocketResponse(HTTPHead(Array("HTTP/1.1 403\r\n\r\n".utf8)), to: nil)),
      .response(WebSocketResponse(HTTPHead(Array("HTTP/1.0 500 Very Bad\n\n".utf8)), to: nil)),
      .response(WebSocketResponse(HTTPHead(Array("HTTP/1.1 1x1 a\r\n\r\n".utf8)), to: nil)),
    ]
  }()

  @Test(arguments: handshakes.indices) func keepsEveryHandshake(_ index: Int) throws {
    var event = Sample.webSocket(.handshake(Self.handshakes[index]))
    event.context.frame = 2
    let line = line(event)
    #expect(try read(line) == event, "\(line)")
    #expect(line.contains("\"type\":\"\(Self.handshakes[index].name)\""))
  }

  @Test func keepsWhatAPacketRunsOver() throws {
    var event = try Sample.publish("a", "b", qos: 1)
    event.context.over = .webSocket
    #expect(line(event).contains(#""protocol":"mqtt-3.1.1","over":"websocket","type":"PUBLISH""#))
    #expect(try read(line(event)) == event)
    let closing = ConnectionClosing(how: .fin, firstFrame: 1, firstTime: Sample.time)
    for body in [Event.Body.closed(closing), .gap(Gap(bytes: 3, reason: .limit))] {
      let event = Sample.webSocket(body)
      #expect(try read(line(event)) == event)
    }
  }

  @Test func writesWhatTheFieldsAreCalled() {
    let text = line(
      Sample.webSocket(
        .webSocket(WebSocketFrame(.text, Array("Hello".utf8), maskingKey: 0x37FA_213D))))
    #expect(
      text.hasSuffix(
        #""protocol":"websocket","type":"TEXT","length":5,"fin":true,"masked":true,"#
          + #""maskingKey":"37fa213d","payload":{"utf8":"Hello"}}"#))
    let close = line(
      Sample.webSocket(
        .webSocket(WebSocketFrame(.close, [3, 237] + Array("no".utf8))), sender: .server))
    #expect(
      close.hasSuffix(
        #""type":"CLOSE","length":4,"fin":true,"masked":false,"closeCode":1005,"closeReason":"no","#
          + #""payload":{"base64":"A+1ubw=="},"errors":[{"code":"invalid-close-code","field":"#
          + #""closeCode","offset":2,"message":"the status code must not be sent"}]}"#))
    let answer = line(Sample.webSocket(.handshake(.response(Sample.response())), sender: .server))
    #expect(
      answer.hasSuffix(
        #""type":"UPGRADED","status":101,"reason":"Switching Protocols","http":"HTTP/1.1","#
          + #""subprotocol":"mqtt","headers":[["Upgrade","websocket"],["Connection","Upgrade"],"#
          + #"["Sec-WebSocket-Accept","s3pPLMBiTxaQ9kYGzzhZRbK+xOo="],"#
          + #"["Sec-WebSocket-Protocol","mqtt"]]}"#))
  }

  // MARK: Secrets

  @Test func hidesSecretsInFramesAndTheirBytes() throws {
    let secret = Array(#"{"token":"geheim"}"#.utf8)
    var compressed = WebSocketFrame(.text, [1, 2, 3], reservedBits: 4)
    compressed.inflated = secret
    var carrier = WebSocketFrame(.binary, [0x30, 21, 0, 1, 0x61] + secret)
    carrier.cargo = .mqtt
    var part = WebSocketFrame(.binary, Array("geheim".utf8))
    part.cargo = .mqttConcealed
    for frame in [WebSocketFrame(.text, secret), compressed, carrier, part] {
      let event = Sample.webSocket(.webSocket(frame), sender: .server)
      let hidden = line(event, showsSecrets: false)
      #expect(!hidden.contains("geheim") && !hidden.contains("\"bytes\""), "\(hidden)")
      #expect(hidden.contains("***"))
      // What is left can be read, and says the same without compression.
      guard case .webSocket(let read) = try read(hidden).body else { continue }
      #expect(read.header.reservedBits == 0 && read.inflated == nil)
      #expect(read.header.payloadLength == UInt64(read.payload.count))
    }
  }

  /// A frame whose bytes are withheld, and whose length is more than JSON has exact numbers for.
  @Test(arguments: [12, 1 << 53, (1 << 53) + 1, 683_177_591_878_697_573, 1 << 62])
  func readsHowMuchOfAHiddenFrameIsMissing(_ missing: Int) throws {
    var frame = WebSocketFrame(.text, Array(#"{"token":"geheim"}"#.utf8))
    frame.header = WebSocketFrameHeader(
      .text, isFinal: true, payloadLength: UInt64(frame.payload.count + missing))
    let hidden = line(Sample.webSocket(.webSocket(frame)), showsSecrets: false)
    #expect(hidden.contains("\"missing\":\(missing)") && !hidden.contains("\"bytes\""), "\(hidden)")
    guard case .webSocket(let read) = try read(hidden).body else {
      Issue.record("no frame"); return
    }
    #expect(read.header.payloadLength == UInt64(read.payload.count + missing))
  }

  // MARK: Errors

  @Test(arguments: [
    (#""type":"TEXT","fin":true,"masked":true,"payload":"a""#, "maskingKey"),
    (#""type":"TEXT","fin":true,"masked":true,"maskingKey":"xyz","payload":"a""#, "maskingKey"),
    (
      #""type":"TEXT","fin":true,"masked":true,"maskingKey":"+1234567","payload":"a""#, "maskingKey"
    ),
    (#""type":"TEXT","masked":false,"payload":"a""#, "fin"),
    (#""type":"TEXT","fin":true,"masked":false"#, "payload"),
    (#""type":"TEXT","fin":true,"masked":false,"rsv":8,"payload":"a""#, "rsv"),
    (#""type":"RESERVED","opcode":9,"fin":true,"masked":false,"payload":"a""#, "opcode"),
    (#""type":"PUBLISH","fin":true,"masked":false,"payload":"a""#, "type"),
    (#""type":"TEXT","bytes":"!""#, "bytes"), (#""type":"TEXT","bytes":"gg==""#, "bytes"),
    (#""type":"TEXT","bytes":"iQA=""#, "bytes"), (#""type":"TEXT","bytes":"gQJh""#, "bytes"),
    (#""type":"TEXT","bytes":"gQBh""#, "bytes"),
    (
      #""type":"TEXT","fin":true,"masked":false,"payload":"a","compressed":true,"notInflated":"x""#,
      "notInflated"
    ),
    (#""type":"TEXT","fin":true,"masked":false,"payload":"a","errors":[{}]"#, "code"),
    (
      #""type":"TEXT","fin":true,"masked":false,"payload":"a","errors":[{"code":"x","field":"y"}]"#,
      "errors"
    ),
    (#""type":"TEXT","over":"udp","fin":true,"masked":false,"payload":"a""#, "over"),
    (#""type":"UPGRADE","target":"/","http":"HTTP/1.1""#, "method"),
    (
      #""type":"UPGRADE","method":"GET","target":"/","http":"HTTP/1.1","headers":[["a"]]"#,
      "headers"
    ),
    (#""type":"UPGRADED","status":1000,"http":"HTTP/1.1","reason":"""#, "status"),
    (#""type":"REFUSED","status":101,"http":"HTTP/1.1","reason":"""#, "status"),
    (#""type":"UPGRADED","bytes":"?""#, "bytes"),
  ])
  func refusesWhatIsNoFrameOrHandshake(fields: String, key: String) {
    let line =
      #"{"frame":2,"time":"2026-11-21T07:39:01Z","connection":1,"from":"client","protocol":"websocket","#
      + fields + "}"
    do {
      _ = try read(line)
      Issue.record("read \(fields)")
    } catch let error as RecordingError {
      #expect(error.message.contains("\"\(key)\""), "\(error)")
      #expect(error.line == 2 && error.column >= 1)
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test(arguments: [UInt8](#""{0\,[]"#.utf8)) func survivesDamageAtAnyByte(_ damage: UInt8) throws {
    let events =
      Self.frames.filter { $0.payload.count < 100 }.map { Sample.webSocket(.webSocket($0)) }
      + Self.handshakes.prefix(3).map { Sample.webSocket(.handshake($0)) }
    var (refused, changed) = (0, 0)
    for event in events {
      let bytes = Array(line(event).utf8)
      for index in bytes.indices {
        var damaged = bytes
        damaged[index] = damage
        let text = String(decoding: damaged, as: UTF8.self)
        do {
          let other = try read(text)
          // What is read is written as what it is, and shown.
          #expect(try read(line(other)) == other, "\(text)")
          if other != event { changed += 1 }
          var shown: [UInt8] = []
          var writer = EventTextWriter()
          other.withView { writer.append($0, to: &shown) }
          #expect(!shown.isEmpty)
        } catch let error as RecordingError {
          refused += 1
          #expect(error.line == 2 && error.column >= 1, "\(text)")
        }
      }
    }
    // Most bytes of a line are of its form; some are of a value, which may be any.
    #expect(refused > changed && changed > 0)
  }

  /// An answer is judged by the request before it, whatever its line says of faults.
  @Test(arguments: [nil, "HTTP/1.1 103 Early Hints"])
  func judgesAnAnswerByItsRequest(interim: String?) throws {
    let request = WebSocketRequest(
      target: "/",
      fields: [
        .init("Host", "h"), .init("Upgrade", "websocket"), .init("Connection", "Upgrade"),
        .init("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        .init("Sec-WebSocket-Version", "13"),
      ])
    let right = WebSocketResponse(accepting: request, subprotocol: nil)
    var wrong = right.head.fields
    wrong.removeAll { $0.name == "Sec-WebSocket-Accept" }
    wrong.append(.init("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOp="))
    let edited = WebSocketResponse(
      HTTPHead(startLine: right.head.startLine, fields: wrong), context: [])
    #expect(edited.faults == [])
    var lines = [
      #"{"reprise":1,"created":"2026-11-21T00:00:00Z","source":{"kind":"capture"},"redacted":[]}"#,
      line(Sample.webSocket(.handshake(.request(request)))),
    ]
    if let interim {
      let head = HTTPHead(startLine: interim, fields: [])
      lines.append(
        line(
          Sample.webSocket(.handshake(.response(.init(head, to: nil))), sender: .server)))
    }
    lines.append(line(Sample.webSocket(.handshake(.response(edited)), sender: .server)))
    var reader = RecordingReader()
    var last: Event?
    for (index, line) in lines.enumerated() {
      let bytes = Array(line.utf8)
      last = try reader.read(line: bytes.span.bytes, number: index + 1)
    }
    guard case .handshake(.response(let read))? = last?.body else {
      Issue.record("there is no response")
      return
    }
    #expect(read.faults.map(\.code) == [.wrongAccept])
  }
}
