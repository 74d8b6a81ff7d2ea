import Foundation
import RepriseCore
import TestSupport
import Testing

/// `reprise diff` as users run it; what it finds is the business of its library's tests.
@Suite struct DiffCommandTests {
  private static let capture = PackageFolder.capture("qos-levels-v311")

  private static let publish = SampleRecording.line(
    #""type":"PUBLISH","length":9,"qos":0,"retain":true,"dup":false,"topic":"a/b","#
      + #""payload":{"utf8":"22"}"#, second: 3)
  private static let more = SampleRecording.line(
    #""type":"PUBLISH","length":9,"qos":0,"retain":false,"dup":false,"topic":"c","#
      + #""payload":{"utf8":"\u001b[31m"}"#, second: 4)

  private static func files() throws -> (Scratch, [String]) {
    let scratch = Scratch()
    let head = [SampleRecording.header, SampleRecording.connect, SampleRecording.connack]
    try scratch.write(SampleRecording.text, to: "a.jsonl")
    try scratch.write((head + [publish, more]).joined(separator: "\n") + "\n", to: "b.jsonl")
    return (scratch, ["a.jsonl", "b.jsonl"])
  }

  @Test func tellsWhatDiffers() throws {
    let (scratch, files) = try Self.files()
    let result = try RepriseProcess.run(["diff"] + files, directory: scratch.directory)
    #expect(
      result.output == #"""
        --- A: a.jsonl
        +++ B: b.jsonl
        connection 1 ↔ 1  mqtt  client "c"
            07:39:01.000000         2 → CONNECT     c  mqtt-3.1.1  clean  keep-alive 60 s  user u  password ***
          ~ 07:39:02.000000         4 → PUBLISH     a/b  qos 0  4 B  "21.5"
            07:39:03.000000         4   payload: "21.5" → "22"
                                        retain: false → true
          + 07:39:04.000000         5 → PUBLISH     c  qos 0  5 B  "\u{1b}[31m"
        1 of 1 connection differs: 1 changed, 1 only in B

        """#)
    #expect(result.status == 1 && result.errors == "")
  }

  @Test func tellsItAsJSON() throws {
    let (scratch, files) = try Self.files()
    let result = try RepriseProcess.run(
      ["diff", "-f", "json", "-o", "out.json"] + files, directory: scratch.directory)
    #expect(result.status == 1 && result.output == "" && result.errors == "")
    let json = try #require(JSONValue(parsing: Array(scratch.read("out.json").utf8)))
    let summary = try #require(json["summary"])
    #expect(
      summary.description
        == #"{"same":false,"connections":1,"matched":1,"connections-only-in-a":0,"#
        + #""connections-only-in-b":0,"only-in-a":0,"only-in-b":1,"changed":1,"moved":0,"unknown":0,"connections-unknown":0}"#
    )
    let differences = try #require(json["connections"]?[0]?["differences"]?.elements)
    #expect(differences.map { $0["kind"]?.text } == ["changed", "only-in-b"])
    #expect(differences.map { $0["b"]?["frame"]?.integer } == [4, 5])
    #expect(
      differences[0]["fields"]?.description
        == #"[{"field":"payload","a":"21.5","b":"22"},{"field":"retain","a":false,"b":true}]"#)
    #expect(differences[1]["a"] == .null)
  }

  @Test func endsWithZeroWhereNothingDiffers() throws {
    let result = try RepriseProcess.run(["diff", Self.capture, Self.capture])
    #expect(result.output == "no difference on 5 connections\n")
    #expect(result.status == 0 && result.errors == "")
  }

  /// Of the two files either may come through a pipe, and is read twice where something differs.
  @Test func readsStandardInput() throws {
    let input = try Array(Data(contentsOf: URL(filePath: Self.capture)))
    let other = PackageFolder.capture("qos-levels-v5")
    let there = try RepriseProcess.run(["diff", "-", other], input: input)
    let plain = try RepriseProcess.run(["diff", Self.capture, other])
    #expect(there.output == plain.output.replacing("A: \(Self.capture)", with: "A: -"))
    #expect(there.status == 1 && there.errors == "")
    let same = try RepriseProcess.run(["diff", Self.capture, "-"], input: input)
    #expect(same.status == 0)
  }

  @Test(arguments: [["jsonl"], ["pcapng"], ["jsonl", "pcap"]])
  func takesConversionsForTheSame(_ ends: [String]) throws {
    let scratch = Scratch()
    var last = Self.capture
    for end in ends {
      let next = scratch.file("out.\(end)")
      #expect(try RepriseProcess.run(["convert", last, "-o", next]).status == 0)
      last = next
    }
    let result = try RepriseProcess.run([
      "diff", Self.capture, last, "--with", "times,pings,ids,repeats", "--show-secrets",
    ])
    #expect(result.output == "no difference on 5 connections\n" && result.status == 0)
  }

  @Test(arguments: [
    "refused-connections", "account-bind", "request-response-v5", "mqtt-over-websocket",
  ])
  func takesRedactedFilesForTheSame(_ name: String) throws {
    let capture = PackageFolder.capture(name)
    let scratch = Scratch()
    let redactedFile = scratch.file("public.pcap")
    let redacted = try RepriseProcess.run([
      "redact", capture, "-o", redactedFile, "--redact", "username", "--redact", "topic:#",
      "--redact",
      "key:id", "--redact", "correlation",
    ])
    #expect(redacted.status == 0)
    let result = try RepriseProcess.run(["diff", capture, redactedFile, "--show-secrets"])
    #expect(result.output.hasPrefix("no difference on "), "\(result.output)")
    #expect(result.status == 0)
  }

  /// What lies behind the place where a file is cut is not known, and so it is no difference.
  @Test(arguments: [
    "qos-levels-v311", "session-resumption-v311", "mqtt-over-websocket", "wills-and-groups-v5",
    "session-taken-over", "refused-connections", "protocol-v31", "large-payload",
  ])
  func takesAFileThatIsCutForTheBeginning(_ name: String) throws {
    let scratch = Scratch()
    let capture = PackageFolder.recordings.appending(path: "\(name)/capture.pcap")
    let text = scratch.file("whole.jsonl")
    #expect(try RepriseProcess.run(["convert", capture.path, "-o", text]).status == 0)
    for (whole, end) in [(capture.path, "pcap"), (text, "jsonl")] {
      let bytes = try Data(contentsOf: URL(filePath: whole))
      for part in [35, 50, 65, 80, 97] {
        let cut = scratch.file("\(part).\(end)")
        // Not behind a frame or a line, where nothing tells that more came.
        var count = bytes.count * part / 100
        while bytes[count - 1] == 0x0A { count += 1 }
        try bytes.prefix(count).write(to: URL(filePath: cut))
        for files in [[whole, cut], [cut, whole], [cut, text]] {
          let result = try RepriseProcess.run(["diff", "-q"] + files)
          #expect(
            result.status == 0 && result.output.contains("no difference on "),
            "\(name) \(files) \(part): \(result.output.suffix(800))")
        }
      }
    }
  }

  @Test func tellsWhatDiffersBeforeACut() throws {
    let (scratch, files) = try Self.files()
    let other =
      SampleRecording.connect.replacing("\"connection\":1", with: "\"connection\":2")
      .replacing("\"clientID\":\"c\"", with: "\"clientID\":\"d\"")
    let whole = try scratch.read("b.jsonl") + other + "\n"
    try scratch.write(whole, to: "b.jsonl")
    try scratch.write(try scratch.read("a.jsonl") + "{\"frame\":9,", to: "a.jsonl")
    let result = try RepriseProcess.run(["diff", "-q"] + files, directory: scratch.directory)
    #expect(
      result.output == #"""
        --- A: a.jsonl
        +++ B: b.jsonl
        connection 1 ↔ 1  mqtt  client "c"
            07:39:01.000000         2 → CONNECT     c  mqtt-3.1.1  clean  keep-alive 60 s  user u  password ***
          ~ 07:39:02.000000         4 → PUBLISH     a/b  qos 0  4 B  "21.5"
            07:39:03.000000         4   payload: "21.5" → "22"
                                        retain: false → true
          ? 07:39:04.000000         5 → PUBLISH     c  qos 0  5 B  "\u{1b}[31m"
            ? may be on both sides: bytes are missing where it would stand
        ? connection 2  mqtt  client "d"  only in B: 1 event, from frame 6 on
            ? may be on both sides: A is cut, or lacks frames
        1 of 2 connections differs: 1 changed; 1 event and 1 connection could not be compared, as bytes are missing

        """#)
    #expect(result.status == 1)
    let json = try RepriseProcess.run(
      ["diff", "-q", "-f", "json"] + files, directory: scratch.directory)
    let value = try #require(JSONValue(parsing: Array(json.output.utf8)))
    #expect(value["summary"]?["connections-unknown"]?.integer == 1)
    #expect(value["summary"]?["connections-only-in-b"]?.integer == 0)
    #expect(value["connections"]?[1]?["unknown"]?.bool == true)
  }

  @Test func choosesWhatIsCompared() throws {
    let (scratch, files) = try Self.files()
    func run(_ words: [String]) throws -> (Int32, String) {
      let result = try RepriseProcess.run(
        ["diff", "-q"] + files + words, directory: scratch.directory)
      return (result.status, result.output.split(separator: "\n").last.map(String.init) ?? "")
    }
    #expect(try run(["--filter", "CONNECT"]) == (0, "no difference on 1 connection"))
    #expect(
      try run(["--filter", "topic ~ a/#"]) == (1, "1 of 1 connection differs: 1 changed"))
    #expect(try run(["--client", "c", "--to", "07:39:02"]) == (0, "no difference on 1 connection"))
    #expect(
      try run(["--ignore", "topic:a/#"])
        == (1, "1 of 1 connection differs: 1 changed, 1 only in B"))
  }

  @Test(arguments: [
    (["a.jsonl"], "diff needs A B; type reprise help diff"),
    (["-", "-"], "- can be one of the two files only; save the other one in a file first"),
    (
      ["a.jsonl", "b.jsonl", "--with", "all"],
      "--with can't be 'all'; type times, pings, ids or repeats"
    ),
    (
      ["a.jsonl", "b.jsonl", "--ignore", "x"],
      "--ignore can't be 'x'; type topic:FILTER, key:NAME, username, correlation or order"
    ),
    (["a.jsonl", "none.jsonl"], "none.jsonl: no such file; check the path"),
    (
      ["a.jsonl", "b.jsonl", "--client", "nobody"],
      "there is nothing to compare: neither file has an event that is chosen; "
        + "reprise inspect shows what they have"
    ),
    (
      ["a.jsonl", "b.jsonl", "--memory", "1"],
      "a.jsonl: it has more events than there is memory for to compare them; choose some by "
        + "--client or --filter, or add --memory 1G"
    ),
  ])
  func saysWhyItCanNot(_ words: [String], _ message: String) throws {
    let (scratch, _) = try Self.files()
    let result = try RepriseProcess.run(["diff"] + words, directory: scratch.directory)
    #expect(result.errors == "reprise: \(message)\n")
    #expect(result.status == 2 && result.output == "")
  }
}
