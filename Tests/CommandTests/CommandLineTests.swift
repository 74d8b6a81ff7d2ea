import Foundation
import TestSupport
import Testing

@Suite struct CommandLineTests {
  @Test(arguments: [
    (["--version"], "reprise 0.1.0\n"), (["-V"], "reprise 0.1.0\n"),
    (["inspect", "--help"], "Shows the events"),
    (["-h"], "Reads network captures"), (["help"], "Reads network captures"),
    (["help", "filter"], "Chooses events"), (["--quiet", "help", "convert"], "Writes captures"),
    (["help", "--color", "never"], "Reads network captures"),
    (["completion", "bash"], "# bash completion"), (["completion", "zsh"], "#compdef reprise"),
    (["completion", "fish"], "# fish completion"),
  ])
  func succeeds(words: [String], start: String) throws {
    let result = try RepriseProcess.run(words)
    #expect(result.status == 0)
    #expect(result.output.hasPrefix(start))
    #expect(result.errors == "")
  }

  @Test func tellsTheVersionsOfItsLibraries() throws {
    for words in [["--version", "--verbose"], ["--verbose", "-V"]] {
      let result = try RepriseProcess.run(words)
      #expect(result.status == 0 && result.errors == "")
      let lines = result.output.split(separator: "\n")
      #expect(lines.first == "reprise 0.1.0")
      let names = ["libmosquitto", "libwebsockets", "OpenSSL", "zlib", "libpcap", "glibc"]
      #expect(lines.dropFirst().map { $0.prefix { $0 != " " } } == names.map { $0[...] })
      #expect(lines.dropFirst().allSatisfy { $0.contains(/\ \d+\.\d+/) }, "\(lines)")
      #expect(lines.allSatisfy { $0.last != "-" }, "\(lines)")
      #expect(lines.last?.contains(", Linux ") == true)
    }
  }

  /// Of two that contradict each other the one that was typed counts, and then the one against colours.
  @Test(arguments: [
    ([:], [], false), (["CLICOLOR_FORCE": "1"], [], true), (["CLICOLOR_FORCE": "0"], [], false),
    (["CLICOLOR_FORCE": ""], [], false), (["CLICOLOR_FORCE": "1", "TERM": "dumb"], [], true),
    (["CLICOLOR_FORCE": "1", "NO_COLOR": "1"], [], false),
    (["CLICOLOR_FORCE": "1", "NO_COLOR": ""], [], true),
    (["CLICOLOR_FORCE": "1"], ["--color", "never"], false),
    (["NO_COLOR": "1"], ["--color", "always"], true), (["CLICOLOR": "1"], [], false),
  ])
  func usesColours(environment: [String: String], words: [String], isColoured: Bool) throws {
    let result = try RepriseProcess.run(
      ["inspect", "-"] + words, input: Array(SampleRecording.text.utf8), environment: environment)
    #expect(result.status == 0)
    #expect(result.output.contains("\u{1B}[") == isColoured)
  }

  /// Headings are bold, places are dim, and the text is the same without.
  @Test(arguments: [
    (["help"], "\u{1B}[1mUsage:\u{1B}[0m reprise COMMAND", 3),
    (["help", "filter"], "\u{1B}[1mExamples:\u{1B}[0m\n", 3),
    (["stats", "--help"], "\u{1B}[1mOptions:\u{1B}[0m\n  -f, ", 3),
    (["stats", "-"], "\n\u{1B}[1mmessage  from clients", 7),
    (["story", "-", "--connection", "1"], "\n\u{1B}[2mFrame 2, 07:39:01.000000, #1:\u{1B}[0m ", 2),
    (["conform", "list", "--spec", "mqtt-3.1.1"], "\u{1B}[1mMQTT-1.5.3-1\u{1B}[0m  ", 0),
    (["conform", "list", "--cases"], "\u{1B}[1mbroker\u{1B}[0m  ", 0),
  ])
  func paintsWhatIsRead(words: [String], part: String, headings: Int) throws {
    let input = Array(SampleRecording.text.utf8)
    let plain = try RepriseProcess.run(words, input: input)
    let painted = try RepriseProcess.run(words + ["--color", "always"], input: input)
    #expect(plain.status == 0 && painted.status == 0 && !plain.output.contains("\u{1B}"))
    #expect(painted.output.contains(part), "\(painted.output.prefix(900))")
    let bold = painted.output.components(separatedBy: "\u{1B}[1m").count - 1
    #expect(headings == 0 ? bold > 0 : bold == headings, "\(bold)")
    #expect(painted.output.replacing(/\x{1B}\[\d*m/, with: "") == plain.output)
  }

