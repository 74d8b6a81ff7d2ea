import Foundation
import RepriseCore
import TestSupport
import Testing

@Suite struct InspectCommandTests {
  private let scratch = Scratch()
  private let file: String

  init() throws {
    file = try scratch.write(SampleRecording.text, to: "a.jsonl").path
  }

  @Test func showsALineAnEvent() throws {
    let result = try RepriseProcess.run(["inspect", file])
    #expect(result.status == 0)
    #expect(result.errors == "")
    #expect(
      result.output == """
        # \(file), 2026-11-21 (UTC)
        07:39:01.000000      2  #1   → CONNECT     c  mqtt-3.1.1  clean  keep-alive 60 s  \
        user u  password ***
        07:39:01.000000      3  #1   ← CONNACK     accepted
        07:39:02.000000      4  #1   → PUBLISH     a/b  qos 0  4 B  "21.5"

        """)
  }

  @Test func writesTheSameEventsAsLinesOfJSON() throws {
    let result = try RepriseProcess.run(
      ["inspect", "--format", "jsonl", "-", "--show-secrets"],
      input: Array(SampleRecording.text.utf8))
    let lines = result.output.split(separator: "\n").map(String.init)
    // What inspect adds is the file, and the line as the frame.
    let shown = [SampleRecording.connect, SampleRecording.connack, SampleRecording.publish]
    for (index, line) in shown.enumerated() {
      let expected =
        "{\"file\":\"-\",\"frame\":\(index + 2)," + line.dropFirst("{\"frame\":1,".count)
      #expect(index < lines.count && lines[index] == expected)
    }
  }

  @Test("A packet whose bytes may tell a secret is read back as one whose faults are not known")
  func withholdsWhatIsWrong() throws {
    let capture = PackageFolder.path("Recordings/field/activemq/connect-reserved-flag.v311.pcapng")
    func verdicts(_ file: String) throws -> [String: [String]] {
      let result = try RepriseProcess.run(["conform", "trace", "--format", "json", file])
      let clauses = try JSONValue.read(Array(result.output.utf8))["clauses"]?.elements ?? []
      return Dictionary(grouping: clauses) { $0["verdict"]?.text ?? "" }
        .mapValues { $0.compactMap { $0["id"]?.text } }
    }
    let broken = ["MQTT-3.1.2-3", "MQTT-3.1.4-1", "MQTT-4.8.0-1"]
    #expect(try verdicts(capture)["failed"] == broken)
    for (words, failed, undecided) in [([], nil, 21), (["--show-secrets"], broken, nil)]
      as [([String], [String]?, Int?)]
    {
      let lines = try RepriseProcess.run(["inspect", "--format", "jsonl", capture] + words).output
      let read = try verdicts(try scratch.write(lines, to: "read.jsonl").path)
      #expect(read["failed"] == failed)
      #expect(read["inconclusive"]?.count == undecided)
      #expect(read["passed"]?.contains { broken.contains($0) } == false)
    }
  }

  @Test func choosesByFilter() throws {
    let words = ["inspect", "--format=jsonl", "--filter", "client == c and topic ~ a/+", file]
    let result = try RepriseProcess.run(words)
    #expect(result.output.split(separator: "\n").count == 1)
    #expect(result.output.contains("\"PUBLISH\""))
  }

  private static let webSocket = PackageFolder.capture("mqtt-over-websocket")

  @Test(arguments: [
    ("UPGRADE or UPGRADED", 4), ("over == websocket", 20), ("BINARY and not masked", 9),
    ("protocol == websocket and CLOSE", 2), ("PUBLISH and topic ~ web/+", 4),
  ])
  func showsWebSocketAndWhatItCarries(filter: String, count: Int) throws {
    let words = ["inspect", "--format=jsonl", "--filter", filter, Self.webSocket]
    let result = try RepriseProcess.run(words)
    #expect(result.status == 0 && result.errors == "")
    #expect(result.output.split(separator: "\n").count == count)
  }

  @Test func ofSeveralFiltersAllMustHold() throws {
    func frames(_ filters: String...) throws -> [String] {
      let words = filters.flatMap { ["--filter", $0] }
      let result = try RepriseProcess.run(["inspect", "--format=jsonl"] + words + [file])
      #expect(result.status == 0, "\(result.errors)")
      return result.output.split(separator: "\n").compactMap { line in
        line.firstMatch(of: /"frame":(\d+)/).map { String($0.1) }
      }
    }
    #expect(try frames("from == client") == ["2", "4"])
    #expect(try frames("from == client", "type == PUBLISH") == ["4"])
    // Each is an expression of its own, whatever binds less in it.
    #expect(try frames("type == CONNACK or type == PUBLISH", "from == client") == ["4"])
    #expect(try frames("from == client", "from == server") == [])
    let wrong = try RepriseProcess.run(
      ["inspect", "--filter", "qos > 0", "--filter", "qos >", file])
    #expect(wrong.status == 2)
    #expect(wrong.errors.hasPrefix("reprise: --filter: "), "\(wrong.errors)")
  }

  @Test func showsAsMuchOfAPayloadAsIsWanted() throws {
    let narrow = try RepriseProcess.run(["inspect", "--payload-width", "2", file])
    #expect(narrow.status == 0)
    let shown = narrow.output.split(separator: "\n").last.map(String.init) ?? ""
    #expect(shown.contains(#""21"#) && !shown.contains("21.5"), "\(shown)")
    let wide = try RepriseProcess.run(["inspect", "--payload-width", "65536", file])
    #expect(wide.output.hasSuffix("\"21.5\"\n"))
    let wrong = try RepriseProcess.run(["inspect", "--payload-width", "0", file])
    #expect(wrong.status == 2)
    #expect(
      wrong.errors
        == "reprise: --payload-width can't be '0'; type a whole number, 1 or more: 1000\n")
  }

  @Test func aRecordingHasNoFramesToChooseFrom() throws {
    let result = try RepriseProcess.run(["inspect", "--bpf", "tcp port 1883", file])
    #expect(result.status == 2 && result.output == "")
    #expect(
      result.errors
        == "reprise: \(file): a recording has no frames for --bpf to choose from; choose events by "
        + "--filter, or frames of the capture that it was made of\n")
  }

  @Test func convertsWebSocketThereAndBack() throws {
    let recording = try scratch.write("", to: "ws.jsonl").path
    let convert = try RepriseProcess.run(["convert", Self.webSocket, "-o", recording, "--force"])
    #expect(convert.status == 0)
    let shown = try [Self.webSocket, recording].map { file in
      try RepriseProcess.run(["inspect", file]).output.split(separator: "\n").dropFirst()
        // In a recording the frame is the line.
        .map { $0.prefix(15) + $0.dropFirst(23) }
    }
    #expect(shown[0] == shown[1] && shown[0].count > 40)
  }

  @Test func takesAPortForWebSocketOrForNothing() throws {
    for (rule, isShown) in [("websocket", true), ("none", false)] {
      let words = ["inspect", "--quiet", "--decode", "39259=\(rule)", Self.webSocket]
      let result = try RepriseProcess.run(words)
      #expect(result.status == 0 && result.output.contains("UPGRADED") == isShown)
    }
  }

  @Test func readsTheOtherFilesWhenOneFails() throws {
    let bad = try scratch.write(SampleRecording.header + "\n{\"frame\":1,\n{}\n", to: "bad.jsonl")
      .path
    let result = try RepriseProcess.run(["inspect", "--format=jsonl", "/nowhere", bad, file])
    #expect(result.status == 2)
    #expect(result.output.split(separator: "\n").count == 3)
    let errors = result.errors.split(separator: "\n")
    #expect(errors.count == 2)
    #expect(errors.first == "reprise: /nowhere: no such file; check the path")
    #expect(errors.last?.hasPrefix("reprise: \(bad): ") == true)
    #expect(errors.last?.contains("line 2, column 12") == true)
  }

  @Test func notesACutUnlessQuiet() throws {
    let cut = try scratch.write(String(SampleRecording.text.dropLast(20)), to: "cut.jsonl").path
    let result = try RepriseProcess.run(["inspect", "--format=jsonl", cut])
    #expect(result.status == 0)
    #expect(result.output.split(separator: "\n").count == 2)
    #expect(result.errors.hasPrefix("reprise: \(cut): note: "))
    #expect(try RepriseProcess.run(["-q", "inspect", cut]).errors == "")
  }

  @Test func writesToAFile() throws {
    let output = scratch.file("out.txt")
    let result = try RepriseProcess.run(["inspect", file, "-o", output])
    #expect(result.status == 0)
    #expect(result.output == "")
    #expect(try scratch.read("out.txt").contains("PUBLISH"))
  }

  @Test func overwritesNoFileThatItReads() throws {
    let result = try RepriseProcess.run(["inspect", file, "-o", file])
    #expect(result.status == 2)
    #expect(result.errors == "reprise: \(file): it is one of the files to read; name another\n")
    #expect(try scratch.read("a.jsonl") == SampleRecording.text)
  }

  @Test func tellsThatADiskIsFull() throws {
    let result = try RepriseProcess.run(["inspect", file, "-o", "/dev/full"])
    #expect(result.status == 2)
    #expect(
      result.errors
        == "reprise: /dev/full: can't be written on: no space left on device; "
        + "what was written before stays\n")
  }

  @Test func endsQuietlyWhenItsReaderGoes() throws {
    let long = try scratch.write(SampleRecording.long(20_000), to: "long.jsonl").path
    let result = try RepriseProcess.shell(
      "$reprise inspect \(RepriseProcess.quoted(long)) | head -n 1; echo ${PIPESTATUS[0]}")
    #expect(result.output == "# \(long), 2026-11-21 (UTC)\n0\n")
    #expect(result.errors == "")
  }

  @Test func usesColoursWhenAskedAndNeverInAFile() throws {
    let escape: Character = "\u{1B}"
    #expect(try RepriseProcess.run(["inspect", "--color=always", file]).output.contains(escape))
    #expect(try !RepriseProcess.run(["inspect", file]).output.contains(escape))
    let asked = try RepriseProcess.run(
      ["inspect", "--color=always", file], environment: ["NO_COLOR": "1"])
    #expect(asked.output.contains(escape))
  }

  @Test(arguments: [("INT", Int32(130)), ("TERM", 143)])
  func keepsWhatWasWrittenWhenInterrupted(signal: String, status: Int32) throws {
    // The writer of the pipe stays, so that the command waits for more when the signal comes. `tail` tells
    // of what comes into the file, as the system tells it.
    let output = RepriseProcess.quoted(scratch.file("out.txt"))
    let result = try RepriseProcess.shell(
      """
      set -m
      mkfifo \(RepriseProcess.quoted(scratch.file("pipe")))
      exec 9<>\(RepriseProcess.quoted(scratch.file("pipe")))
      cat \(RepriseProcess.quoted(file)) >&9
      $reprise inspect - -o \(output) <&9 9>&- &
      inspect=$!
      grep -q PUBLISH < <(exec 9>&-; exec timeout 120 tail -n +1 -F \(output) 2>/dev/null)
      kill -\(signal) $inspect
      wait $inspect
      echo $?
      """)
    #expect(result.output == "\(status)\n")
    #expect(try scratch.read("out.txt").split(separator: "\n").count == 4)
  }
}
