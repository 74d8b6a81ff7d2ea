import Glibc
import RepriseCore
import TestSupport
import Testing

/// What is judged behind `reprise record proxy --fault`: neither who got what was spoilt, nor who sent it, is to blame for it;
/// for all else each of them is.
@Suite struct ProxyFaultConformTests {
  private let directory = Scratch()

  private static let connect: [UInt8] = [
    0x10, 13, 0, 4, 0x4D, 0x51, 0x54, 0x54, 4, 2, 0, 60, 0, 1, 0x63,
  ]
  /// QoS 1, with the identifier 1, whose last byte is the 23rd of the client's.
  private static let publish: [UInt8] = [0x32, 6, 0, 1, 0x74, 0, 1, 0x78]
  private static let disconnect: [UInt8] = [0xE0, 0]
  private static let accepted: [UInt8] = [0x20, 2, 0, 0]

  private func proxy(_ port: UInt16, _ rules: [String], _ options: [String] = []) async throws
    -> ProxyBench
  {
    try await ProxyBench(
      to: "mqtt://127.0.0.1:\(port)", rules.flatMap { ["--fault", $0] } + options, in: directory)
  }

  /// Ends a proxy, and judges its capture.
  private func judged(
    _ bench: ProxyBench, _ file: String = "a.pcapng"
  ) async throws -> (status: Int32, output: String, errors: String) {
    if !bench.command.hasEnded { #expect(try await bench.command.stop(SIGINT) == 130) }
    return try await RunningCommand.run(
      ["conform", "trace", directory.file(file), "--assume", "complete"], in: directory)
  }

  /// Has a client publish at a broker, and waits for the answer.
  private func publish(_ bench: ProxyBench) async throws {
    let client = try bench.connected()
    client.write(Self.connect)
    #expect(try await onThread { client.readPacket()?.first } == 0x20)
    client.write(Self.publish)
    #expect(try await onThread { client.readPacket()?.first } == 0x40)
    client.write(Self.disconnect)
    client.finish()
    _ = try await client.readToBreak()
  }

  /// Has a client publish, and a server of ours answer what it is to.
  private func publish(
    _ bench: ProxyBench, _ listener: Socket, connack: [UInt8] = accepted, puback: [UInt8]
  ) async throws {
    let client = try bench.connected()
    let server = try await onThread { try listener.accept() }
    client.write(Self.connect)
    #expect(try await onThread { server.readPacket()?.first } == 0x10)
    server.write(connack)
    #expect(try await onThread { client.readPacket()?.first } == 0x20)
    client.write(Self.publish)
    #expect(try await onThread { server.readPacket()?.first } == 0x32)
    server.write(puback)
    #expect(try await onThread { client.readPacket()?.first } == puback.first)
    client.write(Self.disconnect)
    client.finish()
    #expect(try await onThread { server.readPacket()?.first } == 0xE0)
    server.finish()
    _ = try await client.readToBreak()
  }

  // MARK: Spoilt bytes

  /// The server acknowledges the identifier that it got, and so it is said by whatever the capture is turned into.
  @Test func spoiltIdentifierIsHeldAgainstNobody() async throws {
    let broker = try await Broker()
    let bench = try await proxy(broker.port, ["client.corrupt:22"])
    try await publish(bench)
    let verdict = try await judged(bench)
    #expect(verdict.status == 0, "\(verdict.output)")
    for file in ["a.jsonl", "b.pcapng", "b.pcap"] {
      let source = directory.file(file.hasPrefix("b") ? "a.jsonl" : "a.pcapng")
      let made = try await RunningCommand.run(
        ["convert", source, "-o", directory.file(file)], in: directory)
      #expect(made.status == 0, "\(made.errors)")
      #expect(try await judged(bench, file).status == 0, "\(file)")
      let events = try await RunningCommand.run(
        ["inspect", directory.file(file), "--filter", "GAP", "--format", "jsonl"], in: directory)
      #expect(events.output.contains("\"bytes\":0,\"reason\":\"altered\""), "\(file)")
    }
  }

  /// What is spoilt may look like a packet that only the other end sends: PUBREL like SUBACK, and PUBREC like UNSUBSCRIBE.
  @Test(arguments: [("client.corrupt:24", 0x50), ("server.corrupt:5", 0xAF)] as [(String, UInt8)])
  func spoiltTypeIsHeldAgainstNobody(rule: String, answer: UInt8) async throws {
    let broker = try await Broker()
    let bench = try await proxy(broker.port, [rule])
    let client = try bench.connected()
    client.write(Self.connect)
    #expect(try await onThread { client.readPacket()?.first } == 0x20)
    client.write([0x34, 6, 0, 1, 0x74, 0, 1, 0x78])
    #expect(try await onThread { client.readPacket()?.first } == answer)
    client.write([0x62, 2, 0, 1])
    client.finish()
    _ = try await client.readToBreak()
    let verdict = try await judged(bench)
    #expect(verdict.status == 0, "\(verdict.output)")
  }

  private static let unreached: [[String]] = [[], ["client.corrupt:100", "server.corrupt:100"]]

  /// The same answer without a fault, and behind one that came to nothing.
  @Test(arguments: unreached)
  func wrongIdentifierIsHeldAgainstTheServer(rules: [String]) async throws {
    let (listener, port) = try Socket.listening()
    let bench = try await proxy(port, rules)
    try await publish(bench, listener, puback: [0x40, 2, 0xFF, 1])
    let verdict = try await judged(bench)
    #expect(verdict.status == 1)
    #expect(verdict.output.contains("MQTT-2.3.1-6  section 2.3.1"))
  }

  /// What a server breaks by itself it has broken, also where the client's bytes are spoilt.
  @Test func serverIsJudgedBehindSpoiltRequests() async throws {
    let (listener, port) = try Socket.listening()
    let bench = try await proxy(port, ["client.corrupt:22"])
    // Flags are set that have to be 0.
    try await publish(bench, listener, puback: [0x42, 2, 0xFF, 1])
    let verdict = try await judged(bench)
    #expect(verdict.status == 1)
    #expect(verdict.output.contains("MQTT-2.2.2-1  section 2.2.2"))
  }

  /// The answer is spoilt on its way to the client: what the server says has no meaning any more.
  @Test func spoiltAnswerIsHeldAgainstNobody() async throws {
    let broker = try await Broker()
    let bench = try await proxy(broker.port, ["server.corrupt:7"])
    try await publish(bench)
    let verdict = try await judged(bench)
    #expect(verdict.status == 0, "\(verdict.output)")
  }

  /// Whoever breaks a rule where the other end's bytes are spoilt, has broken it.
  @Test func clientIsJudgedBySpoiltAnswers() async throws {
    let (listener, port) = try Socket.listening()
    let bench = try await proxy(port, ["server.corrupt:4"])
    let client = try bench.connected()
    let server = try await onThread { try listener.accept() }
    client.write(Self.connect)
    #expect(try await onThread { server.readPacket()?.first } == 0x10)
    server.write(Self.accepted)
    #expect(try await onThread { client.readPacket()?.first } == 0x20)
    // There is no QoS of 3.
    client.write([0x36, 6, 0, 1, 0x74, 0, 1, 0x78])
    #expect(try await onThread { server.readPacket()?.first } == 0x36)
    for socket in [client, server] { socket.finish() }
    _ = try await client.readToBreak()
    let verdict = try await judged(bench)
    #expect(verdict.status == 1)
    #expect(verdict.output.contains("MQTT-3.3.1-4  section 3.3.1"))
    // The code that the client got, which no server has, is not the server's.
    #expect(!verdict.output.contains("MQTT-3.2.2-6  section"))
  }

  // MARK: Connections that are broken off

  /// The DISCONNECT never came to the server, which publishes the will.
  @Test func willBehindADroppedDisconnectIsRight() async throws {
    let broker = try await Broker()
    // The client's connection has 38 bytes in front of its DISCONNECT; the subscriber's has fewer.
    let connect: [UInt8] = [
      0x10, 20, 0, 4, 0x4D, 0x51, 0x54, 0x54, 4, 6, 0, 60, 0, 1, 0x64, 0, 1, 0x77, 0, 2, 0x67, 0x6F,
    ]
    let bench = try await proxy(broker.port, ["client.drop:38"])
    let subscriber = try bench.connected()
    subscriber.write(Self.connect)
    #expect(try await onThread { subscriber.readPacket()?.first } == 0x20)
    subscriber.write([0x82, 6, 0, 1, 0, 1, 0x77, 0])
    #expect(try await onThread { subscriber.readPacket()?.first } == 0x90)
    let client = try bench.connected()
    client.write(connect)
    #expect(try await onThread { client.readPacket()?.first } == 0x20)
    client.write(Self.publish + Self.publish + Self.disconnect)
    _ = try await client.readToBreak()
    #expect(try await onThread { subscriber.readPacket()?.first } == 0x30)
    subscriber.write(Self.disconnect)
    subscriber.finish()
    _ = try await subscriber.readToBreak()
    let verdict = try await judged(bench)
    #expect(verdict.status == 0, "\(verdict.output)")
    let gaps = try await RunningCommand.run(
      ["inspect", directory.file("a.pcapng"), "--filter", "GAP", "--format", "jsonl"], in: directory
    )
    for sender in ["client", "server"] {
      #expect(
        gaps.output.split(separator: "\n").filter {
          $0.contains("\"from\":\"\(sender)\"") && $0.contains("\"reason\":\"altered\"")
        }.count == 1, "\(gaps.output)")
    }
  }
}
