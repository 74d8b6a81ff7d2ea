import RepriseCore
import TestSupport
import Testing
import Wire

@testable import SessionDiff

/// Sessions of chance: none differs from itself, and what A has more than B, B has less than A.
@Suite struct RandomTests {
  private static func talk(_ random: inout SplitMix64) -> Talk {
    var talk = Talk()
    for number in 1...random.int(1...4) {
      talk.connection = number
      talk.open()
      talk.connect(random.pick(["a", "b", "c", ""]))
      for _ in 0..<random.int(0...25) { say(&talk, &random) }
      if random.bool() { talk.close(random.pick([.fin, .reset, .endOfCapture])) }
    }
    return talk
  }

  private static func say(_ talk: inout Talk, _ random: inout SplitMix64) {
    let sender = random.pick([Peer.client, .server])
    let id = UInt16(random.int(1...4))
    switch random.int(0...9) {
    case 0: talk.say(.client, .subscribe(packetID: id, [.init("f", options: 0)], []))
    case 1: talk.say(.server, .suback(packetID: id, codes: [0], []))
    case 2: talk.lose(sender)
    case 3, 4:
      let type = random.pick([MQTTPacketType.puback, .pubrec, .pubrel, .pubcomp])
      talk.acknowledge(sender, type, id, code: random.bool() ? 0x10 : nil)
    default:
      let qos = UInt8(random.int(0...2))
      talk.publish(
        sender, random.pick(["x", "y"]), random.pick(["1", "2", #"{"k":1}"#]), qos: qos, id: id,
        dup: qos > 0 && random.int(0...5) == 0)
    }
  }

  @Test(arguments: 0..<150)
  func areTheSameOrMirrored(_ seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    let (a, b) = (Self.talk(&random), Self.talk(&random))
    #expect(try a.differences(from: a) == [])
    let there = try SessionComparison(a.events, b.events)
    let back = try SessionComparison(b.events, a.events)
    #expect(Self.lines(there, isTurned: false) == Self.lines(back, isTurned: true))
    #expect(there.isSame == back.isSame && there.unknown == back.unknown)
  }

  /// A line for each difference, sorted, with the sides in each other's place if they are turned.
  private static func lines(_ comparison: SessionComparison, isTurned: Bool) -> [String] {
    comparison.connections.flatMap { connection -> [String] in
      let numbers = [connection.a?.number ?? 0, connection.b?.number ?? 0]
      let name = "\(isTurned ? numbers.reversed() : numbers)"
      let lines = connection.differences.map { difference -> String in
        let frames = [difference.a?.frame ?? 0, difference.b?.frame ?? 0]
        let kinds: [Difference.Kind: Difference.Kind] = [.onlyA: .onlyB, .onlyB: .onlyA]
        let kind = isTurned ? kinds[difference.kind] ?? difference.kind : difference.kind
        let fields = difference.fields.map { field -> String in
          let values = [field.a, field.b].map { $0?.description ?? "·" }
          return "\(field.place) \(isTurned ? values.reversed() : values)"
        }
        return "\(name) \(kind) \(isTurned ? frames.reversed() : frames) \(fields)"
      }
      return (lines.isEmpty ? [name] : lines)
    }.sorted()
  }

  /// A random walk from one sequence to another: pairs are equal, rise on both sides, and leave nothing between them
  /// that could still be paired.
  @Test(arguments: 0..<200)
  func alignsByRisingPairs(_ seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    let values = random.int(1...30)
    let a = (0..<random.int(0...40)).map { _ in UInt64(random.int(0...values)) }
    let b = (0..<random.int(0...40)).map { _ in UInt64(random.int(0...values)) }
    let alignment = Alignment(a, b)
    #expect(alignment.pairs.allSatisfy { a[$0.a] == b[$0.b] })
    for (pair, next) in zip(alignment.pairs, alignment.pairs.dropFirst()) {
      #expect(pair.a < next.a && pair.b < next.b)
    }
    for hunk in alignment.hunks {
      #expect(Set(a[hunk.a]).isDisjoint(with: b[hunk.b]), "\(a) \(b)")
    }
    let between = alignment.hunks.reduce(0) { $0 + $1.a.count + $1.b.count }
    #expect(between + 2 * alignment.pairs.count == a.count + b.count)
    #expect(!alignment.isRough)
  }

  /// Without anything that stands once, it finds the longest common series.
  @Test(arguments: 0..<100)
  func findsTheLongest(_ seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    func series() -> [UInt64] {
      // Each value twice at the ends, where they can't be trimmed.
      let middle = (0..<random.int(0...12)).map { _ in UInt64(random.int(0...2)) }
      return middle.flatMap { [$0, $0] }
    }
    let (a, b) = (series(), series())
    #expect(Alignment(a, b).pairs.count == Self.longestCommon(a, b))
  }

  private static func longestCommon(_ a: [UInt64], _ b: [UInt64]) -> Int {
    var row = [Int](repeating: 0, count: b.count + 1)
    for value in a {
      var before = 0
      for (index, other) in b.enumerated() {
        let above = row[index + 1]
        row[index + 1] = value == other ? before + 1 : max(above, row[index])
        before = above
      }
    }
    return row[b.count]
  }

  /// Two long ones that have nothing to do with each other are given up, and not looked at for ever.
  @Test func givesUpWhatDiffersTooMuch() {
    var random = SplitMix64(seed: 1)
    let a = (0..<20_000).map { _ in UInt64(random.int(0...3)) }
    let b = (0..<20_000).map { _ in UInt64(random.int(0...3)) }
    let alignment = Alignment(a, b)
    #expect(alignment.isRough)
    // Long ones that differ in little are not.
    var c = a
    c.removeSubrange(5_000..<5_010)
    c.insert(9, at: 100)
    #expect(Alignment(a, c).pairs.count == a.count - 10)
  }
}
