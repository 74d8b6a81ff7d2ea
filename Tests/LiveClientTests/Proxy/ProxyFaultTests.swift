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

  /// In the capture stands what each end got, and from where on that is not what the other one sent.
  @Test func turnsBitsOver() async throws {
    let scene = try await scene(["corrupt:2", "client.corrupt:8", "server.corrupt:9"])
    var (question, answer) = (bytes("question"), bytes("answer"))
    question[1] ^= 0xFF
    question[7] ^= 0xFF
    answer[1] ^= 0xFF
    #expect(try await talk(scene) == (question, answer))
    #expect(
      try await recorded(scene).connections.first?.bytes
        == [.client: question, .server: answer])
    let comments = try await shown(
      scene, ["tcp.option_kind == 253 && tcp.len > 0"], "frame.comment")
    #expect(comments.count == 2)
    #expect(
      comments.first?.hasSuffix("--fault client.corrupt: the bits of byte 2, 8 are turned over")
        == true)
    #expect(comments.last == "--fault server.corrupt: the bits of byte 2 are turned over")
  }

  /// A segment says by itself that something was spoilt in front of it.
  @Test func saysInEachSegmentWhatIsSpoilt() async throws {
    let scene = try await scene(["server.corrupt:3", "client.corrupt:100"])
    for _ in 0..<3 {
      scene.server.write(bytes("xx"))
      #expect(try await onThread { scene.client.read(2).count } == 2)
    }
    _ = try await recorded(scene)
    // The first two bytes came as they were sent, and the client's never reached its fault.
    #expect(
      try await shown(scene, ["tcp.len > 0"], "tcp.options")
        == ["", "fd07525072730101", "fd07525072730101"])
  }

  /// What tshark shows of a field in the packets that pass a filter.
  private func shown(
    _ scene: Scene, _ filter: [String], _ field: String
  ) async throws -> [String] {
    let child = try Child(
      ["tshark", "-n", "-r", directory.file("a.pcapng"), "-Y"] + filter + [
        "-T", "fields", "-e", field,
      ], errorsApart: true)
    #expect(await child.wait() == 0)
    return child.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      .map(String.init)
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
    #expect(connection.bytes[sender] == bytes("fourm"))
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
    // The window of one that was seen beside neither end, so that nothing is held against anybody for its time.
    #expect(
      try await shown(scene, ["tcp.flags.syn == 1"], "tcp.window_size_value").first == "65533")
  }

  /// Without a delay, the times are those of the client.
  @Test func hasTheTimesOfTheClient() async throws {
    let scene = try await scene(["chop:3", "drop:1000"])
    #expect(try await talk(scene) == (bytes("question"), bytes("answer")))
    _ = try await recorded(scene)
    #expect(
      try await shown(scene, ["tcp.flags.syn == 1"], "tcp.window_size_value").first == "65532")
  }
}
