import Foundation
import Glibc
import RepriseCore
import TestSupport
import Testing

/// `reprise conform client`, with clients that keep to the protocol and with one that has each fault in turn.
@Suite struct ConformClientTests {
  private let directory = Scratch()

  private func run(_ words: [String]) async throws -> DrivenRun {
    try await DrivenRun(["client"] + words, in: directory)
  }

  private func judge(_ words: [String], _ command: [String]) async throws -> DrivenRun {
    try await run(words + ["--format", "json", "--"] + command)
  }

  // MARK: Clients that are used

  @Test("mosquitto's programs keep what they are judged by, and each recording can be judged again")
  func mosquitto() async throws {
    let folder = directory.file("evidence")
    let options = "-p {port} -t {topic} -q {qos} -V {version} -c -i {id} -x 60"
    let run = try await run([
      "--publishes", "seq {count} | mosquitto_pub \(options) -l",
      "--subscribes", "mosquitto_sub \(options) -k {keepalive}", "--save", folder, "--format",
      "json",
    ])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors == "")
    #expect(run.clauses("failed") == [])
    // Its library takes a lower Maximum QoS by publishing nothing; Topic Aliases it does not allow, nor checks.
    #expect(
      Set(run.cases("inconclusive")) == [
        "mqtt-5.0 alias-beyond-maximum", "mqtt-5.0 malformed-as-it-may", "mqtt-5.0 maximum-qos",
      ])
    // They name no method.
    #expect(run.cases("not-applicable") == ["mqtt-5.0 authentication"])
    let kept = run.clauses("passed")
    for clause in Self.ofGoodClients { #expect(kept.contains(clause), "\(clause)") }
    let again = try await RunningCommand.run(["conform", "trace", folder], in: directory)
    #expect(again.status == 1, "what we did on purpose is found: \(again.output)")
  }

  /// What both programs together show.
  private static let ofGoodClients = [
    "mqtt-3.1.1/MQTT-3.1.2-23", "mqtt-3.1.1/MQTT-2.3.1-2", "mqtt-3.1.1/MQTT-3.3.1-1",
    "mqtt-3.1.1/MQTT-4.4.0-1", "mqtt-3.1.1/MQTT-4.6.0-1", "mqtt-3.1.1/MQTT-4.6.0-2",
    "mqtt-3.1.1/MQTT-4.6.0-3", "mqtt-3.1.1/MQTT-4.8.0-1", "mqtt-3.1.1/MQTT-2.2.2-2",
    "mqtt-5.0/MQTT-2.2.1-3", "mqtt-5.0/MQTT-3.2.2-15", "mqtt-5.0/MQTT-3.2.2-18",
    "mqtt-5.0/MQTT-3.2.2-21", "mqtt-5.0/MQTT-3.3.1-1", "mqtt-5.0/MQTT-3.3.4-7",
    "mqtt-5.0/MQTT-4.3.3-4", "mqtt-5.0/MQTT-4.4.0-1", "mqtt-5.0/MQTT-4.4.0-2",
    "mqtt-5.0/MQTT-4.5.0-2", "mqtt-5.0/MQTT-4.6.0-1", "mqtt-5.0/MQTT-4.9.0-2",
  ]

  /// How one of our own clients is started, and the standards that it is judged by.
  struct Own: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let words: [String]
    let standards: Set<String>
  }

  private static let own = [
    Own(
      testDescription: "MosquittoClient, 3.1.1",
      words: ["mqtt://127.0.0.1:{port}"], standards: ["mqtt-3.1.1"]),
    Own(
      testDescription: "MosquittoClient by TLS, 5.0",
      words: ["mqtts://localhost:{port}", "--ca-file", "{ca}", "--mqtt", "5.0"],
      standards: ["mqtt-5.0"]),
    Own(
      testDescription: "MQTTWebSocketClient, 3.1.1",
      words: ["ws://127.0.0.1:{port}/mqtt"], standards: ["mqtt-3.1.1", "rfc6455"]),
    Own(
      testDescription: "MQTTWebSocketClient by TLS, 5.0",
      words: ["wss://localhost:{port}/mqtt", "--ca-file", "{ca}", "--mqtt", "5.0"],
      standards: ["mqtt-5.0", "rfc6455"]),
  ]

  @Test("Our own clients keep what they are judged by", arguments: own)
  func ours(_ client: Own) async throws {
    let run = try await judge(
      [],
      [RunningCommand.path, "record", "client"] + client.words + [
        "-t", "{topic}", "--qos", "{qos}", "--keep-alive", "{keepalive}s", "-o", "-",
      ])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.clauses("failed") == [])
    let specs = run.clauses("passed").union(run.clauses("not-exercised")).compactMap {
      $0.split(separator: "/").first.map(String.init)
    }
    #expect(Set(specs) == client.standards)
    #expect(
      Set(run.cases("inconclusive")).subtracting([
        "mqtt-5.0 alias-beyond-maximum", "mqtt-5.0 malformed-as-it-may",
      ]) == [])
    // It publishes nothing, and keeps no session.
    #expect(
      run.reasons.filter { $0.hasPrefix("the client ") }.count == run.cases("not-applicable").count)
    #expect(run.cases("judged").contains { $0.hasSuffix(" deliver-in-order") })
  }

  // MARK: A client with a fault

  /// A fault of the script, the cases that it is looked for by, and the clauses that fail.
  struct Fault: Sendable, CustomTestStringConvertible {
    let name: String
    let role: String
    let cases: String
    let failed: Set<String>
    var testDescription: String { name.isEmpty ? "no fault, \(role)" : name }

    init(_ name: String, _ role: String, _ cases: String, _ failed: Set<String>) {
      (self.name, self.role, self.cases, self.failed) = (name, role, cases, failed)
    }
  }

  private static let publishing =
    "publish,publish-again,publish-again-in-order,release-again,acknowledged-late,released-late,"
    + "acknowledged-by-error,pubrec-again,disconnect,receive-maximum,maximum-qos,maximum-packet-size,"
    + "aliases-unavailable,release"
  private static let subscribing =
    "deliver,deliver-in-order,deliver-again,deliver-after-reconnect,deliver-what-was-not-asked-for,"
    + "deliver-before-suback,malformed,ping,server-keep-alive"

  private static let faults = [
    Fault("", "publish", publishing, []),
    Fault("", "subscribe", subscribing, []),
    Fault(
      "ignores-receive-maximum", "publish", "receive-maximum",
      ["mqtt-5.0/MQTT-3.3.4-7", "mqtt-5.0/MQTT-4.9.0-1", "mqtt-5.0/MQTT-4.9.0-2"]),
    Fault("ignores-maximum-qos", "publish", "maximum-qos", ["mqtt-5.0/MQTT-3.2.2-11"]),
    Fault(
      "ignores-maximum-packet-size", "publish", "maximum-packet-size", ["mqtt-5.0/MQTT-3.2.2-15"]),
    Fault(
      "alias-unasked", "publish", "aliases-unavailable",
      ["mqtt-5.0/MQTT-3.2.2-18", "mqtt-5.0/MQTT-3.3.2-9"]),
    Fault(
      "identifier-in-use", "publish", "acknowledged-late",
      [
        "mqtt-3.1.1/MQTT-2.3.1-2", "mqtt-3.1.1/MQTT-2.3.1-3", "mqtt-3.1.1/MQTT-4.3.2-1",
        "mqtt-3.1.1/MQTT-4.3.3-1", "mqtt-5.0/MQTT-2.2.1-3", "mqtt-5.0/MQTT-4.3.2-1",
        "mqtt-5.0/MQTT-4.3.2-3", "mqtt-5.0/MQTT-4.3.3-1", "mqtt-5.0/MQTT-4.3.3-3",
      ]),
    Fault("again-without-reconnect", "publish", "acknowledged-late", ["mqtt-5.0/MQTT-4.4.0-1"]),
    Fault(
      "again-without-dup", "publish", "publish-again",
      ["mqtt-3.1.1/MQTT-3.3.1-1", "mqtt-5.0/MQTT-3.3.1-1"]),
    Fault(
      // 3.1.1 asks for no release in its own words.
      "releases-nothing", "publish", "release", ["mqtt-5.0/MQTT-4.3.3-4"]),
    Fault(
      "goes-on-behind-disconnect", "publish", "disconnect",
      ["mqtt-3.1.1/MQTT-3.14.4-2", "mqtt-5.0/MQTT-3.14.4-1"]),
    Fault(
      "stays-behind-disconnect", "publish", "disconnect-left-open",
      ["mqtt-3.1.1/MQTT-3.14.4-1", "mqtt-5.0/MQTT-3.14.4-2"]),
    Fault("", "publish", "disconnect-left-open", []),
    Fault(
      "acknowledges-backwards", "subscribe", "deliver-in-order",
      [
        "mqtt-3.1.1/MQTT-4.6.0-2", "mqtt-3.1.1/MQTT-4.6.0-3", "mqtt-5.0/MQTT-4.6.0-2",
        "mqtt-5.0/MQTT-4.6.0-3",
      ]),
    Fault(
      "another-identifier", "subscribe", "deliver-in-order",
      ["mqtt-3.1.1/MQTT-2.3.1-6", "mqtt-5.0/MQTT-2.2.1-5"]),
    Fault(
      "wrong-flags", "subscribe", "connect",
      [
        "mqtt-3.1.1/MQTT-2.2.2-1", "mqtt-3.1.1/MQTT-3.8.1-1", "mqtt-5.0/MQTT-2.1.3-1",
        "mqtt-5.0/MQTT-3.8.1-1",
      ]),
    Fault(
      "goes-on-behind-malformed", "subscribe", "malformed",
      [
        "mqtt-3.1.1/MQTT-1.5.3-1", "mqtt-3.1.1/MQTT-1.5.3-2", "mqtt-3.1.1/MQTT-2.2.2-2",
        "mqtt-3.1.1/MQTT-3.3.1-4", "mqtt-3.1.1/MQTT-4.8.0-1",
      ]),
    Fault(
      "never-pings", "subscribe", "ping", ["mqtt-3.1.1/MQTT-3.1.2-23", "mqtt-5.0/MQTT-3.1.2-20"]),
    Fault(
      "ignores-server-keep-alive", "subscribe", "ping,server-keep-alive",
      ["mqtt-5.0/MQTT-3.1.2-20", "mqtt-5.0/MQTT-3.1.2-21", "mqtt-5.0/MQTT-3.2.2-21"]),
    Fault("auth", "subscribe", "authentication,auth-unasked,deliver", []),
    Fault(
      "auth-begins-anew", "subscribe", "authentication",
      ["mqtt-5.0/MQTT-4.12.0-3", "mqtt-5.0/MQTT-4.12.1-1"]),
    Fault(
      "auth-by-another-method", "subscribe", "authentication",
      ["mqtt-5.0/MQTT-4.12.0-5", "mqtt-5.0/U5-3.15-1"]),
    Fault("auth-and-asks", "subscribe", "authentication", ["mqtt-5.0/MQTT-3.1.2-30"]),
    Fault("", "subscribe", "auth-unasked", []),
    Fault(
      "answers-auth-unasked", "subscribe", "auth-unasked",
      ["mqtt-5.0/MQTT-4.12.0-7", "mqtt-5.0/U5-3.15-1"]),
  ]

  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "client.py").path

  @Test("Each fault of a client is found, and nothing else is", arguments: faults)
  func faulty(_ fault: Fault) async throws {
    let run = try await judge(
      ["--case", fault.cases],
      [
        "python3", Self.script, "{port}", "{version}", fault.role, "{topic}", "{qos}", "{count}",
        "{keepalive}", "{payload}", fault.name,
      ])
    #expect(run.status == (fault.failed.isEmpty ? 0 : 1), "\(run.errors)")
    #expect(run.clauses("failed") == fault.failed)
  }

  // MARK: What a broker of a case does

  @Test("Answers that are held back come when they are released, and all later ones at once")
  func releases() async throws {
    try directory.write(
      #"""
      {"name": "own", "title": "A test.", "clauses": ["MQTT-3.14.4-2"], "versions": ["5.0"],
       "rows": [{"qos": 1, "count": 30}], "steps": [
        {"do": "accept"}, {"do": "hold", "types": ["PUBACK"]},
        {"do": "await", "type": "PUBLISH", "count": 20, "seconds": 10}, {"do": "release"},
        {"do": "await", "type": "DISCONNECT", "seconds": 10}, {"do": "await", "end": true}]}
      """#, to: "own.json")
    // It has 20 open at most, and leaves when all 30 are acknowledged.
    let run = try await judge(
      ["--case", directory.file("own.json"), "--save", directory.file("evidence")],
      [
        "python3", Self.script, "{port}", "{version}", "publish", "{topic}", "{qos}", "{count}",
        "60", "{payload}",
      ])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.cases("judged") == ["mqtt-3.1.1 abilities", "mqtt-5.0 abilities", "mqtt-5.0 own"])
    let events = Child.text(of: directory.file("evidence/own.v5.jsonl")).split(separator: "\n")
    let types = events.compactMap { JSONValue(parsing: Array($0.utf8))?["type"]?.text }
    #expect(types.prefix { $0 != "PUBACK" }.count { $0 == "PUBLISH" } == 20)
    for type in ["PUBLISH", "PUBACK"] { #expect(types.count { $0 == type } == 30, "\(type)") }
    #expect(types.contains("DISCONNECT"))
  }

  // MARK: How clients are started and met

  @Test("A program that does not want to end is ended, and what it has started")
  func ends() async throws {
    let file = directory.file("processes")
    try directory.write(
      """
      trap '' TERM
      mosquitto_sub -p $1 -t a &
      echo $$ $! >> \(file)
      wait
      sleep 600
      """, to: "client")
    let run = try await run([
      "--subscribes", "bash \(directory.file("client")) {port}", "--case", "connect", "--spec",
      "mqtt-3.1.1",
      "--format", "json",
    ])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.cases("judged") == ["mqtt-3.1.1 abilities-subscribes", "mqtt-3.1.1 connect"])
    let processes = Child.text(of: file).split { $0.isWhitespace }
      .compactMap { pid_t($0) }
    #expect(processes.count == 4)
    for process in processes { #expect(kill(process, 0) == -1 && errno == ESRCH) }
  }

  @Test("A client that connects by itself meets one case after the other")
  func listens() async throws {
    // It is free for the moment until the command has it.
    let port = try Socket.reserved().port
    let command = try RunningCommand(
      [
        "conform", "client", "--listen", "\(port)", "--case", "connect,deliver", "--spec",
        "mqtt-5.0", "--format", "json",
      ], in: directory)
    try await command.tells("reprise: \(port): note: waits for the client\n")
    let client = try Child([
      "mosquitto_sub", "-p", "\(port)", "-t", "a/+", "-q", "1", "-V", "5", "-k", "5",
    ])
    let status = try await command.wait()
    #expect(status == 0, "\(command.errors)")
    client.send(SIGTERM)
    _ = await client.wait()
    let run = DrivenRun(status: status, output: command.text, errors: command.errors)
    #expect(
      run.cases("judged") == ["mqtt-5.0 abilities", "mqtt-5.0 connect", "mqtt-5.0 deliver"])
    // It asks for QoS 1, and so for no message of QoS 2.
    #expect(run.cases("not-applicable") == ["mqtt-5.0 deliver"])
    #expect(run.reasons == ["the client does not use QoS 2, see abilities.v5"])
    #expect(run.clauses("failed") == [])
  }

  @Test("A client that does nothing by QoS 2 is met again by less")
  func meetsAgain() async throws {
    let run = try await judge(
      ["--case", "publish-again", "--spec", "mqtt-3.1.1"],
      [
        "python3", Self.script, "{port}", "{version}", "publish", "{topic}", "{qos}", "{count}",
        "{keepalive}", "{payload}", "knows-no-qos-2",
      ])
    #expect(run.status == 0, "\(run.errors)")
    #expect(
      run.cases("judged") == [
        "mqtt-3.1.1 abilities", "mqtt-3.1.1 abilities-by-qos-1", "mqtt-3.1.1 publish-again",
      ])
    #expect(run.reasons == ["the client does not use QoS 2, see abilities-by-qos-1.v311"])
    #expect(run.failed == [])
  }

  @Test("What a program for the other role lacks is not said to be what the client lacks")
  func roles() async throws {
    let run = try await run([
      "--publishes", "mosquitto_pub -p {port} -t {topic} -m hi -V 5",
      "--subscribes", "mosquitto_sub -p {port} -t {topic} -q 1 -V 5",
      "--case", "deliver,publish-again", "--spec", "mqtt-5.0", "--format", "json",
    ])
    #expect(run.status == 0, "\(run.errors)")
    #expect(
      Set(run.reasons) == [
        "the client does not use QoS 2, see abilities-subscribes.v5",
        "the client does not use QoS 1, see abilities-publishes.v5",
      ])
  }

  @Test("Whoever can't be driven is told what to do about it")
  func unable() async throws {
    for (words, message) in [
      ([], "no client is named; type -- COMMAND with {port} in it, or --listen HOST:PORT"),
      (["--listen", "1884", "--", "a", "{port}"], "--listen is for clients that connect by"),
      (["--listen", "a/b"], "'a/b' is no place to listen on"),
      (["--", "mosquitto_sub", "-t", "a"], "does not say where {port} stands"),
      (["--ca-folder", "a", "--", "b", "{port}"], "--ca-folder is for --listen"),
      (
        ["--case", "conect", "--", "a", "{port}"], "no case is called conect; did you mean connect?"
      ),
      (["--spec", "rfc6455", "--", "a", "{port}"], "a client is not driven by rfc6455"),
      (["--", "./no-such-client", "{port}"], "./no-such-client can't be started: no such file"),
      (["--", "true", "{port}"], "the client ended with status 0 before it connected"),
      (
        ["--spec", "mqtt-5.0", "--", "mosquitto_sub", "-p", "{port}", "-t", "a"],
        "speaks MQTT 3.1.1, which is not asked for"
      ),
    ] {
      let run = try await run(words)
      #expect(run.status == 2, "\(words)")
      #expect(run.errors.contains(message), "\(words): \(run.errors)")
    }
  }
}
