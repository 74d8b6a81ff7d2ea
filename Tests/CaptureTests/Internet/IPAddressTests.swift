import Capture
import Testing

@Suite struct IPAddressTests {
  /// Examples of RFC 5952 and the corners of its rules.
  private static let addresses: [(high: UInt64, low: UInt64, text: String)] = [
    (0, 0, "::"), (0, 1, "::1"), (1 << 48, 0, "1::"),
    (0x2001_0db8_0000_0000, 1, "2001:db8::1"),
    (0x2001_0db8_0000_0001, 0x0001_0001_0001_0001, "2001:db8:0:1:1:1:1:1"),
    (0x2001_0000_0000_0001, 0x0000_0000_0000_0001, "2001:0:0:1::1"),
    (0x2001_0db8_0000_0000, 0x0001_0000_0000_0001, "2001:db8::1:0:0:1"),
    (0xfe80_0000_0000_0000, 0xabcd_00ef_0000_0000, "fe80::abcd:ef:0:0"),
    (0x0001_0002_0003_0004, 0x0005_0006_0007_0008, "1:2:3:4:5:6:7:8"),
    (0, 0xffff_c000_0201, "::ffff:192.0.2.1"),
    (0x0000_0001_0001_0001, 0x0001_0001_0001_0000, "0:1:1:1:1:1:1:0"),
  ]

  @Test(arguments: addresses)
  func writesIPv6AsRecommended(address: (high: UInt64, low: UInt64, text: String)) {
    let value = IPAddress(high: address.high, low: address.low)
    #expect(value.description == address.text)
    #expect(Endpoint(address: value, port: 80).description == "[\(address.text)]:80")
  }

  @Test func writesIPv4WithDots() {
    let address = IPAddress(ipv4: 0x7f00_0001)
    #expect(address.description == "127.0.0.1")
    #expect(Endpoint(address: address, port: 1_883).description == "127.0.0.1:1883")
  }

  @Test func tellsMappedAddressesFromIPv4() {
    #expect(IPAddress(ipv4: 1) != IPAddress(high: 0, low: 0xffff_0000_0001))
    #expect(IPAddress(ipv4: 1) == IPAddress(ipv4: 1))
  }
}
