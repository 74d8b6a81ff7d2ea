import Foundation
import TestSupport
import Testing

/// The page and `inspect --filter` choose the same events, and find the same mistakes.
@Suite struct PageFilterTests {
  /// Captures with MQTT of all versions, properties, wills, refusals and WebSocket.
  static let captures = [
    "mqtt-over-websocket", "qos-levels-v5", "qos-levels-v311", "protocol-v31",
    "refused-connections", "subscription-options-v5", "request-response-v5", "wills-and-groups-v5",
    "non-ascii-topics", "wildcards-and-unsubscribe", "keep-alive-ping",
  ]

  /// Those of the tests of the filter itself, and of its help.
  private static let filters = [
    "PUBLISH", "publish", "type in [OPEN, CLOSE]", "type != PUBLISH and qos == 0",
    "from == server", "from != client", "topic == a/b", "topic != a/b", "topic ~ a/#",
    "topic ~ +/+", "topic ~ '#'", "topic ~ plant/+/alarm", "topic contains b/",
    "topic in [a/b, a, plant/boiler/alarm]", "topic ~ a/b/#", "filter == x/+",
    "filter contains '#'",
    "filter != '#'", "client == 'sensor 7' and not PUBLISH", "client ~ sensor and OPEN",
    "client contains sensor", "client != dashboard", "client in [dashboard, sensor-1]",
    "payload contains degrees", "payload == ''", "payload != ''", "payload ~ alarm",
    "payload contains ünï", "payload == \"no\"", "qos > 0", "qos in [1, 2]", "qos != 0", "retain",
    "not retain and PUBLISH", "retain == false", "retain != true", "dup", "not dup", "id == 9",
    "id == 1", "id > 1", "id != 1", "id == 2 and UNANSWERED", "code == 5", "code >= 0x80",
    "code == 1", "code == 0", "code != 0", "code > 100 and code < 500", "length == 0",
    "length > 16",
    "length <= 4", "frame == 2", "frame in [4, 6, 10]", "connection > 1", "connection != 3", "GAP",
    "fault", "fault == true && !PUBLISH", "fault == false", "MALFORMED or GAP", "time >= +5s",
    "time == +500ms", "time <= +0.51s", "time > +540ms and time < +1m", "time < +700000001ns",
    "time == +700000001ns", "time > 2027-11-21T07:40:00Z", "time > 2026-11-21T07:39:01.5Z",
    "time == 2026-11-21T07:39:01.700000001Z", "time < 07:39",
    "time >= 07:39:01.25 and time < 08:00",
    "time == 07:39:01", "protocol == mqtt-3.1.1 and GAP", "protocol != mqtt-3.1.1",
    "protocol == mqtt", "protocol in [mqtt-3.1.1, websocket]", "protocol == http",
    "protocol == tls", "protocol != websocket", "protocol == mqtt-3.1",
    "PUBLISH and retain or GAP", "PUBLISH and (retain or GAP)", "not not GAP",
    "address == 10.0.0.2", "address != 10.0.0.2", "address == ::1 and OPEN",
    "address in [127.0.0.1, x] and OPEN", "address contains 0.1 and CLOSE", "port == 8883",
    "port > 1883 and OPEN", "port != 80", "port != 80 and OPEN", "port in [80, 8883]",
    "username == meter", "username != meter", "username contains et", "code == not-authorized",
    "code != 'Not authorized'", "code in [unspecified-error, 1]",
    "code == 'not authorized' or fault",
    "code == bad-user-name-or-password", "code == no-matching-subscribers", "code == success",
    "code != Success", "code == connection-accepted", "code == accepted and CONNACK",
    "code in [granted-qos-0, granted-qos-1]", "code == 'Granted QoS 2'",
    "code == normal-disconnection", "code == re-authenticate",
    "payload.level > 20", "payload.level > 20.5", "payload.level >= 20.50", "payload.level < 100",
    "payload.level == 2.05e1", "payload.level != 20.5", "payload.level == high",
    "payload.level == 'high' or payload.level == '21'", "payload.level contains ig",
    "payload.level ~ hi", "payload.level in [20.5, 'high']", "payload.on == true",
    "payload.on != true", "payload.none == null", "payload.none == 'null'",
    "payload.items.1.name == b", "payload.items.2.name == b", "payload.items.0 == 7",
    "payload.code == 7", "payload.code == '7'", "payload.code > 6", "payload.missing != 1",
    "not payload.level > 20", "PAYLOAD.level > 20", "payload.Level > 20", "payload.a == 1",
    "UPGRADE", "UPGRADED or REFUSED", "TEXT", "BINARY", "type in [PING, PONG, CONTINUATION]",
    "CLOSE",
    "RESERVED", "over == websocket", "over != websocket", "fin", "not fin", "fin == false",
    "masked", "masked != true", "REQUEST", "method == GET", "method != GET",
    "target contains 'b=1'",
    "target == /a", "TLS or ALERT", "ALERT and fault", "UNANSWERED", "type == 'connect'",
    "!PUBLISH && !(qos == 0 || retain)",
    "type in [CONNECT, CONNACK, DISCONNECT] or CLOSE", "(PUBACK or SUBACK) and code >= 0x80",
    "((PUBLISH))", "connection != 3 and frame > 3", "topic == 'a \\' b'",
  ]

