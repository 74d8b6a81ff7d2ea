import Foundation
import TestSupport
import Testing

/// A team's way with findings that it knows, over several sessions.
@Suite struct BaselineCommandTests {
  private let scratch = Scratch()

  init() throws {
    let first = Self.wildcard("a/#", second: 3)
    try scratch.write(SampleRecording.text + first, to: "first.jsonl")
    // The same bad topic elsewhere, at another time.
    try scratch.write(
      SampleRecording.text + SampleRecording.publish + "\n" + Self.wildcard("a/#", second: 7),
      to: "second.jsonl")
    try scratch.write(
      SampleRecording.text + first + Self.wildcard("new/+", second: 4), to: "third.jsonl")
    try scratch.write(SampleRecording.text, to: "mended.jsonl")
  }

  private static func wildcard(_ topic: String, second: Int) -> String {
    SampleRecording.line(
      #""type":"PUBLISH","qos":0,"topic":"\#(topic)","payload":{"utf8":""}"#, second: second) + "\n"
  }

  private func judge(_ words: String...) throws -> RepriseProcess.Result {
    try RepriseProcess.run(
      ["conform", "trace", "--clause", "mqtt-3.1.1/MQTT-3.3.2-2"] + words,
      directory: scratch.directory)
  }

  /// A run over some of the files does not show that what stands in the others is mended; one over files of other names
  /// may.
  @Test func callsNothingMendedThatWasLeftOut() throws {
    // One is found in both, and one in the third alone.
    #expect(try judge("first.jsonl", "third.jsonl", "--write-baseline", "b.json").status == 0)
    let text = try scratch.read("b.json")
    #expect(text.contains(#""files":["first.jsonl","third.jsonl"]"#))
    #expect(text.contains(#""files":["third.jsonl"]"#))
    for words in [
      ["first.jsonl"], ["first.jsonl", "third.jsonl", "--shard", "1/2"],
      ["first.jsonl", "third.jsonl", "--shard", "2/2"], ["first.jsonl", "third.jsonl"],
    ] {
      let result = try RepriseProcess.run(
        ["conform", "trace", "--clause", "mqtt-3.1.1/MQTT-3.3.2-2", "--baseline", "b.json"] + words,
        directory: scratch.directory)
      #expect(result.status == 0 && !result.output.contains("mended:"), "\(words)")
    }
    try scratch.write(try scratch.read("first.jsonl"), to: "third.jsonl")
    let mended = try judge("first.jsonl", "third.jsonl", "--baseline", "b.json")
    #expect(mended.status == 1 && mended.output.contains("mended: nothing matches it any more"))
    let parts = try ["1/2", "2/2"].map { part in
      try judge("first.jsonl", "third.jsonl", "--baseline", "b.json", "--shard", part).status
    }
    #expect(parts.sorted() == [0, 1])
    try scratch.write(try scratch.read("first.jsonl"), to: "other.jsonl")
    let renamed = try judge("other.jsonl", "--baseline", "b.json")
    #expect(renamed.status == 1 && renamed.output.contains("mended: nothing matches it any more"))
  }

  /// A client that is not in the file any more in which it was accepted has a line to remove; elsewhere it need not be.
  @Test func tellsOfALineWhoseClientIsGone() throws {
    _ = try judge("first.jsonl", "--write-baseline", "b.json")
    let other = try scratch.read("mended.jsonl").replacing("\"c\"", with: "\"other\"")
    try scratch.write(other, to: "other.jsonl")
    let elsewhere = try judge("other.jsonl", "--baseline", "b.json")
    #expect(elsewhere.status == 0 && elsewhere.output.contains("    nothing matches it this time"))
    try scratch.write(other, to: "first.jsonl")
    let gone = try judge("first.jsonl", "--baseline", "b.json")
    #expect(gone.status == 1)
    #expect(gone.output.contains("line 2: mqtt-3.1.1/MQTT-3.3.2-2, client c\n    mended: nothing"))
    // Of the other client alone nothing is said of this one.
    let chosen = try judge("first.jsonl", "--baseline", "b.json", "--client", "other")
    #expect(chosen.status == 0 && chosen.output.contains("    nothing matches it this time"))
  }

  /// What was found in a file that was taken out of the folder has a line to remove, as long as others keep their names.
  @Test func tellsOfALineWhoseFileIsGone() throws {
    try scratch.write(try scratch.read("first.jsonl"), to: "all/kept.jsonl")
    let other = try scratch.read("third.jsonl").replacing("\"c\"", with: "\"other\"")
    try scratch.write(other, to: "all/gone.jsonl")
    #expect(try judge("all", "--write-baseline", "b.json").status == 0)
    #expect(try judge("all", "--baseline", "b.json").status == 0)
    try FileManager.default.removeItem(atPath: scratch.file("all/gone.jsonl"))
    // A run on some of the files says nothing of the others.
    #expect(try judge("all/kept.jsonl", "--baseline", "b.json").status == 0)
    #expect(try judge("all", "--baseline", "b.json", "--shard", "1/1").status == 0)
    let gone = try judge("all", "--baseline", "b.json")
    #expect(gone.status == 1)
    #expect(gone.output.components(separatedBy: "client other\n    mended: nothing").count == 3)
    #expect(!gone.output.contains("client c\n    mended"))
    // With names of their own, captures of another day have other clients.
    try FileManager.default.moveItem(
      atPath: scratch.file("all/kept.jsonl"), toPath: scratch.file("all/today.jsonl"))
    let renamed = try judge("all", "--baseline", "b.json")
    #expect(renamed.status == 0 && renamed.output.contains("    nothing matches it this time"))
  }

  @Test func saysInMarkdownWhatIsAccepted() throws {
    _ = try judge("first.jsonl", "--write-baseline", "b.json")
    let text = try judge("first.jsonl", "--baseline", "b.json", "-f", "markdown").output
    #expect(text.hasPrefix("### Reprise: nothing violated but what is accepted of 1 clause\n"))
    let clean = try judge("mended.jsonl", "-f", "markdown").output
    #expect(clean.hasPrefix("### Reprise: nothing violated\n"))
  }

  /// A run in parts is judged by parts, and what is accepted by what they come to together.
  @Test func acceptsWhatIsKnownOfParts() throws {
    #expect(try judge("first.jsonl", "--write-baseline", "b.json").status == 0)
    for (part, file) in [("1", "second.jsonl"), ("2", "mended.jsonl"), ("3", "third.jsonl")] {
      _ = try judge(file, "--format", "json", "-o", "\(part).json")
    }
    func merge(_ parts: String...) throws -> RepriseProcess.Result {
      try RepriseProcess.run(
        ["report", "merge"] + parts + ["--baseline", "b.json"], directory: scratch.directory)
    }
    let known = try merge("1.json", "2.json")
    #expect(known.status == 0 && known.errors == "")
    #expect(known.output.contains("      accepted: no reason is given\n"))
    let new = try merge("2.json", "3.json")
    #expect(new.status == 1)
    #expect(new.output.contains("\nFailed\n  MQTT-3.3.2-2") && new.output.contains("new/+"))
    // Whether it is mended takes the files.
    let none = try merge("2.json")
    #expect(none.status == 0 && none.output.contains("    nothing matches it this time"))
  }

  @Test func acceptsWhatIsKnown() throws {
    #expect(try judge("first.jsonl").status == 1)
    let written = try judge("first.jsonl", "--write-baseline", "b.json")
    #expect(written.status == 0 && written.errors == "")
    #expect(written.output.contains("      accepted: no reason is given\n"))
    let text = try scratch.read("b.json")
    #expect(text.split(separator: "\n").count == 3)
    try scratch.write(
      text.replacing(#""reason":"""#, with: #""reason":"the gateway is old","owner":"field""#),
      to: "b.json")
    let known = try judge("second.jsonl", "--baseline", "b.json")
    #expect(known.status == 0)
    #expect(known.output.contains("      accepted: the gateway is old (owner field)\n"))
    let new = try judge("third.jsonl", "--baseline", "b.json")
    #expect(new.status == 1)
    #expect(new.output.contains("\nFailed\n  MQTT-3.3.2-2") && new.output.contains("new/+"))
    let mended = try judge("mended.jsonl", "--baseline", "b.json")
    #expect(mended.status == 1)
    #expect(
      mended.output.hasSuffix(
        """

        Baseline b.json
          line 2: mqtt-3.1.1/MQTT-3.3.2-2, client c
            mended: nothing matches it any more, so remove this line

        """))
    // What could not be read may have shown it.
    let cut = try judge("mended.jsonl", "nowhere.pcap", "--baseline", "b.json")
    #expect(cut.status == 2)
    #expect(
      cut.output.contains(
        "line 2: mqtt-3.1.1/MQTT-3.3.2-2, client c\n    nothing matches it this time"))
    // Written anew it keeps what was said of what stays.
    #expect(try judge("third.jsonl", "--write-baseline", "b.json", "--force").status == 0)
    let again = try scratch.read("b.json")
    #expect(again.contains("the gateway is old") && again.split(separator: "\n").count == 4)
    #expect(try judge("third.jsonl", "--baseline", "b.json").status == 0)
  }

