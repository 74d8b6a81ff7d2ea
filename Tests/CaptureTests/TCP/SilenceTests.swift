import RepriseCore
import Testing
import Wire

@testable import Capture

/// What a capture that was taken away from an end knows of its silence.
@Suite struct SilenceTests {
  /// What a side sends, in milliseconds, and how long it is known to have sent nothing behind the last of it.
  @Test(
    arguments: [
      ("an acknowledgement", [10: 0], (10, 9_000), 9_000),
      ("a probe of an idle connection", [10: 0], (9, 9_000), 9_000),
      ("an acknowledgement sent before", [10: 0], (8, 9_000), 0),
      ("an acknowledgement behind what was lost", [10: 0], (11, 9_000), 0),
      ("an acknowledgement before anything was sent", [:], (10, 9_000), 0),
      ("an acknowledgement behind the last", [10: 0, 20: 4_000], (20, 9_000), 5_000),
      ("round the end of the numbers", [0: 0], (.max, 9_000), 9_000),
    ] as [(String, [UInt32: Int64], (UInt32, Int64), Int64)])
  func isKnownByWhatCarriesNothing(
    _ name: String, _ sent: [UInt32: Int64], _ empty: (UInt32, Int64), _ silence: Int64
  ) {
    var watch = TransitWatch()
    for (end, time) in sent.sorted(by: { $0.value < $1.value }) {
      watch.begin(at: end &- 10, at: time * 1_000_000)
      _ = watch.send(to: end, at: time * 1_000_000)
    }
    watch.begin(at: empty.0, at: empty.1 * 1_000_000)
    watch.rest(at: empty.0, at: empty.1 * 1_000_000)
    #expect(watch.silence == silence * 1_000_000)
    #expect(watch.rested == (silence > 0 ? empty.1 * 1_000_000 : nil))
    watch.rest(at: empty.0, at: 0)
    #expect(watch.silence == silence * 1_000_000)
  }

  /// Microseconds from SYN to its answer, and from that to the end of the handshake.
  @Test(
    arguments: [
      (20_000, 100, .first), (20_000, 999, .first), (20_000, 1_000, nil), (200, 99, .first),
      (200, 100, nil), (100, 100, nil), (100, 200, nil), (100, 202, .second),
      (999, 20_000, .second),
      (1_000, 20_000, nil), (0, 0, nil), (1_000, 0, .first), (0, 1_000, .second),
    ] as [(Int64, Int64, Side?)])
  func nearIsWhoAnswersAtOnce(_ far: Int64, _ near: Int64, _ side: Side?) {
    var watch = HandshakeWatch()
    watch.begin(.first, isAnswer: false, at: 0)
    watch.begin(.first, isAnswer: false, at: 1_000_000_000)
    watch.begin(.second, isAnswer: true, at: 1_000_000_000 + far * 1_000)
    watch.hear(.second, at: 1_000_000_000 + far * 1_000)
    watch.hear(.first, at: 1_000_000_000 + (far + near) * 1_000)
    watch.hear(.first, at: 9_000_000_000)
    #expect(watch.nearSide == side)
  }

  @Test func nobodyIsNearWithoutAHandshake() {
    var watch = HandshakeWatch()
    watch.begin(.second, isAnswer: true, at: 0)
    watch.hear(.first, at: 1)
    #expect(watch.nearSide == nil)
    watch.begin(.first, isAnswer: false, at: 2)
    watch.begin(.first, isAnswer: true, at: 3)
    watch.hear(.first, at: 4)
    #expect(watch.nearSide == nil)
  }

  private static let loopback = IPAddress(ipv4: 0x7F00_0001)

  @Test(
    arguments: [
      (loopback, IPAddress(ipv4: 0x7F08_0001), true),
      (IPAddress(high: 0, low: 1), IPAddress(high: 0, low: 1), true),
      (IPAddress(ipv4: 0x0A00_0001), IPAddress(ipv4: 0x0A00_0001), true),
      (IPAddress(high: 0, low: 1), loopback, true),
      (IPAddress(ipv4: 0x0A00_0001), loopback, false),
      (IPAddress(ipv4: 0x8000_0001), loopback, false),
      (IPAddress(high: 0, low: 1), IPAddress(high: 0, low: 2), false),
      (IPAddress(high: 1, low: 1), IPAddress(high: 0, low: 1), false),
    ])
  func aHostHasNoNetworkInIt(_ one: IPAddress, _ other: IPAddress, _ isOne: Bool) {
    let ends = [one, other].map { Endpoint(address: $0, port: 1) }
    #expect(FlowKey(lower: ends[0], upper: ends[1]).isOnOneHost == isOne)
  }

  /// A capture beside a server: 20 ms to the client, which sends nothing for 30 s and acknowledges a message meanwhile.
  @Test(arguments: [(5, nil, 0.02), (5, 16, 16), (0, 16, nil)] as [(Double, Double?, Double?)])
  func theEndOfAConnectionTellsIt(_ away: Double, _ pushed: Double?, _ silence: Double?) throws {
    var dialogue = Dialogue()
    dialogue.open()
    var times = away > 1 ? [0, 0.0001, 0.0201] : [0, 0.02, 0.02001]
    func send(_ sender: Peer, _ packet: MQTTPacket.Content, at time: Double) throws {
      dialogue.send(
        sender, try MQTTPacket(packet, version: .v3_1_1).encoded(), acknowledged: sender == .server)
      times += sender == .server ? [time, time + 0.02] : [time]
    }
    try send(.client, .connect(.init(clientID: "c", keepAlive: 10)), at: 1)
    try send(.server, .connack(.init()), at: 1)
    if let pushed { try send(.server, .publish(.init(topic: "t", payload: [])), at: pushed + 0.98) }
    try send(.client, .pingreq, at: 31)
    try send(.server, .pingresp, at: 31)
    let readout = try Readout(dialogue.segments, at: times)
    let closing = readout.events.compactMap { event -> ConnectionClosing? in
      if case .closed(let closing) = event.body { closing } else { nil }
    }
    let expected = silence.map { Int64(($0 * 1_000_000_000).rounded()) }
    #expect(closing.map(\.clientSilence) == [expected])
    // The client rests with its last acknowledgement; the server never does that, but is seen beside it.
    #expect(closing.map(\.clientRest) == [away > 1 ? 0 : nil])
    #expect(closing.map(\.serverRest) == [away > 1 ? nil : 31_020_000_000])
  }
}
