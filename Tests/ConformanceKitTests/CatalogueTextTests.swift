import ConformanceKit
import Testing

@Suite("The catalogue in words")
struct CatalogueTextTests {
  @Test("A section is listed with its subsections and a total")
  func listing() throws {
    let listing = try Catalogue.bundled().listing(section: "mqtt-3.1.1/3.1.2.8")
    #expect(
      listing == """
        MQTT-3.1.2-18  MUST    checked       frame       User Name Flag clear means no user name in the payload.
        MQTT-3.1.2-19  MUST    checked       frame       User Name Flag set means a user name is in the payload.
        2 of 2 clauses checked

        """)
  }

  @Test("The whole catalogue is listed, a clause a line")
  func all() throws {
    let lines = try Catalogue.bundled().listing().split(separator: "\n")
    #expect(lines.count == 570)
    #expect(lines.last == "540 of 569 clauses checked")
  }

  @Test("What does not exist is an empty list", arguments: ["99", "mqtt-3.1/3.1", "MQTT"])
  func nothing(section: String) throws {
    #expect(try Catalogue.bundled().listing(section: section).isEmpty)
    #expect(try Catalogue.bundled().listing(specs: ["mqtt-9"]).isEmpty)
  }

  @Test("A clause is explained")
  func explanation() throws {
    let text = try Catalogue.bundled().explanation(of: "mqtt-3.1.1/mqtt-3.9.3-2")
    #expect(
      text == """
        MQTT-3.9.3-2  (mqtt-3.1.1, section 3.9.3)

          SUBACK codes are 0x00, 0x01, 0x02 or 0x80 only.

        level         MUST
        actor         server
        scope         frame
        status        checked on captures and recordings
        how checked   Every code of every SUBACK is 0x00, 0x01, 0x02 or 0x80.
        inconclusive  Always when the version is inferred, the CONNECT not being captured. Bytes of the
                      packet are missing from the capture.
        violation     A SUBACK with code 0x03.

        """)
  }

  @Test("Every clause can be explained, in lines that fit a terminal")
  func width() throws {
    let catalogue = try Catalogue.bundled()
    for clause in catalogue.clauses {
      let text = try catalogue.explanation(of: clause.id)
      #expect(text.split(separator: "\n").allSatisfy { $0.count <= 100 }, "\(clause.id)")
    }
  }

  @Test("A clause that does not exist is an error with the nearest")
  func unknown() throws {
    let error = #expect(throws: ConformanceError.self) {
      _ = try Catalogue.bundled().explanation(of: "MQTT-3.8.3")
    }
    #expect(error?.message.contains("nearest: MQTT-3.8.3-1") == true)
    #expect("\(error?.message ?? "")" == error?.description)
  }
}
