import Foundation
import Testing

@Suite struct CommandLineTests {
  @Test(arguments: [
    (["--version"], "reprise 0.1.0\n"), (["-V"], "reprise 0.1.0\n"),
    (["inspect", "--help"], "Shows the events"),
    (["-h"], "Reads network captures"), (["help"], "Reads network captures"),
    (["help", "filter"], "Chooses events"), (["--quiet", "help", "convert"], "Writes a capture"),
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

  @Test(arguments: [
    ([], "a command is missing; type reprise help to see them all"),
    (
      ["insepct"],
      "unknown command 'insepct'; did you mean reprise inspect? "
        + "type reprise help to see them all"
    ),
    (["--versoin"], "unknown option --versoin; did you mean --version? type reprise help"),
    (["inspect"], "inspect needs FILE...; type reprise help inspect"),
    (
      ["inspect", "--fromat", "x", "y"],
      "unknown option --fromat; did you mean --format? type reprise help inspect"
    ),
    (
      ["inspect", "--format=xml", "x"],
      "--format can't be 'xml'; it takes one of: text, jsonl"
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
    (["convert", "x"], "convert needs a file to write; add -o FILE.jsonl"),
    (
      ["convert", "x", "-o", "y.pcap"],
      "this version can't write .pcap files yet; name a recording: -o FILE.jsonl"
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
    (["inspect", "/tmp"], "/tmp: this is a directory; name a file in it"),
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
    let scratch = try Scratch()
    let bytes = try CaptureFile.bytes(of: Array(SampleRecording.text.utf8))
    let capture = try scratch.write(bytes, to: "a.pcap").path
    let result = try RepriseProcess.run(["inspect", capture, option, "/no/such/key"])
    #expect(result.status == 2)
    #expect(result.output == "")
    #expect(result.errors == "reprise: /no/such/key: no such file; check the path\n")
  }

  @Test func pointsAtTheMistakeInAFilter() throws {
    let result = try RepriseProcess.run(["inspect", "--filter", "qos > x", "file"])
    #expect(result.status == 2)
    #expect(
      result.errors == """
        reprise: --filter: qos is a number such as 5 or 0x87; type reprise help filter
          qos > x
                ^

        """)
  }

  @Test func shapesTheTerminalBySafeTextOnly() throws {
    let result = try RepriseProcess.run(["inspect", "\u{1B}[31m\nfile"])
    #expect(result.errors == "reprise: \\u{1b}[31m\\nfile: no such file; check the path\n")
  }

  @Test(arguments: ["bash"])
  func writesCompletionThatTheShellTakes(shell: String) throws {
    let result = try RepriseProcess.shell("$reprise completion \(shell) | \(shell) -n")
    #expect(result.status == 0)
    #expect(result.errors == "")
    let completed = try RepriseProcess.shell(
      "source <($reprise completion bash); COMP_WORDS=(reprise ins); COMP_CWORD=1; _reprise; "
        + "echo ${COMPREPLY[@]}; COMP_WORDS=(reprise inspect --format j); COMP_CWORD=3; _reprise; "
        + "echo ${COMPREPLY[@]}")
    #expect(completed.output == "inspect\njsonl\n")
  }

  @Test(arguments: [
    ("conform explain MQTT-3.8.3-", "MQTT-3.8.3-1"), ("conform list RFC6455-5.1-", "RFC6455-5.1-1"),
    ("conform sdk gate", "gateway"), ("conform sdk answers-cr", "answers-crossing"),
    ("conform ex", "explain"), ("conform explain SDK-gateway-", "SDK-gateway-30"),
    ("conform trace --clause RFC6455-5.1-", "RFC6455-5.1-1"),
    ("conform sdk --clause SDK-link-", "SDK-link-3"), ("help conform ex", "explain"),
    ("-", "-V"),
  ])
  func completesWhatACommandKnows(typed: String, word: String) throws {
    let count = typed.split(separator: " ").count
    let completed = try RepriseProcess.shell(
      "source <($reprise completion bash); COMP_WORDS=(reprise \(typed)); COMP_CWORD=\(count); "
        + "_reprise; printf '%s\\n' ${COMPREPLY[@]}")
    let words = completed.output.split(separator: "\n").map(String.init)
    #expect(words.contains(word), "\(words)")
    let start = typed.split(separator: " ").last ?? ""
    #expect(words.allSatisfy { $0.hasPrefix(start) } && Set(words).count == words.count)
  }
}
