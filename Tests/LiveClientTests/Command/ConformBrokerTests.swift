import Foundation
import Glibc
import RepriseCore
import TestSupport
import Testing

/// `reprise conform broker`, with a mosquitto.
@Suite struct ConformBrokerTests: DrivesBrokers {
  let directory = Scratch()

  @Test("A case that takes a broker alone has one that is started for it, and none otherwise")
  func alone() async throws {
    let file = directory.file("starts")
    let command = "sh -c 'echo $$ >> \(file); exec mosquitto -p {port}'"
    let cases = ["--case", "ping,filter-of-everything", "--spec", "mqtt-5.0"]
    let own = try await run(["--launch", command] + cases)
    #expect(own.status == 0, "\(own.errors)")
    #expect(own.cases.filter { $0 == "filter-of-everything mqtt-5.0 judged" }.count == 3)
    #expect(own.verdict("MQTT-4.7.2-1", "mqtt-5.0") == "passed")
    // One for all others, and one for each of its three rows; none is left.
    let processes = Child.text(of: file).split { $0.isWhitespace }.compactMap { pid_t($0) }
    #expect(processes.count == 4)
    for process in processes { #expect(kill(process, 0) == -1 && errno == ESRCH) }
    let broker = try await Broker()
    let shared = try await run([broker.url] + cases)
    #expect(shared.cases.filter { $0 == "filter-of-everything mqtt-5.0 not-applicable" }.count == 3)
    #expect(
      Set(shared.reasons) == ["it takes a broker that nobody else uses, which --launch starts"])
  }

