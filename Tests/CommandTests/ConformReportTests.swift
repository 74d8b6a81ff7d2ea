import Foundation
import TestSupport
import Testing

/// The verdict where teams read it.
@Suite struct ConformReportTests {
  private static let wildcard = SampleRecording.line(
    #""type":"PUBLISH","qos":0,"topic":"a/#","payload":{"utf8":""}"#, second: 3)
  /// One clause of each verdict that the recording gives, and two with one cause.
  private static let clauses = [
    "3.1.0-1", "3.1.3-6", "3.3.2-2", "3.10.3-2", "3.14.4-1", "4.7.1-1",
  ].map { "mqtt-3.1.1/MQTT-" + $0 }.joined(separator: ",")

  private let scratch = Scratch()

  init() throws {
    try scratch.write(SampleRecording.text + Self.wildcard + "\n", to: "bad.jsonl")
  }

  private func run(_ words: String...) throws -> RepriseProcess.Result {
    try RepriseProcess.run(
      ["conform", "trace", "bad.jsonl", "--clause", Self.clauses] + words,
      directory: scratch.directory)
  }

  @Test(arguments: golden.keys.sorted())
  func isTheGoldenOne(format: String) throws {
    let result = try run("--format", format)
    #expect(result.status == 1 && result.errors == "")
    #expect(result.output == Self.golden[format])
  }

  @Test func writesSeveralAtOnce() throws {
    let formats = ["text", "json", "junit", "sarif", "html", "markdown", "github", "tap"]
    let words = formats.flatMap { ["--report", "\($0)=r.\($0)"] }
    let all = try RepriseProcess.run(
      ["conform", "trace", "bad.jsonl", "--clause", Self.clauses] + words,
      directory: scratch.directory)
    #expect(all.status == 1 && all.errors == "")
    for format in formats {
      let alone = try run("--format", format, "-o", "alone")
      #expect(alone.status == 1 && alone.output == "")
      #expect(try scratch.read("r.\(format)") == scratch.read("alone"), "\(format)")
    }
    #expect(try all.output == scratch.read("r.text"))
  }

  @Test(arguments: [
    (["--report", "junit"], "--report junit names no file; type --report junit=FILE"),
    (["--report", "junit="], "--report junit= names no file; type --report junit=FILE"),
    (
      ["--report", "junti=a"],
      "--report can't be 'junti=a'; did you mean junit? type FORMAT=FILE with one of: text, json, "
        + "junit, sarif, html, markdown, github, tap"
    ),
    (
      ["--report", "tap=./new.tap", "--report", "sarif=new.tap"],
      "new.tap: two reports go to this file; name another for one of them"
    ),
    (
      ["-o", "a", "--report", "tap=../SCRATCH/a"],
      "../SCRATCH/a: two reports go to this file; name another for one of them"
    ),
    (
      ["--report", "tap=-"],
      "two reports go to standard output; name a file for one of them: -o FILE"
    ),
    (["--report", "tap=bad.jsonl"], "bad.jsonl: it is one of the files to read; name another"),
    (["--report", "tap=no/a"], "no/a: can't be written: no such file or directory"),
  ])
  func saysWhatIsWrong(words: [String], message: String) throws {
    let name = scratch.directory.lastPathComponent
    let named = words.map { $0.replacing("SCRATCH", with: name) }
    let result = try RepriseProcess.run(
      ["conform", "trace", "bad.jsonl"] + named, directory: scratch.directory)
    #expect(result.status == 2 && result.output == "")
    #expect(result.errors == "reprise: \(message.replacing("SCRATCH", with: name))\n")
    let left = try FileManager.default.contentsOfDirectory(atPath: scratch.directory.path)
    #expect(left == ["bad.jsonl"])
  }

  @Test func goesToStandardOutputBesideAFile() throws {
    let result = try run("-o", "a.txt", "--report", "tap=-")
    #expect(result.output == Self.golden["tap"])
    #expect(try scratch.read("a.txt").hasPrefix("mqtt-3.1.1: "))
  }

  @Test func tellsOfScenariosToo() throws {
    let result = try RepriseProcess.run(
      ["conform", "sdk", "publish", "--format", "junit"])
    #expect(result.status == 0)
    #expect(result.output.contains("<testsuite name=\"sdk\" tests=\""))
  }

  @Test func listsClausesForPrograms() throws {
    let result = try RepriseProcess.run(
      ["conform", "list", "--format", "json", "mqtt-3.1.1/4.7.1"])
    #expect(result.status == 0)
    let list = try #require(
      try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [[String: String]])
    #expect(list.map { $0["id"] } == ["MQTT-4.7.1-1", "MQTT-4.7.1-2", "MQTT-4.7.1-3"])
    #expect(
      list.first == [
        "id": "MQTT-4.7.1-1", "spec": "mqtt-3.1.1", "section": "4.7.1", "level": "MUST",
        "actor": "both", "status": "checked",
        "summary": "Wildcards appear in filters only, never in topic names.",
      ])
    let everything = try RepriseProcess.run(["conform", "list", "--format=json"])
    let table = try RepriseProcess.run(["conform", "list"])
    #expect(
      everything.output.split(separator: "\n").count - 2
        == table.output.split(separator: "\n").count - 1)
    let unknown = try RepriseProcess.run(["conform", "list", "--format=json", "9.9"])
    #expect(unknown.status == 2 && unknown.output == "")
  }

  private static let golden = [
    "github": #"""
    ::error title=MQTT-3.3.2-2 (mqtt-3.1.1),file=bad.jsonl::frame 5, connection 1, 2026-11-21T07:39:03.000000Z%0Athe client sent a bad PUBLISH: the topic name holds a wildcard%0Aexpected: a topic name without + and #%0Aactual:   "a/#", '#' at byte 6, topic%0AThe topic name in PUBLISH has no wildcard characters.
    ::error title=MQTT-4.7.1-1 (mqtt-3.1.1),file=bad.jsonl::frame 5, connection 1, 2026-11-21T07:39:03.000000Z%0Athe client sent a bad PUBLISH: the topic name holds a wildcard%0Aexpected: a topic name without + and #%0Aactual:   "a/#", '#' at byte 6, topic%0AWildcards appear in filters only, never in topic names.
    reprise: 2 failed, 1 inconclusive, 2 not-exercised, 1 not-applicable

    """#,
    "junit": #"""
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="reprise" tests="6" failures="2" errors="0" time="0">
      <testsuite name="mqtt-3.1.1" tests="6" failures="2" errors="0" skipped="4" time="0">
        <properties>
          <property name="reprise" value="0.1.0"/>
          <property name="input" value="bad.jsonl"/>
        </properties>
        <testcase name="MQTT-3.1.0-1" classname="mqtt-3_1_1.3_1" time="0">
          <skipped message="inconclusive: the start of the connection is not in the capture"/>
        </testcase>
        <testcase name="MQTT-3.1.3-6" classname="mqtt-3_1_1.3_1_3_1" time="0">
          <skipped message="not-applicable: nothing on the wire can tell"/>
        </testcase>
        <testcase name="MQTT-3.3.2-2" classname="mqtt-3_1_1.3_3_2_1" time="0">
          <failure type="MUST" message="the client sent a bad PUBLISH: the topic name holds a wildcard">The topic name in PUBLISH has no wildcard characters.
    bad.jsonl frame 5, connection 1, 2026-11-21T07:39:03.000000Z
      the client sent a bad PUBLISH: the topic name holds a wildcard
      expected: a topic name without + and #
      actual:   &quot;a/#&quot;, &#39;#&#39; at byte 6, topic
    </failure>
        </testcase>
        <testcase name="MQTT-3.10.3-2" classname="mqtt-3_1_1.3_10_3" time="0">
          <skipped message="not-exercised: nothing came that it is about"/>
        </testcase>
        <testcase name="MQTT-3.14.4-1" classname="mqtt-3_1_1.3_14_4" time="0">
          <skipped message="not-exercised: nothing came that it is about"/>
        </testcase>
        <testcase name="MQTT-4.7.1-1" classname="mqtt-3_1_1.4_7_1" time="0">
          <failure type="MUST" message="the client sent a bad PUBLISH: the topic name holds a wildcard">Wildcards appear in filters only, never in topic names.
    bad.jsonl frame 5, connection 1, 2026-11-21T07:39:03.000000Z
      the client sent a bad PUBLISH: the topic name holds a wildcard
      expected: a topic name without + and #
      actual:   &quot;a/#&quot;, &#39;#&#39; at byte 6, topic
      the same cause as that of MQTT-3.3.2-2
    </failure>
        </testcase>
      </testsuite>
    </testsuites>

    """#,
    "markdown": #"""
    ### Reprise: 2 failed, 1 inconclusive, 2 not-exercised, 1 not-applicable

    | | passed | failed | not-followed | inconclusive | not-exercised | not-applicable |
    |---|---:|---:|---:|---:|---:|---:|
    | mqtt-3.1.1 | 0 | 2 | 0 | 1 | 2 | 1 |

    #### Failed

    <details><summary><b>MQTT-3.3.2-2</b> (mqtt-3.1.1 section 3.3.2.1, MUST), 1× violated, 1× kept: The topic name in PUBLISH has no wildcard characters.</summary>

    <pre>
    bad.jsonl frame 5, connection 1, 2026-11-21T07:39:03.000000Z
      the client sent a bad PUBLISH: the topic name holds a wildcard
      expected: a topic name without + and #
      actual:   &quot;a/#&quot;, &#39;#&#39; at byte 6, topic
    </pre>

    </details>

    <details><summary><b>MQTT-4.7.1-1</b> (mqtt-3.1.1 section 4.7.1, MUST), 1× violated, 1× kept: Wildcards appear in filters only, never in topic names.</summary>

    <pre>
    bad.jsonl frame 5, connection 1, 2026-11-21T07:39:03.000000Z
      the client sent a bad PUBLISH: the topic name holds a wildcard
      expected: a topic name without + and #
      actual:   &quot;a/#&quot;, &#39;#&#39; at byte 6, topic
    </pre>

    </details>

    <details><summary>1 inconclusive</summary>

    <pre>
    mqtt-3.1.1/MQTT-3.1.0-1  the start of the connection is not in the capture
    </pre>

    </details>

    """#,
    "tap": #"""
    TAP version 14
    1..6
    ok 1 - mqtt-3.1.1/MQTT-3.1.0-1 section 3.1 # SKIP inconclusive: the start of the connection is not in the capture
    ok 2 - mqtt-3.1.1/MQTT-3.1.3-6 section 3.1.3.1 # SKIP not-applicable: nothing on the wire can tell
    not ok 3 - mqtt-3.1.1/MQTT-3.3.2-2 section 3.3.2.1
      ---
      message: "The topic name in PUBLISH has no wildcard characters."
      violated: 1
      findings:
        - file: "bad.jsonl"
          frame: 5
          connection: 1
          time: "2026-11-21T07:39:03.000000Z"
          message: "the client sent a bad PUBLISH: the topic name holds a wildcard"
          expected: "a topic name without + and #"
          actual: "\"a/#\", '#' at byte 6, topic"
      ...
    ok 4 - mqtt-3.1.1/MQTT-3.10.3-2 section 3.10.3 # SKIP not-exercised: nothing came that it is about
    ok 5 - mqtt-3.1.1/MQTT-3.14.4-1 section 3.14.4 # SKIP not-exercised: nothing came that it is about
    not ok 6 - mqtt-3.1.1/MQTT-4.7.1-1 section 4.7.1
      ---
      message: "Wildcards appear in filters only, never in topic names."
      violated: 1
      findings:
        - file: "bad.jsonl"
          frame: 5
          connection: 1
          time: "2026-11-21T07:39:03.000000Z"
          message: "the client sent a bad PUBLISH: the topic name holds a wildcard"
          expected: "a topic name without + and #"
          actual: "\"a/#\", '#' at byte 6, topic"
      ...
    # 2 failed, 1 inconclusive, 2 not-exercised, 1 not-applicable

    """#,
  ]
}
