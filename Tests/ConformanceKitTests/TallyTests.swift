import ConformanceKit
import RepriseCore
import Testing
import Wire

/// A session, and all that comes of it: every clause that fails, with its frames and counts.
struct WholeCase: Sendable, CustomTestStringConvertible {
  /// What is known of one clause.
  struct Count: Sendable, Hashable {
    var violated: Int
    var kept: Int
    var undecided: Int
    /// The frames of the findings, or where there is none, those that are left undecided.
    var frames: [Int]
  }

  let testDescription: String
  /// Every clause that fails when a SHOULD counts.
  let failed: [String]
  /// The counts of the clauses that the session is about.
  let counts: [String: Count]
  let script: @Sendable (inout Script) -> Void

  init(
    _ name: String, failed: [String], _ counts: [String: (Int, Int, Int, [Int])],
    _ script: @escaping @Sendable (inout Script) -> Void
  ) {
    testDescription = name
    self.failed = failed
    self.counts = counts.mapValues {
      Count(violated: $0.0, kept: $0.1, undecided: $0.2, frames: $0.3)
    }
    self.script = script
  }

  func check() throws {
    let report = try judge(options: ConformanceOptions(isStrict: true), script)
    #expect(report.results.filter { $0.verdict == .failed }.map(\.clause.id) == failed)
    for (id, count) in counts {
      let result = try #require(report.results.first { $0.clause.id == id })
      let frames =
        result.findings.isEmpty ? result.places.map(\.frame) : result.findings.map(\.frame)
      let seen = Count(
        violated: result.violated, kept: result.satisfied, undecided: result.undecided,
        frames: frames)
      #expect(seen == count, "\(id)")
    }
  }
}

@Suite("Whole verdicts")
struct TallyTests {
  /// A receiver is held to the clause of the packet that it received.
  static let receivers: [WholeCase] = [
    WholeCase(
      "a SUBSCRIBE 80 that the server accepts",
      failed: ["MQTT-2.2.2-1", "MQTT-2.2.2-2", "MQTT-3.8.1-1", "MQTT-4.8.0-1"],
      [
        "MQTT-3.8.1-1": (2, 0, 0, [4, 5]), "MQTT-3.6.1-1": (0, 0, 0, []),
        "MQTT-3.10.1-1": (0, 0, 0, []),
      ]
    ) {
      $0.start()
      $0.client(hex: "80 06 0001 0001 61 00")
      $0.suback(1, 0)
      $0.finish()
    },
    WholeCase(
      "an UNSUBSCRIBE A0 that the server refuses", failed: ["MQTT-2.2.2-1", "MQTT-3.10.1-1"],
      ["MQTT-3.10.1-1": (1, 1, 0, [4]), "MQTT-3.8.1-1": (0, 0, 0, [])]
    ) {
      $0.start()
      $0.client(hex: "A0 05 0001 0001 61")
      $0.close(.server)
    },
    WholeCase(
      "a PUBREL 60, and the client closes", failed: ["MQTT-2.2.2-1", "MQTT-3.6.1-1"],
      ["MQTT-3.6.1-1": (1, 0, 1, [4]), "MQTT-3.8.1-1": (0, 0, 0, [])]
    ) {
      $0.start()
      $0.client(hex: "60 02 0001")
      $0.close(.client)
    },
    WholeCase(
      "a PINGREQ C1 is none of the three", failed: ["MQTT-2.2.2-1"],
      [
        "MQTT-3.6.1-1": (0, 0, 0, []), "MQTT-3.8.1-1": (0, 0, 0, []),
        "MQTT-3.10.1-1": (0, 0, 0, []),
      ]
    ) {
      $0.start()
      $0.client(hex: "C1 00")
      $0.close(.server)
    },
  ]