  /// The sample session, and what a client with another name, or with one drawn by lot, does well beside it.
  private func beside(_ name: String, publishes: Bool) -> String {
    let silent = [SampleRecording.header, SampleRecording.connect, SampleRecording.connack]
    let known = publishes ? silent + [SampleRecording.publish] : silent
    let others = [SampleRecording.connect, SampleRecording.connack, SampleRecording.publish].map {
      $0.replacing("\"connection\":1", with: "\"connection\":2").replacing(
        "\"c\"", with: "\"\(name)\"")
    }
    return (known + others).map { $0 + "\n" }.joined()
  }

  /// That others keep a clause says nothing of the client that broke it.
  @Test(arguments: ["other", "0123456789abcdef0123"]) func judgesTheClientItself(name: String)
    throws
  {
    #expect(try judge("first.jsonl", "--write-baseline", "b.json").status == 0)
    try scratch.write(beside(name, publishes: false), to: "silent.jsonl")
    let silent = try judge("silent.jsonl", "--baseline", "b.json")
    #expect(silent.status == 0)
    #expect(
      silent.output.contains(
        "line 2: mqtt-3.1.1/MQTT-3.3.2-2, client c\n    nothing matches it this time"))
    try scratch.write(beside(name, publishes: true), to: "good.jsonl")
    let good = try judge("good.jsonl", "--baseline", "b.json")
    #expect(good.status == 1)
    #expect(good.output.contains("line 2: mqtt-3.1.1/MQTT-3.3.2-2, client c\n    mended"))
    // A stream is not read again.
    let piped = try RepriseProcess.run(
      ["conform", "trace", "--clause", "mqtt-3.1.1/MQTT-3.3.2-2", "-", "--baseline", "b.json"],
      input: Array(beside(name, publishes: true).utf8), directory: scratch.directory)
    #expect(piped.status == 0 && piped.output.contains("    nothing matches it this time"))
    // What may be there still stays when the baseline is written anew, and what is mended goes.
    #expect(try judge("silent.jsonl", "--write-baseline", "b.json", "--force").status == 0)
    #expect(try scratch.read("b.json").contains("\"client c\""))
    #expect(try judge("good.jsonl", "--write-baseline", "b.json", "--force").status == 0)
    #expect(try !scratch.read("b.json").contains("client"))
  }

  /// Clients whose names are drawn by lot are one subject.
  @Test func judgesClientsWithoutALastingName() throws {
    let lot = { (name: String, lines: [String]) in
      lines.map { $0.replacing("\"c\"", with: "\"\(name)\"") + "\n" }.joined()
    }
    let silent = [SampleRecording.header, SampleRecording.connect, SampleRecording.connack]
    let bad = Self.wildcard("a/#", second: 3)
    try scratch.write(lot("0123456789abcdef0123", silent) + bad, to: "bad.jsonl")
    #expect(try judge("bad.jsonl", "--write-baseline", "b.json").status == 0)
    #expect(try scratch.read("b.json").contains("\"subject\":\"a client\""))
    try scratch.write(lot("99887766554433221100", silent), to: "silent.jsonl")
    // One with a name does well.
    let others = try judge("silent.jsonl", "mended.jsonl", "--baseline", "b.json")
    #expect(others.status == 0 && others.output.contains("    nothing matches it this time"))
    try scratch.write(
      lot("99887766554433221100", silent + [SampleRecording.publish]), to: "good.jsonl")
    let good = try judge("good.jsonl", "mended.jsonl", "--baseline", "b.json")
    #expect(good.status == 1 && good.output.contains("    mended"))
  }

  @Test func replacesNothingUnasked() throws {
    try scratch.write("precious", to: "b.json")
    let taken = try judge("first.jsonl", "--write-baseline", "b.json")
    #expect(taken.status == 2 && taken.output == "")
    #expect(taken.errors == "reprise: b.json: it exists; name another file or add --force\n")
    let damaged = try judge("first.jsonl", "--write-baseline", "b.json", "--force")
    #expect(damaged.status == 2)
    #expect(damaged.errors.hasPrefix("reprise: b.json: line 1: no JSON value starts here; "))
    #expect(try scratch.read("b.json") == "precious")
    let partly = try judge("first.jsonl", "none.jsonl", "--write-baseline", "c.json")
    #expect(partly.status == 2)
    #expect(
      partly.errors.hasSuffix(
        "reprise: c.json: not written, because not everything could be judged\n"))
    #expect(!FileManager.default.fileExists(atPath: scratch.file("c.json")))
  }

  @Test(arguments: [
    (["--baseline", "no.json"], "--baseline no.json: no such file or directory; check the path"),
    (["--force"], "--force replaces a baseline; add --write-baseline FILE"),
    (
      ["--write-baseline", "-"],
      "--write-baseline needs a file; type --write-baseline accepted.json"
    ),
    (
      ["--write-baseline", "a", "-o", "a"],
      "a: two reports go to this file; name another for one of them"
    ),
  ])
  func saysWhatIsWrong(words: [String], message: String) throws {
    let result = try RepriseProcess.run(
      ["conform", "trace", "first.jsonl"] + words, directory: scratch.directory)
    #expect(result.status == 2 && result.output == "")
    #expect(result.errors == "reprise: \(message)\n")
  }
}

