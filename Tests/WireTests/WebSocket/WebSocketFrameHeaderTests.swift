import Testing
import Wire

/// RFC 6455 section 5.2, bit by bit.
@Suite struct WebSocketFrameHeaderTests {
  static let lengths: [(length: UInt64, bytes: String)] = [
    (0, "82 00"), (1, "82 01"), (125, "82 7D"), (126, "82 7E 007E"), (127, "82 7E 007F"),
    (65_535, "82 7E FFFF"), (65_536, "82 7F 0000000000010000"),
    (1 << 32, "82 7F 0000000100000000"), (UInt64(Int64.max), "82 7F 7FFFFFFFFFFFFFFF"),
    (1 << 63, "82 7F 8000000000000000"), (.max, "82 7F FFFFFFFFFFFFFFFF"),
  ]

  private static func header(_ bytes: [UInt8], at offset: Int = 0) -> WebSocketFrameHeader? {
    guard case .header(let header) = WebSocketFrameHeader.read(bytes.span.bytes, at: offset) else {
      return nil
    }
    return header
  }

  private static func encoded(_ header: WebSocketFrameHeader) -> [UInt8] {
    var bytes: [UInt8] = []
    header.append(to: &bytes)
    return bytes
  }

  @Test(arguments: lengths.indices) func readsAndWritesEveryFormOfLength(_ index: Int) throws {
    let (length, text) = Self.lengths[index]
    for key: UInt32? in [nil, 0, 0x37FA_213D] {
      let header = WebSocketFrameHeader(.binary, payloadLength: length, maskingKey: key)
      var expected = hex(text)
      if key != nil {
        expected[1] |= 0x80
        expected += key == 0 ? hex("00000000") : hex("37FA213D")
      }
      #expect(Self.encoded(header) == expected)
      #expect(Self.header(expected) == header)
      #expect(Self.header([9, 9] + expected + [9], at: 2) == header)
      #expect(header.size == expected.count && header.isShortest)
      let size = length > Int64.max - 14 ? nil : Int(length) + header.size
      #expect(header.frameSize == size)
      for count in 0..<expected.count { #expect(Self.header(Array(expected.prefix(count))) == nil) }
    }
  }

  @Test(arguments: 0...255) func readsEveryFirstByte(_ byte: Int) throws {
    let byte = UInt8(byte)
    let header = try #require(Self.header([byte, 0]))
    #expect(header.isFinal == (byte >= 0x80))
    #expect(header.reservedBits == (byte & 0x70) / 16)
    #expect(header.opcode.rawValue == byte & 0x0F)
    #expect(header.opcode.isControl == (byte & 0x08 != 0))
    #expect(header.opcode.isDefined == [0, 1, 2, 8, 9, 10].contains(byte & 0x0F))
    #expect(("\(header.opcode.name)" == "RESERVED") == !header.opcode.isDefined)
    let made = WebSocketFrameHeader(
      header.opcode, isFinal: header.isFinal, reservedBits: header.reservedBits, payloadLength: 0)
    #expect(made == header && Self.encoded(made) == [byte, 0])
  }

  @Test(arguments: ["82 7E 007D", "82 7E 0000", "82 7F 000000000000FFFF", "82 7F 0000000000000001"])
  func keepsALengthThatIsNotShortest(_ text: String) throws {
    let header = try #require(Self.header(hex(text)))
    #expect(!header.isShortest)
    #expect(Self.encoded(header) == hex(text))
  }

  @Test func readsNothingOutsideTheBytes() {
    #expect(Self.header([], at: 0) == nil)
    #expect(Self.header([0x81, 0], at: -1) == nil)
    #expect(Self.header([0x81, 0], at: 2) == nil)
    #expect(Self.header([0x81, 0], at: .max) == nil)
  }
}
