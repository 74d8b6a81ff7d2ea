import Glibc
import RepriseCore
import TestSupport
import Testing

/// A proxy that speaks TLS with its clients, by a certificate authority of its user's.
@Suite struct ProxyAuthorityTests {
  private let certificates: Certificates
  private let directory = Scratch()

  init() async throws {
    certificates = try await Certificates()
  }

  private var folder: [String] { ["--ca-folder", directory.file("of/its/own")] }
  private var authority: String { directory.file("ours.pem") }

  /// A proxy by TLS, whose authority stands in a file.
  private func proxy(
    to upstream: String, _ options: [String] = [], file: String = "a.pcapng",
    environment: [String] = []
  ) async throws -> ProxyBench {
    let bench = try await ProxyBench(
      to: upstream, ["--tls"] + folder + options, file: file, in: directory,
      environment: environment)
    let told = try await RunningCommand.run(
      ["ca", "-o", authority, "--force"] + folder, in: directory)
    #expect(told.status == 0, "\(told.errors)")
    return bench
  }

  private func publish(_ bench: ProxyBench, host: String = "localhost", _ more: [String])
    -> [String]
  {
    ["mosquitto_pub", "-h", host, "-p", "\(bench.port)", "-t", "a", "-m", "b", "-q", "1"] + more
  }

  /// The comments in a capture.
  private func comments(_ file: String = "a.pcapng") async throws -> String {
    let child = try Child(
      ["tshark", "-r", directory.file(file), "-T", "fields", "-e", "frame.comment"],
      errorsApart: true)
    #expect(await child.wait() == 0)
    return child.text
  }

