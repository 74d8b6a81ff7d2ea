import Foundation
import Glibc
import RepriseCore
import TestSupport
import Testing

/// A proxy whose clients speak without TLS, and whose server speaks with it.
@Suite struct ProxyTLSTests {
  private let certificates: Certificates
  private let directory = Scratch()

  init() async throws {
    certificates = try await Certificates()
  }

  private var trust: [String] { ["--ca-file", certificates.authority] }

  /// What a client says that a proxy passes on, as the capture has it; nothing when it is reset.
  private func publish(_ bench: ProxyBench) async throws -> [String] {
    let child = try Child([
      "mosquitto_pub", "-h", "127.0.0.1", "-p", "\(bench.port)", "-t", "a", "-m", "b", "-q", "1",
    ])
    let status = await child.wait()
    #expect(try await bench.command.stop(SIGINT) == 130)
    let shown = try await RunningCommand.run(
      ["inspect", directory.file("a.pcapng"), "--format", "jsonl", "--filter", "type == PUBACK"],
      in: directory)
    #expect(shown.output.isEmpty == (status != 0), "\(shown.output)\(child.text)")
    return shown.output.split(separator: "\n").map(String.init)
  }

  @Test(arguments: ["localhost", "127.0.0.1"]) func speaksTLSWithTheServer(host: String)
    async throws
  {
    let broker = try await certificates.broker("server")
    let bench = try await ProxyBench(
      to: "mqtts://\(host):\(broker.port)", trust, in: directory)
    #expect(try await publish(bench).count == 1)
    #expect(bench.command.errors.components("reprise: ") == 2, "\(bench.command.errors)")
    let passed = try bench.passed()
    #expect(passed.serverPorts == [1_883])
    let child = try Child(
      ["tshark", "-r", directory.file("a.pcapng"), "-T", "fields", "-e", "frame.comment"],
      errorsApart: true)
    #expect(await child.wait() == 0)
    #expect(child.text.contains(" to 127.0.0.1:\(broker.port) by TLSv1.3 and TLS_"))
    let judged = try await RunningCommand.run(
      ["conform", "trace", directory.file("a.pcapng")], in: directory)
    #expect(judged.status == 0, "\(judged.output)")
  }

  @Test func showsACertificate() async throws {
    let broker = try await certificates.broker("server", ["require_certificate true"])
    let url = "mqtts://localhost:\(broker.port)"
    let pair = ["--cert", certificates.certificate("client"), "--key", certificates.key("client")]
    let shown = try await ProxyBench(to: url, trust + pair, in: directory)
    #expect(try await publish(shown).count == 1)
    let hidden = try await ProxyBench(to: url, trust + ["--force"], in: directory)
    #expect(try await publish(hidden) == [])
    let refusal =
      "\(url) ends the connection: tlsv13 alert certificate required; it may want --cert and --key"
    let errors = hidden.command.errors
    #expect(errors.contains("reprise: \(refusal); the client is reset\n"), "\(errors)")
    #expect(!errors.contains("can't be reached"), "\(errors)")
  }

