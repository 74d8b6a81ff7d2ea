import Foundation
import RepriseCore
import TestSupport
import Testing

/// `reprise stats` and `reprise story` as users run them; what they say of whole recordings is in the goldens.
@Suite struct StatsCommandTests {
  private static let capture = PackageFolder.capture("qos-levels-v311")

  private static func json(_ words: [String]) throws -> JSONValue {
    let result = try RepriseProcess.run(["stats", "--format", "json"] + words)
    #expect(result.status == 0 && result.errors == "", "\(words)")
    return try #require(JSONValue(parsing: Array(result.output.utf8)))
  }

  private static func list(_ value: JSONValue?) -> [JSONValue] {
    if case .array(let values) = value { values } else { [] }
  }

  /// The counts of messages in a report, by protocol, type and sender.
  private static func counts(_ report: JSONValue) -> [String: Int] {
    let rows = list(report["messages"]).map { row in
      let parts = ["protocol", "type", "from"].map { row[$0]?.text ?? "" }
      return (parts.joined(separator: " "), row["count"]?.integer ?? 0)
    }
    return Dictionary(rows, uniquingKeysWith: +)
  }

  /// The counts of lines that `inspect` prints.
  private static func inspected(_ words: [String]) throws -> [String: Int] {
    let result = try RepriseProcess.run(["inspect", "--format", "jsonl"] + words)
    let rows = result.output.split(separator: "\n").compactMap { line -> String? in
      guard let event = JSONValue(parsing: Array(line.utf8)), let type = event["type"]?.text
      else { return nil }
      let isOfConnection =
        ["OPEN", "GAP", "MALFORMED", "ATTEMPT"].contains(type) || event["how"] != nil
      let wire = event["protocol"]?.text?.split(separator: "-").first.map { String($0) }
      return [isOfConnection ? "connection" : wire ?? "", type, event["from"]?.text ?? ""]
        .joined(separator: " ")
    }
    return Dictionary(rows.map { ($0, 1) }, uniquingKeysWith: +)
  }

  @Test(arguments: [
    [], ["--filter", "PUBLISH"], ["--filter", "connection == 4 and not PUBACK"],
  ])
  func countsWhatInspectShows(_ words: [String]) throws {
    let counts = Self.counts(try Self.json([Self.capture] + words))
    let inspected = try Self.inspected([Self.capture] + words)
    #expect(counts == inspected && !counts.isEmpty)
  }

  @Test(arguments: [
    (["--connection", "4"], 1, 9), (["--client", "sensor-2"], 2, 18),
    // It is there, and does nothing that is counted.
    (["--client", "sensor-2", "--filter", "AUTH"], 0, 0),
  ])
  func countsWholeConnections(_ words: [String], _ connections: Int, _ events: Int) throws {
    let report = try Self.json([Self.capture] + words)
    #expect(report["connectionCount"]?.integer == connections)
    #expect(Self.counts(report).values.reduce(0, +) == events)
  }

  @Test func addsFilesUp() throws {
    let one = Self.counts(try Self.json([Self.capture]))
    let two = try Self.json([Self.capture, Self.capture])
    #expect(Self.counts(two) == one.mapValues { $0 * 2 })
    #expect(two["durationSeconds"]?.double == 0.064018)
    #expect(Self.list(two["files"]).count == 2)
  }

  @Test(arguments: ["text", "json", "csv", "prometheus"])
  func saysTheSameWithAnyNumberOfThreads(_ format: String) throws {
    let outputs = try ["1", "2"].map {
      try RepriseProcess.run(["stats", "--format", format, "--jobs", $0, Self.capture]).output
    }
    #expect(outputs[0] == outputs[1] && !outputs[0].isEmpty)
  }

