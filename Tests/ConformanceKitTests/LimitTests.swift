import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

@Suite("Limits")
struct LimitTests {
  private func result(_ id: String, _ write: (inout Script) -> Void) throws -> ClauseResult {
    let report = try judge(write)
    return try #require(report.results.first { $0.clause.id == "MQTT-" + id })
  }

  @Test("More filters than are kept: what matches none of them is undecided")
  func filters() throws {
    let result = try result("3.3.2-3") {
      $0.start()
      for index in 0...SubscriptionList.maximumCount {
        $0.subscribe(1, "filter/\(index)")
        $0.suback(1, 2)
      }
      $0.publish(.server, "filter/17")
      $0.publish(.server, "filter/\(SubscriptionList.maximumCount)")
      $0.finish()
    }
    #expect(result.satisfied == 1 && result.violated == 0)
    #expect(result.undecided == 1)
  }

  @Test("More open messages than are kept: the others are undecided")
  func messages() throws {
    let result = try result("3.3.4-1") {
      $0.start()
      for id in 1...UInt16(ConnectionState.maximumOpen + 5) {
        $0.publish(.client, "a", qos: 1, id: id)
      }
      for id in 1...UInt16(ConnectionState.maximumOpen + 5) {
        $0.acknowledge(.server, .puback, id)
      }
      $0.finish()
    }
    #expect(result.satisfied == ConnectionState.maximumOpen)
    #expect(result.undecided == 5 && result.violated == 0)
  }

  @Test("More violations that wait for the client than are kept: the others are undecided")
  func suspicions() throws {
    let result = try result("3.3.2-3") {
      $0.start()
      $0.subscribe(1, "b")
      for _ in 0..<100 { $0.publish(.server, "$SYS/a") }
      $0.finish()
    }
    #expect(result.violated + result.undecided == 100)
    #expect(result.violated > 0 && result.undecided > 0)
  }

  @Test("More open PINGREQs than are kept: the others are undecided")
  func pings() throws {
    let result = try result("3.12.4-1") {
      $0.start()
      for _ in 0..<100 { $0.ping() }
      $0.finish()
    }
    #expect(result.undecided == 100 && result.violated == 0)
  }

  @Test("More violations that wait on all connections than are kept: the others are undecided")
  func suspicionsOfAll() throws {
    var judge = try ConformanceJudge(catalogue: .bundled())
    judge.begin(file: "a")
    for connection in 1...100 {
      var script = Script(connection: connection)
      script.start()
      script.subscribe(1, "b")
      for _ in 0..<64 { script.publish(.server, "$SYS/a") }
      for event in script.events { event.withView { judge.consume($0) } }
    }
    // The last ones go on, the first too, and more may wait again.
    for connection in [1, 100] {
      var script = Script(connection: connection)
      script.ping()
      for _ in 0..<64 { script.publish(.server, "$SYS/a") }
      script.ping()
      for event in script.events { event.withView { judge.consume($0) } }
    }
    let report = judge.report(toolVersion: "")
    let result = try #require(report.results.first { $0.clause.id == "MQTT-3.3.2-3" })
    #expect(result.violated == 64 + 2 * 64)
    #expect(result.violated + result.undecided == 102 * 64)
  }

