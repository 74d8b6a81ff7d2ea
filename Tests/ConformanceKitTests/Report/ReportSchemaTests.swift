import Foundation
import RepriseCore
import TestSupport
import Testing

@testable import ConformanceKit

@Suite("The schema of reports")
struct ReportSchemaTests {
  let validator: SchemaValidator

  init() throws {
    let data = try Data(
      contentsOf: PackageFolder.url.appending(path: "Conformance/report.schema.json"))
    validator = SchemaValidator(try JSONValue.read(Array(data)))
  }

  @Test("Reports of sessions of all kinds fit it")
  func fits() throws {
    var verdicts: Set<Verdict> = []
    for session in SessionCase.all {
      let report = try judge { session.script(&$0) }
      verdicts.formUnion(report.results.map(\.verdict))
      let complaints = validator.complaints(about: try JSONValue.read(report.json()))
      #expect(complaints == [], "\(session.testDescription)")
    }
    #expect(verdicts.count == 6)
  }

  @Test("What is missing, strange or of another kind does not")
  func near() throws {
    let report = try judge {
      $0.start()
      $0.client(hex: "36 06 0001 61 0001 01")
      $0.finish()
    }
    let text = String(decoding: report.json(), as: UTF8.self)
    for (old, new) in [
      (#""verdict":"failed""#, #""verdict":"bad""#), (#""level":"MUST""#, #""level":1"#),
      (#""frame":4"#, #""frame":"4""#), (#""fingerprint":""#, #""fingerprint":"x"#),
      (#""totals":{"#, #""totals":{"good":1,"#), (#""kept":0"#, #""kept":-1"#),
      (#""name":"reprise""#, #""name":"other""#), (#""expected":"#, #""expect":"#),
    ] {
      let changed = text.replacing(old, with: new, maxReplacements: 1)
      try #require(changed != text, "\(old)")
      let complaints = validator.complaints(about: try JSONValue.read(Array(changed.utf8)))
      #expect(complaints.count == 1, "\(new): \(complaints)")
    }
  }
}