  @Test func trustsOnlyWhomItIsToldTo() async throws {
    let server = try await certificates.broker("server")
    let wrong = try await certificates.broker("wrong")
    let cases: [(UInt16, [String], String)] = [
      (
        server.port, ["--ca-file", certificates.otherAuthority],
        "its certificate is not trusted: self-signed certificate in certificate chain; name the file of its "
          + "authority's certificate by --ca-file, or, in a test, add --insecure"
      ),
      (
        wrong.port, trust,
        "its certificate is for elsewhere.test, not for localhost; use the host name that it is for, "
          + "or, in a test, add --insecure"
      ),
    ]
    for (port, options, line) in cases {
      let bench = try await ProxyBench(
        to: "mqtts://localhost:\(port)", options + ["--force"], in: directory)
      #expect(try await publish(bench) == [])
      #expect(
        bench.command.errors.contains(
          "reprise: mqtts://localhost:\(port) can't be reached: \(line); the client is reset\n"),
        "\(bench.command.errors)")
      let careless = try await ProxyBench(
        to: "mqtts://localhost:\(port)", ["--insecure", "--force"], in: directory)
      #expect(try await publish(careless).count == 1)
    }
  }

  @Test func saysThatThereIsNoTLS() async throws {
    let (listener, port) = try Socket.listening()
    let bench = try await ProxyBench(to: "tls://127.0.0.1:\(port)", in: directory)
    let answers = ["HTTP/1.1 400 Bad Request\r\n\r\n", ""]
    let lines = [
      "it answers something else than TLS; check the port, or leave the s out: mqtt://, ws://; the",
      "it ended the connection in the TLS handshake; check the port: there may be no TLS; the client",
    ]
    for (answer, line) in zip(answers, lines) {
      let client = try bench.connected()
      let server = try await onThread { try listener.accept() }
      server.write(Array(answer.utf8))
      server.finish()
      #expect(try await client.readToBreak() == ([], ECONNRESET))
      try await bench.command.tells("can't be reached: \(line)")
    }
    #expect(try await bench.command.stop(SIGINT) == 130)
  }

  /// A server that says nothing keeps nobody waiting for ever.
  @Test func waitsForAHandshakeSoLong() async throws {
    let (listener, port) = try Socket.listening()
    let bench = try await ProxyBench(to: "tls://127.0.0.1:\(port)", in: directory)
    let client = try bench.connected()
    let server = try await onThread { try listener.accept() }
    #expect(try await client.readToBreak() == ([], ECONNRESET))
    try await bench.command.tells(
      "can't be reached: no end of the tls handshake in 10 s; check host, port and network")
    withExtendedLifetime(server) {}
  }

  /// Others decrypt what is between the proxy and the server by what it logs.
  @Test func logsKeysWhereItIsToldTo() async throws {
    let broker = try await certificates.broker("server")
    let port = try Socket.freePort()
    let log = directory.file("keys")
    let words = ["env", "SSLKEYLOGFILE=\(log)", RunningCommand.path, "record", "proxy", "\(port)"]
    let proxy = try Child(
      words + ["mqtts://localhost:\(broker.port)", "--count=1", "-o", directory.file("a.pcapng")]
        + trust)
    try await proxy.wait(for: "a proxy") { $0.text.contains("listening") }
    try await Child.run(["mosquitto_pub", "-h", "localhost", "-p", "\(port)", "-t", "a", "-m", "b"])
    #expect(await proxy.wait() == 0)
    let note =
      "reprise: \(log): note: the secrets of TLS go there, as SSLKEYLOGFILE says; whoever has it"
    #expect(proxy.text.hasPrefix(note) && proxy.text.components("SSLKEYLOGFILE") == 1)
    let labels = Child.text(of: log).split(separator: "\n").map { $0.prefix { $0 != " " } }
    #expect(
      Set(labels).isSuperset(of: [
        "CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET",
        "CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0",
      ]))
    var status = stat()
    #expect(stat(log, &status) == 0 && status.st_mode & 0o777 == 0o600)
    // What can't be written is told at once.
    let refused = try Child(
      ["env", "SSLKEYLOGFILE=/no/keys", RunningCommand.path, "record", "proxy", "\(port)"]
        + ["tls://localhost:1", "-o", directory.file("b.pcapng")])
    #expect(await refused.wait() == 2)
    #expect(
      refused.text
        == "reprise: SSLKEYLOGFILE /no/keys can't be written: no such file or directory; unset it or "
        + "name another file\n")
    #expect(access(directory.file("b.pcapng"), F_OK) != 0)
  }

  /// Bytes and ends go through TLS as they do without.
  @Test func passesBytesAndEnds() async throws {
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "tls-server.py").path
    let server = try Child([
      "python3", script, certificates.certificate("server"), certificates.key("server"),
    ])
    try await server.wait(for: "its port") { $0.text.hasSuffix("\n") }
    let port = server.text.dropLast()
    let bench = try await ProxyBench(to: "tls://localhost:\(port)", trust, in: directory)
    var random = SplitMix64(seed: 5)
    let bytes = random.bytes(5_000_000)
    let client = try bench.connected()
    async let sent: Void = client.writeAll(bytes)
    #expect(try await onThread { client.read(bytes.count) } == bytes)
    try await sent
    client.finish()
    #expect(try await client.readToBreak() == (Array("end".utf8), 0))
    #expect(await server.wait() == 0, "\(server.text)")
    #expect(try await bench.command.stop(SIGINT) == 130)
    let connection = try #require(try bench.passed().connections.first)
    #expect(connection.bytes == [.client: bytes, .server: bytes + Array("end".utf8)])
    #expect(connection.marks == ["client syn", "server syn", "client fin", "server fin"])
  }
}