  @Test("Of the connections that are judged, those that take most are given up first")
  func memory() throws {
    var judge = try ConformanceJudge(
      catalogue: .bundled(), options: ConformanceOptions(memory: 250_000))
    judge.begin(file: "a")
    func take(_ connection: Int, _ write: (inout Script) -> Void) {
      var script = Script(connection: connection)
      write(&script)
      for event in script.events { event.withView { judge.consume($0) } }
    }
    for connection in 1...20 {
      take(connection) {
        $0.start()
        $0.publish(.client, "a", qos: 1, id: 1)
      }
    }
    #expect(judge.forgottenConnections == 0)
    take(21) {
      $0.start()
      for id in 1...UInt16(1_500) { $0.publish(.client, "a", qos: 1, id: id) }
    }
    #expect(judge.forgottenConnections == 1)
    for connection in 1...20 { take(connection) { $0.acknowledge(.server, .puback, 1) } }
    take(21) { for id in 1...UInt16(1_500) { $0.acknowledge(.server, .puback, id) } }
    let report = judge.report(toolVersion: "")
    let result = try #require(report.results.first { $0.clause.id == "MQTT-3.3.4-1" })
    // What came behind the 1,025 that were given up is known again.
    #expect(result.satisfied == 20 + 475)
    #expect(result.undecided == 1_025 && result.violated == 0)
    #expect(
      result.reason?.hasPrefix("1025 of 1520 undecided: what was known of the connection") == true)
  }

  @Test("A connection of which nothing is unusual takes little, and what is unusual is counted")
  func size() {
    #expect(MemoryLayout<ConnectionState>.size <= 816)
    #expect(MemoryLayout<RareState>.size <= 1_184)
    var state = ConnectionState(number: 1)
    let usual = state.measure()
    state.meetCarrier()
    #expect(usual >= MemoryLayout<ConnectionState>.size)
    #expect(state.measure() == MemoryLayout<RareState>.stride)
    #expect(state.measure() == 0)
  }

  @Test("Of a connection that a file leaves open, the next file knows nothing")
  func leftOpen() throws {
    var judge = try ConformanceJudge(catalogue: .bundled())
    var unnamed = Script(connection: 1)
    unnamed.wire = .mqttInferred(.v5_0)
    unnamed.open(isFromStart: false)
    unnamed.client(hex: "C000")
    var carried = Script(connection: 2)
    carried.wire = .webSocket
    carried.open()
    carried.unpack(.client, [0xC0, 0])
    judge.begin(file: "a")
    for event in unnamed.events + carried.events { event.withView { judge.consume($0) } }
    var other = Script(connection: 1)
    other.open()
    other.client(hex: "C000")
    judge.begin(file: "b")
    for event in other.events { event.withView { judge.consume($0) } }
    let report = judge.report(toolVersion: "")
    let result = try #require(report.results.first { $0.clause.id == "MQTT-3.1.0-1" })
    #expect(result.findings.map(\.file).filter { $0 == "b" } == ["b"])
  }

  @Test("What is over takes no memory, also where a suspicion ended with it")
  func memoryOfWhatIsOver() throws {
    var judge = try ConformanceJudge(
      catalogue: .bundled(), options: ConformanceOptions(memory: 250_000))
    judge.begin(file: "a")
    for connection in 1...1_000 {
      var script = Script(connection: connection)
      script.start()
      script.server(.suback(packetID: 9, codes: [0], []))
      script.close(.server, .reset)
      for event in script.events { event.withView { judge.consume($0) } }
    }
    var last = Script(connection: 1_001)
    last.start()
    last.publish(.client, "a", qos: 1, id: 1)
    last.acknowledge(.server, .puback, 1)
    for event in last.events { event.withView { judge.consume($0) } }
    #expect(judge.forgottenConnections == 0)
    let report = judge.report(toolVersion: "")
    let result = try #require(report.results.first { $0.clause.id == "MQTT-3.3.4-1" })
    #expect(result.satisfied == 1 && result.undecided == 0 && result.violated == 0)
  }

  @Test(
    "A will of two clients that more messages than are kept came behind is still known as theirs")
  func forgottenWill() throws {
    let result = try result("3.1.2-8") {
      $0.meet()
      for connection in 3...4 { $0.on(connection) { $0.join("c\(connection)", will: .gone()) } }
      $0.on(2) { for index in 0..<Ledger.capacity { $0.say(.client, "b", "\(index)") } }
      $0.on(3) { $0.close(.client, .reset) }
      $0.say(.server, "a", "gone")
      $0.on(4) { $0.finish() }
      $0.part()
    }
    #expect(result.satisfied == 1 && result.undecided == 0 && result.violated == 0)
  }

  @Test("More filters in one SUBSCRIBE than are kept: each still needs its code, in any order")
  func filtersOfOne() throws {
    let count = RequestingState.maximumFilters + 1
    func results(_ codes: Int) throws -> [String: ClauseResult] {
      let report = try judge {
        $0.start()
        let filters = (0..<count).map { MQTTPacket.Subscription("f/\($0)", options: UInt8($0 % 2)) }
        $0.client(.subscribe(packetID: 1, filters, []))
        $0.server(.suback(packetID: 1, codes: [UInt8](repeating: 0, count: codes), []))
        $0.publish(.server, "f/17")
        $0.finish()
      }
      return Dictionary(report.results.map { ($0.clause.id, $0) }) { first, _ in first }
    }
    let kept = try results(count)
    #expect(kept["MQTT-3.8.4-5"]?.violated == 0 && kept["MQTT-3.8.4-5"]?.satisfied == 1)
    #expect(kept["MQTT-3.9.3-1"]?.undecided == 1 && kept["MQTT-3.9.3-1"]?.violated == 0)
    #expect(kept["MQTT-3.3.2-3"]?.satisfied == 1)
    #expect(try results(count - 1)["MQTT-3.8.4-5"]?.violated == 1)
  }
}