  @Test func speaksTLSOnBothSides() async throws {
    let broker = try await certificates.broker("server")
    let bench = try await proxy(
      to: "mqtts://localhost:\(broker.port)", ["--ca-file", certificates.authority])
    try await Child.run(publish(bench, ["--cafile", authority]))
    // A client of an address asks for no name.
    let pair = ["--cert", certificates.certificate("client"), "--key", certificates.key("client")]
    try await Child.run(publish(bench, host: "127.0.0.1", ["--cafile", authority] + pair))
    #expect(try await bench.command.stop(SIGINT) == 130)
    let comments = try await comments()
    #expect(comments.components("the client speaks TLSv1.3 and TLS_") == 2)
    #expect(comments.components(", asks for localhost\n") == 1)
    #expect(comments.components(", asks for 127.0.0.1, and shows the certificate of ") == 1)
    #expect(
      comments.components(
        ", and shows the certificate of /CN=client, which the server does not see\n") == 1)
    let judged = try await RunningCommand.run(
      ["conform", "trace", directory.file("a.pcapng")], in: directory)
    #expect(judged.status == 0, "\(judged.output)")
    #expect(try bench.passed().connections.count == 2)
  }

  /// What the proxy logs opens captures of both of its sides.
  @Test func logsTheKeysOfBothSides() async throws {
    let broker = try await certificates.broker("server")
    let behind = try await ProxyBench(
      to: "tcp://127.0.0.1:\(broker.port)", ["--count=1"], file: "behind.pcapng", in: directory)
    let log = directory.file("keys")
    let between = try await proxy(
      to: "mqtts://localhost:\(behind.port)", ["--ca-file", certificates.authority, "--count=1"],
      file: "between.pcapng", environment: ["SSLKEYLOGFILE=\(log)"])
    let before = try await ProxyBench(
      to: "tcp://127.0.0.1:\(between.port)", ["--count=1"], file: "before.pcapng", in: directory)
    try await Child.run(publish(before, ["--cafile", authority]))
    for bench in [before, between, behind] { #expect(try await bench.command.wait() == 0) }
    #expect(between.command.errors.components("as SSLKEYLOGFILE says") == 1)
    var shown: [[Substring]] = []
    for (file, words) in [
      ("before", ["--keylog", log]), ("between", []), ("behind", ["--keylog", log]),
    ] {
      let inspected = try await RunningCommand.run(
        [
          "inspect", directory.file("\(file).pcapng"), "--filter",
          "not (OPEN or CLOSE or TLS or ALERT)",
        ] + words, in: directory)
      #expect(inspected.status == 0 && inspected.errors == "", "\(inspected.errors)")
      shown.append(
        inspected.output.split(separator: "\n").dropFirst().map {
          $0.drop { $0 != "→" && $0 != "←" }
        })
    }
    #expect(shown[1].count == 5 && shown == [shown[1], shown[1], shown[1]], "\(shown)")
    // Without the log neither of them is opened.
    for file in ["before", "behind"] {
      let bare = try await RunningCommand.run(
        ["inspect", directory.file("\(file).pcapng")], in: directory)
      #expect(bare.output.contains("can't be read without keys"))
    }
  }

  @Test func keepsOneAuthority() async throws {
    let first = try await RunningCommand.run(["ca"] + folder, in: directory)
    #expect(first.status == 0)
    #expect(first.output.hasPrefix("-----BEGIN CERTIFICATE-----\n"))
    #expect(first.errors.contains("note: made a certificate authority; its SHA-256 fingerprint is"))
    try directory.write(first.output, to: "ours.pem")
    let shown = try await Child.run([
      "openssl", "x509", "-in", authority, "-noout", "-fingerprint", "-sha256", "-ext",
      "basicConstraints,keyUsage",
    ])
    #expect(shown.contains("CA:TRUE") && shown.contains("Certificate Sign"))
    let print = try #require(shown.split(separator: "\n").first?.split(separator: "=").last)
    #expect(first.errors.contains(" \(print)\n"))
    #expect(directory.mode(of: "of/its/own") == 0o700)
    #expect(directory.mode(of: "of/its/own/ca.key") == 0o600)
    let second = try await RunningCommand.run(["ca"] + folder, in: directory)
    #expect(second.output == first.output)
    #expect(second.errors == "")
    // Half of an authority is none, and is not made up for.
    unlink(directory.file("of/its/own/ca.key"))
    let broken = try await RunningCommand.run(["ca"] + folder, in: directory)
    #expect(broken.status == 2)
    #expect(broken.output == "")
    #expect(broken.errors.contains("of/its/own/ca.key can't be read: no such file or directory; "))
    try directory.write("nothing", to: "of/its/own/ca.key")
    let foreign = try await RunningCommand.run(["ca"] + folder, in: directory)
    #expect(foreign.status == 2)
    #expect(foreign.errors.contains("ca.key: this is not what a certificate authority of reprise"))
  }

  /// Whatever name a client asks for, it gets a certificate for it; and the protocol that the server chooses.
  @Test func answersForAnyName() async throws {
    let port = try Socket.freePort()
    let server = try Child([
      "openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-rev", "-alpn", "second", "-cert",
      certificates.certificate("server"), "-key", certificates.key("server"),
    ])
    try await server.wait(for: "a server") { $0.text.contains("ACCEPT") }
    let bench = try await proxy(
      to: "tls://localhost:\(port)", ["--ca-file", certificates.authority])
    for name in ["a.test", "b_c.example.test"] {
      let text = try await Child.run([
        "openssl", "s_client", "-connect", "127.0.0.1:\(bench.port)", "-servername", name,
        "-verify_hostname", name, "-verify_return_error", "-CAfile", authority, "-alpn",
        "first,second",
      ])
      #expect(text.contains("Verification: OK"))
      #expect(text.contains("Verified peername: \(name)\n"))
      #expect(text.contains("ALPN protocol: second"))
    }
    #expect(try await bench.command.stop(SIGINT) == 130)
    #expect(try await comments().contains(", asks for a.test, gets second\n"))
  }

  @Test func saysWhichClientsItCanNotTalkTo() async throws {
    let (listener, port) = try Socket.listening()
    let bench = try await proxy(to: "127.0.0.1:\(port)")
    let stranger = try Child(publish(bench, ["--cafile", certificates.authority]))
    #expect(await stranger.wait() != 0)
    try await bench.command.tells(
      "it does not trust the certificate (tlsv1 alert unknown ca); have it trust that of reprise ca; "
    )
    let plain = try bench.connected()
    plain.write([0x10, 0x0C, 0, 4, 0x4D, 0x51, 0x54, 0x54, 4, 2, 0, 60, 0, 0])
    #expect(try await plain.readToBreak().code == ECONNRESET)
    try await bench.command.tells("it speaks without TLS; have it use TLS, or leave --tls out; ")
    // One that says nothing does not stay for ever.
    let silent = try bench.connected()
    #expect(try await silent.readToBreak() == ([], ECONNRESET))
    try await bench.command.tells("no end of the TLS handshake in 10 s; the client is reset")
    withExtendedLifetime(listener) {}
  }

  /// Two proxies, with TLS between them, are as good as none.
  @Test func passesBytesAndEnds() async throws {
    let (listener, port) = try Socket.listening()
    let inner = try await proxy(to: "127.0.0.1:\(port)", file: "inner.pcapng")
    let outer = try await ProxyBench(
      to: "tls://localhost:\(inner.port)", ["--ca-file", authority], in: directory)
    let client = try outer.connected()
    let server = try await onThread { try listener.accept() }
    var random = SplitMix64(seed: 9)
    let said = [random.bytes(5_000_000), random.bytes(3_000_001)]
    async let sent: Void = client.writeAll(said[0])
    async let answered: Void = server.writeAll(said[1])
    async let heard = onThread { server.read(said[0].count) }
    #expect(try await onThread { client.read(said[1].count) } == said[1])
    #expect(try await heard == said[0])
    _ = try await (sent, answered)
    client.finish()
    #expect(try await server.readToBreak() == ([], 0))
    server.write([1, 2, 3])
    server.finish()
    #expect(try await client.readToBreak() == ([1, 2, 3], 0))
    for bench in [outer, inner] { #expect(try await bench.command.stop(SIGINT) == 130) }
    for file in ["a.pcapng", "inner.pcapng"] {
      let connection = try #require(try outer.passed(file).connections.first)
      #expect(connection.bytes == [.client: said[0], .server: said[1] + [1, 2, 3]])
      #expect(connection.marks == ["client syn", "server syn", "client fin", "server fin"])
    }
  }
}
