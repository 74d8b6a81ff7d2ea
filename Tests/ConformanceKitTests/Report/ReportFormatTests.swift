import Foundation
import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

/// A session with one failure, one clause of each other verdict, and a SHOULD that is not followed.
private func sampleReport() throws -> ConformanceReport {
  let clauses = [
    "mqtt-3.1.1/MQTT-3.1.3-6", "mqtt-3.1.1/MQTT-3.3.1-4", "mqtt-3.1.1/MQTT-3.14.4-1",
    "mqtt-3.1.1/MQTT-3.10.3-2", "mqtt-3.1.1/MQTT-3.1.0-1", "RFC6455-7.1.2-1",
  ]
  var script = Script()
  script.start()
  script.client(hex: "36 06 0001 61 0001 01")
  script.client(.disconnect(.init()))
  script.close(.server)
  var socket = Script(connection: 2)
  socket.upgrade()
  socket.close(.client)
  return try judge(
    script.events + socket.events, options: ConformanceOptions(clauses: clauses))
}

@Suite("Formats of reports")
struct ReportFormatTests {
  private func text(_ format: ReportFormat, _ report: ConformanceReport) -> String {
    String(decoding: report.document(as: format, exitStatus: 1), as: UTF8.self)
  }

  @Test("JUnit: counts fit what is there")
  func junitCounts() throws {
    let root = try #require(XMLTree.parse(sampleReport().document(as: .junit, exitStatus: 1)))
    for suite in root.all("testsuite") {
      let counts = ["testcase", "failure", "error", "skipped"].map { suite.all($0).count }
      let told = ["tests", "failures", "errors", "skipped"].map { Int(suite.attributes[$0] ?? "") }
      #expect(told == counts)
    }
    #expect(root.attributes["tests"] == "\(root.all("testcase").count)")
    #expect(root.attributes["failures"] == "\(root.all("failure").count)")
    let names = root.all("testcase").map {
      ($0.attributes["classname"] ?? "") + " " + ($0.attributes["name"] ?? "")
    }
    #expect(Set(names).count == names.count)
  }