@Suite struct ReportCommandTests {
  private let scratch = Scratch()

  init() throws {
    let bad = SampleRecording.line(
      #""type":"PUBLISH","qos":0,"topic":"a/#","payload":{"utf8":""}"#, second: 3)
    try scratch.write(SampleRecording.text, to: "a.jsonl")
    try scratch.write(SampleRecording.text + bad + "\n", to: "b.jsonl")
  }

  private func run(_ words: String...) throws -> RepriseProcess.Result {
    try RepriseProcess.run(words, directory: scratch.directory)
  }

  @Test func mergesPartsToTheWhole() throws {
    #expect(try run("conform", "trace", "a.jsonl", "-f", "json", "-o", "1.json").status == 0)
    #expect(try run("conform", "trace", "b.jsonl", "-f", "json", "-o", "2.json").status == 1)
    for format in ["json", "text", "junit", "html"] {
      let whole = try run("conform", "trace", "a.jsonl", "b.jsonl", "-f", format)
      let merged = try run("report", "merge", "2.json", "1.json", "-f", format)
      let options = try run("report", "--format", format, "merge", "2.json", "1.json")
      #expect(options.status == 1 && options.output == merged.output)
      #expect(merged.status == 1 && merged.errors == "")
      #expect(merged.output == whole.output, "\(format)")
    }
    let twice = try run("report", "merge", "1.json", "1.json")
    #expect(twice.status == 2)
    #expect(
      twice.errors
        == "reprise: 1.json: a.jsonl was judged in 1.json as well; judge each file in one part only\n"
    )
    let foreign = try run("report", "merge", "a.jsonl")
    #expect(foreign.status == 2 && foreign.output == "")
    #expect(try run("report", "merge", "1.json", "-o", "1.json").status == 2)
    let worse = try run("report", "compare", "1.json", "2.json")
    #expect(worse.status == 1)
    #expect(worse.output.hasPrefix("Worse\n  mqtt-3.1.1/MQTT-3.3.2-2: passed → failed\n"))
    let better = try run("conform", "compare", "2.json", "1.json", "--format", "json")
    #expect(better.status == 0 && better.output.hasPrefix(#"{"worse":false,"#))
    let badge = try run("report", "badge", "2.json", "-o", "b.svg")
    #expect(badge.status == 0)
    #expect(try scratch.read("b.svg").contains(">2 failed, "))
  }

