import Foundation
import RepriseCore
import TestSupport
import Testing

/// `reprise view --at`, as scripts run it.
@Suite struct ViewAtTests {
  private static func run(_ name: String, _ words: [String]) throws -> RepriseProcess.Result {
    try RepriseProcess.run(
      ["view", "capture.pcap"] + words, directory: PackageFolder.recordings.appending(path: name))
  }

  private static func json(
    _ name: String, _ frame: Int, _ options: [String] = []
  ) throws -> JSONValue {
    let result = try run(name, ["--at", "\(frame)", "--format", "json"] + options)
    #expect(result.status == 0 && result.errors == "")
    return try #require(JSONValue(parsing: Array(result.output.utf8)))
  }

  @Test func showsAnEventForPeople() throws {
    let result = try Self.run("qos-levels-v311", ["--at", "9"])
    #expect(
      result.output == """
        Frame 9, connection 1, server → client, 2026-11-21T08:55:00.784313Z
        ← answers frame 8 SUBSCRIBE, after 29.0 µs
        Fields
          protocol        mqtt-3.1.1
          type            SUBACK
          length          3
          packetID        1
          reasonCodes     [2]
        Connection 1 at this event
          connected, mqtt-3.1.1
          127.0.0.1:54620 → 127.0.0.1:60619
          client "dashboard", keep alive 60 s, clean, no session before
          client     2 sent, silent for 29.0 µs
          server     2 sent, silent for 0.0 µs
          subscribed plant/boiler/#  qos 2, frame 8
        Bytes of the packet (5)
          0000  90 03 00 01 02                                  |.....|

        """)
    #expect(result.status == 0 && result.errors == "")
  }

  /// The PUBLISH is in flight at its own frame, and not any more at that of its PUBACK.
  @Test func pairsQuestionsWithAnswers() throws {
    let question = try Self.json("qos-levels-v5", 31)["events"]?[0]
    #expect(
      question?["answeredBy"]
        == [
          [
            "frame": 33, "connection": 3, "type": "PUBACK", "exchange": "publish-puback",
            "seconds": .number("4.5e-05"),
          ]
        ])
    #expect(question?["answers"] == [])
    #expect(
      question?["connection"]?["inFlight"]
        == [
          [
            "id": 1, "from": "client", "type": "PUBLISH", "waitsFor": "PUBACK",
            "about": "plant/boiler/pressure", "frame": 31,
          ]
        ])
    let answer = try Self.json("qos-levels-v5", 33)["events"]?[0]
    #expect(answer?["answers"]?[0]?["frame"] == 31)
    #expect(answer?["answeredBy"] == [])
    #expect(answer?["connection"]?["inFlight"] == [])
  }

  @Test func tellsTheEventsOfOneFrameApart() throws {
    let events = try #require(try Self.json("qos-levels-v311", 4)["events"]?.elements)
    #expect(events.map { $0["event"]?["type"] } == ["OPEN", "CONNECT"])
    #expect(events.map { $0["answeredBy"]?[0]?["type"] } == ["CONNECT", "CONNACK"])
    #expect(events.map { $0["connection"]?["state"] } == ["open", "connecting"])
  }

  @Test func showsWhatWasFound() throws {
    let page = try Self.json("keep-alive-expired", 42, ["--assume", "complete"])
    let findings = try #require(page["events"]?[0]?["findings"]?.elements)
    #expect(findings.map { $0["clause"] } == ["MQTT-3.1.2-23"])
    #expect(findings[0]["expected"] == "a packet at least every 5 s")
    // A proxy may have answered for a client that is gone.
    #expect(try Self.json("keep-alive-expired", 42)["events"]?[0]?["findings"] == [])
    // The one before is closed as well, and nothing was found in that.
    #expect(try Self.json("keep-alive-expired", 9)["events"]?[0]?["findings"] == [])
  }

  /// A secret stands neither in fields nor in bytes; with --show-secrets it stands in both.
  @Test func hidesSecrets() throws {
    let scratch = Scratch()
    try scratch.write(SampleRecording.text, to: "session.jsonl")
    let words = ["view", scratch.file("session.jsonl"), "--at", "2", "--format", "json"]
    let hidden = try RepriseProcess.run(words).output
    let shown = try RepriseProcess.run(words + ["--show-secrets"]).output
    let bytes = "67656865696d"
    #expect(!hidden.contains("geheim") && !hidden.contains(bytes))
    #expect(hidden.contains("************") && hidden.contains("\"***\""))
    #expect(shown.contains("geheim") && shown.contains(bytes))
  }

  /// A connection begins with its SYN, by which a story names it, and is told behind the handshake of TCP.
  @Test func showsWhatBeginsInAFrame() throws {
    let opening = try Self.json("qos-levels-v311", 1)["events"]
    #expect(opening?[0]?["event"]?["type"]?.text == "OPEN" && opening?[1] == nil)
    #expect(opening?[0]?["event"]?["firstFrame"]?.integer == 1)
  }

  @Test(arguments: [
    ("3", "frame 3 ends no event; the next event is in frame 4"),
    ("100000", "frame 100000 ends no event; the last event is in frame 79"),
  ])
  func tellsWhereEventsAre(_ frame: String, _ message: String) throws {
    let result = try Self.run("qos-levels-v311", ["--at", frame])
    #expect(result.status == 2 && result.output == "")
    #expect(result.errors == "reprise: capture.pcap: \(message)\n")
  }

  @Test func tellsWhatThereIsNoMemoryFor() throws {
    let result = try Self.run("qos-levels-v311", ["--at", "9", "--memory", "4K"])
    #expect(result.status == 0)
    #expect(result.errors.contains("events are not shown"), "\(result.errors)")
    let all = try Self.run("qos-levels-v311", ["--at", "9"])
    #expect(all.errors == "")
  }
}
