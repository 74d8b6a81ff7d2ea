import ConformanceKit
import RepriseCore
import Testing
import Wire

/// A session of MQTT 5.0, and all that comes of it: every clause that fails, and the exact counts of those that it is
/// about.
struct Case5: Sendable, CustomTestStringConvertible {
  /// What is known of one clause.
  struct Count: Sendable, Hashable, CustomStringConvertible {
    var violated: Int
    var kept: Int
    var undecided: Int
    /// The frames of the findings; where there is none, of what is undecided.
    var frames: [Int]

    var description: String { "(\(violated), \(kept), \(undecided), \(frames))" }
  }

  let testDescription: String
  let failed: [String]
  /// Whether everything else must be kept.
  private(set) var looksAtAll = true
  let counts: [String: Count]
  let script: @Sendable (inout Script) -> Void

  init(
    _ name: String, failed: [String] = [], _ counts: [String: (Int, Int, Int, [Int])],
    _ script: @escaping @Sendable (inout Script) -> Void
  ) {
    testDescription = name
    self.failed = failed
    self.counts = counts.mapValues {
      Count(violated: $0.0, kept: $0.1, undecided: $0.2, frames: $0.3)
    }
    self.script = script
  }

  /// A session of which only some clauses are looked at, as it breaks others by the way.
  init(
    about name: String, _ counts: [String: (Int, Int, Int, [Int])],
    _ script: @escaping @Sendable (inout Script) -> Void
  ) {
    self.init(name, counts, script)
    looksAtAll = false
  }

  func judged() throws -> [ClauseResult] {
    var script = Script(version: .v5_0)
    self.script(&script)
    return try judge(script.events, options: ConformanceOptions(isStrict: true)).results
      .filter { $0.clause.spec == "mqtt-5.0" }
  }

  func check() throws {
    let results = try judged()
    // Most of these clients get what they have not subscribed to; that is for the sessions that are about it.
    let aside = counts.keys.contains("MQTT-3.3.2-3") ? "" : "MQTT-3.3.2-3"
    let seen = results.filter { $0.verdict == .failed }.map(\.clause.id).filter { $0 != aside }
    if looksAtAll { #expect(seen == failed) }
    for (id, count) in counts {
      let result = try #require(results.first { $0.clause.id == id }, "\(id)")
      let frames =
        result.findings.isEmpty ? result.places.map(\.frame) : result.findings.map(\.frame)
      let tally = Count(
        violated: result.violated, kept: result.satisfied, undecided: result.undecided,
        frames: frames)
      #expect(tally == count, "\(id)")
    }
  }
}

extension Script {
  /// A connection of 5.0 whose client is accepted, by packets with properties: frames 1 to 3.
  mutating func agree(
    _ asked: [MQTTProperty] = [], _ answered: [MQTTProperty] = [],
    will: MQTTPacket.Will? = nil, clientID: String = "c", keepAlive: UInt16 = 0, code: UInt8 = 0
  ) {
    open()
    client(
      .connect(.init(clientID: clientID, keepAlive: keepAlive, will: will, properties: asked)))
    server(.connack(.init(code: code, properties: answered)))
  }

  /// The client answers a message of the server, and so has its CONNACK: two frames.
  mutating func showConnack(_ id: UInt16 = 900) {
    publish(.server, "shown", qos: 1, id: id)
    acknowledge(.client, .puback, id)
  }

  mutating func publish(
    _ sender: Peer, _ topic: String, _ properties: [MQTTProperty], qos: UInt8 = 0, id: UInt16 = 0,
    payload: [UInt8] = [1]
  ) {
    let content = MQTTPacket.Content.publish(
      .init(topic: topic, payload: payload, qos: qos, packetID: id, properties: properties))
    if sender == .client { client(content) } else { server(content) }
  }
}

extension MQTTProperty {
  static func number(_ id: MQTTPropertyID, _ value: Int) -> MQTTProperty {
    MQTTProperty(id, .integer(value))
  }

  static func text(_ id: MQTTPropertyID, _ value: String) -> MQTTProperty {
    MQTTProperty(id, .string(value))
  }
}
