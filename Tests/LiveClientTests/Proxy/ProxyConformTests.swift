import RepriseCore
import TestSupport
import Testing
import Wire

/// `reprise record proxy --conform`: verdicts while it passes.
@Suite struct ProxyConformTests {
  private let directory = Scratch()
  private let listener: Socket
  private let bench: ProxyBench

  init() async throws {
    let (listener, port) = try Socket.listening()
    self.listener = listener
    bench = try await ProxyBench(
      to: "mqtt://127.0.0.1:\(port)", ["--conform", "--count", "1"], in: directory)
  }

  /// A client that has connected by MQTT, and its connection at the server.
  private func connected() async throws -> (client: Socket, server: Socket) {
    let client = try bench.connected()
    let server = try await onThread { [listener] in try listener.accept() }
    let connect = MQTTPacket(
      .connect(.init(clientID: "c", cleanStart: true, keepAlive: 60)), version: .v3_1_1)
    client.write(try connect.encoded())
    #expect(try await onThread { server.readPacket()?.first } == 0x10)
    server.write(try MQTTPacket(.connack(.init(code: 0)), version: .v3_1_1).encoded())
    #expect(try await onThread { client.readPacket()?.first } == 0x20)
    return (client, server)
  }

  /// What `conform trace` says of the capture.
  private func judged() async throws -> (status: Int32, output: String, errors: String) {
    try await RunningCommand.run(["conform", "trace", directory.file("a.pcapng")], in: directory)
  }

  @Test func tellsAViolationWhenItPasses() async throws {
    let (client, server) = try await connected()
    // There is no QoS of 3.
    client.write([0x36, 5, 0, 1, 0x61, 0, 1])
    try await bench.command.prints("MQTT-3.3.1-4  section 3.3.1")
    // It is told while the connection goes on.
    #expect(!bench.command.hasEnded)
    #expect(bench.command.text.components("a.pcapng frame 6, connection 1, ") >= 1)
    for socket in [client, server] { socket.finish() }
    #expect(try await bench.command.wait() == 1)
    let trace = try await judged()
    #expect(trace.status == 1)
    #expect(bench.command.text.hasSuffix(trace.output))
    // Before the report stands what was found, once.
    let before = bench.command.text.dropLast(trace.output.count)
    #expect(String(before).components("MQTT-3.3.1-4  section") == 1)
  }

  @Test func tellsNothingOfWhatIsRight() async throws {
    let (client, server) = try await connected()
    client.write([0xE0, 0])
    client.finish()
    #expect(try await onThread { server.readPacket()?.first } == 0xE0)
    server.finish()
    #expect(try await bench.command.wait() == 0)
    let trace = try await judged()
    #expect(trace.status == 0)
    #expect(bench.command.text == trace.output)
  }

  @Test func saysThatThereWasNothingToJudge() async throws {
    let client = try bench.connected()
    let server = try await onThread { [listener] in try listener.accept() }
    client.write(Array("hello\n".utf8))
    #expect(try await onThread { server.read(6).count } == 6)
    for socket in [client, server] { socket.finish() }
    #expect(try await bench.command.wait() == 2)
    #expect(bench.command.text == "")
    #expect(bench.command.errors.contains("reprise: nothing was judged: "))
    #expect(try bench.passed().connections.first?.bytes[.client] == Array("hello\n".utf8))
  }
}
