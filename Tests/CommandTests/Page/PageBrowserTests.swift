import Foundation
import TestSupport
import Testing

/// What a user sees and does in Chromium.
@Suite struct PageBrowserTests {
  private static let capture = PackageFolder.capture("qos-levels-v311")

  @Test func isReadFilteredAndWalkedThrough() throws {
    // What if its filter had been a bad one?
    let scratch = Scratch()
    let recording = scratch.file("session.jsonl")
    let converted = try RepriseProcess.run(["convert", Self.capture, "-o", recording])
    try #require(converted.status == 0, "\(converted.errors)")
    try scratch.write(
      try scratch.read("session.jsonl").replacing("plant/boiler/#", with: "plant#/boiler"),
      to: "session.jsonl")
    let page = scratch.file("page.html")
    let made = try RepriseProcess.run(["inspect", "--format", "html", recording, "-o", page])
    #expect(made.status == 0 && made.errors == "")
    let filter = "PUBLISH and qos > 0 or SUBSCRIBE"
    let lines = try RepriseProcess.run(
      ["inspect", "--format", "jsonl", "--filter", filter, recording]
    ).output.split(separator: "\n")
    let frames = lines.compactMap { $0.firstMatch(of: /"frame":(\d+)/).flatMap { Int($0.1) } }
    let clause = try RepriseProcess.run(["conform", "explain", "MQTT-4.7.1-2"]).output
    let seen = try #require(
      try BrowserProcess.run(["tour", page, filter]).first as? [String: Any])
    func text(_ key: String) -> String { "\(seen[key] ?? "")" }
    #expect(seen["overflow"] as? [String: Int] == ["420": 0, "900": 0, "1600": 0])
    #expect(seen["rows"] as? [String: Bool] == ["420": true, "900": true, "1600": true])
    #expect(text("focus") == "filter")
    #expect(
      text("mistake")
        == "topc == a\n^ 'topc' is neither a field nor a type of event; did you mean topic?")
    #expect(text("count") == "\(lines.count) of 49 events" && lines.count == 7)
    #expect(seen["frames"] as? [Int] == frames)
    #expect(text("focusBehindEnter") == "events")
    // Down twice, up, and down: the second one.
    #expect(seen["selected"] as? Int == 1 && seen["selectedRow"] as? Int == 1)
    #expect(text("active") == "true")
    #expect(text("hash").hasSuffix("&filter=PUBLISH+and+qos+%3E+0+or+SUBSCRIBE"))
    #expect(text("clause") == "Finding MQTT-4.7.1-2")
    let says = text("finding")
    #expect(
      says
        == "The multi-level wildcard stands alone or behind a slash and is the last character of the filter."
    )
    #expect(clause.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains(says))
    #expect(seen["exchange"] as? [String] == ["SUBACK id 1  qos 2"])
    // The identifier 1 of the packet's third and fourth byte.
    #expect(seen["lit"] as? [String] == ["00 01", "··"])
    #expect(seen["flag"] as? [String] == ["34", "4"])
    #expect(seen["flags"] as? [String] == ["dup", "qos", "retain", "type"])
    #expect(text("link") == "#event=4" && seen["closed"] as? Bool == true)
    #expect(
      seen["permalink"] as? [String] == [
        "#event=4&filter=PUBLISH+and+qos+%3E+0+or+SUBSCRIBE", says,
      ])
    let beside = try #require(seen["beside"] as? [Any])
    #expect(
      beside.map { "\($0)" } == [
        "0 of 49 events", "PINGREQ", "4", "#event=4&filter=PINGREQ&view=sequence", says, "",
      ])
    let scrolled = try #require(seen["scrolled"] as? [Any])
    #expect(scrolled.map { "\($0)" } == ["48", "1", "1", "48", "1", "1"])
    let sequence = seen["sequence"] as? [Any]
    #expect(sequence?.first as? String == "8 of 49 events" && sequence?.last as? Bool == true)
    #expect(seen["arrow"] as? Int == 0 && seen["mark"] as? Bool == true)
    let range = try #require(seen["range"] as? [String])
    let all = try RepriseProcess.run(["inspect", "--format", "jsonl", recording]).output
    let times = all.matches(of: /"time":"2026-11-21T08:55:00\.(\d{6})Z"/).compactMap { Int($0.1) }
    let (first, last) = (try #require(times.min()), try #require(times.max()))
    let inRange = times.count { 4 * ($0 - first) >= 3 * (last - first) }
    #expect(times.count == 49 && (1..<48).contains(inRange))
    #expect(
      range[0] == "\(inRange) of 49 events" && range[1].hasPrefix("time >= 2026-11-21T08:55:00."))
    #expect(seen["connection"] as? [String] == ["#2 sensor-0 (6)", "6 of 49 events"])
    #expect(seen["printed"] as? Int == 8)
    #expect(seen["console"] as? [String] == [])
  }

  @Test func showsEveryKindOfEvent() throws {
    let scratch = Scratch()
    let recording = try scratch.write(MixedSession.text, to: "session.jsonl").path
    let page = scratch.file("page.html")
    let made = try RepriseProcess.run(["inspect", "--format", "html", recording, "-o", page])
    #expect(made.status == 0 && made.errors == "")
    let seen = try #require(try BrowserProcess.run(["hostile", page]).first as? [String: Any])
    #expect(seen["console"] as? [String] == [])
    #expect(
      (seen["payloads"] as? [Any])?.count == MixedSession.text.split(separator: "\n").count - 1)
  }

  /// Every byte of every packet belongs to a field, and those of a field are its value.
  @Test func findsTheFieldsInTheBytes() throws {
    let scratch = Scratch()
    let recordings = URL(filePath: Self.capture).deletingLastPathComponent()
      .deletingLastPathComponent()
    let files = PageFilterTests.captures.map {
      recordings.appending(path: "\($0)/capture.pcap").path
    }
    let page = scratch.file("page.html")
    let made = try RepriseProcess.run(
      ["inspect", "--format", "html", "--show-secrets", "-o", page] + files)
    #expect(made.status == 0 && made.errors == "")
    func count(_ filter: String) throws -> Int {
      try RepriseProcess.run(["inspect", "--format", "jsonl", "--filter", filter] + files)
        .output.split(separator: "\n").count
    }
    let frames = try count("fin or not fin and fin == false")
    let packets = try count(
      "not (OPEN or CLOSE or ATTEMPT or GAP or MALFORMED or protocol == websocket)")
    let seen = try #require(try BrowserProcess.run(["bytes", page]).first as? [String: Any])
    #expect(seen["wrong"] as? [String] == [])
    #expect(seen["packets"] as? Int == packets && packets > 400)
    #expect(seen["frames"] as? Int == frames && frames == 20)
    #expect(try #require(seen["fields"] as? Int) > 1_000)
  }

  /// Texts that would be markup, or end the block that they stand in, in every place that a packet has for one.
  @Test func showsMarkupAsText() throws {
    let scratch = Scratch()
    let recording = try scratch.write(HostileSession.text, to: "session.jsonl").path
    let page = scratch.file("page.html")
    let made = try RepriseProcess.run(["inspect", "--format", "html", recording, "-o", page])
    #expect(made.status == 0 && made.errors == "")
    let seen = try #require(try BrowserProcess.run(["hostile", page]).first as? [String: Any])
    #expect(seen["elements"] as? Int == 0 && seen["hit"] as? Bool == false)
    #expect(seen["console"] as? [String] == [])
    #expect((seen["payloads"] as? [Any])?.last as? String == HostileSession.attack)
  }
}

