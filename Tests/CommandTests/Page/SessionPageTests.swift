import Foundation
import TestSupport
import Testing
import Wire

/// What `inspect --format html` writes.
@Suite struct SessionPageTests {
  private let scratch = Scratch()
  private let file: String

  init() throws {
    file = try scratch.write(SampleRecording.text, to: "a.jsonl").path
  }

  /// A block of JSON of a page.
  private func block(_ name: String, of page: String) throws -> Any {
    let start = try #require(
      page.firstRange(of: "<script type=\"application/json\" id=\"\(name)\">"))
    let rest = page[start.upperBound...]
    let end = try #require(rest.firstRange(of: "</script>"))
    return try JSONSerialization.jsonObject(with: Data(rest[..<end.lowerBound].utf8))
  }

  private func page(_ words: String..., input: String = "") throws -> String {
    let result = try RepriseProcess.run(
      ["inspect", "--format", "html"] + words, input: Array(input.utf8))
    #expect(result.status == 0 && result.errors == "", "\(result.errors)")
    return result.output
  }

  private func numbers(_ page: String) throws -> [Int] {
    let records = try #require(try block("events-data", of: page) as? [[Any]])
    return records.compactMap { $0.first as? Int }
  }

  @Test func hasTheEventsOfInspectWithTheirLines() throws {
    let records = try #require(try block("events-data", of: page(file)) as? [[Any]])
    let lines = try RepriseProcess.run(["inspect", "--format", "jsonl", file]).output
      .split(separator: "\n")
    let fields = records.map { $0[1] as? NSDictionary }
    let expected = try lines.map { line in
      var object = try #require(
        JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      object["file"] = nil
      return object as NSDictionary
    }
    #expect(fields == expected)
    #expect(records.map { $0[0] as? Int } == [1, 2, 3])
    #expect(
      records.map { $0[2] as? String } == [
        "CONNECT     c  mqtt-3.1.1  clean  keep-alive 60 s  user u  password ***",
        "CONNACK     accepted", "PUBLISH     a/b  qos 0  4 B  \"21.5\"",
      ])
    // What is known of the connection is said once.
    let context: NSDictionary = ["file": 0, "client": "c", "username": "u"]
    #expect(records[0][3] as? NSDictionary == context)
    #expect(records[1][3] as? NSDictionary == context && records[2][3] as? Int == 1)
    #expect(records.map { $0[4] as? Int } == [0, 0, 0])
    // The bytes of a CONNECT tell the password.
    #expect(
      records.map { $0[5] as? String } == [nil, "IAIAAA==", "MAkAA2EvYjIxLjU="])
  }

  @Test func saysWhatItHas() throws {
    let facts = try #require(try block("session-data", of: page(file)) as? [String: Any])
    #expect(facts["total"] as? Int == 3 && facts["matching"] as? Int == 3)
    #expect(facts["shown"] as? Int == 3 && facts["nearFindings"] as? Int == 0)
    #expect(facts["filters"] as? [String] == [] && facts["interrupted"] == nil)
    #expect(
      facts["files"] as? [[String: String]] == [
        ["name": file, "start": "2026-11-21T07:39:01.000000Z"]
      ])
    #expect((facts["findings"] as? [Any])?.isEmpty == true)
    let filtered = try page("--filter", "qos == 0", file)
    let part = try #require(try block("session-data", of: filtered) as? [String: Any])
    #expect(part["total"] as? Int == 3 && part["matching"] as? Int == 1)
    #expect(part["filters"] as? [String] == ["qos == 0"])
    // A number is that of the event in the session.
    #expect(try numbers(filtered) == [3])
  }

  @Test func needsNothingElseAndRunsNothingElse() throws {
    let page = try page(file)
    for word in ["http://", "https://", "src=", "@import", "url("] {
      #expect(!page.contains(word), "\(word)")
    }
    #expect(page.contains("default-src 'none'") && !page.contains("<!-- "))
    let scripts = page.ranges(of: /<script>/).count
    #expect(scripts == 1)
  }

  @Test func showsSecretsWhereThatIsAsked() throws {
    let hidden = try page(file)
    // In base 64, as bytes have it, in all three of its places in a group.
    let secrets = ["geheim", "Z2VoZWlt", "dlaGVpb", "nZWhlaW"]
    for secret in secrets { #expect(!hidden.contains(secret), "\(secret)") }
    let path = scratch.file("secret.html")
    let result = try RepriseProcess.run(
      ["inspect", "--format", "html", "--show-secrets", file, "-o", path])
    #expect(result.status == 0)
    let shown = try scratch.read("secret.html")
    #expect(shown.contains("geheim") && secrets.dropFirst().contains { shown.contains($0) })
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
    let redacted = try page(
      "--show-secrets", "--redact", "topic:a/#", "--redact", "username", file)
    #expect(!redacted.contains("21.5") && !redacted.contains("MjEuN"))
    let records = try #require(try block("events-data", of: redacted) as? [[Any]])
    #expect(records[0][3] as? NSDictionary == ["file": 0, "client": "c"])
    #expect(records[2][5] as? Int == 0)
  }

  @Test func letsNothingLeaveItsBlock() throws {
    let hostile = try scratch.write(HostileSession.text, to: "hostile.jsonl").path
    let page = try page(hostile)
    let attack = HostileSession.attack
    // Its own: the two blocks and the script.
    #expect(page.ranges(of: "<script").count == 3 && page.ranges(of: "</script>").count == 3)
    #expect(!page.contains("<img") && !page.contains("<svg") && !page.contains("<!--<"))
    let records = try #require(try block("events-data", of: page) as? [[Any]])
    #expect((records[0][1] as? [String: Any])?["clientID"] as? String == attack)
    #expect((records[3][1] as? [String: Any])?["topic"] as? String == "a/\(attack)")
    let facts = try #require(try block("session-data", of: page) as? [String: Any])
    let findings = try #require(facts["findings"] as? [[String: Any]])
    #expect(findings.contains { ($0["actual"] as? String)?.contains("<img") == true })
  }

  @Test func marksTheEventThatAFindingIsAbout() throws {
    // Of two packets of one frame the second is wrong.
    let capture = try AttackCapture(in: scratch, "two.pcap")
    try capture.openMQTT(0)
    let packets = try ["a/b", "a#b"].map { filter in
      try MQTTPacket(.subscribe(packetID: 1, [.init(filter, options: 0)], []), version: .v3_1_1)
        .encoded()
    }
    try capture.send(packets.flatMap { $0 }, on: 0)
    try capture.finish()
    let recording = capture.path
    let page = try page(recording)
    let records = try #require(try block("events-data", of: page) as? [[Any]])
    let facts = try #require(try block("session-data", of: page) as? [String: Any])
    let findings = try #require(facts["findings"] as? [[String: Any]])
    let place = try #require(
      findings.firstIndex { $0["clause"] as? String == "MQTT-4.7.1-2" })
    let marks = records.map { record in
      ((record.count > 6 ? record[6] : nil) as? [String: Any])?["findings"] as? [Int] ?? []
    }
    let types = records.map { ($0[1] as? [String: Any])?["type"] as? String }
    #expect(types.prefix(5) == ["OPEN", "CONNECT", "CONNACK", "SUBSCRIBE", "SUBSCRIBE"])
    #expect(marks.map { $0.contains(place) } == types.indices.map { $0 == 4 })
    #expect(
      findings[place]["says"] as? String
        == "The multi-level wildcard stands alone or behind a slash and is the last character of the filter."
    )
    #expect(findings[place]["level"] as? String == "MUST")
    #expect((findings[place]["expected"] as? String)?.isEmpty == false)
  }

  @Test func isCutAsItSays() throws {
    let bad = SampleRecording.line(
      #""type":"SUBSCRIBE","length":8,"packetID":2,"filters":[{"filter":"a#b","qos":0}]"#)
    let text =
      SampleRecording.long(3_000) + bad + "\n" + SampleRecording.long(0).split(separator: "\n")[3]
      + "\n"
    let recording = try scratch.write(text, to: "long.jsonl").path
    let path = scratch.file("page.html")
    let result = try RepriseProcess.run(
      ["inspect", "--format", "html", "--most-events", "1010", recording, "-o", path])
    #expect(result.status == 0)
    #expect(
      result.errors
        == "reprise: \(path): note: the page has 1010 of 3005 events: 1002 around findings, and the "
        + "first of the others; --filter chooses others, --most-events more\n")
    let page = try scratch.read("page.html")
    #expect(try numbers(page) == Array(1...8) + Array(2_004...3_005))
    let facts = try #require(try block("session-data", of: page) as? [String: Any])
    #expect(facts["shown"] as? Int == 1_010 && facts["nearFindings"] as? Int == 1_002)
    let whole = try RepriseProcess.run(
      ["inspect", "--format", "html", "--most-events", "3005", recording])
    #expect(try whole.errors == "" && numbers(whole.output) == Array(1...3_005))
  }

  @Test func cutsLongPayloads() throws {
    let long = SampleRecording.publish.replacing(
      "21.5", with: String(repeating: "x", count: 20_000)
    )
    .replacing("\"length\":9", with: "\"length\":20005")
    let recording = try scratch.write(SampleRecording.text + long + "\n", to: "c.jsonl").path
    let page = try page(recording)
    let records = try #require(try block("events-data", of: page) as? [[Any]])
    let rest = try #require(records[3].last as? [String: Any])
    // Beside the payload there are 4 bytes of the fixed header and 5 of the topic.
    #expect(rest["cut"] as? Int == 20_009 - 16_384)
    #expect(records[3][4] as? Int == 0)
  }

  @Test func readsStandardInput() throws {
    let page = try page("-", input: SampleRecording.text)
    let facts = try #require(try block("session-data", of: page) as? [String: Any])
    #expect((facts["files"] as? [[String: String]])?.map { $0["name"] } == ["-"])
    #expect(try numbers(page) == [1, 2, 3])
  }

  @Test func knowsTheFilesApart() throws {
    let other = try scratch.write(
      SampleRecording.text.replacing("07:39", with: "08:00"), to: "d.jsonl"
    )
    .path
    let page = try page(file, other)
    let records = try #require(try block("events-data", of: page) as? [[Any]])
    #expect(records.compactMap { ($0[3] as? [String: Any])?["file"] as? Int } == [0, 0, 1, 1])
    #expect(try numbers(page) == Array(1...6))
  }

  @Test func refusesWhatHasNoPage() throws {
    let live = try RepriseProcess.run(["inspect", "--format", "html", "--interface", "lo"])
    #expect(live.status == 2)
    #expect(
      live.errors
        == "reprise: --format html needs all events before it writes any, and --interface has no end; "
        + "record it first: reprise record interface, and name the file\n")
    let lines = try RepriseProcess.run(["inspect", "--most-events", "5", file])
    #expect(lines.status == 2)
    #expect(
      lines.errors == "reprise: --most-events is for a page; add --format html\n"
        && lines.output == "")
    let terminal = try RepriseProcess.shell(
      "script -qec \"$reprise inspect --format html \(file)\" /dev/null < /dev/null; exit ${PIPESTATUS[0]}"
    )
    #expect(terminal.status == 2)
    #expect(
      terminal.output.contains(
        "reprise: --format html is for a browser, not for a terminal; add -o FILE.html"))
  }

  @Test func leavesThePageOfBeforeWhereNothingCanBeRead() throws {
    try scratch.write("before", to: "page.html")
    let result = try RepriseProcess.run(
      ["inspect", "--format", "html", scratch.file("none"), "-o", scratch.file("page.html")])
    #expect(result.status == 2 && result.errors.contains("none: "))
    #expect(try scratch.read("page.html") == "before")
    let half = try RepriseProcess.run(
      ["inspect", "--format", "html", scratch.file("none"), file, "-o", scratch.file("page.html")])
    #expect(half.status == 2 && half.errors == result.errors)
    #expect(try numbers(scratch.read("page.html")) == [1, 2, 3])
  }
}