  @Test(
    "HTML: a row a clause, a choice a verdict that there is, and no word that loads or runs anything"
  )
  func html() throws {
    let bytes = try sampleReport().document(as: .html, exitStatus: 1)
    let root = try #require(XMLTree.parse(bytes))
    let rows = root.all("tr").compactMap { $0.attributes["class"] }
    #expect(
      rows == [
        "passed", "not-applicable", "failed", "not-exercised", "inconclusive", "not-followed",
      ])
    #expect(
      root.all("input").map { $0.attributes["id"] } == [
        "only-all", "only-passed", "only-failed", "only-not-followed", "only-inconclusive",
        "only-not-applicable", "only-not-exercised",
      ])
    let style = try #require(root.all("style").first).text
    for verdict in Verdict.allCases {
      #expect(style.contains("tbody tr:not(.\(verdict.rawValue))"))
    }
    #expect(style.contains("prefers-color-scheme: dark") && style.contains("@media print"))
    let names = Set(root.all("html").flatMap { Self.names($0) })
    #expect(names.isDisjoint(with: ["script", "link", "img", "iframe", "a", "form", "object"]))
    #expect(!String(decoding: bytes, as: UTF8.self).contains("url("))
    #expect(root.all("dd").map(\.allText).first == "QoS 0, 1 or 2")
  }

  private static func names(_ element: XMLTree.Element) -> [String] {
    [element.name] + element.children.flatMap(names)
  }

  @Test(
    "A file that could not be read is told in each format, and nothing is called well",
    arguments: [
      (ReportFormat.text, "Not read, and not judged\n  a b.pcap: cut off\n"),
      (.json, #""unread":[{"file":"a b.pcap","reason":"cut off"}]"#),
      (.junit, #"<error type="unread" message="cut off"/>"#),
      (.junit, #"<testsuites name="reprise" tests="2" failures="0" errors="1" time="0">"#),
      (
        .sarif,
        #""toolExecutionNotifications":[{"level":"error","message":{"text":"a b.pcap: cut off"}"#
      ),
      (.html, "<h1>Conformance: not all could be read</h1>"),
      (.html, "<li><code>a b.pcap</code>: cut off</li>"),
      (.markdown, "### Reprise: nothing violated, in what could be read\n"),
      (.markdown, "#### Not read, and not judged\n\n<pre>\na b.pcap: cut off\n</pre>\n"),
      (.github, "::error title=not read,file=a b.pcap::a b.pcap: cut off\n"),
      (.github, "reprise: 1 not-applicable, 1 not read\n"),
      (.tap, "1..2\nnot ok 1 - read a b.pcap\n  ---\n  message: \"cut off\"\n  ...\nok 2 -"),
    ] as [(ReportFormat, String)])
  func unread(_ format: ReportFormat, _ told: String) throws {
    let whole = try judge([], options: ConformanceOptions(clauses: ["mqtt-3.1.1/MQTT-3.3.1-4"]))
    #expect(
      !text(format, whole).contains("read a b.pcap") && !text(format, whole).contains("cut off"))
    let part = whole.lacking([UnreadInput(file: "a b.pcap", reason: "cut off")])
    #expect(text(format, part).contains(told), "\(text(format, part))")
  }

  /// A report of every clause that one packet breaks, each with a long text.
  private func longReport(_ size: Int) throws -> ConformanceReport {
    try judge {
      $0.start()
      for index in 0..<9 {
        let level = String(repeating: "&", count: size)
        $0.subscribe(UInt16(index + 1), level + "a#")
        $0.publish(.client, level + "a+\(index)")
        $0.client(hex: "36 06 0001 61 0001 01")
      }
      $0.finish()
    }
  }

  @Test("Markdown: a comment is no longer than code hosts take, and says what it lacks")
  func longMarkdown() throws {
    let whole = try longReport(10)
    #expect(!text(.markdown, whole).contains("This is not all"))
    #expect(text(.markdown, whole).components(separatedBy: "<details>").count > 3)
    // Where files could not be read, 20 are named, however long their names.
    let names = (0..<500).map { UnreadInput(file: "\($0).pcap", reason: "cut") }
    let short = text(.markdown, whole.lacking(names))
    #expect(short.contains("\n19.pcap: cut\nand 480 more\n") && !short.contains("20.pcap"))
    let long = names.map {
      UnreadInput(file: String(repeating: "x", count: 3_200) + $0.file, reason: "cut")
    }
    let cut = text(.markdown, whole.lacking(long))
    #expect(cut.utf8.count <= 65_536 && cut.utf8.count > 64_000)
    #expect(cut.contains("This is not all, as a comment has its limit: "))
    #expect(cut.contains("more under these headings. The report as HTML or JSON has everything.\n"))
    #expect(cut.contains("| mqtt-3.1.1 |") && cut.contains("and 480 more\n"))
  }

  @Test("SARIF: what the standard requires, and levels by MUST and SHOULD")
  func sarif() throws {
    let bytes = try sampleReport().document(as: .sarif, exitStatus: 1)
    let log = try JSONValue.read(bytes)
    #expect(log["version"] == "2.1.0" && log["runs"]?.elements?.count == 1)
    let run = try #require(log["runs"]?[0])
    let rules = try #require(run["tool"]?["driver"]?["rules"]?.elements)
    #expect(run["tool"]?["driver"]?["name"] == "reprise")
    #expect(run["invocations"]?[0]?["exitCode"] == 1)
    #expect(run["invocations"]?[0]?["executionSuccessful"] == true)
    #expect(Set(rules.map { $0["id"] }).count == rules.count)
    for rule in rules { #expect(rule["help"]?["text"]?.text?.isEmpty == false) }
    let results = try #require(run["results"]?.elements)
    let shown = results.map { result in
      ["ruleId", "level"].map { result[$0]?.text ?? "-" }.joined(separator: " ")
    }
    #expect(
      shown == ["mqtt-3.1.1/MQTT-3.3.1-4 error", "rfc6455/RFC6455-7.1.2-1 warning"])
    for result in results {
      let index = try #require(result["ruleIndex"]?.integer)
      #expect(rules[index]["id"] == result["ruleId"])
      let place = result["locations"]?[0]?["physicalLocation"]?["artifactLocation"]
      #expect(place?["uri"] == "test.pcap")
      #expect(result["partialFingerprints"]?["repriseFinding/v1"]?.text?.count == 16)
    }
    #expect(results[0]["properties"]?["frame"] == 4)
    #expect(
      results[0]["message"]?["text"]
        == """
        the client sent a bad PUBLISH: QoS 3 does not exist (frame 4, connection 1, \
        2026-09-21T14:13:20.004000Z). Expected: QoS 0, 1 or 2; actual: QoS bits 11 (first byte \
        0x36)
        """)
  }

  @Test("SARIF: findings that are alike are counted, as one of them alone would be shown")
  func sarifRepeats() throws {
    let report = try judge {
      $0.start()
      for _ in 1...3 { $0.client(hex: "36 05 00 01 61 00 01") }
      $0.finish()
    }
    let results = try #require(
      try JSONValue.read(report.document(as: .sarif, exitStatus: 1))["runs"]?[0]?["results"]?
        .elements)
    let prints = results.filter { $0["ruleId"] == "mqtt-3.1.1/MQTT-3.3.1-4" }
      .compactMap { $0["partialFingerprints"] }
    #expect(Set(prints.map { $0["repriseFinding/v1"] }).count == 1)
    #expect(
      prints.compactMap { $0["primaryLocationLineHash"]?.text?.split(separator: ":").last }
        == ["1", "2", "3"])
  }

  @Test("A strict run fails for a SHOULD as for a MUST")
  func strict() throws {
    let options = ConformanceOptions(clauses: ["RFC6455-7.1.2-1"], isStrict: true)
    let report = try judge(options: options) {
      $0.upgrade()
      $0.close(.client)
    }
    let run = try JSONValue.read(report.document(as: .sarif, exitStatus: 1))["runs"]?[0]
    #expect(run?["results"]?[0]?["level"] == "error")
    #expect(text(.github, report).hasPrefix("::error title=RFC6455-7.1.2-1 (rfc6455),file="))
    #expect(text(.tap, report).contains("\nnot ok 1 - rfc6455/RFC6455-7.1.2-1 section 7.1.2\n"))
    #expect(text(.junit, report).contains("failures=\"1\""))
  }

  @Test(
    "The reference of a file is relative where its path is",
    arguments: [
      ("a.pcap", "a.pcap"), ("././/x/a b.pcap", "x/a%20b.pcap"),
      ("/tmp/ü?#.pcap", "file:///tmp/%C3%BC%3F%23.pcap"),
      ("c:d%", "c%3Ad%25"), ("-", "standard-input"), ("../a", "../a"),
    ])
  func fileReferences(_ path: String, _ reference: String) {
    #expect(FileURI.of(path) == reference)
  }
}

