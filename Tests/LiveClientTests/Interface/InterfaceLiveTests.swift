import Foundation
import TestSupport
import Testing
import Wire

/// `reprise inspect` and `reprise conform trace` on what passes right now.
///
/// They take the right to capture, CAP_NET_RAW.
@Suite struct InterfaceLiveTests {
  private let directory = Scratch()

  /// A command that captures the connections to a port, once it does.
  private func capturing(_ words: [String], _ port: UInt16) async throws -> RunningCommand {
    let command = try RunningCommand(
      words + ["--interface", "lo", "--bpf", "tcp port \(port)"], in: directory)
    try await command.tells("reprise: lo: note: capturing\n")
    return command
  }

  private func publish(_ text: String, _ port: UInt16) async throws {
    try await Child.run([
      "mosquitto_pub", "-h", "127.0.0.1", "-p", "\(port)", "-i", "pump", "-q", "1", "-t", "plant/1",
      "-m", text,
    ])
  }

  @Test func showsEventsAsTheyCome() async throws {
    let broker = try await Broker()
    let command = try await capturing(["inspect"], broker.port)
    for round in 1...2 {
      try await publish("21.\(round)", broker.port)
      try await command.prints("CLOSE       ", times: round)
      #expect(!command.hasEnded)
    }
    #expect(try await command.stop(SIGINT) == 130)
    let lines = command.text.split(separator: "\n").map(String.init)
    #expect(lines.first?.hasPrefix("# lo, ") == true)
    let types = lines.dropFirst().map { line in
      String(line.split(separator: " ", omittingEmptySubsequences: true).dropFirst(4).first ?? "")
    }
    let session = ["OPEN", "CONNECT", "CONNACK", "PUBLISH", "PUBACK", "DISCONNECT", "CLOSE"]
    #expect(types == session + session)
    #expect(command.text.contains("→ PUBLISH     plant/1  qos 1  id 1  4 B  \"21.2\""))
    #expect(command.errors == "reprise: lo: note: capturing\n")
  }

  @Test func showsWhatIsAskedFor() async throws {
    let broker = try await Broker()
    let command = try await capturing(
      [
        "inspect", "--format", "jsonl", "--filter", "type == PUBLISH", "--count", "8", "-o",
        directory.file("a.jsonl"),
      ], broker.port)
    try await publish("21.5", broker.port)
    #expect(try await command.wait() == 0)
    #expect(command.text == "")
    let lines = Child.text(of: directory.file("a.jsonl")).split(separator: "\n")
    #expect(lines.count == 1)
    #expect(lines.first?.contains(#""file":"lo","#) == true)
    #expect(lines.first?.contains(#""payload":{"utf8":"21.5"}"#) == true)
  }

  // MARK: Judging

  /// Sends a packet of a client that has connected by MQTT.
  private func send(_ packet: [UInt8], _ bench: InterfaceBench) async throws -> [Socket] {
    let (client, server) = try await bench.connected()
    let connect = MQTTPacket(
      .connect(.init(clientID: "c", cleanStart: true, keepAlive: 60)), version: .v3_1_1)
    client.write(try connect.encoded())
    #expect(try await onThread { server.readPacket()?.first } == 0x10)
    server.write(try MQTTPacket(.connack(.init(code: 0)), version: .v3_1_1).encoded())
    #expect(try await onThread { client.readPacket()?.first } == 0x20)
    client.write(packet)
    #expect(try await onThread { server.readPacket()?.first } == packet[0])
    return [client, server]
  }

  /// There is no QoS of 3.
  private static let bad: [UInt8] = [0x36, 5, 0, 1, 0x61, 0, 1]
  private static let good: [UInt8] = [0x34, 5, 0, 1, 0x61, 0, 1]

  private func judging(_ words: [String]) async throws -> InterfaceBench {
    let bench = try await InterfaceBench(in: directory) { port in
      ["conform", "trace", "--interface", "lo", "--bpf", "tcp port \(port)"] + words
    }
    try await bench.command.tells("reprise: lo: note: capturing\n")
    return bench
  }

  @Test func tellsAViolationWhenItPasses() async throws {
    let bench = try await judging([])
    let sockets = try await send(Self.bad, bench)
    try await bench.command.prints("MQTT-3.3.1-4  section 3.3.1")
    #expect(!bench.command.hasEnded)
    #expect(bench.command.text.contains("\n    lo frame "))
    #expect(!bench.command.text.contains("selected clauses"))
    // Interrupted, it tells all the same what it came to.
    #expect(try await bench.command.stop(SIGINT) == 130)
    let text = bench.command.text
    #expect(text.components("MQTT-3.3.1-4  section") == 2)
    #expect(text.contains("\nFailed\n"))
    #expect(text.components("a bad PUBLISH: QoS 3 does not exist") == 2)
    withExtendedLifetime(sockets) {}
  }

