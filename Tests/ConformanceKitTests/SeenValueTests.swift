import ConformanceKit
import RepriseCore
import Testing
import Wire

@Suite("What findings show as seen")
struct SeenValueTests {
  /// What the rules themselves say: none of it is a value.
  private static let rules =
    MQTTFault.Code.allCases.map(\.message) + WebSocketFault.Code.allCases.map(\.message)

  @Test("Each finding shows a value, and no rule", arguments: SessionCase.all)
  func values(_ session: SessionCase) throws {
    let report = try judge(options: ConformanceOptions(isStrict: true), session.script)
    for result in report.results {
      for finding in result.findings {
        let actual = finding.actual
        #expect(actual != finding.expected && actual != finding.message, "\(result.clause.id)")
        let rules = Self.rules + [result.clause.summary, finding.expected]
        #expect(!rules.contains { actual.contains($0) }, "\(result.clause.id): \(actual)")
        // A number, a text in quotes, a time or bytes.
        #expect(actual.contains { $0.isNumber || $0 == "\"" }, "\(result.clause.id): \(actual)")
      }
    }
  }

  @Test(
    "The value of a fault of MQTT",
    arguments: [
      ("3.8.1-1", "80 06 0001 0001 61 00", "flags 0000 (first byte 0x80)"),
      ("3.3.1-4", "36 06 0001 61 0001 01", "QoS bits 11 (first byte 0x36)"),
      ("3.3.1-2", "38 04 0001 61 01", "DUP 1 and QoS 0 (first byte 0x38)"),
      ("2.3.1-1", "82 06 0000 0001 61 00", "identifier 0, bytes 00 00 at byte 2"),
      ("1.5.3-1", "30 05 0002 C328 01", "bytes C3 28 01 at byte 4, topic"),
      ("1.5.3-2", "30 06 0003 610062 01", "byte 00 at byte 5, topic"),
      ("3.8.3-3", "82 02 0001", "the end of the packet at byte 4, filter"),
      ("3.3.2-1", "30 03 0005 61", "a length of 5 at byte 2 and 1 bytes behind it, topic"),
      ("3.3.2-2", "30 06 0003 612F23 01", "\"a/#\", '#' at byte 6, topic"),
      ("4.7.1-2", "82 0B 0001 0001 62 00 0002 6123 00", "\"a#\", '#' at byte 11, filter"),
      ("4.7.3-1", "30 03 0000 01", "a length of 0 at byte 2, topic"),
    ])
  func faults(clause: String, hex: String, value: String) throws {
    let report = try judge {
      $0.start()
      $0.client(hex: hex)
      $0.close(.server)
    }
    let result = try #require(report.results.first { $0.clause.id == "MQTT-" + clause })
    #expect(result.findings.map(\.actual) == [value])
  }

  @Test(
    "The value of a fault of a frame",
    arguments: [
      ("5.1-1", [0x81, 1, 0x61], "mask bit 0 in a frame with 1 bytes of payload"),
      ("5.2-1", [0xC1, 0x80, 1, 2, 3, 4], "reserved bits 100 (first byte 0xC1)"),
      ("5.2-3", [0x83, 0x80, 1, 2, 3, 4], "opcode 3 (first byte 0x83)"),
      ("5.4-1", [0x09, 0x80, 1, 2, 3, 4], "FIN 0 (first byte 0x09)"),
      ("5.2-6", [0x81, 0xFE, 0, 0, 1, 2, 3, 4], "0 in 2 bytes"),
      ("5.6-1", [0x81, 0x81, 0, 0, 0, 0, 0xFF], "bytes FF at byte 6 of the frame"),
      ("5.6-1", [0x81, 0x81, 0, 0, 0, 0, 0xC3], "the end of the frame at byte 7"),
      ("7.4.1-1", [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xED], "1005"),
    ] as [(String, [UInt8], String)])
  func frames(clause: String, bytes: [UInt8], value: String) throws {
    let report = try judge {
      $0.upgrade()
      $0.wireBytes(.client, bytes)
      $0.close(.server)
    }
    let result = try #require(report.results.first { $0.clause.id == "RFC6455-" + clause })
    #expect(result.findings.map(\.actual) == [value])
  }
}