  @Test(arguments: [
    ([], "a command is missing; type reprise help to see them all"),
    (
      ["insepct"],
      "unknown command 'insepct'; did you mean reprise inspect? "
        + "type reprise help to see them all"
    ),
    (
      ["explain", "3.8.3"],
      "unknown command 'explain'; did you mean reprise conform explain? "
        + "type reprise help to see them all"
    ),
    (
      ["compare", "a", "b"],
      "unknown command 'compare'; did you mean reprise conform compare or reprise report compare? "
        + "type reprise help to see them all"
    ),
    (["--verbose"], "--verbose is for --version; type reprise --version --verbose"),
    (["--versoin"], "unknown option --versoin; did you mean --version? type reprise help"),
    (["inspect"], "inspect needs FILE... or --interface NAME; type reprise help inspect"),
    (
      ["inspect", "--fromat", "x", "y"],
      "unknown option --fromat; did you mean --format? type reprise help inspect"
    ),
    (
      ["inspect", "--format=xml", "x"],
      "--format can't be 'xml'; it takes one of: text, jsonl, html"
    ),
    (
      ["inspect", "--decode", "1883", "x"],
      "--decode can't be '1883'; type a port and what it carries: --decode 1884=mqtt"
    ),
    (
      ["inspect", "--decode", "1883=quic", "x"],
      "--decode can't be '1883=quic'; behind the port it takes mqtt, mqtt-3.1, mqtt-3.1.1, mqtt-5.0, "
        + "websocket, http, tls or none"
    ),
    (
      ["inspect", "--psk", "0g", "x"],
      "--psk can't be that; type the key as hexadecimal digits, two for each of 1 to 256 bytes"
    ),
    (
      ["inspect", "--psk", "123", "x"],
      "--psk can't be that; type the key as hexadecimal digits, two for each of 1 to 256 bytes"
    ),
    (
      ["convert", "x"],
      "convert needs a file to write; add -o FILE.jsonl, -o FILE.pcapng or -o FILE.pcap"
    ),
    (
      ["convert", "x", "-o", "y", "--format", "csv"],
      "--format can't be 'csv'; type jsonl, pcapng or pcap"
    ),
    (
      ["convert", "x", "-o", "y.pcapng.gz"],
      "convert writes no compressed files; write to standard output and pipe it to gzip: -o -"
    ),
    (
      ["convert", "x", "-o", "there/y.csv"],
      "the end of 'y.csv' names no format that convert writes; name it .jsonl, .pcapng or .pcap, or "
        + "add --format"
    ),
    (
      ["replay", "serve", "a.pcap", "b.pcap", "--", "app", "{port}"],
      "replay serve takes one FILE, and 'b.pcap' is a second one; serve it by a run of its own, or "
        + "merge captures by mergecap"
    ),
    (
      ["convert", "x", "-o", "y.jsonl", "--plain"],
      "--plain is for captures that are written; name one: -o FILE.pcapng"
    ),
    (
      ["convert", "x", "-o", "y.pcapng", "--redact", "secrets"],
      "--redact is for recordings that are written; hide secrets in a capture by reprise redact"
    ),
    (
      ["convert", "x", "-o", "y.pcapng", "--embed-secrets"],
      "--embed-secrets needs keys; add --keylog FILE, --server-key PEM or --psk HEX"
    ),
    (
      ["convert", "x", "-o", "y.pcap", "--embed-secrets", "--keylog", "k"],
      "a file of pcap has no place for secrets; name a file of pcapng: -o FILE.pcapng"
    ),
    (
      ["convert", "x", "-o", "y.pcap", "--plain", "--keylog", "k"],
      "a file of pcap has no place for packets of two kinds; name a file of pcapng: -o FILE.pcapng"
    ),
    (["redact", "x"], "redact needs a file to write; add -o FILE"),
    (
      ["convert", "a.pcap", "b's.jsonl"],
      "convert takes no further word, but there is 'b's.jsonl'; -o 'b'\\''s.jsonl' writes a file of that "
        + "name; type reprise help convert"
    ),
    (
      ["convert", "a.pcap", "b.jsonl", "-o", "c.jsonl"],
      "convert takes no further word, but there is 'b.jsonl'; type reprise help convert"
    ),
    (
      ["convert", "a.pcap", "pcapng"],
      "convert takes no further word, but there is 'pcapng'; type reprise help convert"
    ),
    (
      ["completion", "tcsh"],
      "there is no completion for the shell 'tcsh'; type bash, zsh or fish"
    ),
    (
      ["help", "filtre"],
      "there is no help about 'filtre'; did you mean reprise help filter? type reprise help"
    ),
    (["inspect", "/no/such/file"], "/no/such/file: no such file; check the path"),
    (["convert", "/tmp", "-o", "-"], "/tmp: this is a directory; name a file in it"),
    (
      ["inspect", "/dev/null"],
      "/dev/null: the file is empty; name a capture or a recording"
    ),
  ])
  func saysInOneLineWhatIsWrong(words: [String], message: String) throws {
    let result = try RepriseProcess.run(words)
    #expect(result.status == 2)
    #expect(result.output == "")
    #expect(result.errors == "reprise: \(message)\n")
  }

