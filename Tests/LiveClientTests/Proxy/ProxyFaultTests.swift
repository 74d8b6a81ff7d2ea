import Glibc
import RepriseCore
import TestSupport
import Testing

/// `reprise record proxy --fault`: what is spoilt on purpose, and nothing else.
@Suite struct ProxyFaultTests {
  private let directory = Scratch()
  private let listener: Socket
  private let port: UInt16

  init() throws {
    (listener, port) = try Socket.listening()
  }

  private struct Scene {
    let bench: ProxyBench
    let client: Socket
    let server: Socket
  }

  /// A connection through a proxy with rules.
  private func scene(_ rules: [String]) async throws -> Scene {
    let bench = try await ProxyBench(
      to: "127.0.0.1:\(port)", rules.flatMap { ["--fault", $0] }, in: directory)
    let client = try bench.connected()
    return Scene(
      bench: bench, client: client,
      server: try await onThread { [listener] in try listener.accept() })
  }

  private func recorded(_ scene: Scene) async throws -> Passed {
    #expect(try await scene.bench.command.stop(SIGINT) == 130)
    return try scene.bench.passed()
  }

  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// Has both ends say something and end; returns what both got.
  private func talk(_ scene: Scene) async throws -> (server: [UInt8], client: [UInt8]) {
    scene.client.write(bytes("question"))
    scene.client.finish()
    let question = try await scene.server.readToBreak()
    #expect(question.code == 0)
    scene.server.write(bytes("answer"))
    scene.server.finish()
    let answer = try await scene.client.readToBreak()
    #expect(answer.code == 0)
    return (question.bytes, answer.bytes)
  }

  @Test func writesInPieces() async throws {
    let scene = try await scene(["server.chop:2"])
    let heard = try await talk(scene)
    #expect(heard == (bytes("question"), bytes("answer")))
    #expect(try await recorded(scene).connections.first?.bytes[.server] == bytes("answer"))
    let child = try Child(
      [
        "tshark", "-n", "-r", directory.file("a.pcapng"), "-Y", "tcp.len > 0", "-T", "fields",
        "-e", "tcp.len",
      ], errorsApart: true)
    #expect(await child.wait() == 0)
    #expect(child.text == "8\n2\n2\n2\n")
  }

  /// What the client sent stands in the capture as it was sent, and what it got as it came.
  @Test func turnsBitsOver() async throws {
    let scene = try await scene(["corrupt:2", "client.corrupt:8", "server.corrupt:9"])
    var (question, answer) = (bytes("question"), bytes("answer"))
    question[1] ^= 0xFF
    question[7] ^= 0xFF
    answer[1] ^= 0xFF
    #expect(try await talk(scene) == (question, answer))
    #expect(
      try await recorded(scene).connections.first?.bytes
        == [.client: bytes("question"), .server: answer])
  }

  @Test(arguments: Peer.allCases) func breaksOff(sender: Peer) async throws {
    let scene = try await scene(["\(sender.rawValue).drop:5"])
    let (from, to) =
      sender == .client ? (scene.client, scene.server) : (scene.server, scene.client)
    from.write(bytes("four"))
    #expect(try await onThread { to.read(4) } == bytes("four"))
    from.write(bytes("more"))
    #expect(try await to.readToBreak() == (bytes("m"), ECONNRESET))
    #expect(try await from.readToBreak() == ([], ECONNRESET))
    let connection = try #require(try await recorded(scene).connections.first)
    #expect(connection.bytes[sender] == bytes(sender == .client ? "fourmore" : "fourm"))
    #expect(connection.marks == ["client syn", "server syn", "server reset"])
  }

  /// Bytes come later, in their order, and their end behind them.
  @Test func holdsBytes() async throws {
    let scene = try await scene(["delay:200ms"])
    let start = ContinuousClock.now
    #expect(try await talk(scene) == (bytes("question"), bytes("answer")))
    #expect(ContinuousClock.now - start >= .milliseconds(400))
    let connection = try #require(try await recorded(scene).connections.first)
    #expect(connection.bytes == [.client: bytes("question"), .server: bytes("answer")])
    #expect(
      connection.marks == ["client syn", "server syn", "client fin", "server fin"])
  }
}
