import Foundation
import TestSupport
import Testing

@testable import reprise

/// What the commands that talk to brokers say about what was typed; none of it needs a broker.
@Suite struct LiveUsageTests {
  private static let url = "mqtt://localhost"

  @Test(arguments: [
    ([], "record client needs URL; type reprise help record client"),
    ([url, "x"], "record client takes no further word, but there is 'x'; "),
    ([url, "-o", "x"], "record client needs topics; add --topic FILTER; --topic '#' is all"),
    ([url, "-t", "a"], "record client needs a file to write; add -o FILE.jsonl"),
    ([url, "-t", "a#", "-o", "x"], "--topic: 'a#' is no topic filter; + stands for"),
    ([url, "-t", "", "-o", "x"], "--topic: '' is no topic filter; "),
    ([url, "-t", "a", "-o", "x.pcap"], "a client sees no frames, so "),
    ([url, "-t", "a", "-o", "x", "--share", "a/b"], "--share can't be 'a/b'; type a name"),
    ([url, "-t", "a", "-o", "x", "--share", ""], "--share can't be ''; type a name"),
    (
      [url, "-t", "$share/g/a", "-o", "x", "--share", "h"],
      "--topic '$share/g/a' names a group by itself; leave its $share away"
    ),
    (["ws://h", "-o", "x", "--share", "g"], "--share is for topics, and there is none; add"),
    ([url, "-t", "a", "-o", "x", "--qos", "3"], "--qos can't be '3'; it takes one of: 0, 1, 2"),
    ([url, "-t", "a", "-o", "x", "--duration", "10"], "--duration can't be '10'; type numbers"),
    ([url, "-t", "a", "-o", "x", "--duration", "0s"], "--duration can't be '0s'; type a time"),
    ([url, "-t", "a", "-o", "x", "--count", "0"], "--count can't be '0'; type a whole number"),
    ([url, "-t", "a", "-o", "x", "--max-size", "5X"], "--max-size can't be '5X'; type a number"),
    ([url, "-t", "a", "-o", "x", "--max-size", "4095"], "--max-size 4095 is too small"),
    ([url, "-t", "a", "-o", "x", "--rotate"], "--rotate needs to know when; add --max-size"),
    ([url, "-t", "a", "-o", "x", "--interval", "1h"], "--interval is for --rotate; add --rotate"),
    (
      [url, "-t", "a", "-o", "-", "--rotate", "--interval=1h"],
      "standard output can't be rotated; name a file"
    ),
    ([url, "-t", "a", "-o", "x", "--redact", "all"], "--redact can't be 'all'; type topic:FILTER"),
    ([url, "-t", "a", "-o", "x", "--redact", "topic:#a"], "--redact: '#a' is no topic filter; "),
    (
      [url, "-t", "a", "-o", "x", "--mqtt", "4"], "--mqtt can't be '4'; it takes one of: 3.1.1, 5.0"
    ),
    (
      ["mqtt://u:hush@", "-t", "a", "-o", "x"],
      "the broker's URL has no host; type mqtt://HOST:PORT or mqtts://HOST:PORT"
    ),
    (["localhost", "-t", "a", "-o", "x"], "the broker's URL has no scheme, such as mqtt://; "),
    (["localhost:1883", "-o", "x"], "the broker's URL has no scheme, such as mqtt://; "),
    (["ws:///", "-o", "x"], "the broker's URL has no host; "),
    (["ws://h:99999/", "-o", "x"], "the broker's URL has a port that is not a number from 1 to"),
    (
      ["ws://h", "-o", "x", "--redact", "username"], "--redact username is for MQTT, and without"
    ),
    (
      ["wss://h/mqtt#x", "-t", "a", "-o", "x"], "the broker's URL has a fragment, which a WebSocket"
    ),
    (["ws://h", "-o", "x", "--qos", "1"], "--qos is for MQTT, and without topics there is none; "),
    (
      ["ws://h", "-o", "x", "--mqtt", "5.0"], "--mqtt is for MQTT, and without topics there is none"
    ),
    (["ws://h", "-o", "x", "--client-id", "a"], "--client-id is for MQTT, and without topics"),
    (["ws://h", "-o", "x", "--keep-alive", "9s"], "--keep-alive is for MQTT, and without topics"),
    (
      ["ws://h", "-o", "x", "--redact", "topic:a"], "--redact topic:FILTER is for MQTT, and without"
    ),
    (
      ["ws://h", "-o", "x", "--cert", "y"], "--cert is for TLS, which mqtt:// and ws:// do without"
    ),
    ([url, "-t", "a", "-o", "x", "--insecure"], "--insecure is for TLS, which mqtt:// and"),
    (
      ["mqtts://h", "-t", "a", "-o", "x", "--psk", "00ff"],
      "a pre-shared key needs its identity; type both: --psk-identity NAME --psk HEX"
    ),
    (
      ["mqtts://h", "-t", "a", "-o", "x", "--psk-identity", "d"],
      "a pre-shared key needs its identity; type both: --psk-identity NAME --psk HEX"
    ),
    (
      [url, "-t", "a", "-o", "x", "--psk-identity", "d", "--psk", "00ff"],
      "--psk is for MQTT over TLS, and this URL is for something else; type mqtts://HOST:PORT"
    ),
    (
      ["wss://h", "-t", "a", "-o", "x", "--psk-identity", "d", "--psk", "00ff"],
      "--psk is for MQTT over TLS, and this URL is for something else; type mqtts://HOST:PORT"
    ),
    (
      ["mqtts://h", "-t", "a", "-o", "x", "--psk-identity", "d", "--psk", "00ff", "--insecure"],
      "--psk takes the place of certificates, which --insecure is for; leave one of them out"
    ),
    (
      ["mqtts://h", "-t", "a", "-o", "x", "--psk-identity", "", "--psk", "00ff"],
      "--psk-identity has 1 to 128 bytes; type it as the broker knows it"
    ),
    (
      ["mqtts://h", "-t", "a", "-o", "x", "--psk-identity", "d", "--psk", "00f"],
      "--psk can't be that; type the key as hexadecimal digits, two for each of 1 to 256 bytes"
    ),
    (
      ["mqtts://h", "-t", "a", "-o", "x", "--psk-identity", "d", "--psk=0xff"],
      "--psk can't be that; type the key as hexadecimal digits, two for each of 1 to 256 bytes"
    ),
    (["mqtts://h", "-t", "a", "-o", "x", "--ca-file", "/no"], "--ca-file /no: no such file or "),
    (["mqtts://h", "-t", "a", "-o", "x", "--cert", "/dev/null"], "a certificate needs its key; "),
    (
      ["mqtts://h", "-t", "a", "-o", "x", "--cert", "/dev/null", "--key", "/dev/null"],
      "--cert works only with the authorities to trust; add --ca-file FILE"
    ),
    (
      ["mqtts://h", "-t", "a", "-o", "x", "--ca-file", "/dev/null"],
      "--ca-file /dev/null: this is no PEM, and should be a certificate; name a file with -----BEGIN"
    ),
    (
      [url, "-t", "a", "-o", "x", "--header", "A: b"],
      "--header is for WebSocket, which mqtt:// and"
    ),
    (
      ["ws://h", "-o", "x", "--header", "A b"], "--header can't be 'A b'; type a name, a colon and"
    ),
    (["ws://h", "-o", "x", "--header", "A: b\nC: d"], "--header A has control characters; "),
    (
      ["ws://h", "-o", "x", "--header", "A: b", "--header", "a: c"], "--header a stands there twice"
    ),
    (
      ["ws://u@h", "-o", "x", "--header", "Authorization: Bearer x"],
      "the user name and --header Authorization say the same; "
    ),
    ([url, "-t", "a", "-o", "x", "--keep-alive", "1s"], "--keep-alive is not in 5s to 18h"),
    ([url, "-t", "a", "-o", "x", "--keep-alive", "5500ms"], "--keep-alive is not in 5s to 18h"),
    ([url, "-t", "a", "-o", "x", "--password-file", "/no"], "--password-file /no: no such file"),
    (
      [url, "-t", "a", "-o", "x", "--password-file", "/dev/null"], "--password-file /dev/null: its"
    ),
    (
      ["mqtt://u@h", "-t", "a", "-o", "x", "--username", "v"],
      "the user name stands in the URL and in --username; leave one of them out"
    ),
    ([url, "-t", "a", "-o", "/tmp"], "/tmp: it exists; name another file or add --force"),
    ([url, "-t", "a", "-o", "/tmp", "--force"], "/tmp: can't be written: is a directory"),
    ([url, "-t", "a", "-o", "/no/x"], "/no/x: can't be written: no such file or directory"),
  ])
  func recordSaysWhatIsWrong(words: [String], start: String) throws {
    try expect(["record", "client"] + words, start)
    // The same with the options in front of the second word.
    if words.count > 3 { try expect(["record"] + words.dropFirst() + ["client", words[0]], start) }
  }

