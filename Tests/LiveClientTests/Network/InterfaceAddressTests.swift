import Testing

@testable import LiveClient

/// When there is a network, from the addresses alone.
@Suite struct InterfaceAddressTests {
  private typealias Condition = InterfaceAddress.Condition

  private static let there: Condition = [.up, .running]
  private static let global: [UInt8] = [0x20, 1, 0xd, 0xb8] + zeros(11) + [1]

  private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  private static func fe(_ second: UInt8) -> [UInt8] { [0xfe, second] + zeros(13) + [1] }

  @Test(
    arguments: [
      ("IPv4", there, [192, 0, 2, 2], true),
      ("switched off", [.running], [192, 0, 2, 2], false),
      ("without a cable", [.up], [192, 0, 2, 2], false),
      ("neither", [], [192, 0, 2, 2], false),
      ("a loopback's", [.up, .running, .loopback], [192, 0, 2, 2], false),
      ("link-local", there, [169, 254, 0, 1], false),
      ("before link-local", there, [169, 253, 255, 255], true),
      ("behind link-local", there, [169, 255, 0, 0], true),
      ("of another net with 254", there, [168, 254, 0, 1], true),
      ("the machine's own", there, [127, 0, 0, 1], false),
      ("behind the machine's own", there, [128, 0, 0, 1], true),
      ("not yet told by DHCP", there, [0, 0, 0, 0], false),
      ("the first of all", there, [1, 0, 0, 1], true),
      ("IPv6", there, global, true),
      ("IPv6, switched off", [.running], global, false),
      ("IPv6 of the site alone", there, [0xfd] + zeros(14) + [1], true),
      ("IPv6, link-local", there, fe(0x80), false),
      ("IPv6, the last link-local", there, fe(0xbf), false),
      ("IPv6, before link-local", there, fe(0x7f), true),
      ("IPv6, behind link-local", there, fe(0xc0), true),
      ("IPv6, the machine's own", there, zeros(15) + [1], false),
      ("IPv6, none", there, zeros(16), false),
      ("IPv6, behind the machine's own", there, zeros(15) + [2], true),
      ("IPv6, one bit before", there, zeros(14) + [1, 0], true),
      ("nothing", there, [], false),
      ("of no known length", there, zeros(4) + [1], false),
    ] as [(String, InterfaceAddress.Condition, [UInt8], Bool)])
  func tellsWhetherOneLeadsToOthers(
    _ name: String, _ condition: InterfaceAddress.Condition, _ bytes: [UInt8], _ leads: Bool
  ) {
    let address = InterfaceAddress(condition, bytes)
    #expect(address.leadsToOthers == leads, "\(name)")
    #expect([address].haveNetwork == leads, "\(name)")
  }

  private static let loopback = InterfaceAddress([.up, .running, .loopback], [127, 0, 0, 1])
  private static let ethernet = InterfaceAddress(there, [192, 0, 2, 2])
  private static let unplugged = InterfaceAddress([.up], [192, 0, 2, 2])

  @Test(
    arguments: [
      ([], false, false), ([loopback], false, true), ([ethernet], true, false),
      ([unplugged], false, false), ([loopback, unplugged], false, true),
      ([loopback, unplugged, ethernet], true, true), ([ethernet, loopback], true, true),
    ] as [([InterfaceAddress], Bool, Bool)])
  func tellsWhereAllTogetherLead(
    _ addresses: [InterfaceAddress], _ others: Bool, _ itself: Bool
  ) {
    #expect(addresses.haveNetwork == others)
    for host in ["example.org", "192.0.2.9", "[2001:db8::1]", "localhost.example.org", "::2", ""] {
      #expect(addresses.mayLead(to: host) == others, "\(host)")
    }
    for host in ["localhost", "LocalHost", "app.localhost", "127.0.0.1", "127.1", "[::1]", "::1"] {
      #expect(addresses.mayLead(to: host) == itself, "\(host)")
    }
  }

  @Test func findsTheLoopbackOfThisMachine() throws {
    let addresses = try [InterfaceAddress].ofThisMachine()
    #expect(
      addresses.filter { $0.condition.contains(.loopback) && $0.bytes.count == 4 }
        == [Self.loopback])
  }
}
