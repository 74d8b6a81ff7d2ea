import Capture
import Testing

@Suite struct PacketFilterTests {
  private func matches(
    _ expression: String, _ linkType: LinkType, _ bytes: [UInt8]
  ) throws -> Bool {
    var filter = try PacketFilter(expression)
    let frame = Frame(
      number: 1, time: nil, linkType: linkType, bytes: bytes.span.bytes, wireLength: bytes.count)
    let first = try filter.matches(frame)
    // The second time the program is found, not compiled.
    #expect(try filter.matches(frame) == first)
    return first
  }

  private static let expressions: [(String, Bool)] = [
    ("tcp", true), ("udp", false), ("tcp port 1883", true), ("port 8883", false),
    ("host 10.0.0.1 and dst port 1883", true), ("greater 1000", false), ("", true),
  ]

  @Test(arguments: expressions)
  func appliesToEveryLinkType(expression: String, expected: Bool) throws {
    let packet = PacketBuilder.ipv4()
    #expect(
      try matches(expression, .ethernet, PacketBuilder.ethernet(0x0800, packet)) == expected)
    #expect(try matches(expression, .raw, packet) == expected)
    #expect(try matches(expression, .ipv4, packet) == expected)
    #expect(try matches(expression, .null, [2, 0, 0, 0] + packet) == expected)
    #expect(try matches(expression, .null, [0, 0, 0, 2] + packet) == expected)
    #expect(try matches(expression, .loop, [0, 0, 0, 2] + packet) == expected)
    #expect(try matches(expression, .ppp, [0xff, 3, 0, 0x21] + packet) == expected)
  }

  @Test(arguments: [10, 24, 28, 30] as [UInt8])
  func knowsIPv6OfEveryHost(family: UInt8) throws {
    #expect(try matches("tcp port 1883", .null, [family, 0, 0, 0] + PacketBuilder.ipv6()))
    #expect(try matches("ip6", .loop, [0, 0, 0, family] + PacketBuilder.ipv6()))
  }

  @Test func keepsOneProgramForEveryLinkType() throws {
    var filter = try PacketFilter("tcp")
    let packet = PacketBuilder.ipv4()
    let ethernet = PacketBuilder.ethernet(0x0800, packet)
    for _ in 0..<100 {
      let first = Frame(
        number: 1, time: nil, linkType: .ethernet, bytes: ethernet.span.bytes, wireLength: 1)
      #expect(try filter.matches(first))
      let second = Frame(
        number: 2, time: nil, linkType: .raw, bytes: packet.span.bytes, wireLength: 1)
      #expect(try filter.matches(second))
    }
  }

  @Test func passesOnWhatLibpcapSays() {
    let error = #expect(throws: CaptureError.self) { _ = try PacketFilter("tcp prt 5").expression }
    #expect(error?.code == .invalidFilter)
    #expect(error?.message.contains("syntax error") == true)
  }

  @Test func saysWhereAnExpressionMakesNoSense() throws {
    #expect(try matches("ether host 02:02:02:02:02:02", .ethernet, PacketBuilder.ethernet(1, [])))
    let error = #expect(throws: CaptureError.self) {
      try matches("ether host 02:02:02:02:02:02", .ppp, [0, 0x21])
    }
    #expect(error?.code == .invalidFilter)
    #expect(error?.frame == 1)
  }
}
