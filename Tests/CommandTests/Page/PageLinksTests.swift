import Foundation
import Testing

/// What the page takes for request and answer, and for message and delivery.
@Suite struct PageLinksTests {
  private static func line(_ connection: Int, _ sender: String, _ fields: String) -> String {
    SampleRecording.line(fields, from: sender).replacing(
      "\"connection\":1", with: "\"connection\":\(connection)")
  }

  private static func publish(
    _ qos: Int, id: Int = 0, _ payload: String = "x", retain: Bool = false
  )
    -> String
  {
    "\"type\":\"PUBLISH\",\"length\":9," + (qos > 0 ? "\"packetID\":\(id)," : "")
      + "\"qos\":\(qos),\"retain\":\(retain),\"dup\":false,\"topic\":\"a\","
      + "\"payload\":{\"utf8\":\"\(payload)\"}"
  }

  private static func answer(_ type: String, _ id: Int) -> String {
    "\"type\":\"\(type)\",\"length\":2,\"packetID\":\(id)"
  }

  private static let connect =
    #""type":"CONNECT","length":13,"clientID":"c","cleanStart":true,"keepAlive":0"#
  private static let connack =
    #""type":"CONNACK","length":2,"sessionPresent":false,"returnCode":0"#
  private static let subscribe =
    #""type":"SUBSCRIBE","length":6,"packetID":5,"filters":[{"filter":"a","qos":0}]"#
  private static let suback = #""type":"SUBACK","length":3,"packetID":5,"reasonCodes":[0]"#

  /// The events, numbered from 1.
  private static let events: [(connection: Int, sender: String, fields: String)] = [
    (1, "client", connect), (1, "server", connack), (2, "client", connect), (2, "server", connack),
    // 5: two messages that are the same, then what comes of them, and what does not.
    (1, "client", publish(1, id: 5)), (1, "server", answer("PUBACK", 5)), (1, "client", publish(0)),
    (2, "server", publish(0)), (2, "server", publish(0)), (2, "server", publish(0, "y")),
    (2, "server", publish(0, retain: true)),
    // 12: the answer of another connection is none.
    (1, "client", subscribe), (2, "server", suback), (1, "server", suback),
    // 15: answers come in the order of the questions.
    (1, "client", "\"type\":\"PINGREQ\",\"length\":0"),
    (1, "client", "\"type\":\"PINGREQ\",\"length\":0"),
    (1, "server", "\"type\":\"PINGRESP\",\"length\":0"),
    (1, "server", "\"type\":\"PINGRESP\",\"length\":0"),
    // 19: both ends have identifiers of their own.
    (1, "client", publish(2, id: 9, "z")), (1, "server", publish(1, id: 9, "w")),
    (1, "client", answer("PUBACK", 9)), (1, "server", answer("PUBREC", 9)),
    (1, "client", answer("PUBREL", 9)), (1, "server", answer("PUBCOMP", 9)),
    // 25: an identifier is used again, and an answer without a question.
    (1, "client", publish(1, id: 5, "v")), (1, "server", answer("PUBACK", 6)),
    (1, "server", answer("PUBACK", 5)),
  ]

  @Test func joinsWhatBelongsTogether() throws {
    let scratch = try Scratch()
    let lines = Self.events.map { Self.line($0.connection, $0.sender, $0.fields) }
    let recording = try scratch.write(
      ([SampleRecording.header] + lines).joined(separator: "\n") + "\n", to: "session.jsonl")
    let page = scratch.path("page.html")
    let made = try RepriseProcess.run(
      ["inspect", "--format", "html", recording.path, "-o", page])
    #expect(made.status == 0 && made.errors == "")
    let seen = try #require(try BrowserProcess.run(["links", page]).first as? [String: Any])
    #expect(
      seen["exchanges"] as? [[Int]] == [
        [1, 2], [3, 4], [5, 6], [12, 14], [15, 17], [16, 18], [19, 22, 23, 24], [20, 21], [25, 27],
      ])
    let sources = try #require(seen["sources"] as? [Int])
    #expect(
      Dictionary(uniqueKeysWithValues: zip(1..., sources)).filter { $0.value > 0 } == [
        8: 5, 9: 7, 11: 7,
      ])
    let deliveries = try #require(seen["deliveries"] as? [[Int]])
    #expect(
      Dictionary(uniqueKeysWithValues: zip(1..., deliveries)).filter { !$0.value.isEmpty } == [
        5: [8], 7: [9, 11],
      ])
  }
}
