import Foundation
import Glibc
import TestSupport
import Testing

/// The file that SSLKEYLOGFILE names, and who writes to it.
@Suite struct KeyLogFileTests {
  private static let labels = [
    "CLIENT_HANDSHAKE_TRAFFIC_SECRET", "CLIENT_TRAFFIC_SECRET_0", "EXPORTER_SECRET",
    "SERVER_HANDSHAKE_TRAFFIC_SECRET", "SERVER_TRAFFIC_SECRET_0",
  ]

  private let directory = Scratch()
  private var log: String { directory.file("keys.log") }
  private var logs: [String] { ["SSLKEYLOGFILE=\(log)"] }

  /// The lines of the file, each of which has a label, a client's random number and a secret.
  private func lines() throws -> [(label: String, random: String, secret: String)] {
    let text = Child.text(of: log)
    #expect(text.isEmpty || text.hasSuffix("\n"))
    return try text.split(separator: "\n").map { line in
      let line = try #require(
        line.wholeMatch(of: /([A-Z_0-9]+) ([0-9a-f]{64}) ([0-9a-f]{64}|[0-9a-f]{96})/), "\(line)")
      return (String(line.1), String(line.2), String(line.3))
    }
  }

  private func mode() -> UInt32 {
    var status = stat()
    return stat(log, &status) == 0 ? status.st_mode & 0o777 : 0
  }

  @Test(arguments: [SecureBroker.Way.tcp, .webSocket])
  func isAppendedToAndTold(_ way: SecureBroker.Way) async throws {
    let broker = try await SecureBroker()
    let note =
      "reprise: \(log): note: the secrets of TLS go there, as SSLKEYLOGFILE says; whoever has it can "
      + "read captures\n"
    for round in 1...2 {
      let path = directory.file("\(round).jsonl")
      let client = try await RunningCommand.run(
        broker.recording(try broker.url(way), to: path, broker.trust),
        in: directory, environment: logs)
      #expect(client.status == 0)
      #expect(client.errors.hasPrefix(note) && client.errors.components("SSLKEYLOGFILE") == 1)
      #expect(mode() == 0o600)
      let lines = try lines()
      #expect(
        lines.map(\.label).sorted() == (Self.labels + Self.labels.prefix((round - 1) * 5)).sorted())
      #expect(Set(lines.map(\.random)).count == round)
      let told = Child.text(of: path) + client.output + client.errors
      #expect(try Recorded(path).payloads == [#"{"on":true}"#])
      for line in lines { #expect(!told.contains(line.secret) && !told.contains(line.random)) }
    }
  }

  /// A connection that is opened again logs as the first one did, whatever of its context the library keeps.
  @Test(arguments: [SecureBroker.Way.tcp, .webSocket])
  func takesEachConnection(_ way: SecureBroker.Way) async throws {
    let broker = try await SecureBroker()
    let client = try RunningCommand(
      broker.recording(
        try broker.url(way), to: directory.file("a.jsonl"), broker.trust, count: 9),
      in: directory, environment: logs)
    // Before that, a lost connection ends the command.
    try await client.tells("connected and subscribed")
    for round in 1...2 {
      try await client.writes("the secrets of connection \(round)") { [log] in
        Child.text(of: log).split(separator: "\n").count == round * Self.labels.count
      }
      guard round == 1 else { break }
      await broker.broker.stop()
      try await broker.broker.start()
    }
    #expect(try await client.stop(SIGINT) == 130)
    let lines = try lines()
    #expect(
      Dictionary(grouping: lines, by: \.random).map { $0.value.map(\.label).sorted() }
        == [Self.labels, Self.labels])
  }

  /// Lines of many clients at once don't mix.
  @Test func takesLinesOfManyAtOnce() async throws {
    let broker = try await SecureBroker()
    let clients = try (0..<12).map { number in
      try RunningCommand(
        broker.recording(
          try broker.url(number % 2 == 0 ? .tcp : .webSocket),
          to: directory.file("\(number).jsonl"), broker.trust + ["--client-id", "keys-\(number)"]),
        in: Scratch(), environment: logs)
    }
    for client in clients { #expect(try await client.wait() == 0, "\(client.errors)") }
    let lines = try lines()
    #expect(
      Dictionary(grouping: lines, by: \.random).map { $0.value.map(\.label).sorted() }
        == Array(repeating: Self.labels, count: 12))
  }

  @Test(arguments: [SecureBroker.Way.tcp, .webSocket])
  func isDoneWithoutWhereItCannotBe(_ way: SecureBroker.Way) async throws {
    let broker = try await SecureBroker()
    let client = try await RunningCommand.run(
      broker.recording(try broker.url(way), to: directory.file("a.jsonl"), broker.trust),
      in: directory, environment: ["SSLKEYLOGFILE=/no/keys.log"])
    #expect(client.status == 0)
    #expect(
      client.errors.hasPrefix(
        "reprise: /no/keys.log: note: SSLKEYLOGFILE can't be written, so no secrets of TLS are: no such "
          + "file or directory\n"), "\(client.errors)")
    #expect(client.errors.components("SSLKEYLOGFILE") == 1)
  }

  /// Without TLS, and where the variable is empty, there is no file and no word.
  @Test func isNotThereWithoutTLS() async throws {
    let broker = try await SecureBroker()
    let cases = [
      (broker.broker.url, [], logs), (try broker.url(.tcp), broker.trust, ["SSLKEYLOGFILE="]),
    ]
    for (number, (url, words, environment)) in cases.enumerated() {
      let client = try await RunningCommand.run(
        broker.recording(url, to: directory.file("\(number).jsonl"), words), in: directory,
        environment: environment)
      #expect(client.status == 0 && !client.errors.contains("SSLKEYLOGFILE"), "\(client.errors)")
    }
    let webSocket = try await WebSocketBroker()
    let probe = try Child(["env"] + logs + [Self.probe, "connect", webSocket.url])
    #expect(await probe.wait() == 0 && probe.text == "reached\n", "\(probe.text)")
    #expect(access(log, F_OK) != 0)
  }

  /// A client trusts the same servers, and shows the same, with a key log and without.
  @Test(arguments: [SecureBroker.Way.tcp, .webSocket])
  func changesNoTrust(_ way: SecureBroker.Way) async throws {
    let right = try await SecureBroker()
    let wrong = try await SecureBroker(certificate: "wrong")
    let asking = try await SecureBroker(settings: ["require_certificate true"])
    let other = ["--ca-file", right.certificates.otherAuthority]
    let pair = [
      "--cert", asking.certificates.certificate("client"), "--key",
      asking.certificates.key("client"),
    ]
    let cases: [(SecureBroker, [String], Int32)] = [
      (right, right.trust, 0), (right, other, 2), (right, [], 2), (right, ["--insecure"], 0),
      (right, other + ["--insecure"], 0), (wrong, wrong.trust, 2),
      (wrong, wrong.trust + ["--insecure"], 0), (asking, asking.trust, 2),
      (asking, asking.trust + pair, 0),
    ]
    for (broker, words, status) in cases {
      for environment in [["SSLKEYLOGFILE="], logs] {
        let client = try await RunningCommand.run(
          broker.recording(
            try broker.url(way), to: directory.file("a.jsonl"), words + ["--force", "--quiet"]),
          in: directory, environment: environment)
        #expect(client.status == status, "\(words) \(environment): \(client.errors)")
      }
    }
    #expect(try lines().isEmpty == false)
  }

  // MARK: Clients of the library

  private static var probe: String {
    RunningCommand.path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
      + "/network-probe"
  }

  /// The library's own clients, which trust the authorities of the system.
  @Test(arguments: [SecureBroker.Way.tcp, .webSocket])
  func isWrittenWhereTheSystemIsTrusted(_ way: SecureBroker.Way) async throws {
    let broker = try await SecureBroker()
    let environment = logs + ["SSL_CERT_FILE=\(broker.certificates.authority)"]
    let probe = try Child(["env"] + environment + [Self.probe, "connect", try broker.url(way)])
    #expect(await probe.wait() == 0 && probe.text == "reached\n", "\(probe.text)")
    #expect(try lines().map(\.label).sorted() == Self.labels)
    #expect(mode() == 0o600)
  }

  /// libcurl writes it, below URLSession.
  @Test func isWrittenByRequestsOfHTTP() async throws {
    let certificates = try await Certificates()
    let port = try Socket.freePort()
    let server = try Child([
      "openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-www", "-cert",
      certificates.certificate("server"), "-key", certificates.key("server"),
    ])
    try await server.wait(for: "its port") { $0.text.contains("ACCEPT") }
    // libcurl takes the authorities of the system from one file, wherever the environment points.
    let script = """
      mount --bind "$1" /etc/ssl/certs/ca-certificates.crt
      exec "$2" request "$3"
      """
    let probe = try Child(
      ["env"] + logs + [
        "unshare", "--map-root-user", "--mount", "bash", "-euc", script, "bash",
        certificates.authority, Self.probe, "https://localhost:\(port)/",
      ])
    #expect(await probe.wait() == 1 && probe.text == "answered\n", "\(probe.text)")
    #expect(Set(try lines().map(\.label)).sorted() == Self.labels)
    #expect(mode() == 0o600)
  }

  /// The simulator is a server, and logs as one.
  @Test func isWrittenByTheSimulator() async throws {
    let certificates = try await Certificates()
    let url = "wss://localhost:\(try Socket.freePort())"
    let simulator = try RunningCommand(
      [
        "simulate", url, "--cert", certificates.certificate("server"), "--key",
        certificates.key("server"),
      ], in: directory, environment: logs)
    try await simulator.tells("listening")
    #expect(simulator.errors.contains("\(log): note: the secrets of TLS go there"))
    let probe = try Child([
      "env", "SSL_CERT_FILE=\(certificates.authority)", Self.probe, "connect", url,
    ])
    try await simulator.writes("secrets") { [log] in
      Child.text(of: log).split(separator: "\n").count == Self.labels.count
    }
    #expect(try await simulator.stop(SIGINT) == 130)
    _ = await probe.wait()
    #expect(try lines().map(\.label).sorted() == Self.labels)
    #expect(mode() == 0o600)
  }
}