/// A session of a client that attacks who looks at it.
enum HostileSession {
  static let attack =
    "</script><!--<script><b><img src=x onerror=\"window.hit=true\"><svg onload='hit=1'>]]>&lt;"

  static var text: String {
    let quoted = attack.replacing("\"", with: "\\\"")
    return [
      SampleRecording.header,
      SampleRecording.line(
        "\"type\":\"CONNECT\",\"length\":24,\"clientID\":\"\(quoted)\",\"cleanStart\":true,\"keepAlive\":60,"
          + "\"username\":\"\(quoted)\",\"will\":{\"topic\":\"\(quoted)\",\"payload\":{\"utf8\":\"x\"},\"qos\":0,\"retain\":false}"
      ),
      SampleRecording.connack,
      // A finding quotes it, as # and + are wrong in it.
      SampleRecording.line(
        "\"type\":\"SUBSCRIBE\",\"length\":24,\"packetID\":1,\"filters\":[{\"filter\":\"a#\(quoted)\",\"qos\":0}]"
      ),
      SampleRecording.line(
        "\"type\":\"PUBLISH\",\"length\":9,\"qos\":0,\"retain\":false,\"dup\":false,\"topic\":\"a/\(quoted)\","
          + "\"payload\":{\"utf8\":\"\(quoted)\"}"),
    ].joined(separator: "\n") + "\n"
  }
}
