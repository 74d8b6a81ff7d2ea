import Testing
import Wire
import WireDeflate

/// What a client sends behind its handshake, and what a server has to make of it.
struct FrameRow: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// The frames, as they stand on the wire.
  let bytes: [UInt8]
  /// The code of the Close frame that answers; nil where the frames are good.
  let code: UInt16?

  init(_ name: String, _ code: UInt16?, _ frames: [WebSocketFrame]) {
    testDescription = name
    bytes = frames.flatMap { $0.encoded() }
    self.code = code
  }

  /// The longest message that the server takes.
  static let limit = 1_000

  /// A client's frame.
  static func frame(
    _ opcode: WebSocketOpcode, _ payload: [UInt8] = [], isFinal: Bool = true, rsv: UInt8 = 0
  ) -> WebSocketFrame {
    WebSocketFrame(
      opcode, payload, isFinal: isFinal, reservedBits: rsv, maskingKey: 0x1234_5678)
  }

  /// A frame whose payload does not follow.
  private static func header(length: UInt64) -> WebSocketFrame {
    WebSocketFrame(
      WebSocketFrameHeader(.binary, payloadLength: length, maskingKey: 1), payload: [])
  }

  private static var longForm: WebSocketFrame {
    var header = WebSocketFrameHeader(.text, payloadLength: 5, maskingKey: 0)
    header.lengthForm = .medium
    return WebSocketFrame(header, payload: Array("hello".utf8))
  }

  private static func closing(_ code: UInt16, _ reason: [UInt8] = []) -> WebSocketFrame {
    frame(.close, [UInt8(code >> 8), UInt8(truncatingIfNeeded: code)] + reason)
  }

  /// Frames that break a rule of framing, where permessage-deflate was not agreed on.
  static let faults: [FrameRow] = [
    FrameRow("unmasked", 1002, [WebSocketFrame(.text, [0x61])]),
    FrameRow("RSV1", 1002, [frame(.text, [0x61], rsv: 0b100)]),
    FrameRow("RSV2", 1002, [frame(.binary, [0x61], rsv: 0b010)]),
    FrameRow("RSV3 on a PING", 1002, [frame(.ping, rsv: 0b001)]),
    FrameRow("opcode 3", 1002, [frame(.init(rawValue: 3))]),
    FrameRow("opcode 15", 1002, [frame(.init(rawValue: 15))]),
    FrameRow("fragmented PING", 1002, [frame(.ping, isFinal: false)]),
    FrameRow("fragmented Close", 1002, [frame(.close, isFinal: false)]),
    FrameRow("PING of 126 bytes", 1002, [frame(.ping, Array(repeating: 0, count: 126))]),
    FrameRow("continuation of nothing", 1002, [frame(.continuation)]),
    FrameRow(
      "message inside a message", 1002, [frame(.text, isFinal: false), frame(.text, [0x61])]),
    FrameRow("length in a longer form", 1002, [longForm]),
    FrameRow("length of 2^63", 1002, [header(length: 1 << 63)]),
    FrameRow("length of 2^63 - 1", 1009, [header(length: .max >> 1)]),
    FrameRow("half a code", 1002, [frame(.close, [0x03])]),
    FrameRow("code 999", 1002, [closing(999)]), FrameRow("code 1004", 1002, [closing(1004)]),
    FrameRow("code 1005", 1002, [closing(1005)]), FrameRow("code 1006", 1002, [closing(1006)]),
    FrameRow("code 1015", 1002, [closing(1015)]), FrameRow("code 1016", 1002, [closing(1016)]),
    FrameRow("code 2999", 1002, [closing(2999)]), FrameRow("code 5000", 1002, [closing(5000)]),
    FrameRow("reason that is not UTF-8", 1007, [closing(1000, [0xC0, 0x80])]),
    FrameRow("reason that ends in a character", 1007, [closing(1000, [0xE2, 0x82])]),
    FrameRow("announced to be too long", 1009, [header(length: UInt64(limit) + 1)]),
    FrameRow(
      "too long with its second fragment", 1009,
      [
        frame(.binary, Array(repeating: 0, count: limit), isFinal: false),
        frame(.continuation, [0]),
      ]),
    FrameRow("as long as may be", nil, [frame(.binary, Array(repeating: 0, count: limit))]),
    FrameRow(
      "PING and PONG in a message", nil,
      [
        frame(.text, [0x61], isFinal: false), frame(.ping, [1]), frame(.pong, [2]),
        frame(.continuation, [], isFinal: false), frame(.continuation, [0x62]),
      ]),
  ]

  /// What is compressed, where permessage-deflate was agreed on.
  static let deflated: [FrameRow] = [
    FrameRow("RSV1 on a PING", 1002, [frame(.ping, rsv: 0b100)]),
    FrameRow(
      "RSV1 on a continuation", 1002,
      [frame(.text, isFinal: false), frame(.continuation, rsv: 0b100)]),
    FrameRow("no DEFLATE", 1007, [frame(.binary, [0xFF, 0xFF, 0xFF], rsv: 0b100)]),
    FrameRow("a bomb", 1009, [frame(.binary, compressed(count: limit + 1), rsv: 0b100)]),
    FrameRow("nearly a bomb", nil, [frame(.binary, compressed(count: limit), rsv: 0b100)]),
  ]

  private static func compressed(count: Int) -> [UInt8] {
    var deflater = WebSocketDeflater()
    return deflater?.deflate(Array(repeating: 0, count: count)) ?? []
  }

  /// Texts whose bytes are UTF-8 or are not (RFC 3629), whole and cut into fragments everywhere.
  static let texts: [FrameRow] = texts(good, nil) + texts(bad, 1007)

  private static let good: [[UInt8]] = [
    [0x00], [0x7F], [0xC2, 0x80], [0xDF, 0xBF], [0xE0, 0xA0, 0x80], [0xED, 0x9F, 0xBF],
    [0xEE, 0x80, 0x80], [0xEF, 0xBF, 0xBE], [0xF0, 0x90, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF],
  ]

  private static let bad: [[UInt8]] = [
    // The second half of a character, and characters without theirs.
    [0x80], [0xBF], [0xC2], [0xE2, 0x82], [0xF0, 0x9F, 0x98], [0xC2, 0x61], [0xE2, 0x61, 0x80],
    // More bytes than needed.
    [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF], [0xF0, 0x80, 0x80, 0x80],
    [0xF0, 0x8F, 0xBF, 0xBF],
    // Surrogates, alone and as a pair.
    [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80],
    // Beyond U+10FFFF, and bytes that never occur.
    [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE],
    [0xFF],
  ]

  private static func texts(_ all: [[UInt8]], _ code: UInt16?) -> [FrameRow] {
    all.flatMap { character in
      let text = [0x61] + character
      return (0..<text.count).map { cut in
        let name = character.map { String($0, radix: 16) }.joined(separator: " ")
        let frames =
          cut == 0
          ? [frame(.text, text)]
          : [
            frame(.text, Array(text[..<cut]), isFinal: false),
            frame(.continuation, Array(text[cut...])),
          ]
        return FrameRow("\(name), cut at \(cut)", code, frames)
      }
    }
  }
}