  /// Those that can't be understood.
  private static let mistakes = [
    "topc == a", "PUBLICH", "qos", "qos ==", "qos == x", "qos = 1", "qos ~ 1", "qos == 1 2",
    "qos == 1 and", "(qos == 1", "qos == 1)", "type == CONNCT", "from == broker",
    "protocol == mqtt-5", "topic == 'a", "topic ~ a/#/b", "topic ~ a+", "topic ~ +a/#b",
    "topic ~ #a/b+", "time > now", "time > 2026-13-01T00:00:00Z", "time > 2026-02-30T00:00:00Z",
    "time > 24:00", "time > 23:60", "time > 7:39:60", "time < +5", "time < +1.5.5s",
    "time < +99999999999999h", "qos in 1", "qos in [1", "retain in [true]", "retain == 1",
    "retain < true", "x and a", "PUBLISH & GAP", "PUBLISH | GAP", "PUBLISH ^ GAP",
    "qos == 99999999999999999999", "topic < a", "and", "payload. == 1", "payload.a", "payload.a <",
    "payload.a in 1", "topic.a == 1", "port == x", "code == not-autorized", "code > banned",
    "code == sucess", "code == granted-qos-3", "code == ok", "code < 'Granted QoS 1'",
    "code in [accepted, 'Not authorised']",
    "type < PUBLISH", "type == 'x", "not", "()", "[", "retaim", "over == mqtt",
    "target contains b=1",
    String(repeating: "(", count: 120) + "PUBLISH",
  ]

  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

  /// The events of lines of JSON, by what tells them apart.
  private static func identities(_ lines: String) throws -> [[String]] {
    try lines.split(separator: "\n").map { line in
      let fields = try #require(
        JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      return ["file", "frame", "connection", "from", "type", "time", "packetID", "length"].map {
        fields[$0].map { "\($0)" } ?? "<null>"
      }
    }
  }

  @Test func choosesAsTheCommandDoes() throws {
    let scratch = Scratch()
    let mixed = try scratch.write(MixedSession.text, to: "mixed.jsonl").path
    let recordings = Self.folder.appending(path: "../../../Recordings").standardized
    let files =
      [mixed]
      + Self.captures.map {
        recordings.appending(path: "\($0)/capture.pcap").path
      }
    // With secrets, as the command compares what it does not show.
    let page = scratch.file("page.html")
    let made = try RepriseProcess.run(
      ["inspect", "--format", "html", "--show-secrets", "-o", page] + files)
    #expect(made.status == 0 && made.errors == "")
    let answers = try BrowserProcess.run(
      ["filters", page],
      input: (Self.filters + Self.mistakes).map {
        String(decoding: try JSONEncoder().encode($0), as: UTF8.self)
      }
      .joined(separator: "\n"))
    try #require(answers.count == Self.filters.count + Self.mistakes.count + 1)
    #expect(answers.last as? [String] == [])
    var chosen = Set<[[String]]>()
    for (filter, answer) in zip(Self.filters, answers) {
      let result = try RepriseProcess.run(
        ["inspect", "--format", "jsonl", "--show-secrets", "--filter", filter] + files)
      #expect(result.status == 0, "\(filter): \(result.errors)")
      let events = try #require(
        (answer as? [String: Any])?["events"] as? [[Any]], "\(filter): \(answer)")
      let seen = events.map { event in event.map { "\($0)" } }
      let expected = try Self.identities(result.output)
      // The first difference: all of both is more than anybody reads.
      let place = zip(seen, expected).enumerated().first { $1.0 != $1.1 }?.offset
      #expect(place == nil && seen.count == expected.count, "\(filter): event \(place ?? -1)")
      chosen.insert(expected)
    }
    // They tell filters apart: not all of them choose nothing, or everything.
    #expect(chosen.count > 80)
    for (mistake, answer) in zip(Self.mistakes, answers.dropFirst(Self.filters.count)) {
      let result = try RepriseProcess.run(["inspect", "--filter", mistake, mixed])
      let said = (answer as? [String: Any]) ?? [:]
      let place = "\(said["message"] ?? ""), at column \(said["column"] ?? 0)"
      let following = try #require(
        result.errors.wholeMatch(
          of: /reprise: --filter: (.*)(: |, its end).*; type reprise help filter\n/)?
          .output.1, "\(mistake): \(result.errors)")
      #expect(following.hasPrefix(place), "\(mistake)")
    }
  }
}

/// Runs observe.py.
enum BrowserProcess {
  /// Runs it to its end.
  /// - Parameters:
  ///   - words: What is typed behind its name.
  ///   - input: What stands at its standard input.
  /// - Returns: The lines of JSON that it printed.
  /// - Throws: What keeps it from running.
  static func run(_ words: [String], input: String = "") throws -> [Any] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let package = folder.appending(path: "../../..").standardized
    let scratch = Scratch()
    let given = try scratch.write(input, to: "input").path
    let line =
      [
        "PYTHONDONTWRITEBYTECODE=1",
        RepriseProcess.quoted("\(package.path)/.build/venv/bin/python"),
        RepriseProcess.quoted(folder.appending(path: "observe.py").path),
      ] + words.map(RepriseProcess.quoted)
    let result = try RepriseProcess.shell(
      line.joined(separator: " ") + " < " + RepriseProcess.quoted(given))
    try #require(
      result.status == 0,
      "observe.py does not run; make setup installs what it needs: \(result.errors.suffix(2_000))")
    return try result.output.split(separator: "\n").map {
      try JSONSerialization.jsonObject(with: Data($0.utf8), options: .fragmentsAllowed)
    }
  }
}
