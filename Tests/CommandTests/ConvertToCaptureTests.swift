import Foundation
import RepriseCore
import TestSupport
import Testing

/// `reprise convert` and `reprise redact` where they write captures.
@Suite struct ConvertToCaptureTests {
  private let scratch = Scratch()
  private let capture = PackageFolder.capture("qos-levels-v311")

  private func inspect(_ path: String, _ words: [String] = []) throws -> [String] {
    let result = try RepriseProcess.run(["inspect", path, "--format", "jsonl"] + words)
    #expect(result.status == 0)
    return result.output.split(separator: "\n").map(String.init)
  }

  /// The lines without what only the file decides.
  private func content(_ lines: [String]) throws -> [String] {
    lines.map {
      $0.replacing(/"(file|frame|firstFrame)":("[^"]*"|[0-9]+),/, with: "")
    }
  }

  @Test func `a recording becomes a capture that says the same`() throws {
    let recording = scratch.file("a.jsonl")
    #expect(try RepriseProcess.run(["convert", capture, "-o", recording]).status == 0)
    for name in ["b.pcapng", "b.pcap"] {
      let file = scratch.file(name)
      let result = try RepriseProcess.run(["convert", recording, "-o", file])
      #expect(result.status == 0)
      #expect(result.errors.contains("Wireshark does not know the ports of 5 connections"))
      #expect(try content(inspect(file)) == content(inspect(recording)))
      let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
      #expect(mode as? Int == 0o600)
      #expect(try RepriseProcess.run(["convert", recording, "-o", file]).status == 2)
    }
  }

  @Test func `what comes through a pipe is read as often as a file`() throws {
    let bytes = Array(try Data(contentsOf: URL(filePath: capture)))
    for words in [["--connection", "2"], ["--filter", "type == SUBSCRIBE"]] {
      let (one, other) = (scratch.file("one.pcap"), scratch.file("other.pcap"))
      let first = try RepriseProcess.run(["convert", capture, "--force", "-o", one] + words)
      let second = try RepriseProcess.run(
        ["convert", "-", "--force", "-o", other] + words, input: bytes)
      #expect(first.status == 0 && second.status == 0)
      #expect(
        try Data(contentsOf: URL(filePath: one)) == Data(contentsOf: URL(filePath: other)))
      #expect(try !inspect(one).isEmpty)
    }
  }

  @Test func `a choice of nothing is told`() throws {
    let result = try RepriseProcess.run(
      ["convert", capture, "--client", "nobody", "-o", scratch.file("none.pcap")])
    #expect(result.status == 0)
    #expect(result.errors.contains("no connection was chosen; no frame is of one"))
    #expect(try inspect(scratch.file("none.pcap")).isEmpty)
  }

  @Test func `a recording without openings has connections all the same`() throws {
    let recording = try scratch.write(SampleRecording.text, to: "a.jsonl").path
    let file = scratch.file("b.pcapng")
    #expect(try RepriseProcess.run(["convert", recording, "-o", file]).status == 0)
    #expect(
      try inspect(file, ["--show-secrets"]).filter { $0.contains("geheim") || $0.contains("21.5") }
        .count == 2)
    let hidden = scratch.file("c.pcapng")
    let result = try RepriseProcess.run(["redact", file, "-o", hidden])
    #expect(result.status == 0)
    #expect(result.errors.contains("note: 1 of 3 frames are changed"))
    let starred = try inspect(hidden, ["--show-secrets"]).filter {
      $0.contains(#""password":{"utf8":"******"}"#)
    }
    #expect(starred.count == 1)
  }

  /// One byte alone would be taken for the number of a FIN, and what was left out would have no place.
  @Test func `what a selection left out is a gap of two bytes`() throws {
    let (recording, file) = (scratch.file("a.jsonl"), scratch.file("b.pcapng"))
    let choice = ["convert", capture, "--filter", "type != PUBACK", "-o", recording]
    #expect(try RepriseProcess.run(choice).status == 0)
    #expect(try RepriseProcess.run(["convert", recording, "-o", file]).status == 0)
    let gaps = try inspect(file, ["--filter", "type == GAP"]).map { line in
      let event = JSONValue(parsing: Array(line.utf8))
      return [
        event?["connection"]?.integer.map(String.init), event?["from"]?.text,
        event?["bytes"]?.integer.map(String.init),
      ]
    }
    #expect(gaps == [["1", "client", "2"], ["3", "server", "2"]])
  }

  @Test func `a recording is redacted as a recording`() throws {
    let recording = try scratch.write(SampleRecording.text, to: "a.jsonl").path
    let hidden = scratch.file("b.jsonl")
    #expect(try RepriseProcess.run(["redact", recording, "-o", hidden]).status == 0)
    let text = try scratch.read("b.jsonl")
    #expect(text.contains(#""redacted":["password","secrets"]"#))
    #expect(text.contains("21.5") && !text.contains("geheim"))
  }

  @Test func `a redacted file is not named as what it is not`() throws {
    let recording = try scratch.write(SampleRecording.text, to: "a.jsonl").path
    for (file, name, rule) in [
      (recording, "b.pcapng", "the input is a recording; name the new file .jsonl, or let"),
      (recording, "b.pcap", "the input is a recording; name the new file .jsonl, or let"),
      (capture, "b.jsonl", "the input is a capture; name the new file .pcap or .pcapng, or let"),
    ] {
      let target = scratch.file(name)
      let result = try RepriseProcess.run(["redact", file, "-o", target])
      #expect(result.status == 2)
      #expect(
        result.errors == "reprise: \(target): redact keeps the format, and \(rule) reprise convert "
          + "write the other format, with --redact\n")
      #expect(!FileManager.default.fileExists(atPath: target))
    }
  }

  @Test(arguments: [["convert"], ["redact"]])
  func `what is no capture is refused, and leaves no file`(_ command: [String]) throws {
    let file = try scratch.write("nothing of the kind", to: "a.txt").path
    let target = scratch.file("b.pcap")
    let result = try RepriseProcess.run(command + [file, "-o", target])
    #expect(result.status == 2)
    #expect(result.errors.contains("\(file): this is text, neither a capture nor a recording"))
    #expect(!FileManager.default.fileExists(atPath: target))
  }
}
