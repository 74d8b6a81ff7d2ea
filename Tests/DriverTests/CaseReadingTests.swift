import Driver
import Testing
import Wire

/// What a file of a case may be, and what is said of one that is none.
@Suite("Reading cases")
struct CaseReadingTests {
  /// A text that is no case, and what is said of it.
  struct Wrong: Sendable, CustomTestStringConvertible {
    let text: String
    let message: String
    var testDescription: String { message }
  }

  private static func whole(_ inside: String, steps: String = #"[{"client":"a","do":"connect"}]"#)
    -> String
  {
    #"{"name":"x","title":"t","clauses":["c"]\#(inside),"steps":\#(steps)}"#
  }

  private static func step(_ step: String) -> String { whole("", steps: "[\(step)]") }

  static let wrong: [Wrong] = [
    Wrong(text: "[", message: "f.json, line 1: it is no JSON: "),
    Wrong(text: "[1]", message: "f.json: the case is no object"),
    Wrong(text: "{}", message: #"f.json: the case: "name" is no text"#),
    Wrong(
      text: whole(#","rowz":[]"#), message: #""rowz" is no key there; did you mean "rows"?"#),
    Wrong(text: whole(#","rows":[]"#), message: #"f.json: case x: "rows" has none"#),
    Wrong(text: whole(#","rows":{"a":[]}"#), message: #""rows" has no list of values for a"#),
    Wrong(text: whole(#","versions":["3.1"]"#), message: #"has "3.1", which is neither"#),
    Wrong(text: whole(#","needs":["qos"]"#), message: #"has "qos", which is none of retain, qos1"#),
    Wrong(text: whole(#","profile":"slow""#), message: #""profile" is none of quick, full"#),
    Wrong(text: whole(#","seconds":601"#), message: #""seconds" is no whole number from 1 to 600"#),
    Wrong(text: whole("", steps: "[]"), message: #"case x: "steps" has none"#),
    Wrong(text: step("1"), message: "f.json: case x, step 1 is no object"),
    Wrong(text: step(#"{"client":"a"}"#), message: #"step 1: "do" is missing"#),
    Wrong(text: step(#"{"client":"a","do":"jump"}"#), message: #"step 1: "do" is none of connect"#),
    Wrong(text: step(#"{"do":"fence"}"#), message: #"step 1: "client" is no text"#),
    Wrong(
      text: step(#"{"client":"a","do":"publish","topik":"a"}"#),
      message: #""topik" is no key there; did you mean "topic"?"#),
    Wrong(
      text: step(#"{"client":"a","do":"fence","in":"4"}"#),
      message: #""in" is neither 3.1.1 nor 5.0"#),
  ]

  /// A step of a case of clients that is none, and what is said of it.
  static let wrongOfClients: [Wrong] = [
    Wrong(text: #"{"do":"connect"}"#, message: #"step 1: "do" is none of accept, open, publish"#),
    Wrong(text: #"{"do":"fence"}"#, message: #"step 1: "do" is none of accept, open, publish"#),
    Wrong(
      text: #"{"do":"accept","client":"a"}"#,
      message: #""client" is no key there"#),
    Wrong(
      text: #"{"do":"accept","reasonCode":[0]}"#,
      message: #""reasonCode" is no key there; did you mean "reasonCodes"?"#),
    Wrong(
      text: #"{"do":"release","types":["PUBACK"]}"#, message: #""types" is no key there"#),
  ]

  @Test("What no broker of a case does is told", arguments: wrongOfClients)
  func refusesOfClients(_ wrong: Wrong) throws {
    let error = try #require(throws: DriverError.self) {
      let text = Self.whole("", steps: "[\(wrong.text)]")
      return try CaseLibrary.read(Array(text.utf8), .client, "f.json")
    }
    #expect(error.code == .badCase)
    #expect(error.message.contains(wrong.message), "\(error.message)")
  }

  @Test("A broker of a case lets in, and publishes to what the client has asked for")
  func clientSteps() throws {
    let text = Self.whole(
      #","versions":["5.0"],"needs":["subscribes"]"#,
      steps: #"""
        [{"do":"accept","properties":{"receiveMaximum":2}},{"do":"hold","types":["PUBACK"]},
         {"do":"publish","qos":1},{"do":"send","type":"PUBACK","packetID":"{id}"},{"do":"release"}]
        """#)
    let one = try #require(try CaseLibrary.read(Array(text.utf8), .client, "f").first)
    let shown = try CasePlan.plans(of: one, in: [.v3_1_1, .v5_0]).map { try $0.preview() }
    #expect(
      shown == [
        """
        x.v5: t
          accept  20 06 00 00 03 21 00 02
          hold  PUBACK
          publish  32 12 00 07 7b 74 6f 70 69 63 7d 00 03 00 78 2e 76 35 20 33
          send  40 02 00 01
          release

        """
      ])
  }

  @Test("A value of a row may name the topics of the run, in front, behind and alone")
  func rowsNameOthers() throws {
    let text = Self.whole(
      #","versions":["3.1.1"],"rows":{"topic":["{t}","\u00e9{t}/{version}","{x*3}"]}"#,
      steps: #"[{"client":"a","do":"publish","topic":"{topic}/{row}","qos":0,"payload":""}]"#)
    let one = try #require(try CaseLibrary.read(Array(text.utf8), .broker, "f").first)
    let shown = try CasePlan.plans(of: one, in: [.v3_1_1]).map { try $0.preview() }
    let topics = ["reprise/RUN/x-v311-1", "\u{e9}reprise/RUN/x-v311-2/3.1.1", "xxx"]
    #expect(shown.count == topics.count)
    for (shown, topic) in zip(shown, topics) {
      let bytes = Array("\(topic)/{row}".utf8)
      let hex = ([UInt8(0), UInt8(bytes.count)] + bytes).map { byte in
        String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
      }
      #expect(
        shown.contains("  a publish  30 ") && shown.contains(hex.joined(separator: " ")), "\(shown)"
      )
    }
  }

  @Test("What is no case is told with its file, its place and its key", arguments: wrong)
  func refuses(_ wrong: Wrong) throws {
    let error = try #require(throws: DriverError.self) {
      try CaseLibrary.read(Array(wrong.text.utf8), .broker, "f.json")
    }
    #expect(error.code == .badCase)
    #expect(error.message.contains(wrong.message), "\(error.message)")
  }

  /// Steps that are well formed, and can't be done.
  static let undoable: [Wrong] = [
    Wrong(text: #"{"client":"a","do":"send","type":"HELLO"}"#, message: "names no packet of MQTT"),
    Wrong(text: #"{"client":"a","do":"bytes","hex":"c0 0"}"#, message: "not pairs of hexadecimal"),
    Wrong(text: #"{"client":"a","do":"bytes","hex":""}"#, message: "not pairs of hexadecimal"),
    Wrong(text: #"{"client":"a","do":"publish","qos":1}"#, message: #""topic" is missing"#),
    Wrong(
      text: #"{"client":"a","do":"publish","topic":"a","qos":4}"#,
      message: #""qos" is not in 0...3"#),
    Wrong(
      text: #"{"client":"a","do":"hold","types":["PUB"]}"#, message: "that is no packet of MQTT"),
    Wrong(text: #"{"do":"wait","seconds":601}"#, message: "no number from 0 to 600"),
    Wrong(
      text: #"{"client":"a","do":"publish","topic":"{x*70000}"}"#, message: "can't be encoded"),
  ]

  @Test("A step that can't be done is told when it is shown", arguments: undoable)
  func refusesSteps(_ wrong: Wrong) throws {
    let one = try #require(
      try CaseLibrary.read(Array(Self.step(wrong.text).utf8), .broker, "f.json").first)
    let plan = try #require(CasePlan.plans(of: one, in: [.v5_0]).first)
    let error = try #require(throws: DriverError.self) { try plan.preview() }
    #expect(error.message.contains("f.json: case x, step 1"), "\(error.message)")
    #expect(error.message.contains(wrong.message), "\(error.message)")
  }

  @Test("Rows are a list, or every combination of lists, in each version that is asked for")
  func plans() throws {
    let text = Self.whole(#","rows":{"a":[1,2],"b":["x","y"]}"#)
    let one = try #require(try CaseLibrary.read(Array(text.utf8), .broker, "f").first)
    let plans = CasePlan.plans(of: one, in: [.v3_1_1, .v5_0])
    #expect(
      plans.map { "\($0.name) \($0.shownValues)" } == [
        "x.v311.1 a 1, b x", "x.v311.2 a 1, b y", "x.v311.3 a 2, b x", "x.v311.4 a 2, b y",
        "x.v5.1 a 1, b x", "x.v5.2 a 1, b y", "x.v5.3 a 2, b x", "x.v5.4 a 2, b y",
      ])
    #expect(CasePlan.plans(of: one, in: [.v5_0]).count == 4)
    let only = Self.whole(#","versions":["5.0"],"rows":[{"a":1}]"#)
    let other = try #require(try CaseLibrary.read(Array(only.utf8), .broker, "f").first)
    #expect(CasePlan.plans(of: other, in: [.v3_1_1, .v5_0]).map(\.name) == ["x.v5"])
  }

  @Test("Values stand where texts name them, as numbers where nothing else stands there")
  func values() throws {
    let text = #"""
      {"name":"x","title":"t","clauses":["mqtt-5.0/b","a"],"rows":[{"q":1,"n":"z"}],"steps":[
        {"client":"s","do":"subscribe","filter":"{t}/{n}/{unknown}","qos":"{q}","in":"3.1.1"},
        {"client":"s","do":"publish","topic":"{t}/{b*3}","payload":"{q}{","qos":"{q}","in":"5.0"},
        {"client":"s","do":"send","type":"PUBACK","packetID":"{s.id}"}]}
      """#
    let one = try #require(try CaseLibrary.read(Array(text.utf8), .broker, "f").first)
    #expect(one.clauses(of: "mqtt-3.1.1") == ["a"])
    #expect(one.clauses(of: "mqtt-5.0") == ["b", "a"])
    let shown = try CasePlan.plans(of: one, in: [.v3_1_1, .v5_0]).map { try $0.preview() }
    // reprise/RUN/x-v311/z/{unknown} with QoS 1, and reprise/RUN/x-v5/bbb with the payload "1{".
    #expect(
      shown == [
        """
        x.v311: t (q 1, n z)
          s subscribe  82 23 00 01 00 1e 72 65 70 72 69 73 65 2f 52 55 4e 2f 78 2d 76 33 31 31 2f \
        7a 2f 7b 75 6e 6b 6e 6f 77 6e 7d 01
          s send  40 02 00 01

        """,
        """
        x.v5: t (q 1, n z)
          s publish  32 1b 00 14 72 65 70 72 69 73 65 2f 52 55 4e 2f 78 2d 76 35 2f 62 62 62 00 01 00 31 7b
          s send  40 02 00 01

        """,
      ])
  }
}