  /// Keep Alive is measured from CONNACK, and the server's end tells as well.
  static let silences: [WholeCase] = [
    WholeCase("16 s behind CONNACK", failed: ["MQTT-3.1.2-23"], ["MQTT-3.1.2-23": (1, 0, 2, [8])]) {
      $0.start(keepAlive: 10)
      for _ in 0..<3 {
        $0.wait(16)
        $0.answerPing()
      }
      $0.finish()
    },
    WholeCase("10 s behind CONNACK", failed: [], ["MQTT-3.1.2-23": (0, 1, 0, [])]) {
      $0.start(keepAlive: 10)
      $0.wait(10)
      $0.ping()
      $0.pong()
      $0.finish()
    },
    WholeCase("13 s behind CONNACK", failed: [], ["MQTT-3.1.2-23": (0, 0, 1, [4])]) {
      $0.start(keepAlive: 10)
      $0.wait(13)
      $0.ping()
      $0.pong()
      $0.finish()
    },
    WholeCase(
      "16 s of which the server took 10 for CONNACK", failed: [],
      ["MQTT-3.1.2-23": (0, 0, 1, [4])]
    ) {
      $0.open()
      $0.client(.connect(.init(clientID: "c", keepAlive: 10)))
      $0.wait(10)
      $0.server(.connack(.init()))
      $0.wait(6)
      $0.ping()
      $0.pong()
      $0.finish()
    },
    .silence(
      "the server ends it after 16 s", failed: [], ["MQTT-3.1.2-23": (0, 0, 1, [6])]
    ) {
      $0.wait(16)
      $0.close(.server)
    },
    .silence("the server ends it after 9 s", failed: [], ["MQTT-3.1.2-23": (0, 1, 0, [])]) {
      $0.wait(9)
      $0.close(.server)
    },
    .silence(
      "the client is gone when the server ends it", failed: [],
      ["MQTT-3.1.2-23": (0, 0, 1, [6])]
    ) {
      $0.wait(16)
      $0.close(.server, isAnswered: false)
    },
  ]

  /// A side that meets a broken rule may close without a Close frame.
  static let closes: [WholeCase] = [
    WholeCase(
      "the server closes without a Close frame", failed: ["RFC6455-7.1.2-1"],
      ["RFC6455-7.1.2-1": (1, 0, 0, [5])]
    ) {
      $0.upgrade()
      $0.text(.client, "a")
      $0.close(.server)
    },
    WholeCase(
      "the server closes on a frame without a mask",
      failed: ["RFC6455-5.1-1", "RFC6455-5.3-1"], ["RFC6455-7.1.2-1": (0, 0, 1, [5])]
    ) {
      $0.upgrade()
      $0.wireBytes(.client, [0x81, 1, 0x61])
      $0.close(.server)
    },
    WholeCase(
      "the client closes on an answer with another Accept",
      failed: ["RFC6455-4.2.2-11"], ["RFC6455-7.1.2-1": (0, 0, 1, [4])]
    ) {
      $0.ask()
      $0.answer { $0.set("Sec-WebSocket-Accept", "AAAAAAAAAAAAAAAAAAAAAAAAAAA=") }
      $0.close(.client)
    },
    WholeCase(
      "the server closes on MQTT that breaks a rule", failed: ["MQTT-2.2.2-1"],
      ["RFC6455-7.1.2-1": (0, 0, 1, [10])]
    ) {
      $0.upgrade(subprotocol: "mqtt")
      $0.startCarrying()
      $0.frame(.client, .binary, [0xC1, 0])
      $0.unpack(.client, [0xC1, 0])
      $0.wait(1)
      $0.close(.server)
    },
    WholeCase(
      "the server closes on a client that is silent for too long", failed: [],
      ["MQTT-3.1.2-23": (0, 0, 1, [8]), "RFC6455-7.1.2-1": (0, 0, 1, [8])]
    ) {
      $0.upgrade(subprotocol: "mqtt")
      $0.carry(.client, .connect(.init(clientID: "c", keepAlive: 10)))
      $0.carry(.server, .connack(.init()))
      $0.wait(20)
      $0.close(.server)
    },
    WholeCase(
      "a header that the end cuts behind opcode 3", failed: ["RFC6455-5.2-3"],
      ["RFC6455-5.2-3": (1, 1, 0, [5]), "RFC6455-7.1.2-1": (0, 0, 1, [6])]
    ) {
      $0.upgrade()
      $0.text(.client)
      $0.add(.client, .malformed(Malformation(reservedOpcodeIn: 0x83, at: 11)))
      $0.close(.server)
    },
    WholeCase("the same without the handshake", failed: [], ["RFC6455-5.2-3": (0, 1, 1, [3])]) {
      $0.joinWebSocket()
      $0.text(.client)
      $0.add(.client, .malformed(Malformation(reservedOpcodeIn: 0x83, at: 11)))
      $0.close(.server)
    },
    WholeCase(
      "the one who broke the rule closes",
      failed: ["RFC6455-5.1-1", "RFC6455-5.3-1", "RFC6455-7.1.2-1"],
      ["RFC6455-7.1.2-1": (1, 0, 0, [5])]
    ) {
      $0.upgrade()
      $0.wireBytes(.client, [0x81, 1, 0x61])
      $0.close(.client)
    },
  ]