  @Test(arguments: [
    (["record"], "record needs what is to be recorded; type reprise record client URL"),
    (["record", "clinet", "x"], "unknown command 'record clinet'; did you mean reprise record cl"),
    (
      ["record", "interfcae", "eth0"],
      "unknown command 'record interfcae'; did you mean reprise rec"
    ),
    (["record", "interface"], "record interface needs NAME; type reprise help record interface"),
    (
      ["record", "interface", "lo", "10m", "-o", "a"],
      "record interface takes no further word, but there is '10m'; type reprise help record inte"
    ),
    (["record", "interface", "lo"], "record interface needs a file to write; add -o FILE.pcapng"),
    (
      ["record", "interface", "lo", "-o", "a.pcap"],
      "this command writes pcapng, so there is nothing to write to a .pcap file; name a capture: -o"
    ),
    (
      ["record", "interface", "lo", "-o", "-", "--rotate", "--interval", "1m"],
      "standard output can't be rotated; name a file: -o FILE.pcapng"
    ),
    (
      ["record", "interface", "lo", "-o", "-", "--bpf", "udp", "--filter", "tcp"],
      "--bpf and --filter say the same here; leave one of them out"
    ),
    (
      ["record", "interface", "lo", "-o", "-", "--conform"],
      "standard output can't have both the capture and what is found; name a file: -o FILE.pcapng"
    ),
    (
      ["record", "interface", "lo", "-o", "-", "--snaplen", "63"],
      "--snaplen is not in 64 to 262144"
    ),
    (
      ["record", "interface", "lo", "-o", "-", "--buffer", "1K"],
      "--buffer is not in 1M to 1G; type"
    ),
    (
      ["record", "interface", "lo", "-o", "/no/x"],
      "/no/x: can't be written: no such file or direct"
    ),
    (["inspect"], "inspect needs FILE... or --interface NAME; type reprise help inspect"),
    (
      ["conform", "trace"],
      "conform trace needs FILE... or --interface NAME; type reprise help conform trace"
    ),
    (
      ["inspect", "--interface", "lo", "a.pcap"],
      "--interface can't go together with a file, but there is 'a.pcap'; leave one of them out"
    ),
    (["inspect", "a.pcap", "--count", "1"], "--count is for --interface; add --interface NAME"),
    (
      ["conform", "trace", "a.pcap", "--promiscuous"],
      "--promiscuous is for --interface; add --interface NAME"
    ),
    (
      ["conform", "trace", "--interface", "lo", "--client", "a"],
      "--client reads its files twice, and an interface can't be; name a file"
    ),
    (
      ["record", "proxy", "1"], "record proxy needs LISTEN UPSTREAM; type reprise help record proxy"
    ),
    (["record", "proxy", "1", "h:2"], "record proxy needs a file to write; add -o FILE.pcapng"),
    (
      ["record", "proxy", "1", "h:2", "-o", "a.jsonl"],
      "a proxy writes pcapng, so there is nothing to write to a .jsonl file; name a capture: -o"
    ),
    (
      ["record", "-t", "a", "proxy", "1", "h:2"], "record proxy has no option --topic; type reprise"
    ),
    (
      ["record", "proxy", "1", "h:2", "-o", "-", "--rotate", "--max-size", "1M"],
      "standard output can't be rotated; name a file: -o FILE.pcapng"
    ),
    (["record", "proxy", "1", "h:2", "-o", "/no/x"], "/no/x: can't be written: no such file or"),
    (
      ["record", "proxy", "x", "127.0.0.1:2", "-o", "-"], "'x' is no place to listen on; type HOST"
    ),
    (["record", "proxy", "h:1/x", "127.0.0.1:2", "-o", "-"], "'h:1/x' is no place to listen on; "),
    (
      ["record", "proxy", "0", "127.0.0.1:2", "-o", "-"], "'0' is no place to listen on; type HOST"
    ),
    (
      ["record", "proxy", "192.0.2.1:9", "127.0.0.1:2", "-o", "-"],
      "192.0.2.1:9 can't be listened on: it is no address of this computer; type one that is"
    ),
    (["record", "proxy", "1", "127.0.0.1", "-o", "-"], "'127.0.0.1' has no port; type HOST:PORT"),
    (["record", "proxy", "1", "tls://[::1]", "-o", "-"], "'tls://[::1]' has no port; type HOST:"),
    (
      ["record", "proxy", "1", "ftp://h", "-o", "-"], "'ftp://h' has an unknown scheme; it takes mq"
    ),
    (
      ["record", "proxy", "1", "tcp://", "-o", "-"], "'tcp://' names no host and port; type HOST:P"
    ),
    (
      ["record", "proxy", "1", "mqtt://u:hush@h", "-o", "-"],
      "'mqtt://h' has a user; leave it out: the client says who it is"
    ),
    (
      ["record", "proxy", "1", "ws://h/a", "-o", "-"], "'ws://h/a' has a path; leave it out: the cl"
    ),
    (
      ["record", "proxy", "1", "h:1", "-o", "-", "--insecure"],
      "--insecure is for TLS, which mqtt:/"
    ),
    (
      ["record", "proxy", "1", "tls://h:1", "-o", "-", "--cert", "x"], "a certificate needs its key"
    ),
    (
      ["record", "proxy", "1", "h:1", "-o", "-", "--conform"],
      "standard output can't have both the capture and what is found; name a file: -o FILE.pcapng"
    ),
    (
      ["record", "proxy", "1", "h:1", "-o", "-", "--ca-folder", "x"],
      "--ca-folder is for --tls; add"
    ),
    (
      ["ca", "--ca-folder", "/dev/null/x"],
      "/dev/null/x can't be made: not a directory; name another"
    ),
    (
      ["record", "proxy", "1", "h:1", "-o", "x", "--fault", "x"],
      "--fault can't be 'x'; it takes de"
    ),
    (
      ["record", "proxy", "1", "h:1", "-o", "x", "--fault", "chop:0"], "--fault can't be 'chop:0'; "
    ),
    (
      ["record", "proxy", "1", "h:1", "-o", "x", "--fault", "both.drop:1"],
      "--fault can't be 'both.drop:1'; it takes delay:TIME (1ms to 1h), drop:N, chop:N and corrupt:N"
    ),
    (
      ["record", "proxy", "1", "h:1", "-o", "x", "--fault", "client.delay:2h"],
      "--fault can't be 'client.delay:2h'; "
    ),
    (["record", "proxy", "1", "no.invalid:1", "-o", "-"], "the host no.invalid is not found: "),
    (["simulate"], "simulate needs URL; type reprise help simulate"),
    (["simulate", "mqtt://h", "--script", "/no"], "--script /no: no such file or directory; "),
    (["simulate", "localhost"], "the broker's URL has no scheme, such as mqtt://; type mqtt://"),
    (["simulate", "ws://h:x"], "the broker's URL has a port that is not a number from 1 to 65535"),
    (["simulate", "ws://h", "--script", "/no"], "--script /no: no such file or directory; "),
    (
      ["simulate", "ws://h", "--client-id", "x"],
      "--client-id is for a broker, and with ws:// and wss:// the command is the server; leave it"
    ),
    (["simulate", "wss://h", "--insecure"], "--insecure is for a broker, and with ws:// and"),
    (["simulate", "wss://h", "--psk", "00"], "--psk is for a broker, and with ws:// and wss://"),
    (["simulate", "ws://u:hush@h"], "a server has no use for the user name in its URL; leave it"),
    (["simulate", "ws://h", "--cert", "x"], "--cert is for TLS, which ws:// does without; type"),
    (
      ["simulate", "wss://h", "--cert", "/no", "--key", "/no"],
      "--cert /no: no such file or directory; check"
    ),
    (
      ["simulate", "wss://h", "--cert", "/dev/null"],
      "a server with TLS needs a certificate and its key; type both: --cert FILE --key FILE"
    ),
    (
      ["simulate", "mqtt://h", "--script", "/dev/null"],
      "/dev/null: the script is no JSON at line 1"
    ),
  ])
  func othersSayWhatIsWrong(words: [String], start: String) throws { try expect(words, start) }

