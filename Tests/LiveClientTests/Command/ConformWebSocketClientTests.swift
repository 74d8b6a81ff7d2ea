import Foundation
import TestSupport
import Testing

/// The cases of WebSocket that drive clients, with one that is good and one that is not.
@Suite struct ConformWebSocketClientTests {
  private let directory = Scratch()
  private let program: [String]

  init() throws {
    let here = URL(filePath: #filePath).deletingLastPathComponent()
    let package = here.appending(path: "../../..").standardized.path
    program = [
      "\(package)/.build/venv/bin/python",
      here.appending(path: "../WebSocket/echo-client.py").standardized.path,
    ]
  }

  private func run(_ options: [String], _ command: [String]) async throws -> WebSocketRun {
    try await WebSocketRun(
      ["client", "--websocket"] + options + ["--format", "json", "--"] + command, in: directory)
  }

  @Test("A client of a good library keeps what cases can judge")
  func good() async throws {
    let cases = [
      "answer-accept-wrong", "answer-forms", "answer-without-upgrade", "close-codes",
      "deflate-answers",
      "frame-masked", "handshake", "masking-keys", "message-lengths", "reserved-bits-behind",
      "text-invalid-in-fragments",
    ]
    let run = try await run(
      ["--case", cases.joined(separator: ",")], program + ["library", "{url}"])
    #expect(run.status == 0)
    #expect(run.clauses("failed") == [])
    #expect(run.cases("judged") == ["abilities"] + cases)
    for id in ["4.1-12", "4.1-18", "4.1-20", "5.1-1", "5.1-4", "5.2-2", "5.3-2", "8.1-1"] {
      #expect(run.clauses("passed").contains(id), "\(id)")
    }
    // What binds servers alone is not in the report.
    #expect(!run.clauses("passed").contains("4.2.2-11"))
  }

  @Test("A client by TLS is answered by it, with a certificate that it can check")
  func secure() async throws {
    let run = try await run(
      ["--case", "handshake,ping,frame-masked"],
      program + ["library", "wss://{host}:{port}/", "{ca}"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.cases("judged") == ["abilities", "frame-masked", "handshake", "ping"])
    #expect(run.clauses("failed") == [])
    for id in ["4.1-12", "5.1-4", "5.5.2-1"] {
      #expect(run.clauses("passed").contains(id), "\(id)")
    }
  }

  @Test(
    "A client that connects by itself is met by one case after the other", arguments: [false, true])
  func listens(isSecure: Bool) async throws {
    // It is free for the moment until the command has it.
    let port = try Socket.reserved().port
    let folder = directory.file("authority")
    let secret = isSecure ? ["--ca-folder", folder] : []
    let cases = ["answer-accept-wrong", "close-codes", "handshake", "ping"]
    let command = try RunningCommand(
      [
        "conform", "client", "--websocket", "--listen", "\(port)", "--case",
        cases.joined(separator: ","), "--format", "json",
      ] + secret, in: directory)
    try await command.tells("reprise: \(port): note: waits for the client\n")
    let url = "\(isSecure ? "wss" : "ws")://127.0.0.1:\(port)/"
    let client = try Child(program + ["again", url] + (isSecure ? [folder + "/ca.pem"] : []))
    let status = try await command.wait()
    #expect(status == 0, "\(command.errors)")
    // There is nobody any more.
    #expect(await client.wait() == 0, "\(client.text)")
    let run = WebSocketRun(status, command.text, command.errors)
    #expect(run.cases("judged") == ["abilities"] + cases)
    #expect(run.clauses("failed") == [])
    #expect(run.clauses("passed").contains("4.1-20"))
  }

  @Test("A client that looks at nothing is found, and is held to no more than it does")
  func careless() async throws {
    let cases = ["answer-accept-wrong", "answer-forms", "deflate-answers", "frame-masked"]
    let run = try await run(
      ["--case", cases.joined(separator: ",")], program + ["careless", "ws://{host}:{port}"])
    #expect(run.status == 1)
    #expect(run.clauses("failed") == ["4.1-20", "5.1-4"])
    #expect(run.cases("not-applicable") == ["deflate-answers"])
  }

  @Test("A command that can't be started, that ends, or that connects to nobody is told")
  func unable() async throws {
    for (command, message) in [
      (["/nowhere/client", "{url}"], "/nowhere/client can't be started: no such file"),
      (["sh", "-c", "exit 3", "{url}"], "asks for no WebSocket in 10 s; it ended with status 3"),
      (["sh", "-c", "exit 3"], "does not say where {url} stands"),
      ([], "no client is named"),
    ] {
      let run = try await run([], command)
      #expect(run.status == 2)
      #expect(run.errors.contains(message), "\(run.errors)")
    }
  }
}
