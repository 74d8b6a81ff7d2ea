import ConformanceKit
import RepriseCore
import Testing
import Wire

/// Connections that never came to be.
@Suite struct AttemptTests {
  private func attempt(_ number: Int, _ wire: WireProtocol, _ connect: MQTTPacket.Connect?) throws
    -> Event
  {
    let bytes = try connect.map { try MQTTPacket(.connect($0), version: .v3_1_1).encoded() }
    return Event(
      EventContext(
        time: Timestamp(nanoseconds: Int64(number)), frame: number + 1, connection: number,
        sender: .client, wire: wire),
      .attempted(
        ConnectionAttempt(
          how: .failed, server: "h", firstTime: Timestamp(nanoseconds: 0),
          connect: bytes.map { PacketBytes($0) })))
  }

  /// What is never sent breaks no rule: this one's will has a topic that no message may have (MQTT-3.3.2-2).
  private static let wrong = MQTTPacket.Connect(
    clientID: "", cleanStart: false,
    will: MQTTPacket.Will(topic: "a/#", payload: [], qos: 0, retain: false, properties: []))

  @Test func areJudgedByNoClause() throws {
    var judge = try ConformanceJudge(catalogue: .bundled())
    judge.begin(file: "a")
    for (number, wire) in [WireProtocol.mqtt(.v3_1_1), .mqtt(.v5_0), .webSocket].enumerated() {
      let connect = wire == .webSocket ? nil : Self.wrong
      try attempt(number + 1, wire, connect).withView { judge.consume($0) }
    }
    let report = judge.report(toolVersion: "")
    let verdicts = Set(report.results.map(\.verdict))
    var empty = try ConformanceJudge(catalogue: .bundled())
    empty.begin(file: "a")
    let nothing = empty.report(toolVersion: "")
    #expect(report.results == nothing.results, "\(verdicts)")
    #expect(!verdicts.contains(.passed) && !verdicts.contains(.failed))
  }

  /// The same CONNECT, sent.
  @Test func whatWasSentIsJudged() throws {
    var judge = try ConformanceJudge(catalogue: .bundled())
    judge.begin(file: "a")
    let bytes = try MQTTPacket(.connect(Self.wrong), version: .v3_1_1).encoded()
    let context = EventContext(
      time: Timestamp(nanoseconds: 1), frame: 2, connection: 1, sender: .client,
      wire: .mqtt(.v3_1_1))
    Event(context, .mqtt(PacketBytes(bytes))).withView { judge.consume($0) }
    let failed = judge.report(toolVersion: "").results.filter { $0.verdict == .failed }
    #expect(!failed.isEmpty)
  }
}