  @Test(arguments: ["--keylog", "--server-key"])
  func namesTheKeyThatCannotBeRead(option: String) throws {
    let scratch = Scratch()
    let bytes = try CaptureFile.bytes(of: Array(SampleRecording.text.utf8))
    let capture = try scratch.write(bytes, to: "a.pcap").path
    let result = try RepriseProcess.run(["inspect", capture, option, "/no/such/key"])
    #expect(result.status == 2)
    #expect(result.output == "")
    #expect(result.errors == "reprise: /no/such/key: no such file; check the path\n")
  }

  /// A file where a command should stand is named the commands that take it.
  @Test func namesWhatTakesAFile() throws {
    let scratch = Scratch()
    try scratch.write("x", to: "a b.pcap")
    let alone = try RepriseProcess.run(["a b.pcap"], directory: scratch.directory)
    #expect(
      alone.errors
        == "reprise: a b.pcap is no command, but there is such a file; type reprise inspect 'a b.pcap' "
        + "to see what it holds, reprise conform trace 'a b.pcap' to judge it\n")
    let judged = try RepriseProcess.run(["conform", "a b.pcap"], directory: scratch.directory)
    #expect(
      judged.errors
        == "reprise: a b.pcap is no command of conform, but there is such a file; "
        + "type reprise conform trace 'a b.pcap'\n")
    #expect(alone.status == 2 && judged.status == 2 && alone.output + judged.output == "")
  }

  /// Options that others of a kind have name what to do instead.
  @Test func saysWhatToDoWithoutAnOption() throws {
    let redact =
      "what passes is written as it comes; hide it in the capture: reprise redact FILE -o FILE"
    let cases: [([String], String)] = [
      (
        ["record", "proxy", "1", "h:1", "-o", "x", "--redact", "username"],
        "unknown option --redact; \(redact)"
      ),
      (
        ["record", "--redact", "username", "interface", "lo", "-o", "x"],
        "record interface has no option --redact; \(redact)"
      ),
      (
        ["replay", "sdk", "x.pcap", "--loop"],
        "unknown option --loop; the SDK is run once; replay serve and replay drive take --loop"
      ),
    ]
    for (words, message) in cases {
      let result = try RepriseProcess.run(words)
      #expect(result.status == 2 && result.output == "")
      #expect(result.errors == "reprise: \(message)\n")
    }
  }

  @Test func pointsAtTheMistakeInAFilter() throws {
    let result = try RepriseProcess.run(["inspect", "--filter", "qos > x", "file"])
    #expect(result.status == 2)
    #expect(
      result.errors == """
        reprise: --filter: qos is a number such as 5 or 0x87, at column 7: x; type reprise help filter

        """)
  }

  @Test func shapesTheTerminalBySafeTextOnly() throws {
    let result = try RepriseProcess.run(["inspect", "\u{1B}[31m\nfile"])
    #expect(result.errors == "reprise: \\u{1b}[31m\\nfile: no such file; check the path\n")
  }
}
