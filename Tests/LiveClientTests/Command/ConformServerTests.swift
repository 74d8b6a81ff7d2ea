import Foundation
import LiveClient
import TestSupport
import Testing
import Wire

/// `reprise conform server`, with servers that are good and servers that are not.
@Suite struct ConformServerTests {
  private let directory = Scratch()

  private func run(_ words: [String]) async throws -> WebSocketRun {
    try await WebSocketRun(["server"] + words + ["--format", "json"], in: directory)
  }

  /// A server of some lines that echoes frames as they come, and fails a connection for what it is told to.
  private static func server(
    failing isBad: @escaping @Sendable (WebSocketFrameHeader) -> Bool
  ) throws -> ScriptedServer {
    try ScriptedServer { socket in
      try? startThread {
        guard let request = readRequest(socket) else { return }
        socket.write(WebSocketResponse(accepting: request, subprotocol: nil).head.bytes)
        var buffer: [UInt8] = []
        while let frame = readFrame(socket, &buffer) {
          let opcode = frame.header.opcode
          if isBad(frame.header) {
            return socket.write(WebSocketFrame(.close, [0x03, 0xEA]).encoded())
          }
          let answer: WebSocketOpcode = opcode == .ping ? .pong : opcode
          socket.write(
            WebSocketFrame(answer, frame.payload, isFinal: frame.header.isFinal).encoded())
          if opcode == .close { return }
        }
      }
    }
  }

  private static func readRequest(_ socket: Socket) -> WebSocketRequest? {
    var head: [UInt8] = []
    while head.suffix(4) != [0x0D, 0x0A, 0x0D, 0x0A] {
      guard let byte = socket.read(1).first else { return nil }
      head.append(byte)
    }
    return WebSocketRequest(HTTPHead(head))
  }

  private static func readFrame(_ socket: Socket, _ buffer: inout [UInt8]) -> WebSocketFrame? {
    while true {
      if case .header(let header) = WebSocketFrameHeader.read(buffer.span.bytes),
        let size = header.frameSize, size <= buffer.count
      {
        let frame = WebSocketFrame(bytes: Array(buffer.prefix(size)))
        buffer.removeFirst(size)
        return frame
      }
      guard let byte = socket.read(1).first else { return nil }
      buffer.append(byte)
    }
  }

  // MARK: Good servers

  @Test("Our own server keeps all that cases can judge")
  func own() async throws {
    let (folder, run) = (directory.file("evidence"), run)
    let cases = [
      "close-cut", "close-half-code", "close-reason-invalid", "close-too-long",
      "continuation-of-nothing", "control-fragmented", "deflate-bit-of-continuation",
      "deflate-context", "deflate-text-invalid", "extension-malformed", "frame-unmasked",
      "length-beyond-63-bits", "message-inside-message", "ping-too-long", "pings-between-fragments",
      "request-missing", "request-old-http", "request-version", "subprotocol-unknown",
      "text-invalid-early",
    ]
    try await withTestServer { server, _ in
      let run = try await run(
        [
          "ws://127.0.0.1:\(server.port)/echo", "--save", folder, "--case",
          (cases + ["request-key"]).joined(separator: ","),
        ])
      #expect(run.status == 0, "\(run.errors)")
      #expect(run.clauses("failed") == [])
      for id in ["4.2.1-1", "4.2.2-3", "5.1-2", "5.4-4", "5.4-5", "8.1-1", "9.1-1", "10.7-1"] {
        #expect(run.clauses("passed").contains(id), "\(id)")
      }
      #expect(run.cases("judged") == ["abilities"] + cases)
      // It refuses such keys, of which nothing is asked.
      #expect(run.cases("inconclusive") == ["request-key"])
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(files.contains("abilities.pcapng") && files.contains("request-key.3.jsonl"))
  }

  @Test("A server of another library is found to accept requests without Host, and else keeps all")
  func foreign() async throws {
    let server = try await PythonServer()
    let cases = "handshake,message-lengths,text-invalid,close-codes,deflate-offers,fragments"
    let good = try await run([server.url("/echo"), "--case", cases])
    #expect(good.status == 0, "\(good.errors)")
    #expect(good.clauses("failed") == [])
    #expect(good.cases("inconclusive") == [])
    let bad = try await run([server.url("/echo"), "--case", "request-missing"])
    #expect(bad.status == 1)
    #expect(bad.clauses("failed") == ["4.2.1-1"])
    let refused = try await run([server.url("/403")])
    #expect(refused.status == 2)
    #expect(refused.errors.contains("refuses WebSocket by status 403; check the path"))
    await server.stop()
  }

  // MARK: Bad servers

  @Test(
    "A server that goes on behind reserved bits is found, and one that fails the connection is not")
  func faulty() async throws {
    let words = ["--case", "reserved-bits,opcode-unknown"]
    let careful = try Self.server { $0.reservedBits != 0 || !$0.opcode.isDefined }
    let good = try await run(["ws://127.0.0.1:\(careful.port)"] + words)
    #expect(good.status == 0, "\(good.errors)")
    #expect(good.clauses("failed") == [])
    #expect(good.cases("judged") == ["abilities", "opcode-unknown", "reserved-bits"])
    let careless = try Self.server { !$0.opcode.isDefined }
    let bad = try await run(["ws://127.0.0.1:\(careless.port)"] + words)
    #expect(bad.status == 1)
    #expect(bad.clauses("failed") == ["5.2-2"])
    #expect(bad.clauses("passed").contains("5.2-4"))
  }

  @Test("What our own client does on purpose is held against nobody, and echoes show what is taken")
  func echoes() async throws {
    let server = try Self.server { _ in false }
    let run = try await run(
      ["ws://127.0.0.1:\(server.port)", "--case", "text-invalid,close-codes-invalid"])
    #expect(run.status == 1)
    // The server sends back what it got: text that is none, and codes that must not be sent.
    #expect(
      run.clauses("failed") == ["5.6-1", "7.4.1-1", "7.4.1-2", "7.4.1-3", "7.4.2-1", "8.1-1"])
    // It has no permessage-deflate, which nobody has to have.
    let other = try await self.run(["ws://127.0.0.1:\(server.port)", "--case", "deflate,ping"])
    #expect(other.status == 0, "\(other.errors)")
    #expect(other.cases("not-applicable") == ["deflate"])
  }

  @Test("Whoever can't be driven is told what to do about it")
  func unable() async throws {
    let (socket, port) = try Socket.reserved()
    defer { socket.shut() }
    for (words, message) in [
      (["ws://127.0.0.1:\(port)"], "can't be reached: "),
      ([], "no server is named; type ws://HOST:PORT/PATH"),
      (["mqtt://127.0.0.1"], "is no URL of WebSocket; type ws://"),
      (["ws://u@127.0.0.1"], "add --header"),
      (["ws://a", "--case", "pink"], "no case is called pink; did you mean ping?"),
      (["ws://a", "--case", "frame-masked"], "the case frame-masked answers a client"),
      (["ws://a", "--launch", "b {port}"], "--launch starts the server that the URL names too"),
    ] {
      let run = try await run(words)
      #expect(run.status == 2)
      #expect(run.errors.contains(message), "\(words): \(run.errors)")
    }
  }
}
