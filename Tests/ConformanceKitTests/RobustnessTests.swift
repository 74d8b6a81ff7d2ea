import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

@Suite("Long and wild sessions")
struct RobustnessTests {
  @Test("A long session of clients and a server that conform gives no finding", arguments: 1...6)
  func conforming(seed: UInt64) throws {
    var random = Noise(seed: seed)
    var peers = ConformingPeers()
    peers.script.start(cleanStart: seed % 2 == 0, keepAlive: 60)
    peers.script.subscribe(1, "a/#", "b/+/c")
    peers.script.suback(1, 2, 2)
    for _ in 0..<5_000 { peers.step(&random) }
    peers.drain()
    peers.script.finish()
    let report = try judge(peers.script.events)
    #expect(report.results.filter { $0.verdict == .failed }.map(\.clause.id) == [])
    let exercised = [
      "MQTT-4.6.0-2", "MQTT-4.6.0-3", "MQTT-4.6.0-4", "MQTT-3.1.2-23", "MQTT-3.3.2-3",
    ]
    for id in exercised {
      #expect(report.results.first { $0.clause.id == id }?.verdict == .passed, "\(id)")
    }
  }

  @Test("Losing any packet of a long session gives no finding", arguments: [Peer.client, .server])
  func losing(peer: Peer) throws {
    var random = Noise(seed: 99)
    var peers = ConformingPeers()
    peers.script.start(keepAlive: 60)
    peers.script.subscribe(1, "a/#", "b/+/c")
    peers.script.suback(1, 2, 2)
    for _ in 0..<150 { peers.step(&random) }
    peers.drain()
    peers.script.finish()
    let events = peers.script.events
    for index in events.indices {
      guard case .mqtt(let packet) = events[index].body, events[index].context.sender == peer
      else { continue }
      var lossy = events
      lossy[index].body = .gap(Gap(bytes: packet.size, reason: .acknowledged))
      // A loss shows only when something behind it comes.
      let later = events[index...].dropFirst().firstIndex {
        if case .mqtt = $0.body { $0.context.sender == peer } else { false }
      }
      let gap = lossy.remove(at: index)
      lossy.insert(gap, at: (later ?? events.count - 1) - 1)
      let failed = try judge(lossy).results.filter { $0.verdict == .failed }
      #expect(failed.map(\.clause.id) == [], "without event \(index)")
    }
  }

  @Test("Bytes of any kind are judged without a trap", arguments: 1...20)
  func noise(seed: UInt64) throws {
    var random = Noise(seed: seed)
    var events: [Event] = []
    for frame in 0..<2_000 {
      let context = EventContext(
        time: Timestamp(nanoseconds: Int64(truncatingIfNeeded: random.next())), frame: frame,
        connection: Int(random.next() % 5), sender: random.next() % 2 == 0 ? .client : .server,
        wire: random.next() % 8 == 0 ? .mqttInferred(.v3_1_1) : .mqtt(.v3_1_1))
      events.append(Event(context, body(&random)))
    }
    let report = try judge(events)
    #expect(report.json().count > 10_000)
    #expect(!report.text(color: true).isEmpty)
  }

  @Test("Sessions at the ends of time are judged without a trap", arguments: 1...2)
  func endsOfTime(seed: UInt64) throws {
    var random = Noise(seed: seed)
    let times: [Int64] = [.min, .max, 0, -1, .min + 1_000_000_000, .max - 1_000_000_000]
    var packets = 0
    for golden in [SessionTallyTests.sessionsOf5, SessionTallyTests.sharedSessions] {
      for session in golden.sessions {
        var events = session.events
        for index in events.indices where random.next() % 5 < 2 {
          let time = times[Int(random.next() % UInt64(times.count))]
          events[index].context.time = Timestamp(nanoseconds: time)
        }
        packets += events.count
        let report = try judge(events, options: ConformanceOptions(isStrict: true))
        #expect(!report.results.isEmpty)
      }
    }
    #expect(packets > 15_000)
  }

  private func body(_ random: inout Noise) -> Event.Body {
    switch random.next() % 40 {
    case 0:
      let how = ConnectionClosing.How.allCases.randomElement(using: &random) ?? .fin
      return .closed(
        ConnectionClosing(
          how: how, firstFrame: 1,
          firstTime: Timestamp(nanoseconds: Int64(truncatingIfNeeded: random.next()))))
    case 1: return .gap(Gap(bytes: .max, reason: .limit))
    case 2: return .malformed(Malformation(MQTTFramingError(.notMQTT, at: .max)))
    default:
      let count = Int(random.next() % 24)
      var bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next() % 7) }
      bytes.insert(UInt8(count), at: 0)
      bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: 0)
      let missing = random.next() % 4 == 0 ? Int(random.next() % UInt64(count + 1)) : 0
      return .mqtt(PacketBytes(Array(bytes.dropLast(missing))))
    }
  }
}

/// A client and a server that do everything right, in many orders.
private struct ConformingPeers {
  var script = Script()
  private var nextID: UInt16 = 10
  /// What each side still has to send, in the order in which it must.
  private var clientOwes: [(MQTTPacketType, UInt16)] = []
  private var serverOwes: [(MQTTPacketType, UInt16)] = []

  mutating func step(_ random: inout Noise) {
    script.wait(Double(random.next() % 20))
    switch random.next() % 10 {
    case 0: script.publish(.client, "x/y")
    case 1: script.publish(.server, "a/\(random.next() % 9)")
    case 2, 3: publish(.client, qos: UInt8(1 + random.next() % 2))
    case 4, 5: publish(.server, qos: UInt8(1 + random.next() % 2))
    case 6:
      script.ping()
      serverOwes.append((.pingresp, 0))
    case 7: pay(.client)
    case 8: pay(.server)
    default: exchangeFilters(&random)
    }
    if clientOwes.count > 20 { pay(.client) }
    if serverOwes.count > 20 { pay(.server) }
    // Something of the client often enough for its Keep Alive.
    script.ping()
    serverOwes.append((.pingresp, 0))
  }

  mutating func drain() {
    while !clientOwes.isEmpty || !serverOwes.isEmpty {
      pay(.client)
      pay(.server)
    }
  }

  private mutating func publish(_ sender: Peer, qos: UInt8) {
    nextID = nextID == .max ? 10 : nextID + 1
    script.publish(sender, "b/\(nextID)/c", qos: qos, id: nextID)
    let answer: (MQTTPacketType, UInt16) = (qos == 1 ? .puback : .pubrec, nextID)
    if sender == .client { serverOwes.append(answer) } else { clientOwes.append(answer) }
  }

  /// Sends all that a side owes, oldest first.
  private mutating func pay(_ sender: Peer) {
    let due = sender == .client ? clientOwes : serverOwes
    if sender == .client { clientOwes = [] } else { serverOwes = [] }
    for (type, id) in due {
      if type == .pingresp { script.pong() } else { script.acknowledge(sender, type, id) }
      let next: MQTTPacketType? = type == .pubrec ? .pubrel : type == .pubrel ? .pubcomp : nil
      guard let next else { continue }
      if sender == .client { serverOwes.append((next, id)) } else { clientOwes.append((next, id)) }
    }
  }

  private mutating func exchangeFilters(_ random: inout Noise) {
    nextID = nextID == .max ? 10 : nextID + 1
    let filter = "a/\(random.next() % 9)"
    script.subscribe(nextID, filter, "c", qos: 1)
    script.suback(nextID, 1, 1)
    script.unsubscribe(nextID, filter, "c")
    script.unsuback(nextID)
  }
}