  @Test(arguments: [(bad, Int32(1)), (good, Int32(0))])
  func endsWithItsVerdict(packet: [UInt8], status: Int32) async throws {
    // The packet is the fifth frame that is no bare acknowledgement, and there are not more than three of those.
    let bench = try await judging(["--count", "8"])
    let sockets = try await send(packet, bench)
    for socket in sockets { socket.finish() }
    #expect(try await bench.command.wait() == status)
    #expect(bench.command.text.contains("\nFailed\n") == (status == 1))
    #expect(bench.command.text.contains("MQTT-3.3.1-4") == (status == 1))
    #expect(bench.command.text.contains("clauses had anything to judge"))
  }

  @Test func reportsForPrograms() async throws {
    let bench = try await judging([
      "--count", "8", "--format", "json", "-o", directory.file("report.json"),
    ])
    for socket in try await send(Self.bad, bench) { socket.finish() }
    #expect(try await bench.command.wait() == 1)
    #expect(bench.command.text == "")
    let text = Child.text(of: directory.file("report.json"))
    let report = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    let totals = report?["totals"] as? [String: Any]
    #expect(totals?["failed"] as? Int ?? 0 > 0)
  }

  /// What is known is told in the report only, and is no reason to fail.
  @Test func tellsNothingNewOfWhatIsAccepted() async throws {
    let accepted = directory.file("accepted.json")
    let first = try await judging(["--count", "8", "--write-baseline", accepted])
    for socket in try await send(Self.bad, first) { socket.finish() }
    #expect(try await first.command.wait() == 0)
    #expect(first.command.text.components("a bad PUBLISH: QoS 3 does not exist") == 2)
    let again = try await judging(["--count", "8", "--baseline", accepted])
    for socket in try await send(Self.bad, again) { socket.finish() }
    #expect(try await again.command.wait() == 0)
    #expect(again.command.text.components("a bad PUBLISH: QoS 3 does not exist") == 1)
    #expect(again.command.text.contains("      accepted: no reason is given\n"))
  }

  @Test func saysThatThereWasNothingToJudge() async throws {
    let bench = try await judging(["--duration", "50ms"])
    #expect(try await bench.command.wait() == 2)
    #expect(bench.command.errors.contains("reprise: nothing was judged: "))
  }

  /// Recorded and judged at once, it comes to what is made of the capture later.
  @Test func judgesWhatItRecords() async throws {
    let bench = try await InterfaceBench(["--conform", "--count", "8"], in: directory)
    for socket in try await send(Self.bad, bench) { socket.finish() }
    #expect(try await bench.command.wait() == 1)
    let trace = try await RunningCommand.run(
      ["conform", "trace", directory.file("a.pcapng")], in: directory)
    #expect(trace.status == 1)
    #expect(bench.command.text.hasSuffix(trace.output))
    let before = bench.command.text.dropLast(trace.output.count)
    #expect(String(before).components("MQTT-3.3.1-4  section") == 1)
  }

  // MARK: TLS

  /// A key log is read on while it grows, beside the traffic that it opens.
  @Test(arguments: ["tlsv1.2", "tlsv1.3"])
  func opensWhatIsEncrypted(version: String) async throws {
    let certificates = try await Certificates()
    let broker = try await Broker([
      "allow_anonymous true", "tls_version \(version)",
      "certfile \(certificates.certificate("server"))", "keyfile \(certificates.key("server"))",
    ])
    let log = directory.file("keys")
    try directory.write("", to: "keys")
    let command = try await capturing(["inspect", "--keylog", log], broker.port)
    let port = try Socket.freePort()
    let proxy = try Child([
      "env", "SSLKEYLOGFILE=\(log)", RunningCommand.path, "record", "proxy", "\(port)",
      "mqtts://localhost:\(broker.port)", "-o", directory.file("plain.pcapng"), "--ca-file",
      certificates.authority,
    ])
    try await proxy.wait(for: "a proxy") { $0.text.contains("listening") }
    for round in 1...3 {
      try await publish("21.\(round)", port)
      // By a FIN, or by a reset where the client's close_notify came behind the broker's last read.
      try await command.prints("CLOSE       ", times: round)
    }
    #expect(try await command.stop(SIGINT) == 130)
    for round in 1...3 {
      #expect(
        command.text.contains(
          "#\(round)   → PUBLISH     plant/1  qos 1  id 1  4 B  \"21.\(round)\""))
    }
    #expect(command.text.components("→ PUBLISH") == 3)
    #expect(command.errors == "reprise: lo: note: capturing\n")
  }
}