  /// All of them.
  static let all =
    receivers + silences + closes + WholeCase.provocations + WholeCase.webSocketProvocations
    + WholeCase.doubtfulSilences + WholeCase.doubtfulAnswers + WholeCase.lateProvocations
    + WholeCase.doubtfulFrames + WholeCase.carriedEnds

  @Test("A session fails what it fails, and nothing else", arguments: all)
  func whole(_ session: WholeCase) throws { try session.check() }

  @Test("Findings of the same bytes name the first clause, and others do not")
  func causes() throws {
    let report = try judge {
      $0.start()
      $0.client(hex: "80 06 0001 0001 61 00")
      $0.client(hex: "80 07 0002 0002 6123 00")
      $0.close(.server)
    }
    let named = report.results.flatMap { result in
      result.findings.map { "\(result.clause.id) \($0.frame) \($0.sameCauseAs ?? "-")" }
    }
    #expect(
      named == [
        "MQTT-2.2.2-1 4 -", "MQTT-2.2.2-1 5 -", "MQTT-3.8.1-1 4 MQTT-2.2.2-1",
        "MQTT-3.8.1-1 5 MQTT-2.2.2-1", "MQTT-4.7.1-2 5 -",
      ])
    let text = report.text(color: false)
    #expect(text.ranges(of: "\n      the same cause as that of MQTT-2.2.2-1\n").count == 2)
    #expect(text.ranges(of: "\n      expected: ").count == 3)
    let json = String(decoding: report.json(), as: UTF8.self)
    #expect(json.ranges(of: #","sameCauseAs":"MQTT-2.2.2-1","#).count == 2)
  }

  @Test("A cause is named by a clause that is in the report")
  func selectedCauses() throws {
    let options = ConformanceOptions(clauses: ["MQTT-3.8.1-1"])
    let report = try judge(options: options) {
      $0.start()
      $0.client(hex: "80 06 0001 0001 61 00")
      $0.close(.server)
    }
    #expect(report.results.flatMap(\.findings).map(\.sameCauseAs) == [nil])
  }

  @Test("A clause that passed tells how often it was not decided, and where")
  func partly() throws {
    let report = try judge(options: ConformanceOptions(clauses: ["MQTT-3.12.4-1"])) {
      $0.start()
      $0.ping()
      $0.pong()
      $0.wait(5)
      $0.ping()
      $0.close(.client)
    }
    let result = try #require(report.results.first)
    #expect(result.verdict == .passed)
    #expect(
      result.reason
        == "1 of 2 undecided: the one who waited for the answer ended the connection (1×)")
    #expect(result.places.map(\.frame) == [6])
    let text = report.text(color: false)
    #expect(text.hasPrefix("mqtt-3.1.1: 1 of 1 selected clauses had anything to judge\n"))
    #expect(
      text.contains("\nPassed, and not decided everywhere\n  MQTT-3.12.4-1  1 of 2 undecided: "))
    #expect(
      text.contains("\n                 test.pcap frame 6, connection 1, 2026-09-21T14:13:25.0"))
  }

  @Test("What is counted apart has places as well")
  func bulk() throws {
    let report = try judge(options: ConformanceOptions(clauses: ["MQTT-3.3.2-1"])) {
      $0.wire = .mqttInferred(.v3_1_1)
      $0.open(isFromStart: false)
      for _ in 0..<5 { $0.publish(.client, "a") }
      $0.endCapture()
    }
    let result = try #require(report.results.first)
    #expect(result.undecided == 5)
    #expect(result.places.map(\.frame) == [2, 3, 4, 5, 6])
    #expect(result.places.first?.connection == 1)
    #expect(report.text(color: false).contains("\n                and 2 more\n"))
  }

  @Test("Whether anything was judged is told")
  func judged() throws {
    #expect(try !judge([]).hasJudged)
    #expect(try judge { $0.start() }.hasJudged)
    let other = try judge {
      $0.wire = .mqtt(.v3_1)
      $0.open()
      $0.ping()
    }
    #expect(!other.hasJudged)
    #expect(other.text(color: false).hasPrefix("mqtt-3.1.1: 0 of "))
  }
}
