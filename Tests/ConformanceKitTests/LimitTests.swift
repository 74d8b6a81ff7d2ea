import DataClient
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
      for _ in 0..<100 { $0.publish(.server, "a") }
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
}
