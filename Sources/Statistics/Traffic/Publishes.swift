import RepriseCore
import Wire

/// What the PUBLISH packets of one end were like.
package struct Publishes: Sendable, Hashable {
  /// How many there were, by their QoS; the last is that which does not exist.
  package private(set) var byQoS = [0, 0, 0, 0]
  /// How many had RETAIN.
  private(set) var retained = 0
  /// How many had DUP: they were sent again.
  package private(set) var duplicates = 0

  /// Creates an empty count.
  package init() {}

  /// How many there were.
  package var count: Int { byQoS.reduce(0, +) }

  mutating func add(_ packet: borrowing MQTTPacketView) {
    byQoS[Int(packet.qos & 0b11)] += 1
    if packet.retain { retained += 1 }
    if packet.dup { duplicates += 1 }
  }

  mutating func add(_ other: Publishes) {
    for (index, count) in other.byQoS.enumerated() where byQoS.indices.contains(index) {
      byQoS[index] += count
    }
    retained += other.retained
    duplicates += other.duplicates
  }
}

/// What is known of a topic.
package struct TopicTraffic: Sendable {
  /// The messages of each end.
  package private(set) var traffic = BothPeers(Traffic())
  /// What the PUBLISH packets of each end were like.
  package private(set) var publishes = BothPeers(Publishes())
  /// The bytes of the largest payload.
  package private(set) var largest = 0
  /// The times between two messages of the same end, in nanoseconds.
  package private(set) var intervals = BothPeers(Histogram(precision: 4))
  /// How many messages came before the one in front of them, by their times.
  package private(set) var steps = 0
  private var last = BothPeers<Timestamp?>(nil)
  private var file = -1

  mutating func add(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, _ added: Traffic, file: Int
  ) {
    let sender = context.sender
    if self.file != file {
      self.file = file
      last = BothPeers(nil)
    }
    traffic[sender].add(added)
    publishes[sender].add(packet)
    largest = max(largest, packet.sentPayload)
    if let last = last[sender] {
      let interval = context.time.nanoseconds(since: last)
      if interval >= 0 { intervals[sender].add(Int(interval)) } else { steps += 1 }
    }
    last[sender] = context.time
  }
}

/// What is known of a client.
package struct ClientTraffic: Sendable {
  /// How many connections it had.
  package private(set) var connections = 0
  /// The messages of each end.
  package private(set) var traffic = BothPeers(Traffic())
  /// What the PUBLISH packets of each end were like.
  package private(set) var publishes = BothPeers(Publishes())
  /// How long its connections were open together, in nanoseconds.
  package private(set) var connected = 0
  /// The keep-alive of its last connection, in seconds; 0 is none, nil not known.
  package private(set) var keepAlive: Int?
  /// How many PINGREQs it sent.
  package private(set) var pings = 0
  /// The longest time between two packets of it on one connection, in nanoseconds.
  package private(set) var longestSilence: Int?
  /// How often that time was longer than one and a half times the keep-alive.
  package private(set) var overruns = 0
  /// How its connections ended.
  package private(set) var ends: [ConnectionEnd: Int] = [:]

  mutating func add(_ summary: ConnectionSummary) {
    connections += 1
    for peer in Peer.allCases {
      traffic[peer].add(summary.traffic[peer])
      publishes[peer].add(summary.publishes[peer])
    }
    connected.addSaturating(summary.duration)
    keepAlive = summary.keepAlive ?? keepAlive
    pings += summary.pings
    longestSilence =
      [longestSilence, summary.longestSilence].compactMap { $0 }.max()
    overruns += summary.overruns
    if let end = summary.end { ends[end, default: 0] += 1 }
  }
}
