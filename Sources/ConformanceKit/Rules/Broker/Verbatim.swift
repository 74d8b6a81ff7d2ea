internal import RepriseCore
internal import Wire

// Characters that stay what they are: sections 1.5.4 (3.1.1: 1.5.3) and 4.7.3.
extension BrokerJudge {
  /// U+FEFF, which some take for a mark of the byte order.
  private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Counts a message of which the topic came as it was published, where it has other characters than those of ASCII.
  func judgeText(
    _ topic: RawSpan, _ delivery: borrowing Delivery, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard !topic.isASCII else { return }
    if topic.beginsWithMark { tally.satisfy(.markStays, hearing) }
    if delivery.matching.count > 0 { tally.satisfy(.matchingIsRaw, hearing) }
  }

  /// Judges a message that nobody published, if it is one whose topic began with U+FEFF.
  ///
  /// It comes for a filter that begins so as well: without that it might be of a publisher that was not seen.
  mutating func judgeLostMark(
    _ packet: borrowing MQTTPacketView, _ topic: RawSpan, _ delivery: borrowing Delivery,
    _ event: borrowing EventView, _ state: inout ConnectionState, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard hasMarks, delivery.isKnown, delivery.matching.count == 0,
      delivery.matching.removed == nil, !topic.beginsWithMark,
      // What is hidden of two payloads looks the same.
      !packet.payload.holdsHidden
    else { return }
    let marked = Self.mark + [UInt8](copying: topic)
    let content = ContentHash(topic: marked.span.bytes, payload: packet.payload)
    guard let source = ledger[Self.key(content, at: delivery.server)], source.isSingle else {
      return
    }
    var matching = Matching()
    state.subscribing.subscriptions.forEachMatch(of: marked.span.bytes) { matching.add($0) }
    guard matching.count > 0, !topic.holdsHidden else { return }
    let name = String(copying: topic)
    state.ownRare.suspicions.add(
      .markStays, event, hearing, &tally,
      FindingText(
        "the server took U+FEFF from the topic of the message of frame \(source.first.frame)",
        expected: "a topic that begins with the bytes EF BB BF", actual: "topic \"\(name)\"",
        evidence: source.evidence + matching.evidence))
  }
}

extension RawSpan {
  /// Whether it begins with U+FEFF.
  @inline(__always)
  var beginsWithMark: Bool {
    withUnsafeBytes { $0.count >= 3 && $0[0] == 0xEF && $0[1] == 0xBB && $0[2] == 0xBF }
  }

  /// Whether all its bytes are characters of ASCII.
  fileprivate var isASCII: Bool {
    withUnsafeBytes { bytes in
      var start = 0
      while bytes.count - start >= 8 {
        let word = bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
        guard word & 0x8080_8080_8080_8080 == 0 else { return false }
        start += 8
      }
      return bytes[start...].allSatisfy { $0 < 0x80 }
    }
  }
}
