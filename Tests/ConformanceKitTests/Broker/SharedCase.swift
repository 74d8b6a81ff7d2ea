import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

/// A session of several connections, told in each version that has its rules, and all that comes of it: every rule that
/// fails, and the exact counts of those that it is about.
struct SharedCase: Sendable, CustomTestStringConvertible {
  typealias Counts = [MQTTRule: (violated: Int, kept: Int, undecided: Int, frames: [Int])]

  let testDescription: String
  let versions: [MQTTVersion]
  let failed: [MQTTRule]
  /// What fails besides, of other rules.
  let others: [String]
  let counts: Counts
  /// Whether it is known, as in a drive, that nobody else has published the same; without that none of the rules fails.
  let isComplete: Bool
  let script: @Sendable (inout Script) -> Void

  init(
    _ name: String, in versions: [MQTTVersion] = [.v3_1_1, .v5_0], failed: [MQTTRule] = [],
    others: [String] = [], complete: Bool = false, _ counts: Counts,
    _ script: @escaping @Sendable (inout Script) -> Void
  ) {
    testDescription = name
    self.versions = versions
    self.failed = failed
    self.others = others
    self.counts = counts
    isComplete = complete
    self.script = script
  }

  /// The results of a version's clauses.
  /// - Parameters:
  ///   - version: The version.
  ///   - isComplete: Whether it is known that nobody else has published the same; nil is what the case says.
  /// - Returns: The results.
  /// - Throws: What keeps the catalogue from being read.
  func judged(_ version: MQTTVersion, isComplete: Bool? = nil) throws -> [ClauseResult] {
    var script = Script(version: version)
    self.script(&script)
    var options = ConformanceOptions(isStrict: true)
    options.isDriven = isComplete ?? self.isComplete
    return try judge(script.events, options: options).results
      .filter { $0.clause.spec == version.spec }
  }

  func check(_ version: MQTTVersion) throws {
    let results = try judged(version)
    #expect(
      Set(results.filter { $0.verdict == .failed }.map(\.clause.id))
        == Set(failed.compactMap { $0.clauseShown(in: version) } + others), "\(version)")
    for (rule, count) in counts {
      guard let id = rule.clauseShown(in: version) else { continue }
      let result = try #require(results.first { $0.clause.id == id })
      let frames =
        result.findings.isEmpty ? result.places.map(\.frame) : result.findings.map(\.frame)
      // Of the identifier 0 the clause of 5.0 speaks as well: what is kept is counted for both.
      let kept = id == rule.clauses[version] ? result.satisfied : count.kept
      let seen = "\((result.violated, kept, result.undecided, frames))"
      let expected = "\((count.violated, count.kept, count.undecided, count.frames))"
      #expect(seen == expected, "\(id) \(result.reason ?? "")")
    }
    if isComplete { try checkOtherwise(version) }
  }

  /// Checks that nothing of it fails where somebody who is not in the capture may have published the same.
  private func checkOtherwise(_ version: MQTTVersion) throws {
    let results = try judged(version, isComplete: false)
    #expect(
      Set(results.filter { $0.verdict == .failed }.map(\.clause.id)) == Set(others), "\(version)")
    for rule in failed {
      guard let id = rule.clauseShown(in: version) else { continue }
      let result = try #require(results.first { $0.clause.id == id })
      #expect(result.undecided > 0, "\(id) \(result.reason ?? "")")
    }
  }
}

extension MQTTRule {
  /// The clause in which the rule shows in a version.
  func clauseShown(in version: MQTTVersion) -> String? {
    switch (self, version) {
    case (.clientTakesFreeIdentifier, .v5_0): "MQTT-2.2.1-3"
    case (.serverTakesFreeIdentifier, .v5_0): "MQTT-2.2.1-4"
    default: clauses[version]
    }
  }
}

extension Script {
  /// Tells what happens on another connection until the end of a block.
  mutating func on(_ connection: Int, _ body: (inout Script) -> Void) {
    let before = self.connection
    self.connection = connection
    body(&self)
    self.connection = before
  }

  /// A client is accepted: three frames.
  mutating func join(
    _ clientID: String, cleanStart: Bool = true, isPresent: Bool = false, user: String? = nil,
    expiry: Int? = nil, will: MQTTPacket.Will? = nil
  ) {
    open()
    var connect = MQTTPacket.Connect(
      clientID: clientID, cleanStart: cleanStart, keepAlive: 0, will: will, username: user)
    if let expiry { connect.properties = [.number(.sessionExpiryInterval, expiry)] }
    client(.connect(connect))
    server(.connack(.init(sessionPresent: isPresent)))
  }

  /// The client subscribes and is granted what it asks for: two frames.
  mutating func ask(_ id: UInt16, _ filter: String, qos: UInt8 = 2, options: UInt8 = 0) {
    client(.subscribe(packetID: id, [.init(filter, options: qos | options)], []))
    suback(id, qos)
  }

  /// A message: one frame.
  mutating func say(
    _ sender: Peer, _ topic: String, _ payload: String, qos: UInt8 = 0, id: UInt16 = 0,
    retain: Bool = false, dup: Bool = false, _ properties: [MQTTProperty] = []
  ) {
    let content = MQTTPacket.Content.publish(
      .init(
        topic: topic, payload: Array(payload.utf8), qos: qos, retain: retain, packetID: id,
        properties: properties))
    if sender == .client { client(content, dup: dup) } else { server(content, dup: dup) }
  }

  /// The client answers, so that nothing of it is missing before: two frames.
  mutating func answerPing() {
    ping()
    pong()
  }

  /// One client on connection 1 that is subscribed, and one on connection 2 that is not: frames 1 to 8.
  mutating func meet(_ filter: String = "a", qos: UInt8 = 2, options: UInt8 = 0) {
    join("s")
    ask(1, filter, qos: qos, options: options)
    on(2) { $0.join("p") }
  }

  /// Both clients leave.
  mutating func part() {
    answerPing()
    finish()
    on(2) { $0.finish() }
  }
}
