import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

@Suite("Messages that are kept")
struct LedgerTests {
  private func publication(_ key: UInt64) -> Publication {
    let context = EventContext(
      time: Timestamp(nanoseconds: 0), frame: 1, connection: 1, sender: .client,
      wire: .mqtt(.v3_1_1))
    return Publication(willOf: 0, key, qos: 0, retain: false, context)
  }

  @Test("The oldest go where there is no room, also of those whose places are taken by others")
  func ring() {
    var ledger = Ledger()
    // Four after another want one place, and the next four one that is 8 behind it.
    let keys = (0..<UInt64(3 * Ledger.capacity)).map { $0 << 32 | $0 / 4 * 8 }
    for key in keys { ledger.add(publication(key)) }
    let kept = keys.filter { ledger[$0] != nil }
    #expect(kept == Array(keys.suffix(Ledger.capacity)))
    #expect(kept.allSatisfy { ledger[$0]?.key == $0 })
  }
}
