import RepriseCore
import Testing

@testable import ConformanceKit

@Suite("What findings say")
struct FindingTests {
  @Test("A cause is told once, and in full where the clause that has it first does not print it")
  func causesBeyondThePrinted() throws {
    for count in [2, 3] {
      let report = try judge {
        $0.start()
        for _ in 0..<count { $0.client(hex: "C1 00") }
        $0.client(hex: "80 06 0001 0001 61 00")
        $0.close(.server)
      }
      let subscribe = try #require(report.results.first { $0.clause.id == "MQTT-3.8.1-1" })
      #expect(subscribe.findings.map(\.sameCauseAs) == ["MQTT-2.2.2-1"])
      let text = report.text(color: false)
      let isPrinted = count == 2
      let others = text.ranges(of: "the same cause as that of MQTT-2.2.2-1")
      #expect(others.count == (isPrinted ? 1 : 0))
      #expect(text.ranges(of: "\n      expected: ").count == (isPrinted ? 3 : 4))
      #expect(text.ranges(of: "and 1 more").count == (isPrinted ? 0 : 1))
    }
  }

  @Test("An extension that was not offered and is not registered has two faults")
  func causesOfOneValue() throws {
    let report = try judge {
      $0.upgrade(accepting: "x-foo")
      $0.close(.client)
    }
    let causes = report.results.flatMap { result in
      result.findings.map { "\(result.clause.id) \($0.actual) \($0.sameCauseAs ?? "-")" }
    }
    #expect(
      causes == [
        "RFC6455-4.2.2-7 extension \"x-foo\" -",
        "RFC6455-9-1 extension \"x-foo\" RFC6455-4.2.2-7",
        "RFC6455-9.1-2 extension \"x-foo\" -",
      ])
  }

  @Test("A reset is not called a FIN", arguments: [ConnectionClosing.How.fin, .reset])
  func namesTheEnd(_ how: ConnectionClosing.How) throws {
    let report = try judge(options: ConformanceOptions(clauses: ["RFC6455-5.5.1-6"])) {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.closeFrame(.server)
      $0.wait(60)
      $0.close(.client, how)
    }
    let end = how == .fin ? "FIN" : "RST"
    #expect(report.results.first?.findings.map(\.actual) == ["\(end) of the client after 60.001 s"])
  }
}
