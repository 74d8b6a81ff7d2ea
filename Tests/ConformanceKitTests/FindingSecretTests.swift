import ConformanceKit
import RepriseCore
import Testing

@Suite("What findings do not tell")
struct FindingSecretTests {
  /// A session that breaks a rule where a secret stands.
  struct Case: Sendable, CustomTestStringConvertible {
    let clause: String
    let name: String
    let script: @Sendable (inout Script) -> Void
    var testDescription: String { name }
  }

  private static func filter(_ text: String) -> String {
    packet(0x82, [0, 1] + field(text) + [0])
  }

  private static func packet(_ first: UInt8, _ rest: [UInt8]) -> String {
    ([first, UInt8(rest.count)] + rest).map {
      String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
    }
    .joined()
  }

  private static let cases = [
    Case(clause: "MQTT-3.1.2-22", name: "a password without a user") {
      $0.open()
      $0.connect(flags: 0x42, payload: field("c") + field("hush"))
      $0.close(.server)
    },
    Case(clause: "MQTT-3.1.3-1", name: "a password that is cut") {
      $0.open()
      $0.connect(flags: 0xC2, payload: field("c") + field("u") + [0, 9] + Array("hush".utf8))
      $0.close(.server)
    },
    Case(clause: "MQTT-4.7.1-2", name: "a filter with a token") {
      $0.start()
      $0.client(hex: filter("a/token=hush#"))
      $0.close(.server)
    },
    Case(clause: "MQTT-4.7.1-2", name: "a filter with an address") {
      $0.start()
      $0.client(hex: filter("mqtt://u:hush@h/a#"))
      $0.close(.server)
    },
    Case(clause: "MQTT-3.3.2-2", name: "a topic with a signature") {
      $0.start()
      $0.client(hex: packet(0x30, field("a/sig=hush&b=/#") + Array("x".utf8)))
      $0.close(.server)
    },
    Case(clause: "RFC6455-4.1-7", name: "the target of a POST, and the user of a host") {
      $0.ask {
        $0.line = "POST /chat?token=hush HTTP/1.1"
        $0.set("Host", "me:hush@a/")
      }
      $0.answer()
    },
    Case(clause: "RFC6455-4.2.2-5", name: "a subprotocol that is a token") {
      $0.ask()
      $0.answer { $0.add("Sec-WebSocket-Protocol", "bearer.aaaaaaaaaaaaaaaaaaaaahush") }
    },
    Case(clause: "RFC6455-4.2.2-5", name: "a subprotocol that is a short token") {
      $0.ask()
      $0.answer { $0.add("Sec-WebSocket-Protocol", "bearer.hush") }
    },
  ]

  @Test("A report tells no secret", arguments: cases)
  func tellsNoSecret(_ row: Case) throws {
    let report = try judge(options: ConformanceOptions(isStrict: true), row.script)
    let result = try #require(report.results.first { $0.clause.id == row.clause })
    #expect(result.findings.count == 1)
    let json = String(decoding: report.json(), as: UTF8.self)
    #expect(!json.contains("hush"), "\(json.split(separator: "hush")[0].suffix(200))")
    #expect(!report.text(color: false).contains("hush"))
  }

  @Test("Rules hide more of what findings show")
  func hidesWhatRulesName() throws {
    let script: (inout Script) -> Void = {
      $0.start()
      $0.client(hex: Self.filter("serial=1234;a#"))
      $0.close(.server)
    }
    func shown(_ redaction: RedactionRules) throws -> String {
      let report = try judge(options: ConformanceOptions(redaction: redaction), script)
      let result = try #require(report.results.first { $0.clause.id == "MQTT-4.7.1-2" })
      let finding = try #require(result.findings.first)
      return finding.actual + String(decoding: finding.packet, as: UTF8.self)
    }
    #expect(try shown(RedactionRules()).split(separator: "1234").count == 3)
    let hidden = try shown(RedactionRules(keys: ["serial"]))
    #expect(!hidden.contains("1234"))
    #expect(hidden.hasPrefix(#""serial=***;a#", '#' at byte 19, filter"#))
  }
}