/// What a capture says is shown, and steers nothing.
@Suite("Hostile text in reports")
struct HostileReportTests {
  /// A name of a topic and of a client with what each format could take for its own.
  private static let name =
    "<script>alert(1)</script>\"'`]]>|--><b>&amp;{0}[x](http://e)@all #1 %0A::error::x "
    + "\u{1B}[31m\u{0}\u{8}\r\nnot ok 1 - x\n  ...\n```\n<pre></pre>😀\u{202E}\u{FFFE}\u{FFFF}\\"

  private static let files = ["a<b>&\"'|,:%\n#😀].pcap"]

  private func report() throws -> ConformanceReport {
    var script = Script()
    script.open()
    script.client(.connect(.init(clientID: Self.name, cleanStart: true, keepAlive: 0)))
    script.server(.connack(.init(sessionPresent: false)))
    script.publish(.server, Self.name)
    // Bytes that are no UTF-8, as a topic and in a filter.
    script.client(hex: "30 05 0003 FF FE 61")
    script.subscribe(1, "a#" + Self.name)
    script.finish()
    var judge = try ConformanceJudge(catalogue: Catalogue.bundled())
    judge.begin(file: Self.files[0])
    for event in script.events { event.withView { judge.consume($0) } }
    return judge.report(toolVersion: "1")
  }

  @Test("is there at all")
  func isThere() throws {
    let report = try report()
    let findings = report.results.flatMap(\.findings)
    #expect(findings.contains { ($0.message + $0.actual).contains("<script>") })
    #expect(findings.count >= 5 && report.hasFailed)
  }

