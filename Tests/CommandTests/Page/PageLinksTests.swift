import Foundation
import TestSupport
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
    let scratch = Scratch()
    let lines = Self.events.map { Self.line($0.connection, $0.sender, $0.fields) }
    let recording = try scratch.write(
      ([SampleRecording.header] + lines).joined(separator: "\n") + "\n", to: "session.jsonl")
    let page = scratch.file("page.html")
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

  /// A text of a client or a server over WebSocket.
  private static func text(_ connection: Int, _ sender: String, _ text: String) -> String {
    let payload = text.replacing("\"", with: "\\\"")
    return line(
      connection, sender,
      "\"type\":\"TEXT\",\"length\":\(text.utf8.count),\"fin\":true,"
        + "\"masked\":\(sender == "client"),"
        + (sender == "client" ? "\"maskingKey\":\"01020304\"," : "")
        + "\"payload\":{\"utf8\":\"\(payload)\"}"
    ).replacing("mqtt-3.1.1", with: "websocket")
  }

  @Test(
    "Requests over WebSocket have their answers by the keys of the SDK, or those of a file",
    arguments: [false, true])
  func joinsRequests(hasEnvelope: Bool) throws {
    let scratch = Scratch()
    let id = hasEnvelope ? "no" : "uniqueId"
    let lines = [
      // 1: two at a time, answered in the other order; on another connection the same number.
      Self.text(1, "client", "{\"\(id)\":7,\"service\":\"a\",\"content\":\"\"}"),
      Self.text(1, "client", "{\"\(id)\":8,\"service\":\"a\",\"content\":\"\"}"),
      Self.text(2, "server", "{\"\(id)\":7,\"code\":200}"),
      Self.text(1, "server", "{\"\(id)\":8,\"code\":200}"),
      Self.text(1, "server", "{\"\(id)\":7,\"code\":200}"),
      // 6: by an id, which either end may give, and what is neither.
      Self.text(1, "server", #"{"jsonrpc":"2.0","id":"x","method":"m"}"#),
      Self.text(1, "client", #"{"jsonrpc":"2.0","id":"x","result":1}"#),
      Self.text(1, "client", "{\"unique\":7}"), Self.text(1, "server", "7"),
    ]
    let recording = try scratch.write(
      ([SampleRecording.header] + lines).joined(separator: "\n") + "\n", to: "session.jsonl")
    let page = scratch.file("page.html")
    let envelope = try scratch.write(#"{"id":"no"}"#, to: "envelope.json").path
    let made = try RepriseProcess.run(
      ["inspect", "--format", "html", recording.path, "-o", page]
        + (hasEnvelope ? ["--envelope", envelope] : []))
    #expect(made.status == 0 && made.errors == "", "\(made.errors)")
    let seen = try #require(try BrowserProcess.run(["links", page]).first as? [String: Any])
    #expect(seen["exchanges"] as? [[Int]] == [[1, 5], [2, 4], [6, 7]])
  }

  @Test func tellsKeysToAPageAlone() throws {
    let scratch = Scratch()
    let recording = try scratch.write(SampleRecording.header + "\n", to: "session.jsonl").path
    let result = try RepriseProcess.run(["inspect", "--envelope", "e.json", recording])
    #expect(result.status == 2)
    #expect(result.errors.contains("--envelope is for a page"), "\(result.errors)")
  }
}
