import RepriseCore
import Wire

/// What a case leaves on a broker: retained messages and sessions.
struct Traces: Sendable {
  /// The topics that a message was kept for.
  private(set) var topics: Set<String> = []
  /// The clients whose sessions outlive their connections, with the version that they speak.
  private(set) var sessions: [String: MQTTVersion] = [:]

  /// Takes note of what a packet has a broker keep.
  mutating func note(_ packet: StepPacket, of client: CaseClient, _ version: MQTTVersion) {
    let json = packet.json
    switch packet.type {
    case .connect:
      let name = json["clientID"]?.text ?? client.clientID
      let isKept =
        version == .v5_0
        ? json["properties"]?["sessionExpiryInterval"] != nil : json["cleanStart"]?.bool == false
      if isKept, !name.isEmpty { sessions[name] = version }
      if json["will"]?["retain"]?.bool == true { note(json["will"]?["topic"]) }
    case .publish: if json["retain"]?.bool == true { note(json["topic"]) }
    default: break
    }
  }

  private mutating func note(_ topic: JSONValue?) {
    if let topic = topic?.text, !topic.isEmpty { topics.insert(topic) }
  }

  mutating func formUnion(_ other: Traces) {
    topics.formUnion(other.topics)
    sessions.merge(other.sessions) { _, new in new }
  }

  /// Makes the cases that take everything away again.
  /// - Parameter speaks: Whether the broker speaks a version.
  /// - Returns: The cases; none where there is nothing.
  /// - Throws: ``DriverError`` where one is no case.
  func cleaning(_ speaks: (MQTTVersion) -> Bool) throws(DriverError) -> [DrivenCase] {
    // Behind the sessions of 5.0, whose wills may come late and be kept.
    let last: MQTTVersion = speaks(.v5_0) ? .v5_0 : .v3_1_1
    var cases: [DrivenCase] = []
    for version in [MQTTVersion.v3_1_1, .v5_0] {
      let names = sessions.filter { $0.value == version }.keys.sorted()
      // A will goes with its session, and may leave a message.
      var steps: [JSONValue] = names.flatMap { name -> [JSONValue] in
        [
          ["do": "connect", "client": "a", "clientID": .string(name)],
          ["do": "disconnect", "client": "a"],
        ]
      }
      if version == last, !topics.isEmpty {
        steps.append(["do": "connect", "client": "b"])
        // Every server takes QoS 0.
        steps += topics.sorted().map {
          ["do": "publish", "client": "b", "topic": .string($0), "retain": true, "payload": ""]
        }
        steps.append(["do": "fence", "client": "b"])
      }
      guard !steps.isEmpty else { continue }
      cases.append(
        try DrivenCase(
          [
            "name": "cleaning", "title": "Takes away what was left.", "clauses": ["none"],
            "seconds": 600,
            "versions": [.string(version.number)], "steps": .array(steps),
          ], .broker, in: "cleaning"))
    }
    return cases
  }
}
