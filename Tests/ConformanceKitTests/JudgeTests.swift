import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

@Suite("The judge")
struct JudgeTests {
  private func result(_ id: String, _ report: ConformanceReport) throws -> ClauseResult {
    try #require(report.results.first { $0.clause.id == "MQTT-" + id })
  }

  @Test("A connection of another version is not judged, and the report says why")
  func otherVersions() throws {
    let report = try judge {
      $0.wire = .mqtt(.v3_1)
      $0.open()
      $0.client(hex: "C1 00")
    }
    #expect(!report.hasFailed)
    #expect(report.results.allSatisfy { $0.verdict == .notApplicable })
    let reason = try result("2.2.2-1", report).reason
    #expect(reason == "no MQTT 3.1.1 in the input; there is mqtt-3.1 on 1 connection")
  }

  @Test("Of two versions each connection is judged by its own")
  func bothVersions() throws {
    for (version, other, count) in [
      (MQTTVersion.v3_1_1, "mqtt-5.0", "mqtt-3.1.1"), (.v5_0, "mqtt-3.1.1", "mqtt-5.0"),
    ] {
      let report = try judge {
        $0.wire = .mqtt(version)
        $0.start()
        $0.client(hex: "C1 00")
        $0.close(.server)
      }
      let isIdle = report.results.filter { $0.clause.spec == other }
        .allSatisfy { $0.verdict == .notApplicable }
      #expect(isIdle, "\(other)")
      let failed = report.results.filter { $0.verdict == .failed }
      #expect(failed.map(\.clause.spec) == [count])
      #expect(failed.map(\.clause.id) == [version == .v5_0 ? "MQTT-2.1.3-1" : "MQTT-2.2.2-1"])
    }
  }

  @Test("Without input nothing is applicable")
  func nothing() throws {
    let report = try judge([])
    #expect(report.results.allSatisfy { $0.verdict == .notApplicable && $0.reason != nil })
  }

  @Test("On a connection whose version is inferred nothing is decided", arguments: SessionCase.all)
  func inferred(_ session: SessionCase) throws {
    var script = Script()
    session.script(&script)
    for wire in [WireProtocol.mqttInferred(.v3_1_1), .mqttUndetermined] {
      let events = script.events.map { event in
        var event = event
        event.context.wire = wire
        return event
      }
      try expectNothing(events, session)
    }
  }

  @Test(
    "What was told before a packet told 5.0 decides nothing either", arguments: SessionCase.all)
  func turnedInTheMiddle(_ session: SessionCase) throws {
    var script = Script()
    session.script(&script)
    for isCertain in [true, false] {
      let half = script.events.count / 2
      let events = script.events.enumerated().map { index, event in
        var event = event
        event.context.wire =
          index < half ? .mqttUndetermined : isCertain ? .mqtt(.v5_0) : .mqttInferred(.v5_0)
        return event
      }
      // What comes behind it is judged by its own version.
      let results = try judge(events).results.filter {
        !isCertain || $0.clause.spec != MQTTVersion.v5_0.spec
      }
      // That CONNECT comes first is asked for in every version.
      let failed = results.filter { $0.verdict == .failed && $0.clause.id != "MQTT-3.1.0-1" }
      #expect(failed.isEmpty && !results.contains { $0.verdict == .passed })
    }
  }

  private func expectNothing(_ events: [Event], _ session: SessionCase) throws {
    let report = try judge(events)
    // That CONNECT comes first is asked for in every version.
    let failed = report.results.filter { $0.verdict == .failed }.map(\.clause.id)
    let isLateConnect = session.clause == "MQTT-3.1.0-1" && session.verdict == .failed
    #expect(failed == (isLateConnect ? ["MQTT-3.1.0-1"] : []))
    #expect(report.count(.passed) == 0)
  }

  @Test("Packets in WebSocket frames are judged as others are", arguments: SessionCase.all)
  func overWebSocket(_ session: SessionCase) throws {
    var script = Script()
    session.script(&script)
    guard script.wire == .mqtt(.v3_1_1) else { return }
    let carried = script.events.flatMap { event -> [Event] in
      var event = event
      guard case .mqtt(let packet) = event.body else {
        event.context.wire = .webSocket
        return [event]
      }
      var frame = event
      frame.context.wire = .webSocket
      frame.body = .webSocket(WebSocketFrame(.binary, packet.bytes))
      event.context.over = .webSocket
      return [frame, event]
    }
    let plain = try judge(script.events)
    let report = try judge(carried)
    // What carries the packets has clauses of its own.
    for (over, result) in zip(report.results, plain.results)
    where result.clause.spec == "mqtt-3.1.1" && result.clause.section != "6" {
      #expect(over.verdict == result.verdict, "\(over.clause.id)")
      #expect(over.violated == result.violated && over.undecided == result.undecided)
      #expect(over.satisfied == result.satisfied)
    }
  }

