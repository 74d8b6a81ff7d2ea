import Testing

@testable import LiveClient

/// Which messages of QoS 2 are copies.
@Suite struct ExactlyOnceLedgerTests {
  @Test func tellsCopiesFromMessages() {
    var ledger = ExactlyOnceLedger()
    let received = [1, 2, 1, 1].map { ledger.received($0) }
    #expect(received == [true, true, true, true])
    #expect(!ledger.isEmpty)
    let handedOut = [1, 2, 1, 1].map { ledger.handsOut($0) }
    #expect(handedOut == [true, true, false, false])
    #expect(ledger.isEmpty)
    let isReceived = ledger.received(1)
    let isHandedOut = ledger.handsOut(1)
    #expect(isReceived && isHandedOut)
  }

  @Test func tellsWhenACopyHidesAMessage() {
    var ledger = ExactlyOnceLedger()
    for _ in 0..<2 { _ = ledger.received(1) }
    _ = ledger.handsOut(1)
    let first = ledger.received(1)
    #expect(!first && !ledger.isStuck)
    let second = ledger.received(1)
    #expect(!second && ledger.isStuck)
  }

  @Test(
    arguments: [
      ("Client a received PUBLISH (d0, q2, r0, m7, 't', ... (1 bytes))", 7),
      ("Client a received PUBLISH (d1, q2, r1, m65535, 't, q2, m9', ... (1 bytes))", 65_535),
      ("Client a received PUBLISH (d0, q1, r0, m7, 't', ... (1 bytes))", nil),
      ("Client b received PUBLISH (d0, q2, r0, m7, 't', ... (1 bytes))", nil),
      ("Client a received PUBREL (Mid: 7)", nil), ("Client a received PUBLISH (d", nil), ("", nil),
    ] as [(String, Int32?)])
  func readsTheLog(_ line: String, _ mid: Int32?) {
    #expect(ExactlyOnceLedger.packetIdentifier(in: line, clientID: "a") == mid)
  }
}