  @Test(arguments: [
    (#"{"replies":[{},{"topic":7}]}"#, "replies[1].topic must be a string; type reprise help"),
    ("{\n  \"replies\": nix}", "the script is no JSON at line 2, column 14"),
    (
      #"{"replies":[{"faults":["drop-connection"]}]}"#,
      "replies[0].faults asks for what a real broker can't be told to do; take that out"
    ),
    (#"{"refusedSubscriptions":["/x"]}"#, "refusedSubscriptions asks for what a real broker"),
  ])
  func simulateNamesThePlaceInAScript(script: String, message: String) throws {
    let scratch = Scratch()
    let file = try scratch.write(script, to: "cloud.json").path
    try expect(["simulate", "mqtt://localhost", "--script", file], "\(file): \(message)")
  }

  @Test(arguments: [
    (#"{"replies":[]}"#, "replies is no key here; known are answers, pushes, login"),
    (#"{"answers":[{"faults":["droop"]}]}"#, "answers[0].faults[0] is no fault; did you mean"),
    ("{", "the script is no JSON at line 1"),
  ])
  func simulateNamesThePlaceInAScriptOfRequests(script: String, message: String) throws {
    let scratch = Scratch()
    let file = try scratch.write(script, to: "server.json").path
    try expect(["simulate", "ws://localhost", "--script", file], "\(file): \(message)")
  }

  private func expect(_ words: [String], _ start: String) throws {
    let result = try RepriseProcess.run(words)
    #expect(result.status == 2)
    #expect(result.output == "")
    #expect(result.errors.hasPrefix("reprise: " + start), "\(result.errors)")
    #expect(result.errors.count { $0 == "\n" } == 1, "\(result.errors)")
    #expect(!result.errors.contains("hush"))
  }

  @Test func completesTheWordsBehindRecord() throws {
    let completed = try RepriseProcess.shell(
      "source <($reprise completion bash); COMP_WORDS=(reprise record c); COMP_CWORD=2; _reprise; "
        + "echo ${COMPREPLY[@]}; COMP_WORDS=(reprise record client --ro); COMP_CWORD=3; _reprise; "
        + "echo ${COMPREPLY[@]}")
    #expect(completed.output == "client\n--rotate\n")
  }
}

@Suite struct QuantitiesTests {
  private static let option = OptionSpec(name: "option", value: "VALUE", help: "")
  private static let spec = CommandSpec(name: "try", summary: "", options: [option])

  private func arguments(_ value: String) throws -> Arguments {
    try Arguments(["--option", value], for: Self.spec)
  }

  @Test(arguments: [
    ("0", 0), ("4096", 4_096), ("64K", 65_536), ("50m", 52_428_800), ("2G", 2_147_483_648),
    ("1T", 1_099_511_627_776),
  ])
  func readsSizes(text: String, bytes: Int) throws {
    #expect(try arguments(text).size(Self.option) == bytes)
  }

  @Test(arguments: [
    "", "K", "-1", "1.5M", "5X", "5KB", "5 M", "99999999999999999999", "9999999999G",
  ])
  func refusesOtherSizes(text: String) throws {
    let arguments = try arguments(text)
    #expect(throws: UsageError.self) { try arguments.size(Self.option) }
  }

  @Test(arguments: [
    ("500ms", 500), ("90s", 90_000), ("10m", 600_000), ("2h", 7_200_000), ("1h30m", 5_400_000),
    ("2d", 172_800_000), ("1m1ms", 60_001),
  ])
  func readsDurations(text: String, milliseconds: Int) throws {
    #expect(try arguments(text).duration(Self.option) == .milliseconds(milliseconds))
  }

  @Test(arguments: [
    "", "10", "s", "1.5h", "-1s", "1 s", "1w", "0s", "1h30", "99999999999999999999s",
    "999999999999999d",
  ])
  func refusesOtherDurations(text: String) throws {
    let arguments = try arguments(text)
    #expect(throws: UsageError.self) { try arguments.duration(Self.option) }
  }

  @Test func takesRepeatedValuesAsTheyAre() throws {
    var option = Self.option
    option.repeats = true
    let spec = CommandSpec(name: "try", summary: "", options: [option])
    let arguments = try Arguments(["--option", "a,b", "--option=c"], for: spec)
    #expect(arguments.list(option) == ["a,b", "c"])
  }
}
