import Capture
import Testing

@Suite struct FragmentTests {
  private typealias Packet = PacketBuilder

  private static let payload = (0..<100).map { UInt8($0) }
  private static let datagram = Packet.tcp(payload)

  /// IPv4 fragments of a datagram, cut at multiples of eight.
  private static func ipv4(
    _ cuts: [Int], identification: UInt16 = 5, of datagram: [UInt8] = datagram
  ) -> [[UInt8]] {
    zip([0] + cuts, cuts + [datagram.count]).map { start, end in
      let more: UInt16 = end < datagram.count ? 0x2000 : 0
      return Packet.ipv4(
        Array(datagram[start..<end]), identification: identification,
        fragment: UInt16(start / 8) | more)
    }
  }

  private static func ipv6(_ cuts: [Int], next: UInt8 = 6, of datagram: [UInt8]) -> [[UInt8]] {
    zip([0] + cuts, cuts + [datagram.count]).map { start, end in
      Packet.ipv6(
        Packet.fragmentHeader(
          // Only the first fragment must name the protocol.
          next: start == 0 ? next : 59, offset: UInt16(start), more: end < datagram.count)
          + datagram[start..<end], next: 44)
    }
  }

  private static let orders = [
    [0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1], [1, 2, 0], [0, 2, 1],
  ]

  @Test(arguments: orders)
  func reassemblesInAnyOrder(order: [Int]) {
    for parts in [Self.ipv4([8, 48]), Self.ipv6([8, 48], of: Self.datagram)] {
      let dissection = Dissection(.raw, order.map { parts[$0] })
      #expect(dissection.segments.map(\.payload) == [Self.payload])
      #expect(dissection.segments.map(\.frame) == [3])
      #expect(dissection.statistics.fragments == 3)
      #expect(dissection.statistics.reassembledDatagrams == 1)
      #expect(dissection.statistics.pendingDatagrams == 0)
    }
  }

  @Test func followsHeadersInsideTheDatagram() {
    let inner = Packet.extensionHeader(next: 6) + Self.datagram
    let dissection = Dissection(.raw, Self.ipv6([16, 64], next: 60, of: inner))
    #expect(dissection.segments.map(\.payload) == [Self.payload])
  }

  @Test func followsTunnelsInsideTheDatagram() {
    let inner = Packet.ipv6(Self.datagram)
    let parts = Self.ipv6([64], next: 41, of: inner)
    #expect(Dissection(.raw, parts).segments.map(\.payload) == [Self.payload])
  }

  @Test func countsCopiesOfFragments() {
    let parts = Self.ipv4([48])
    let dissection = Dissection(.raw, [parts[0], parts[0], parts[1], parts[1], parts[0]])
    #expect(dissection.segments.map(\.payload) == [Self.payload])
    #expect(dissection.statistics.duplicateFragments == 3)
    #expect(dissection.statistics.pendingDatagrams == 0)
  }

  @Test func keepsTheFirstOfOverlappingBytes() {
    let parts = Self.ipv4([48])
    var other = Self.datagram
    for index in 24..<other.count { other[index] = 0xff }
    let overlapping = Packet.ipv4(
      Array(other[24..<80]), identification: 5, fragment: 24 / 8 | 0x2000)
    let dissection = Dissection(.raw, [parts[0], overlapping, parts[1]])
    var expected = Self.payload
    for index in (48 - 20)..<(80 - 20) { expected[index] = 0xff }
    #expect(dissection.segments.map(\.payload) == [expected])
  }

  @Test func tellsDatagramsApart() {
    let one = Self.ipv4([48], identification: 1)
    let two = Self.ipv4([64], identification: 2, of: Packet.tcp([9, 9, 9] + Self.payload))
    let dissection = Dissection(.raw, [one[0], two[1], one[1], two[0]])
    #expect(dissection.segments.map(\.payload) == [Self.payload, [9, 9, 9] + Self.payload])
  }

  @Test func keepsWhatWasCapturedOfCutFragments() {
    let parts = Self.ipv4([48])
    // The first fragment is 68 bytes on the wire; the second loses what lies behind that.
    let dissection = Dissection(.raw, parts, cutTo: 60)
    #expect(dissection.segments.map(\.payload) == [Array(Self.payload[..<20])])
    #expect(dissection.segments.map(\.wireLength) == [100])
  }

  @Test func countsContradictions() {
    let parts = Self.ipv4([48])
    let beyond = Packet.ipv4([1, 2, 3], identification: 5, fragment: 40)
    let dissection = Dissection(.raw, [parts[1], beyond, parts[0]])
    #expect(dissection.segments.map(\.payload) == [Self.payload])
    #expect(dissection.statistics.malformedFragments == 1)
    let tooLong = Packet.ipv4([1, 2, 3, 4, 5, 6, 7, 8], fragment: 0x1fff)
    #expect(Dissection(.raw, [tooLong]).statistics.malformedFragments == 1)
    let empty = Packet.ipv4([], fragment: 0x2000)
    #expect(Dissection(.raw, [empty]).statistics.malformedFragments == 1)
  }

  @Test func givesUpTheOldestWhenThereAreTooMany() {
    let firsts = (0..<300).map { Self.ipv4([48], identification: $0)[0] }
    let last = Self.ipv4([48], identification: 299)[1]
    let lost = Self.ipv4([48], identification: 0)[1]
    let dissection = Dissection(.raw, firsts + [last, lost])
    #expect(dissection.segments.count == 1)
    #expect(dissection.statistics.evictedDatagrams == 45)
    #expect(dissection.statistics.pendingDatagrams == 255)
  }

  @Test func holdsNoMoreBytesThanItMay() {
    let large = [UInt8](repeating: 1, count: 65_000)
    let parts = (0..<140).map {
      Packet.ipv4(large, identification: UInt16($0), fragment: 0x2000)
    }
    let counts = Dissection(.raw, parts).statistics
    #expect(counts.pendingDatagrams == (8 << 20) / 65_000)
    #expect(counts.evictedDatagrams + counts.pendingDatagrams == 140)
  }

  @Test func forgetsFragmentsAfterAMinute() throws {
    let parts = Self.ipv4([48])
    let stale = Packet.ipv4(
      [UInt8](repeating: 0xff, count: 48), identification: 5, fragment: 0x2000)
    var file = PcapBuilder(linkType: 101)
    file.records = [
      .init(seconds: 100, data: stale), .init(seconds: 161, data: parts[1]),
      .init(seconds: 100, data: parts[0]),
    ]
    let reading = try Reading(file.bytes)
    #expect(reading.segments.map(\.payload) == [Self.payload])
    #expect(reading.statistics.evictedDatagrams == 1)
  }
}
