import Foundation
import TestSupport
import Testing

@Suite struct ConvertCommandTests {
  private let scratch = Scratch()
  private let file: String

  init() throws {
    file = try scratch.write(SampleRecording.text, to: "a.jsonl").path
  }

  @Test func losesNothing() throws {
    let first = try RepriseProcess.run(["convert", file, "-o", "-"])
    #expect(first.status == 0)
    let again = try RepriseProcess.run(
      ["convert", "-", "-o", "-"], input: Array(first.output.utf8))
    #expect(first.output.split(separator: "\n").count == 4)
    #expect(
      first.output.split(separator: "\n").dropFirst()
        == again.output.split(separator: "\n").dropFirst())
    #expect(first.output.contains("geheim"))
  }

  /// A recording of a later program, which says more than this one understands.
  private static let later = """
    {"reprise":1,"created":"2026-11-21T07:39:00.000000Z",\
    "source":{"kind":"drone","url":"mqtt://a","mood":"good"},"redacted":["username"],"weather":{"wind":[1,2.5]}}
    """
  private static let laterLines: [String] = [
    SampleRecording.connect, SampleRecording.connack, SampleRecording.publish,
  ].enumerated().map { index, line in
    let own = line.replacing(#""frame":1"#, with: #""frame":\#(index + 2)"#)
    return String(own.dropLast()) + #","rssi":-\#(index),"a":null}"#
  }

  private static let laterText = ([later] + laterLines).joined(separator: "\n") + "\n"

  @Test("A copy of a recording is what it is a copy of, with what nobody knows")
  func keepsWhatItDoesNotKnow() throws {
    let text = Self.laterText
    let input = Array(text.utf8)
    #expect(try RepriseProcess.run(["convert", "-", "-o", "-"], input: input).output == text)
    // Of a selection, too, which waits for a CONNECT.
    let file = try scratch.write(text, to: "later.jsonl").path
    for words in [["--client", "c"], ["--connection", "1"]] {
      #expect(try RepriseProcess.run(["convert", file, "-o", "-"] + words).output == text)
    }
    let filtered = try RepriseProcess.run(
      ["convert", file, "-o", "-", "--filter", "type == PUBLISH"])
    let lines = filtered.output.split(separator: "\n")
    #expect(lines.count == 2 && lines.first.map(String.init) == Self.later)
    #expect(
      lines.last?.hasSuffix(#""leftOut":{"client":1,"server":1},"rssi":-2,"a":null}"#) == true)
  }

  @Test("What is hidden may stand in what nobody knows", arguments: ["redact", "convert"])
  func hidesWhatItDoesNotKnow(command: String) throws {
    let text = Self.laterText
    let file = try scratch.write(text, to: "later.jsonl").path
    let result = try RepriseProcess.run(
      [command, file, "-o", "-", "--redact", "correlation"])
    let lines = result.output.split(separator: "\n")
    #expect(
      lines.first == """
        {"reprise":1,"created":"2026-11-21T07:39:00.000000Z","source":{"kind":"drone","url":"mqtt://a"},\
        "redacted":["username","password","secrets","correlation"]}
        """)
    #expect(
      lines.count == 4 && !result.output.contains("rssi") && !result.output.contains("geheim"))
    #expect(
      result.errors.contains(
        "6 keys of lines are not known and left out, as they may hold anything\n"))
  }

  @Test(.withFilesThatMayNotGrow) func tellsOfAFileThatMayNotGrow() throws {
    let long = try scratch.write(SampleRecording.long(100), to: "long.jsonl").path
    let output = scratch.file("b.jsonl")
    let result = try RepriseProcess.shell(
      "ulimit -f 4; env --default-signal=XFSZ $reprise convert \(RepriseProcess.quoted(long)) "
        + "-o \(RepriseProcess.quoted(output))")
    #expect(result.status == 2)
    #expect(result.errors == "reprise: \(output): can't be written on: file too large\n")
    #expect(!FileManager.default.fileExists(atPath: output))
  }

  /// What could not be begun leaves no trace.
  @Test(.withFilesThatMayNotGrow, arguments: ["convert", "inspect"])
  func aFullDiskLeavesNoEmptyFile(_ command: String) throws {
    let output = scratch.file("full.jsonl")
    let result = try RepriseProcess.shell(
      "ulimit -f 0; env --default-signal=XFSZ $reprise \(command) \(RepriseProcess.quoted(file)) "
        + "-o \(RepriseProcess.quoted(output)) 2>&1 | cat")
    #expect(result.output == "reprise: \(output): can't be written on: file too large\n")
    #expect(!FileManager.default.fileExists(atPath: output))
  }

  @Test(arguments: [["inspect"], ["inspect", "--format", "jsonl"]])
  func filesThatTellSecretsArePrivate(_ words: [String]) throws {
    for (option, mode) in [("--show-secrets", 0o600), ("--quiet", 0o644)] {
      let output = scratch.file("\(words.count)\(option)")
      let result = try RepriseProcess.shell(
        "umask 022; $reprise \(words.joined(separator: " ")) \(option) "
          + "\(RepriseProcess.quoted(file)) -o \(RepriseProcess.quoted(output))")
      #expect(result.status == 0)
      let attributes = try FileManager.default.attributesOfItem(atPath: output)
      #expect(attributes[.posixPermissions] as? Int == mode)
    }
  }

  @Test func hidesWhatItIsAskedTo() throws {
    let result = try RepriseProcess.run(["convert", file, "-o", "-", "--redact", "secrets"])
    #expect(result.status == 0 && !result.output.contains("geheim"))
    #expect(result.output.contains(#""redacted":["password","secrets"]"#))
    let odd = try RepriseProcess.run(["convert", file, "-o", "-", "--redact", "all"])
    #expect(odd.status == 2 && odd.errors.hasPrefix("reprise: --redact can't be 'all'; "))
  }

  @Test func replacesTheModeOfAFileToo() throws {
    let output = try scratch.write("mine", to: "b.jsonl").path
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: output)
    #expect(try RepriseProcess.run(["convert", file, "-o", output, "--force"]).status == 0)
    let attributes = try FileManager.default.attributesOfItem(atPath: output)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test func writesAPrivateFileAndReplacesNone() throws {
    let output = scratch.file("b.jsonl")
    #expect(try RepriseProcess.run(["convert", file, "-o", output]).status == 0)
    let attributes = try FileManager.default.attributesOfItem(atPath: output)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let refused = try RepriseProcess.run(["convert", file, "-o", output])
    #expect(refused.status == 2)
    #expect(refused.errors == "reprise: \(output): it exists; name another file or add --force\n")
    #expect(try RepriseProcess.run(["convert", file, "-o", output, "--force"]).status == 0)
  }
}

extension Trait where Self == ConditionTrait {
  /// Of a test whose command may not let its files grow, as ThreadSanitizer's own have to.
  fileprivate static var withFilesThatMayNotGrow: Self {
    .disabled(
      if: ProcessInfo.processInfo.environment["REPRISE_SANITIZER"] == "thread",
      "ThreadSanitizer has files of its own, which a limit for files keeps from growing")
  }
}
