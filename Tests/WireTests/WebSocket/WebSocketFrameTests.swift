import Testing
import Wire

/// The frames of RFC 6455 section 5.7, and every fault that a frame shows by itself.
@Suite struct WebSocketFrameTests {
  static let vectors: [(bytes: [UInt8], sender: WebSocketRole, frame: WebSocketFrame)] = [
    (hex("81 05 48656c6c6f"), .server, .text("Hello")),
    (hex("81 85 37fa213d 7f9f4d5158"), .client, .text("Hello", key: 0x37FA_213D)),
    (hex("01 03 48656c"), .server, .text("Hel", isFinal: false)),
    (hex("80 02 6c6f"), .server, WebSocketFrame(.continuation, hex("6c6f"))),
    (hex("89 05 48656c6c6f"), .server, WebSocketFrame(.ping, hex("48656c6c6f"))),
    (
      hex("8a 85 37fa213d 7f9f4d5158"), .client,
      WebSocketFrame(.pong, hex("48656c6c6f"), maskingKey: 0x37FA_213D)
    ),
    (
      hex("82 7E 0100") + [UInt8](repeating: 7, count: 256), .server,
      WebSocketFrame(.binary, [UInt8](repeating: 7, count: 256))
    ),
    (
      hex("82 7F 0000000000010000") + [UInt8](repeating: 7, count: 65_536), .server,
      WebSocketFrame(.binary, [UInt8](repeating: 7, count: 65_536))
    ),
  ]

  @Test(arguments: vectors.indices) func agreesWithTheRFC(_ index: Int) throws {
    let (bytes, sender, frame) = Self.vectors[index]
    #expect(frame.encoded() == bytes)
    #expect(WebSocketFrame(bytes: bytes) == frame)
    frame.withView(from: sender) { view in
      #expect(view.faults.isEmpty && view.missing == 0)
      #expect(WebSocketFrame(copying: view) == frame)
    }
    let stream = SeenStream(bytes, from: sender, isFromStart: false)
    #expect(stream.frames.map(\.payload) == [frame.payload])
  }

  /// A frame from a sender, the code, and its place.
  static let faults: [(String, WebSocketRole, WebSocketFault.Code, Int)] =
    [
      ("83 00", .server, .reservedOpcode, 0), ("87 00", .server, .reservedOpcode, 0),
      ("8B 00", .server, .reservedOpcode, 0), ("8F 00", .server, .reservedOpcode, 0),
      ("81 01 61", .client, .unmaskedFromClient, 1), ("89 00", .client, .unmaskedFromClient, 1),
      ("81 80 00000000", .server, .maskedFromServer, 1),
      ("8A 80 37fa213d", .server, .maskedFromServer, 1),
      ("82 7E 0001 00", .server, .lengthNotShortest, 1),
      ("82 7F 0000000000000001 00", .server, .lengthNotShortest, 1),
      ("82 7F 8000000000000000", .server, .lengthTooLarge, 2),
      ("09 00", .server, .fragmentedControl, 0), ("08 02 03E8", .server, .fragmentedControl, 0),
      ("0A 00", .server, .fragmentedControl, 0),
      ("89 7E 007E" + String(repeating: "00", count: 126), .server, .longControl, 1),
      ("88 01 03", .server, .halfCloseCode, 2),
      ("88 04 03E8 61FF", .server, .invalidReason, 5),
      // A character that the frame's end cuts.
      ("88 04 03E8 61C3", .server, .invalidReason, 6),
      ("88 84 00000000 03E8 61FF", .client, .invalidReason, 9),
    ]
    + [0, 999, 1004, 1005, 1006, 1015, 1016, 2000, 2999, 5000, 65_535].map { code in
      let digits = String(code, radix: 16)
      let padded = String(repeating: "0", count: 4 - digits.count) + digits
      return ("88 02 \(padded)", .server, .invalidCloseCode, 2)
    }

  @Test(arguments: faults.indices) func tellsEveryFault(_ index: Int) throws {
    let (text, sender, code, offset) = Self.faults[index]
    let frame = try #require(WebSocketFrame(bytes: hex(text)))
    frame.withView(from: sender) { view in
      #expect(view.faults.map(\.code) == [code])
      #expect(view.faults.map(\.offset) == [offset])
      #expect(WebSocketFrame(copying: view) == frame)
    }
    #expect(frame.encoded() == hex(text))
  }

  @Test func hasATestForEveryFaultOfAFrame() {
    let tested = Set(Self.faults.map(\.2))
    let handshake = Set(WebSocketHandshakeTests.tested)
    let all = Set(WebSocketFault.Code.allCases.filter { !$0.needsContext })
    #expect(
      tested.union(handshake).isSuperset(of: all), "\(all.subtracting(tested.union(handshake)))")
  }

  @Test(arguments: [1000, 1001, 1002, 1003, 1007, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999])
  func takesEveryCodeThatMayBeSent(_ code: UInt16) {
    let frame = WebSocketFrame(
      .close, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array("Grüße".utf8))
    frame.withView(from: .server) { view in
      #expect(view.faults.isEmpty)
      #expect(view.closeCode == code)
      #expect(String(copying: view.closeReason) == "Grüße")
    }
  }

  @Test func hasNoCloseCodeWhereNoneStands() {
    for frame in [WebSocketFrame(.close, []), WebSocketFrame(.ping, [3, 232])] {
      frame.withView(from: .server) { view in
        #expect(view.closeCode == nil && view.closeReason.isEmpty && view.faults.isEmpty)
      }
    }
  }

  @Test func sortsSeveralFaults() throws {
    let frame = try #require(WebSocketFrame(bytes: hex("08 7E 0002 0000")))
    frame.withView(from: .client) { view in
      #expect(
        Set(view.faults.map(\.code))
          == [.fragmentedControl, .unmaskedFromClient, .lengthNotShortest, .invalidCloseCode])
      #expect(view.faults.map(\.offset) == [0, 1, 1, 4])
    }
  }

  @Test func readsWhatACaptureCut() throws {
    let whole = WebSocketFrame(.binary, [1, 2, 3, 4, 5], maskingKey: 0x0102_0304).encoded()
    for count in 0...whole.count {
      let frame = WebSocketFrame(bytes: Array(whole.prefix(count)))
      #expect((frame == nil) == (count < 6))
      frame?.withView(from: .client) { view in
        #expect(view.missing == whole.count - count && view.faults.isEmpty)
      }
      if let frame { #expect(frame.encoded() == Array(whole.prefix(count))) }
    }
    #expect(WebSocketFrame(bytes: whole + [0]) == nil)
  }

  @Test func everyMessageIsASentence() {
    for code in WebSocketFault.Code.allCases {
      #expect(!code.message.isEmpty)
      let fault = WebSocketFault(code, in: .opcode, at: 3)
      #expect(fault.description == "\(code.message) (opcode, byte 3)")
    }
    for code in WebSocketFramingError.Code.allCases { #expect(!code.message.isEmpty) }
  }
}
