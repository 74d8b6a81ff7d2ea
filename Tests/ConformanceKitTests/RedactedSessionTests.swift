import ConformanceKit
import RepriseCore
import TestSupport
import Testing
import Wire

/// What hides secrets makes nobody guilty: of a recording no clause fails that the session itself does not fail.
@Suite struct RedactedSessionTests {
  private static let rules = [
    RedactionRules(),
    RedactionRules(hidesUsernames: true, hidesCorrelationData: true, topics: ["#"]),
  ]

  private func failed(_ report: ConformanceReport) -> Set<String> {
    Set(report.results.filter { $0.violated > 0 }.map(\.clause.id))
  }

  /// The session as it is recorded, hidden, and read again.
  private func recorded(_ events: [Event], hiding rules: RedactionRules) throws -> [Event] {
    var writer = try RecordingWriter(
      MemorySink(), header: RecordingHeader(created: nil, source: .init(kind: "capture")),
      hiding: rules)
    for event in events { try event.withView { view throws in try writer.consume(view) } }
    try writer.finish()
    return try EventList(recording: writer.sink.bytes).events
  }

  private func check(
    in version: MQTTVersion = .v3_1_1, hasSecretNames: Bool = false,
    _ write: (inout Script) -> Void
  ) throws -> (whole: Int, events: [Event]) {
    var script = Script(version: version)
    script.hasSecretNames = hasSecretNames
    write(&script)
    let whole = failed(try judge(script.events))
    var read: [Event] = []
    for rules in Self.rules {
      read = try recorded(script.events, hiding: rules)
      #expect(read.count == script.events.count)
      let report = try judge(read)
      #expect(failed(report).subtracting(whole).sorted() == [])
    }
    return (whole.count, read)
  }

  @Test(arguments: SessionCase.all)
  func accusesNobody(of row: SessionCase) throws { _ = try check(row.script) }

  /// What is hidden of a handshake is not there to be judged.
  @Test(arguments: SessionCase.webSocket)
  func accusesNobodyByHiddenHeaders(of row: SessionCase) throws {
    let names = ["Upgrade", "Connection"]
    let own = ["Key", "Version", "Accept", "Extensions", "Protocol"].map { "Sec-WebSocket-\($0)" }
    var script = Script(version: .v3_1_1)
    row.script(&script)
    let whole = failed(try judge(script.events))
    for hidden in (names + own).map({ [$0] }) + [names + own] {
      let read = try recorded(script.events, hiding: RedactionRules(keys: Set(hidden)))
      #expect(failed(try judge(read)).subtracting(whole).sorted() == [], "\(hidden)")
    }
  }

  @Test(arguments: SharedCase.all)
  func accusesNobodyOfSeveral(in session: SharedCase) throws {
    for version in session.versions { _ = try check(in: version, session.script) }
  }

  /// Clients and topics that differ in what is hidden only look the same then.
  @Test(arguments: SharedCase.all)
  func tellsNobodyForAnother(in session: SharedCase) throws {
    for version in session.versions {
      let (_, events) = try check(in: version, hasSecretNames: true, session.script)
      #expect(events.contains { $0.holds("token=***") })
    }
  }

  /// Sessions that have secrets where rules look.
  @Test(arguments: [
    "a Close with a token in its reason", "two subprotocols that are tokens",
    "a topic with a token in a level",
  ])
  func accusesNobodyOfASecret(_ name: String) throws {
    let (whole, events) = try check {
      switch name {
      case "a Close with a token in its reason":
        $0.upgrade()
        $0.closeFrame(.server, 1_008, Array("token=hush".utf8))
        $0.closeFrame(.client, 1_008)
        $0.close(.server)
      case "two subprotocols that are tokens":
        $0.ask { $0.set("Sec-WebSocket-Protocol", "mqtt, bearer.one, bearer.two") }
        $0.answer { $0.set("Sec-WebSocket-Protocol", "bearer.two") }
        $0.finishWebSocket()
      default:
        $0.start()
        $0.subscribe(1, "dev/+/x")
        $0.suback(1, 0)
        $0.publish(.server, "dev/token=hush/x")
        $0.finish()
      }
    }
    #expect(whole == 0)
    #expect("\(events)".contains("hush") == false)
  }

  /// What is wrong whether or not something is hidden stays wrong.
  @Test func keepsWhatIsFailed() throws {
    var script = Script()
    script.upgrade()
    script.closeFrame(.server, 1_005, Array("token=hush".utf8))
    script.closeFrame(.client, 1_005)
    script.close(.server)
    let read = try recorded(script.events, hiding: RedactionRules())
    #expect(failed(try judge(read)).contains("RFC6455-7.4.1-1"))
    #expect(failed(try judge(read)) == failed(try judge(script.events)))
  }
}

extension Event {
  /// Whether it is a packet that has a text in it.
  fileprivate func holds(_ text: String) -> Bool {
    guard case .mqtt(let packet) = body else { return false }
    return String(decoding: packet.bytes, as: UTF8.self).contains(text)
  }
}