  private static func recording(_ topic: String) -> [UInt8] {
    let publish = SampleRecording.line(
      #""type":"PUBLISH","length":9,"qos":0,"retain":false,"dup":false,"topic":"\#(topic)","#
        + #""payload":{"utf8":"1"}"#)
    return Array(
      ([SampleRecording.header, SampleRecording.connect, publish].joined(separator: "\n") + "\n")
        .utf8)
  }

  /// A topic can't be a formula of a spreadsheet, end its cell, or end its label.
  @Test(arguments: [
    ("=1+1", "'=1+1", "=1+1"), ("a,b", "\"a,b\"", "a,b"), ("+a", "'+a", "+a"),
    ("a=b", "a=b", "a=b"),
    (#"a\"b"#, "\"a\"\"b\"", #"a\"b"#), (#"a\\b"#, #"a\b"#, #"a\\b"#),
    (#"a\u001bb"#, #"a\u{1b}b"#, #"a\\u{1b}b"#),
  ])
  func keepsNamesInTheirPlaces(_ topic: String, _ cell: String, _ label: String) throws {
    let input = Self.recording(topic)
    let csv = try RepriseProcess.run(["stats", "--format", "csv", "-"], input: input)
    #expect(csv.output.contains("topic_messages,client,,,,,\(cell),,,,,,,,1\r\n"), "\(csv.output)")
    let prometheus = try RepriseProcess.run(
      ["stats", "--format", "prometheus", "-"], input: input)
    let sample = #"reprise_topic_messages_total{topic="\#(label)",from="client"} 1"#
    #expect(prometheus.output.contains(sample + "\n"), "\(prometheus.output)")
  }

  @Test func hidesSecretsInNames() throws {
    let input = Self.recording("a?token=geheim")
    for format in ["text", "json", "csv", "prometheus"] {
      let result = try RepriseProcess.run(["stats", "--format", format, "-"], input: input)
      #expect(result.output.contains("a?token=***") && !result.output.contains("geheim"))
    }
    let story = try RepriseProcess.run(["story", "--client", "c", "-"], input: input)
    #expect(story.output.contains("a?token=***") && !story.output.contains("geheim"))
  }

  @Test func tellsOfNothingWhereNothingCanBeRead() throws {
    let scratch = Scratch()
    let missing = scratch.file("missing.pcap")
    for words in [["stats", missing], ["story", "--client", "c", missing]] {
      let result = try RepriseProcess.run(words)
      #expect(result.status == 2 && result.output.isEmpty && result.errors.contains(missing))
    }
    let part = try RepriseProcess.run(["stats", missing, Self.capture])
    #expect(part.status == 2 && part.output.contains("5 connections"))
  }

  @Test(arguments: [
    (["--client", "sensor-9"], "there is no client \"sensor-9\"; did you mean \"sensor-0\"?"),
    (
      ["--client", "pump"],
      "there is no client \"pump\"; there are \"dashboard\", \"sensor-0\", \"sensor-1\", \"sensor-2\""
    ),
    (
      ["--connection", "6"],
      "there is no connection 6: the last is 5; reprise inspect shows them all"
    ),
  ])
  func saysWhoIsThereInstead(_ words: [String], _ message: String) throws {
    let result = try RepriseProcess.run(["story", Self.capture] + words)
    #expect(result.status == 2 && result.output.isEmpty)
    #expect(result.errors == "reprise: \(Self.capture): \(message)\n")
    let counted = try RepriseProcess.run(["stats", Self.capture] + words)
    #expect(counted.status == 2 && counted.output.isEmpty)
    #expect(counted.errors == "reprise: \(message)\n")
  }

  @Test(arguments: [
    ([], "story needs someone to tell of; add --client ID or --connection N"),
    (
      ["--client", "a", "--connection", "1"],
      "story tells of a client or of a connection; leave one of them out"
    ),
  ])
  func needsSomeoneToTellOf(_ words: [String], _ message: String) throws {
    let result = try RepriseProcess.run(["story", Self.capture] + words)
    #expect(result.status == 2 && result.errors.hasPrefix("reprise: \(message)"))
  }

  /// A recording has fewer lines than its capture had frames: all places are its lines.
  @Test func namesLinesOfARecording() throws {
    let scratch = Scratch()
    let recording = scratch.file("session.jsonl")
    _ = try RepriseProcess.run(["convert", Self.capture, "-o", recording])
    let lines = try scratch.read("session.jsonl").split(separator: "\n").count
    let result = try RepriseProcess.run(
      ["story", recording, "--client", "sensor-2", "--format", "json"])
    let story = try #require(JSONValue(parsing: Array(result.output.utf8)))
    let frames = Self.list(story["sentences"]).compactMap { $0["frame"]?.integer }
    #expect(frames.count == 12 && frames == frames.sorted())
    #expect(frames.allSatisfy { (2...lines).contains($0) })
    let report = try Self.json([recording])
    let places = Self.list(report["exchanges"]).compactMap { $0["slowest"]?["frame"]?.integer }
    #expect(!places.isEmpty && places.allSatisfy { (2...lines).contains($0) })
  }

  /// Of everyone who is judged, only what the story's connections do.
  @Test func tellsWhatTheClientViolates() throws {
    let bad = (0..<12).map { index in
      SampleRecording.line(
        #""type":"PUBLISH","qos":0,"topic":"a/#","payload":{"utf8":"\#(index)"}"#, second: 3)
    }
    let others = [SampleRecording.connect, SampleRecording.connack].map {
      $0.replacing("\"connection\":1", with: "\"connection\":2").replacing(#""c""#, with: #""d""#)
    }
    let input = Array((SampleRecording.text + (others + bad).map { $0 + "\n" }.joined()).utf8)
    func lines(_ client: String) throws -> [String] {
      try RepriseProcess.run(["story", "--client", client, "-"], input: input).output
        .split(separator: "\n").map(String.init).filter { $0.hasPrefix("Violated: ") }
    }
    let told = try lines("c")
    // Those that are alike are one line, where the first of them is.
    let places = "in frame 7, connection 1 and 11 times more: the client sent a bad PUBLISH: "
    #expect(
      told
        == ["MQTT-3.3.2-2", "MQTT-4.7.1-1"].map {
          "Violated: \($0) of mqtt-3.1.1 \(places)the topic name holds a wildcard."
        })
    #expect(try lines("d") == [])
  }

  /// Each sentence of the text is one of the object.
  @Test func tellsAStoryToPrograms() throws {
    let words = ["story", Self.capture, "--client", "sensor-2"]
    let text = try RepriseProcess.run(words).output
    let result = try RepriseProcess.run(words + ["--format", "json"])
    let story = try #require(JSONValue(parsing: Array(result.output.utf8)))
    let lines = Self.list(story["sentences"]).map { sentence in
      "Frame \(sentence["frame"]?.integer ?? 0), "
        + "\(sentence["time"]?.text?.dropFirst(11).dropLast() ?? ""), "
        + "#\(sentence["connection"]?.integer ?? 0): \(sentence["text"]?.text ?? "")"
    }
    #expect(lines == text.split(separator: "\n").filter { $0.hasPrefix("Frame ") }.map(String.init))
    #expect(lines.count == 12 && story["connections"]?.integer == 2)
    #expect(text.hasSuffix("\n\(story["slow"]?.text ?? "")\n"))
  }

  // MARK: Beside tshark

  /// Captures with all that MQTT has: of every QoS, of 5.0, large, lossy, sent again, cut, and with broken packets.
  private static let compared = [
    "made-here/g01_mqtt311_qos012.pcap", "made-here/g02_mqtt5_rpc_props.pcap",
    "made-here/g08_mqtt311_burst_and_large.pcap", "made-here/g10_snaplen120.pcap",
    "made-here/g15_persistent_session_dup_redelivery.pcap",
    "made-here/g17a_drop_one_segment.pcap", "made-here/g17c_duplicated_segments.pcap",
    "made-here/g17e_one_direction_only.pcap", "made-here/g17j_ip_fragmented_last_first.pcap",
    "suricata-verify/mqtt-events-missing-connect.pcap", "suricata-verify/mqtt5-pub-qos2.pcap",
  ]
  private static let types = [
    "RESERVED", "CONNECT", "CONNACK", "PUBLISH", "PUBACK", "PUBREC", "PUBREL", "PUBCOMP",
    "SUBSCRIBE", "SUBACK", "UNSUBSCRIBE", "UNSUBACK", "PINGREQ", "PINGRESP", "DISCONNECT", "AUTH",
  ]

  @Test(.capturesOfOthers, arguments: compared) func countsWhatTsharkCounts(_ name: String) throws {
    let path = SharedCaptures.path(name)
    let result = try RepriseProcess.shell(
      "tshark -n -r \(RepriseProcess.quoted(path)) -Y mqtt -T fields -e mqtt.msgtype")
    try #require(result.status == 0, "tshark is needed: make setup installs it")
    let told = result.output.split { $0 == "\n" || $0 == "," }.compactMap { Int($0) }
      .map { (Self.types[$0], 1) }
    let report = try RepriseProcess.run(["stats", "-q", "--format", "json", path])
    let rows = Self.list(JSONValue(parsing: Array(report.output.utf8))?["messages"])
      .filter { $0["protocol"]?.text == "mqtt" }
      .map { ($0["type"]?.text ?? "", $0["count"]?.integer ?? 0) }
    let counted = Dictionary(rows, uniquingKeysWith: +)
    #expect(counted == Dictionary(told, uniquingKeysWith: +) && !counted.isEmpty)
  }
}
