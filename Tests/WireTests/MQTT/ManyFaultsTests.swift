import Testing
import Wire

/// A packet can break rules as often as it has bytes; what is kept of that has a bound.
@Suite struct ManyFaultsTests {
  private static func length(_ count: Int) -> [UInt8] {
    var rest = count
    var bytes: [UInt8] = []
    repeat {
      bytes.append(UInt8(rest % 128) | (rest >= 128 ? 0x80 : 0))
      rest /= 128
    } while rest > 0
    return bytes
  }

  private static func packet(_ first: UInt8, _ body: [UInt8]) -> [UInt8] {
    [first] + length(body.count) + body
  }

  private static func faults(_ bytes: [UInt8]) throws -> (kept: [MQTTFault], more: Int) {
    guard case .header(let header) = MQTTFixedHeader.read(bytes.span.bytes) else { return ([], 0) }
    let view = MQTTPacketView(bytes.span.bytes, header: header, version: .v3_1_1)
    return (view.faults, view.moreFaults)
  }

  @Test(
    "A SUBACK of bad codes keeps the first 64 faults, and counts the others",
    arguments: [
      (1, 1, 0), (63, 63, 0), (64, 64, 0), (65, 64, 1), (100_000, 64, 99_936),
    ])
  func badCodes(codes: Int, kept: Int, more: Int) throws {
    let bytes = Self.packet(0x90, [0, 1] + Array(repeating: 0x77, count: codes))
    let faults = try Self.faults(bytes)
    #expect(faults.kept.map(\.offset) == (0..<kept).map { bytes.count - codes + $0 })
    #expect(faults.kept.allSatisfy { $0.code == .unknownReasonCode })
    #expect(faults.more == more)
  }

  @Test("The first fault of each kind is kept, however late it comes")
  func lateKinds() throws {
    let bad: [UInt8] = [0, 2, 0x23, 0x78, 0xFF]
    let body = [0, 1] + Array(repeatElement(bad, count: 1_000).joined()) + [0, 0, 0]
    let faults = try Self.faults(Self.packet(0x82, body))
    // Each bad filter has three faults; the empty one at the end has a fourth kind.
    #expect(faults.kept.count == 65 && faults.more == 3 * 1_000 - 64)
    #expect(faults.kept.last?.code == .emptyTopic)
    let kinds = Set(faults.kept.map(\.code))
    #expect(
      kinds == [.misplacedMultiLevelWildcard, .reservedOptionBits, .invalidQoS, .emptyTopic])
  }
}