  @Test("XML and HTML stay well-formed, and have no element that is not theirs")
  func markup() throws {
    let report = try report()
    for format in [ReportFormat.junit, .html] {
      let bytes = report.document(as: format, exitStatus: 1)
      let root = try #require(XMLTree.parse(bytes), "\(format)")
      #expect(root.all("script").isEmpty && root.all("b").isEmpty)
      #expect(root.allText.contains("<script>alert(1)</script>"))
      for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
        let isForbidden =
          scalar.value < 0x20 && scalar != "\n" || [0xFFFE, 0xFFFF].contains(scalar.value)
        #expect(!isForbidden, "\(format): \(scalar.escaped(asASCII: true))")
      }
    }
  }

  @Test("SARIF and JSON can be read, and name the file by a reference")
  func json() throws {
    let report = try report()
    let log = try JSONValue.read(report.document(as: .sarif, exitStatus: 1))
    let results = try #require(log["runs"]?[0]?["results"]?.elements)
    #expect(results.count == report.results.reduce(0) { $0 + $1.findings.count })
    for result in results {
      let uri = result["locations"]?[0]?["physicalLocation"]?["artifactLocation"]?["uri"]?.text
      #expect(uri == "a%3Cb%3E%26%22%27%7C%2C%3A%25%0A%23%F0%9F%98%80%5D.pcap")
      let text = try #require(result["message"]?["text"]?.text)
      #expect(
        !text.contains("](") && !text.contains("\n")
          && !text.replacing("{{", with: "").contains("{"))
    }
    _ = try JSONValue.read(report.document(as: .json, exitStatus: 1))
  }

  @Test("A line is a command of GitHub only where it should be")
  func github() throws {
    let report = try report()
    let failed = report.results.filter { [.failed, .notFollowed].contains($0.verdict) }
    let annotations = failed.reduce(0) { $0 + min(3, $1.findings.count) }
    let lines = String(decoding: report.document(as: .github, exitStatus: 1), as: UTF8.self)
      .split(separator: "\n")
    #expect(lines.count == annotations + 1)
    let file = "file=a<b>&\"'|%2C%3A%25\u{FFFD}#😀].pcap::"
    for line in lines.dropLast() {
      #expect(line.hasPrefix("::error title=") || line.hasPrefix("::warning title="))
      #expect(line.contains(file))
    }
    #expect(!lines.contains { $0.contains(" %0A::error::x") })
    #expect(lines.contains { $0.contains(" %250A::error::x") })
  }

  @Test("A line of TAP is a test point, a comment or YAML, and there are as many as planned")
  func tap() throws {
    let report = try report()
    let text = String(decoding: report.document(as: .tap, exitStatus: 1), as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let points = lines.filter { $0.hasPrefix("ok ") || $0.hasPrefix("not ok ") }
    #expect(points.count == report.results.count)
    #expect(lines.count { $0 == "  ---" } == lines.count { $0 == "  ..." })
    let others = lines.filter { line in
      !["ok ", "not ok ", "  ", "# ", "TAP version 14", "1.."].contains { line.hasPrefix($0) }
    }
    #expect(others == [""])
  }

  @Test("TAP has how often a clause is violated, and the packets that a finding rests on")
  func tapEvidence() throws {
    var report = try sampleReport()
    let place = try #require(report.results.firstIndex { $0.verdict == .failed })
    report.results[place].findings[0].evidence = [
      Finding.Evidence(frame: 2, connection: 1, role: "CONNECT: \"a\""),
      Finding.Evidence(frame: 7, connection: 3, role: "the one before it"),
    ]
    let text = String(decoding: report.document(as: .tap, exitStatus: 1), as: UTF8.self)
    #expect(
      text.contains(
        """
              rests_on:
                - frame: 2
                  connection: 1
                  role: "CONNECT: \\"a\\""
                - frame: 7
                  connection: 3
                  role: "the one before it"
          ...

        """))
    #expect(text.components(separatedBy: "rests_on:").count == 2)
    #expect(text.components(separatedBy: "\n  violated: 1\n").count == 3)
  }

  @Test("Markdown has what captures say in preformatted text alone")
  func markdown() throws {
    let text = String(decoding: try report().document(as: .markdown, exitStatus: 1), as: UTF8.self)
    var isInside = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line == "<pre>" || line == "</pre>" {
        #expect(isInside == (line == "</pre>"))
        isInside.toggle()
      } else if isInside {
        #expect(!line.contains("<") && !line.contains("\u{1B}") && !line.isEmpty, "\(line)")
      } else {
        #expect(
          !line.contains("script") && !line.contains("@") && !line.contains("http"), "\(line)")
      }
    }
    #expect(!isInside && text.contains("&lt;script&gt;"))
  }

  @Test("Text does not steer the terminal")
  func text() throws {
    let text = try report().text(color: false)
    #expect(!text.contains("\u{1B}") && !text.contains("\nnot ok") && !text.contains("\u{202E}"))
  }
}
