import ConformanceKit
import Driver
import RepriseCore
import Testing

/// The cases of WebSocket that are part of the command, and what a file of one may be.
@Suite("The cases of WebSocket")
struct WebSocketCaseTests {
  @Test("Each case is for clauses that have a rule, of which one binds each end that it drives")
  func clauses() throws {
    let catalogue = try Catalogue.bundled().clauses.filter { $0.spec == "rfc6455" }
    for one in try CaseLibrary(.webSocket).cases {
      let meant = one.clauses.map { id in catalogue.first { $0.id == id } }
      for (id, clause) in zip(one.clauses, meant) {
        #expect(
          clause.map { [.checked, .reactive].contains($0.status) } == true,
          "\(one.name): \(id) is no clause, or has no rule")
      }
      for subject in one.subjects {
        let other: Clause.Actor = subject == .server ? .client : .server
        #expect(
          meant.contains { $0.map { $0.actor != other } == true },
          "\(one.name) is for nothing that binds a \(subject)")
      }
    }
  }

  // MARK: Reading

  private static func read(_ steps: String) throws -> CasePlan {
    let text = #"{"name":"x","title":"t","clauses":["c"],"steps":[\#(steps)]}"#
    let cases = try CaseLibrary.read(Array(text.utf8), .webSocket, "f.json")
    let one = try #require(cases.first)
    return try #require(CasePlan.plans(of: one, in: []).first)
  }

  @Test("Steps are shown as what they send")
  func shows() throws {
    let plan = try Self.read(
      #"""
      {"do":"connect","target":"/a","headers":{"upgrade":"{h*2}","Host":null,"X":["1","2"]}},
      {"do":"frame","type":"TEXT","payload":"ab","fin":false,"rsv":2,"maskingKey":"01000000"},
      {"do":"frame","opcode":11,"lengthForm":16,"masked":false,"hex":"0102"},
      {"do":"frame","type":"PING","length":70000},
      {"do":"message","type":"BINARY","size":3,"fragment":2},
      {"do":"message","payload":"","repeat":2},
      {"do":"bytes","text":"GET"},
      {"do":"close","closeCode":1001,"closeReason":"b"}
      """#)
    #expect(
      try plan.preview() == """
        x: t
          connect  GET /a HTTP/1.1 | upgrade: hh | Connection: Upgrade | Sec-WebSocket-Key: KEY | \
        Sec-WebSocket-Version: 13 | X: 1 | X: 2
          frame  21 82 01 00 00 00 60 62
          frame  8b 7e 00 02 01 02
          frame  89 ff 00 00 00 00 00 01 11 70 00 00 00 00
          message  02 02 61 62 80 01 63
          message  81 00, 2 times
          bytes  47 45 54
          close  88 03 03 e9 62

        """)
    #expect(plan.driven.subjects == [.server])
    #expect(plan.driven.usages == ["reprise conform server URL --case CASE"])
    #expect(plan.name == "x")
    #expect(plan.standard == "rfc6455")
  }

  @Test(
    "A case drives the end that none of its steps is",
    arguments: [("open", [Peer.client, .server]), ("connect", [.server]), ("accept", [.client])])
  func subjects(step: String, subjects: [Peer]) throws {
    let plan = try Self.read(#"{"do":"\#(step)"},{"do":"fence"}"#)
    #expect(plan.driven.subjects == Set(subjects))
    let usages = [
      Peer.server: "reprise conform server URL --case CASE",
      .client: "reprise conform client --websocket --case CASE -- COMMAND",
    ]
    #expect(Set(plan.driven.usages) == Set(subjects.compactMap { usages[$0] }))
  }

  /// Steps that can't be done, and what is said of them.
  static let wrong: [(String, String)] = [
    (#"{"do":"frame","payload":"a"}"#, #""type" is missing; it says what frame it is"#),
    (
      #"{"do":"frame","type":"HELLO"}"#, #""type" names no frame: it is none of CONTINUATION, TEXT"#
    ),
    (#"{"do":"frame","opcode":16}"#, #""opcode" is no whole number from 0 to 15"#),
    (#"{"do":"frame","type":"TEXT","rsv":8}"#, #""rsv" is no whole number from 0 to 7"#),
    (#"{"do":"frame","type":"TEXT","fin":1}"#, #""fin" is neither true nor false"#),
    (#"{"do":"frame","type":"TEXT","maskingKey":"+1"}"#, "is none of eight hexadecimal digits"),
    (#"{"do":"frame","type":"TEXT","lengthForm":8}"#, #""lengthForm" is none of 7, 16 and 64"#),
    (#"{"do":"frame","type":"TEXT","payload":1}"#, #""payload" is no text"#),
    (#"{"do":"frame","type":"TEXT","hex":"0"}"#, "not pairs of hexadecimal digits"),
    (#"{"do":"message","type":"PING"}"#, #""type" is neither TEXT nor BINARY"#),
    (#"{"do":"message","size":20971521}"#, #""size" is no whole number from 0 to 20971520"#),
    (#"{"do":"message","fragment":0}"#, #""fragment" is no whole number from 1"#),
    (
      #"{"do":"connect","headers":{"A":"a\nb"}}"#, "has A, which is neither a line, a list of lines"
    ),
    (#"{"do":"connect","headers":{"A:":"a"}}"#, "has A:, which is neither a line"),
    (#"{"do":"connect","headers":[]}"#, #""headers" is no object"#),
    (#"{"do":"connect","target":"/a\r\nb"}"#, #""target" has the end of a line in it"#),
    (#"{"do":"accept","status":99}"#, #""status" is no whole number from 100 to 999"#),
    (#"{"do":"hold","types":["PING"]}"#, "neither PONG nor CLOSE"),
    (#"{"do":"close","closeCode":65536}"#, #""closeCode" is no whole number from 0 to 65535"#),
    (#"{"do":"wait","seconds":601}"#, "no number from 0 to 600"),
    (#"{"do":"await","type":"SUBACK"}"#, "names no frame"),
    (#"{"do":"publish"}"#, #""do" is none of open, connect, accept, frame"#),
    (#"{"do":"open","client":"a"}"#, #""client" is no key there"#),
    (#"{"do":"frame","type":"TEXT","maskd":true}"#, #"did you mean "masked"?"#),
  ]

  @Test("A step that can't be done is told with its place", arguments: wrong)
  func refuses(step: String, message: String) throws {
    let error = try #require(throws: DriverError.self) { try Self.read(step).preview() }
    #expect(error.code == .badCase)
    #expect(error.message.contains("f.json: case x, step 1"), "\(error.message)")
    #expect(error.message.contains(message), "\(error.message)")
  }
}