  /// What was found in a file that the later run left out is not mended; one that has another name may be.
  @Test func callsNothingGoneThatWasLeftOut() throws {
    let names = ["a.jsonl", "b.jsonl", "other.jsonl"]
    try scratch.write(SampleRecording.text, to: names[2])
    func report(_ files: [String], _ name: String) throws {
      let words = ["conform", "trace", "--clause", "mqtt-3.1.1/MQTT-3.3.2-2", "-f", "json"]
      _ = try RepriseProcess.run(
        words + ["-o", name] + files, directory: scratch.directory)
    }
    try report([names[0], names[1]], "before.json")
    try report([names[0]], "less.json")
    try report([names[2]], "other.json")
    let untried = try run("report", "compare", "before.json", "less.json").output
    #expect(untried.contains("Findings whose files have no verdict any more\n"))
    #expect(!untried.contains("gone") && !untried.contains("Better"))
    let gone = try run("report", "compare", "before.json", "other.json").output
    #expect(gone.contains("Findings that are gone\n") && !gone.contains("no verdict"))
    #expect(gone.contains("Better\n"))
  }

  @Test(arguments: [
    (["report"], "report needs to know what to do; type reprise help report"),
    (
      ["report", "marge"],
      "unknown command 'report marge'; did you mean reprise report merge? type reprise help report"
    ),
    (
      ["report", "--report", "tap=x", "badge", "a"],
      "report badge has no option --report; type reprise help report badge"
    ),
    (["report", "badge", "no"], "no: no such file; check the path"),
    (["report", "merge", "no"], "no: no such file; check the path"),
    (
      ["conform", "compare", "a"],
      "conform compare needs BEFORE AFTER; type reprise help conform compare"
    ),
  ])
  func saysWhatIsWrong(words: [String], message: String) throws {
    let result = try RepriseProcess.run(words, directory: scratch.directory)
    #expect(result.status == 2 && result.output == "")
    #expect(result.errors == "reprise: \(message)\n")
  }
}