  @Test("A case whose own broker does not start is not judged, and costs no other")
  func aloneWithoutABroker() async throws {
    let file = directory.file("starts")
    let command = "sh -c 'test ! -e \(file) && touch \(file) && exec mosquitto -p {port}'"
    let folder = directory.file("evidence")
    let run = try await run([
      "--launch", command, "--case", "ping,filter-of-everything", "--spec", "mqtt-5.0", "--save",
      folder,
    ])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.cases.filter { $0 == "filter-of-everything mqtt-5.0 inconclusive" }.count == 3)
    #expect(run.reasons.filter { $0.contains("ended at once") }.count == 3, "\(run.reasons)")
    #expect(run.verdict("MQTT-3.12.4-1", "mqtt-5.0") == "passed")
    let saved = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(saved.contains { $0.hasPrefix("ping.") })
    #expect(!saved.contains { $0.hasPrefix("filter-of-everything") })
  }

  /// Nothing is known of what it comes to when its bytes are not cut.
  @Test("A case whose own broker did not start is not what the same with its bytes cut is held to")
  func aloneCut() async throws {
    let file = directory.file("starts")
    let command =
      "sh -c 'echo >> \(file); test $(wc -l < \(file)) != 2 && exec mosquitto -p {port}'"
    let run = try await run([
      "--launch", command, "--case", "filter-of-everything", "--spec", "mqtt-5.0", "--chop", "1",
    ])
    let outcomes = run.cases.filter { $0.hasPrefix("filter-of-everything") }
    #expect(outcomes.filter { $0.hasSuffix(" inconclusive") }.count == 1, "\(outcomes)")
    #expect(outcomes.filter { $0.hasSuffix(" judged") }.count == 5, "\(outcomes)")
    #expect(run.reasons.count == 1 && run.reasons.first?.contains("ended at once") == true)
  }

  /// A mosquitto that lets clients in by the methods of `two-step.c`.
  private func authenticating() async throws -> Broker {
    let plugin = directory.file("two-step.so")
    let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "two-step.c")
    let compiler = try Child([
      "cc", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", plugin, source.path,
    ])
    try #require(await compiler.wait() == 0, "\(compiler.text)")
    return try await Broker(["allow_anonymous true", "plugin \(plugin)"])
  }

  @Test(
    "A broker that authenticates in one step or in more is found to refuse the second time by another CONNACK",
    arguments: [
      ("two-step", ["open"]), ("two-step", ["more", "open"]),
      ("late-step", ["any", "one", "open"]),
    ])
  func authentication(method: String, data: [String]) async throws {
    let broker = try await authenticating()
    var words = ["--spec", "mqtt-5.0", "--auth-method", method]
    for (index, text) in data.enumerated() {
      try directory.write(text, to: "\(index)")
      words += ["--auth-data", directory.file("\(index)")]
    }
    let evidence = directory.file("evidence")
    let run = try await run(
      [broker.url, "--save", evidence, "--case"]
        + ["authentication-again,authentication-fails,authentication-again-fails,ping"] + words)
    #expect(run.status == 1 && run.errors == "")
    // It was to be a DISCONNECT (section 4.12.1); mosquitto 2.0 calls its function for refused connections.
    #expect(run.failed == ["mqtt-5.0/MQTT-3.2.0-2"])
    for clause in ["3.2.0-1", "3.2.2-7", "3.15.1-1", "3.15.2-1", "4.12.0-4", "4.12.0-5"] {
      #expect(run.verdict("MQTT-\(clause)", "mqtt-5.0") == "passed", "\(clause)")
    }
    // In one step it asks for nothing more.
    #expect(
      run.verdict("MQTT-4.12.0-2", "mqtt-5.0") == (data.count == 1 ? "not-exercised" : "passed"))
    #expect(run.cases.allSatisfy { $0.hasSuffix(" judged") }, "\(run.cases)")
    // Both times the exchange went to its end, by as many packets as the method takes.
    let again = Child.text(of: "\(evidence)/authentication-again.v5.jsonl").split(separator: "\n")
    let codes = again.compactMap { line -> Int? in
      let event = JSONValue(parsing: Array(line.utf8))
      return event?["type"]?.text == "AUTH" ? event?["reasonCodes"]?.elements?.first?.integer : nil
    }
    let rounds = Array(repeating: [24, 24], count: data.count - 1).flatMap { $0 }
    #expect(codes == rounds + [25] + rounds + [0, 25] + rounds + [0])
  }

  @Test("Without a method, or with one that the broker does not know, it is said what to do")
  func unknownMethod() async throws {
    let broker = try await authenticating()
    try directory.write("open", to: "data")
    let data = ["--auth-data", directory.file("data")]
    let none = try await run([broker.url, "--case", "authentication-fails"])
    #expect(none.cases.contains("authentication-fails mqtt-5.0 not-applicable"))
    #expect(none.reasons == ["it takes a method that the broker knows, see --auth-method"])
    let spec = ["--spec", "mqtt-5.0"]
    let other = try await run([broker.url, "--auth-method", "three-step"] + data + spec)
    #expect(
      other.status == 2 && other.errors.contains("CONNACK code 140 to MQTT 5.0); add --username"))
    try directory.write("more", to: "more")
    let short = ["--auth-method", "two-step", "--auth-data", directory.file("more")]
    let asked = try await run([broker.url] + short + spec)
    #expect(
      asked.status == 2
        && asked.errors.contains(
          "asks for more by AUTH number 1, for which there is no --auth-data")
    )
    let unnamed = try await run([broker.url, "--auth-method", ""] + data)
    #expect(unnamed.status == 2 && unnamed.errors.contains("--auth-method names no method"))
    let lone = try await run([broker.url] + data)
    #expect(lone.status == 2 && lone.errors.contains("--auth-data is for --auth-method"))
  }

  @Test("A broker that lets nobody in says so by codes of both versions")
  func letsNobodyIn() async throws {
    let broker = try await Broker(["allow_anonymous false"])
    let run = try await run([broker.url])
    let words = ["5 to MQTT 3.1.1", "135 to MQTT 5.0"].map {
      "the broker lets nobody in (CONNACK code \($0)); add --username and --password-file, or --auth-method"
    }
    #expect(run.status == 2 && run.cases == [])
    #expect(run.errors.hasSuffix(words.joined(separator: "; ") + "\n"), "\(run.errors)")
  }

  @Test("Three parts, each with a broker of its own, are together what one run of all is")
  func parts() async throws {
    let cases = [
      "--case",
      "ping,connect,subscribe-options,alias-of-client,share-group,publish-topic,first-packet",
      "--chop", "1", "--spec", "mqtt-3.1.1,mqtt-5.0",
    ]
    func report(_ words: [String]) async throws -> DrivenRun {
      let broker = try await Broker()
      return try await run([broker.url] + cases + words)
    }
    let whole = try await report([])
    var parts: [String] = []
    for part in 1...3 {
      let run = try await report(["--shard", "\(part)/3"])
      #expect(run.status == 0 || run.status == 1)
      #expect(run.cases.count > 10, "a part has its share")
      try directory.write(run.report.description, to: "\(part).json")
      parts.append(directory.file("\(part).json"))
    }
    let (status, output, errors) = try await RunningCommand.run(
      ["report", "merge", "--format", "json"] + parts, in: directory)
    let merged = DrivenRun(status: status, output: output, errors: errors)
    #expect(merged.errors == "" && merged.status == whole.status)
    #expect(merged.cases == whole.cases && whole.cases.count > 60)
    #expect(merged.report["inputs"] == whole.report["inputs"])
    for verdict in ["passed", "failed", "not-followed", "inconclusive", "not-applicable"] {
      #expect(merged.clauses(verdict) == whole.clauses(verdict), "\(verdict)")
    }
    #expect(merged.clauses("passed").count > 50)
  }

  @Test("What is said is kept, can be judged again, and leaves nothing on the broker")
  func drives() async throws {
    let broker = try await Broker()
    let own = try write(
      "own",
      [
        #"{"client":"a","do":"connect","cleanStart":false,"properties":{"sessionExpiryInterval":600}}"#,
        #"{"client":"a","do":"subscribe","filter":"{t}/#","qos":1}"#,
        #"{"client":"a","do":"publish","topic":"{t}/kept","qos":1,"retain":true}"#,
        #"{"client":"a","do":"await","type":"PUBLISH"}"#, #"{"client":"a","do":"fence"}"#,
      ], #""needs":["retain","sessions"]"#)
    let folder = directory.file("evidence")
    let run = try await run([broker.url, "--case", "connect,\(own)", "--save", folder])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors == "")
    let names = ["abilities", "connect", "connect", "own"]
    #expect(
      run.cases.sorted()
        == ["3.1.1", "5.0"].flatMap { version in names.map { "\($0) mqtt-\(version) judged" } }
        .sorted())
    #expect(run.reasons == [])
    #expect(run.failed == [])
    for spec in ["mqtt-3.1.1", "mqtt-5.0"] {
      for id in ["MQTT-3.12.4-1", "MQTT-3.2.0-1", "MQTT-3.8.4-1", "MQTT-3.3.4-1"] {
        #expect(run.verdict(id, spec) == "passed", "\(spec)/\(id)")
      }
    }
    // What binds clients alone is not in the report.
    #expect(run.verdict("MQTT-3.1.0-1", "mqtt-3.1.1") == nil)
    let files = try FileManager.default.contentsOfDirectory(atPath: folder)
    let runs = ["abilities.v311", "connect.v311.1", "connect.v311.2", "own.v311"]
    let both = runs + runs.map { $0.replacing("v311", with: "v5") }
    #expect(files.sorted() == both.flatMap { ["\($0).jsonl", "\($0).pcapng"] }.sorted())
    for file in files {
      var status = stat()
      #expect(stat("\(folder)/\(file)", &status) == 0 && status.st_mode & 0o777 == 0o600)
    }
    // Both forms hold the same, and it is no more than others find.
    for form in ["pcapng", "jsonl"] {
      let paths = both.map { "\(folder)/\($0).\(form)" }
      let again = try await RunningCommand.run(["conform", "trace"] + paths, in: directory)
      #expect(again.status == 0, "\(again.output)")
    }
    try await expectClean(broker)
    // What is there is not replaced, and nobody is driven in vain.
    let server = try StrangeBroker.server()
    let taken = try await self.run(
      ["mqtt://127.0.0.1:\(server.port)", "--case", "connect", "--save", folder])
    #expect(taken.status == 2)
    #expect(
      taken.errors
        == "reprise: \(folder)/connect.v311.1.pcapng: it exists; name another file or add "
        + "--force\n")
  }

  /// Expects that no message of a run is kept any more.
  private func expectClean(_ broker: Broker) async throws {
    let client = try await TestClient.connected(broker)
    _ = try await client.subscribe("reprise/#")
    try await client.publish("reprise/end", [1], qos: .atMostOnce)
    let first = try await client.message()
    #expect(first.topic == "reprise/end", "\(first.topic) was left")
    try await client.disconnect()
  }

  @Test("What a broker can't do makes its cases not applicable, with what said so")
  func lacks() async throws {
    let broker = try await Broker(globals: ["retain_available false"])
    let own = try write(
      "own",
      [
        #"{"client":"a","do":"connect"}"#,
        #"{"client":"a","do":"publish","topic":"{t}/a","retain":true,"qos":1}"#,
      ], clauses: "MQTT-3.3.1-5", #""needs":["retain"]"#)
    let run = try await run([
      broker.url, "--case", "connect,beyond-retain,beyond-retain-by-will,\(own)",
    ])
    #expect(run.status == 0)
    // What goes beyond that is done all the same.
    #expect(
      run.cases.filter { $0.hasPrefix("beyond") }.sorted()
        == ["beyond-retain mqtt-5.0 judged", "beyond-retain-by-will mqtt-5.0 judged"])
    for id in ["U5-3.2.2.3.5-2", "MQTT-3.2.2-13"] {
      let clause = run.report["clauses"]?.elements?.first { $0["id"]?.text == id }
      #expect(clause?["verdict"]?.text == "passed", "\(id)")
    }
    #expect(
      run.cases.filter { $0.hasPrefix("own") }.sorted()
        == ["own mqtt-3.1.1 not-applicable", "own mqtt-5.0 not-applicable"])
    let why = "its CONNACK says retainAvailable 0, see abilities.v5"
    #expect(run.reasons == [why, why])
    let clause = run.report["clauses"]?.elements?.first {
      $0["id"]?.text == "MQTT-3.3.1-5" && $0["spec"]?.text == "mqtt-5.0"
    }
    #expect(clause?["verdict"]?.text == "not-applicable")
    #expect(clause?["reason"]?.text == why)
  }

  @Test("A broker of QoS 0 alone is left as clean as others")
  func cleansByQoS0() async throws {
    let broker = try await Broker(["allow_anonymous true", "max_qos 0"])
    let own = try write(
      "own",
      [
        #"{"client":"a","do":"connect"}"#,
        #"{"client":"a","do":"publish","topic":"{t}/kept","retain":true}"#,
        #"{"client":"a","do":"fence"}"#,
      ], #""needs":["retain"]"#)
    let run = try await run([broker.url, "--case", own])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors == "")
    try await expectClean(broker)
  }

  @Test("Over WebSocket its clauses are judged as well, and over TLS the same as without")
  func ways() async throws {
    let broker = try await WebSocketBroker()
    let carried = try await run([broker.url, "--case", "connect"])
    #expect(carried.status == 0, "\(carried.errors)")
    for id in ["RFC6455-4.2.2-8", "RFC6455-4.2.2-11", "RFC6455-5.1-3"] {
      #expect(carried.verdict(id, "rfc6455") == "passed", "\(id)")
    }
    #expect(carried.verdict("MQTT-6.0.0-1", "mqtt-5.0") == "passed")
    let certificates = try await Certificates()
    let secure = try await Broker(
      [
        "allow_anonymous true", "certfile \(certificates.certificate("server"))",
        "keyfile \(certificates.key("server"))",
      ], directory: certificates.directory)
    let words = ["mqtts://localhost:\(secure.port)", "--case", "connect"]
    let plain = try await run(words + ["--ca-file", certificates.authority])
    #expect(plain.status == 0, "\(plain.errors)")
    #expect(plain.verdict("MQTT-3.12.4-1", "mqtt-5.0") == "passed")
    let untrusted = try await run(words)
    #expect(untrusted.status == 2)
    #expect(untrusted.errors.contains("its certificate is not trusted"), "\(untrusted.errors)")
  }

  @Test("A broker is started for it, and is gone at the end")
  func launches() async throws {
    let file = directory.file("pid")
    let command = "sh -c 'echo $$ > \(file); exec mosquitto -p {port}'"
    let run = try await run(["--launch", command, "--case", "connect"])
    #expect(run.status == 0, "\(run.errors)")
    let process = try #require(
      pid_t(Child.text(of: file).trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(kill(process, 0) == -1 && errno == ESRCH)
    let ended = try await self.run(["--launch", "true {port}"])
    #expect(ended.status == 2)
    #expect(ended.errors.contains("'true {port}' ended at once"), "\(ended.errors)")
  }

  @Test("Ctrl-C takes away what is on the broker by then, and keeps what was said")
  func interrupted() async throws {
    let broker = try await Broker()
    let own = try write(
      "own",
      [
        #"{"client":"a","do":"connect"}"#,
        #"{"client":"a","do":"publish","topic":"{t}/kept","qos":1,"retain":true}"#,
        #"{"do":"wait","seconds":600}"#,
      ], #""seconds":600,"versions":["5.0"]"#)
    let watcher = try await TestClient.connected(broker)
    _ = try await watcher.subscribe("reprise/#")
    let folder = directory.file("evidence")
    let command = try RunningCommand(
      ["conform", "broker", broker.url, "--case", own, "--save", folder], in: directory)
    let kept = try await watcher.message()
    #expect(!kept.payload.isEmpty)
    #expect(try await command.stop(SIGINT) == 130)
    #expect(command.text == "")
    #expect(
      command.errors == "reprise: \(folder): note: keeps what was said in 3 cases until the end\n")
    let said = try Recorded("\(folder)/own.v5.jsonl")
    #expect(said.types.contains("PUBLISH") && said.types.last == "CLOSE reset")
    let cleared = try await watcher.message()
    #expect(cleared.topic == kept.topic && cleared.payload.isEmpty)
    try await watcher.disconnect()
    try await expectClean(broker)
  }
}