  @Test("A report on WebSocket says what it carries")
  func carriers() throws {
    let context = EventContext(
      time: Timestamp(nanoseconds: 0), frame: 1, connection: 1, sender: .client, wire: .webSocket)
    let opening = ConnectionOpening(
      client: "a", server: "b", isFromStart: true, firstFrame: 1, firstTime: context.time)
    var packet = context
    packet.wire = .mqtt(.v5_0)
    packet.over = .webSocket
    let ping = Event(packet, .mqtt(PacketBytes([0xC0, 0])))
    let report = try judge([Event(context, .opened(opening)), ping, ping])
    let reason = try result("2.2.2-1", report).reason
    #expect(
      reason
        == "no MQTT 3.1.1 in the input; there is mqtt-5.0 on 1 connection, websocket on 1 connection"
    )
  }

  @Test("Connections are judged apart, however their events are mixed")
  func interleaved() throws {
    var scripts = (1...50).map { Script(connection: $0) }
    for index in scripts.indices {
      scripts[index].start()
      scripts[index].subscribe(1, "$SYS/\(index)")
      scripts[index].suback(1, 0)
      scripts[index].publish(.server, index == 7 ? "$SYS/8" : "$SYS/\(index)")
      scripts[index].finish()
    }
    let longest = scripts.map(\.events.count).max() ?? 0
    let mixed = (0..<longest).flatMap { step in
      scripts.compactMap { step < $0.events.count ? $0.events[step] : nil }
    }
    let report = try judge(mixed)
    let stray = try result("3.3.2-3", report)
    #expect(stray.violated == 1 && stray.satisfied == 49)
    #expect(stray.findings.map(\.connection) == [8])
    #expect(report.count(.failed) == 1)
  }

  @Test("The next file counts its connections anew, and what was open is left undecided")
  func files() throws {
    var first = Script()
    first.start()
    first.subscribe(1, "a")
    var second = Script()
    second.start()
    second.finish()
    var judge = try ConformanceJudge(catalogue: .bundled())
    for (name, script) in [("one.pcap", first), ("two.pcap", second)] {
      judge.begin(file: name)
      for event in script.events { event.withView { judge.consume($0) } }
      judge.endFile()
    }
    let report = judge.report(toolVersion: "1")
    #expect(report.inputs == ["one.pcap", "two.pcap"])
    let answers = try result("3.8.4-1", report)
    #expect(answers.verdict == .inconclusive && answers.undecided == 1)
    #expect(try result("3.1.0-1", report).satisfied == 2)
  }

  @Test("Findings are kept up to the limit, and counted beyond it")
  func limit() throws {
    let report = try judge(options: ConformanceOptions(maximumFindings: 3)) {
      $0.start()
      for _ in 0..<1_000 { $0.client(hex: "C1 00") }
      $0.close(.server)
    }
    let flags = try result("2.2.2-1", report)
    #expect(flags.violated == 1_000 && flags.findings.count == 3)
    #expect(flags.findings.map(\.frame) == [4, 5, 6])
  }

  @Test("Selected clauses alone are reported")
  func selection() throws {
    let options = ConformanceOptions(
      clauses: ["mqtt-3.1.1/3.8.3", "mqtt-3.1.1/3.1.2.10", "mqtt-3.9.3-2"])
    let report = try judge(options: options) { $0.start() }
    #expect(
      report.results.map(\.clause.id) == [
        "MQTT-3.1.2-23", "MQTT-3.1.2-24", "MQTT-3.8.3-1", "MQTT-3.8.3-2", "MQTT-3.8.3-3",
        "MQTT-3.8.3-4", "MQTT-3.9.3-2", "MQTT-3.9.3-2",
      ])
    #expect(report.results.map(\.clause.spec).suffix(2) == ["mqtt-3.1.1", "mqtt-5.0"])
    #expect(report.text(color: false).hasPrefix("mqtt-3.1.1: 0 of 6 selected clauses had anything"))
  }

  @Test("What is not in the catalogue is an error with the nearest that is")
  func unknown() throws {
    let error = #expect(throws: ConformanceError.self) {
      _ = try judge([], options: ConformanceOptions(clauses: ["MQTT-3.8.3-9"]))
    }
    #expect(error?.code == .unknownClause)
    #expect(error?.message.contains("MQTT-3.8.3-1") == true)
    let spec = #expect(throws: ConformanceError.self) {
      _ = try judge([], options: ConformanceOptions(specs: ["mqtt-9"]))
    }
    #expect(spec?.code == .unknownSpec)
    #expect(
      spec?.message == "there is no catalogue of mqtt-9; there is: mqtt-3.1.1, mqtt-5.0, rfc6455")
  }

  @Test("A catalogue that contradicts the rules is refused")
  func contradiction() throws {
    var clauses = try Catalogue.bundled().clauses
    clauses.removeAll { $0.status != .active }
    let json = #"""
      {"id": "MQTT-2.2.2-1", "section": "2.2.2", "level": "MUST", "actor": "both",
       "status": "planned", "summary": "s", "observable": "trace", "scope": "frame",
       "passive": "direct", "source": "s"}
      """#
    let clause = try decodeClause(json)
    #expect(throws: ConformanceError.self) {
      _ = try ConformanceJudge(catalogue: Catalogue(clauses + [clause]))
    }
  }
}
