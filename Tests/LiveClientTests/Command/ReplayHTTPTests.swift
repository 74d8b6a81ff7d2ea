import Foundation
import RepriseCore
import TestSupport
import Testing

/// `reprise replay serve` and `reprise replay drive` on HTTP: with each other, with curl, and with the server whose session
/// was recorded.
@Suite struct ReplayHTTPTests {
  private let directory = Scratch()

  private static let folder = PackageFolder.recordings.appending(path: "http-things")
  private static let file = folder.appending(path: "session.jsonl").path

  /// Starts a server of the session; returns it and its port.
  private func serve(_ words: [String]) async throws -> (server: RunningCommand, port: String) {
    let server = try RunningCommand(
      ["replay", "serve", Self.file, "--listen", "127.0.0.1:0"] + words,
      in: directory)
    let text = "listening on 127.0.0.1:"
    try await server.tells(text)
    return (server, "\(server.errors.split(separator: text).last?.prefix { $0.isNumber } ?? "0")")
  }

  /// Runs curl; returns what it prints.
  private func curl(_ words: [String]) async throws -> String {
    let child = try Child(["curl", "-sS", "-m", "30"] + words, folder: directory)
    try await child.wait(for: "the end of curl", until: \.hasEnded)
    return child.text
  }

  // MARK: Both ends

  @Test("Both ends of a session go through it together", arguments: ["http", "https"])
  func bothEnds(scheme: String) async throws {
    let driven = directory.file("driven.txt")
    let run = try await RunningCommand.run(
      ["replay", "serve", Self.file, "--speed", "max"]
        + [
          "--", RunningCommand.path, "replay", "drive", Self.file,
          "\(scheme)://localhost:{port}", "--speed", "max", "-o", driven,
        ] + (scheme == "https" ? ["--ca-file", "{ca}"] : []), in: directory)
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    let served = run.output.withoutTimes
    // All but the answer that there is none of.
    #expect(served.count == 29)
    #expect(run.output.contains("\n# the session ends: 10 connections, 29 packets\n"))
    #expect(
      Set(served) == Set(try String(contentsOfFile: driven, encoding: .utf8).withoutTimes))
  }

  @Test("The server that was recorded says the same again, in the recorded time")
  func drivesTheServer() async throws {
    let server = try Child(
      ["python3", "-u", Self.folder.appending(path: "server.py").path, "0"], folder: directory)
    try await server.wait(for: "its port") { $0.text.hasSuffix("\n") }
    let port = server.text.split(separator: " ").last?.prefix { $0.isNumber } ?? "0"
    let run = try await RunningCommand.run(
      ["replay", "drive", Self.file, "http://127.0.0.1:\(port)", "--speed", "4"], in: directory)
    server.send(SIGTERM)
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    #expect(run.output.contains("# the session ends: 10 connections, 29 packets\n"))
    #expect(run.output.contains("REQUEST     GET  /things  host 127.0.0.1:\(port)  exchange 1"))
  }

  @Test("A capture of it is played where its port is named, and only there")
  func playsCaptures() async throws {
    let capture = directory.file("things.pcap")
    _ = try await RunningCommand.run(["convert", Self.file, "-o", capture], in: directory)
    let decoding = ["--decode", "57663=http", "--speed", "max"]
    let driven = directory.file("driven.txt")
    let run = try await RunningCommand.run(
      ["replay", "serve", capture] + decoding + [
        "--", RunningCommand.path, "replay", "drive", capture, "{url}", "-o", driven,
      ] + decoding, in: directory)
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    #expect(run.output.contains("\n# the session ends: 10 connections, 29 packets\n"))
    let plain = try await RunningCommand.run(
      ["replay", "serve", capture, "--listen", "0"], in: directory)
    #expect(plain.status == 2 && plain.output == "")
    #expect(plain.errors.contains("and --decode PORT=http is for HTTP"), "\(plain.errors)")
  }

  // MARK: Clients

  @Test("curl gets on one connection what was answered on several, in another order")
  func servesCurl() async throws {
    let (server, port) = try await serve(["--connection", "2,3,4,5,6", "--speed", "max"])
    let url = "http://127.0.0.1:\(port)"
    let json = ["-H", "Content-Type: application/json"]
    let made =
      ["-i", "-d", #"{"name": "fan", "requestId": "r-99"}"#] + json + ["\(url)/things"]
    let text = try await curl(
      ["-d", "user=ada&password=lovelace", "\(url)/login", "--next", "-sS"] + made
        + ["--next", "-sS", "\(url)/things/41", "\(url)/things/41"])
    #expect(text.contains("\r\nLocation: /things/41\r\n"))
    #expect(text.contains(#"{"requestId": "r-99", "id": "41", "name": "fan"}"#), "\(text)")
    #expect(
      text.hasSuffix(
        #"{"thing": "41", "name": "fan"}{"error": "no such thing"}"#), "\(text)")
    #expect(try await curl(["-X", "DELETE", "-w", "%{http_code}", "\(url)/things/41"]) == "204")
    #expect(try await server.wait() == 0, "\(server.text)\(server.errors)")
    #expect(server.text.contains("# the session ends: 5 connections, 10 packets"))
  }

  @Test(
    "A client gets whole bodies by a connection for each request, and none where there was none")
  func servesBodies() async throws {
    let (server, port) = try await serve(["--connection", "1", "--speed", "max"])
    let url = "http://127.0.0.1:\(port)"
    let things = try await curl(["-i", "--http1.0", "\(url)/things"])
    #expect(things.contains("\r\nConnection: close\r\n"))
    // What came packed is sent as what it was, with its length.
    #expect(!things.contains("Content-Encoding") && things.contains("\r\nContent-Length: 67\r\n"))
    let head = try await curl(["-I", "\(url)/things/lamp-1"])
    #expect(head.contains("\r\nContent-Length: 32\r\n") && head.hasSuffix("\r\n\r\n"))
    let whole = try await curl(["\(url)/things/lamp-1?ts=1"])
    #expect(whole == #"{"thing": "lamp-1", "on": false}"#)
    let none = try await curl(["-w", "%{http_code}", "\(url)/things/lamp-1"])
    #expect(none == "304")
    let size = try await curl(
      ["-o", directory.file("firmware"), "-w", "%{size_download}", "\(url)/firmware"])
    #expect(size == "206")
    #expect(try await server.wait() == 0, "\(server.text)\(server.errors)")
  }

  /// Asks for paths, and ends what it sends before it reads.
  private static let halfCloser = """
    import socket, sys
    peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30)
    for path in sys.argv[2:]:
        peer.sendall(f"GET {path} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n".encode())
    peer.shutdown(socket.SHUT_WR)
    while piece := peer.recv(65536):
        print(piece.decode(), end="")
    """

  @Test(
    "A client that ends what it sends behind its requests gets the answers",
    arguments: ["1", "max"])
  func answersBehindAnEnd(speed: String) async throws {
    let (server, port) = try await serve(["--connection", "6,9", "--speed", speed])
    let child = try Child(
      ["python3", "-c", Self.halfCloser, port, "/things/41", "/things/lamp-1", "/things/door"],
      folder: directory)
    try await child.wait(for: "the end of the client", until: \.hasEnded)
    let bodies = child.text.split(separator: "\r\n\r\n").dropFirst().map {
      $0.split(separator: "HTTP/1.1").first ?? ""
    }
    #expect(
      bodies == [
        #"{"error": "no such thing"}"#, #"{"thing": "lamp-1", "on": true}"#,
        #"{"thing": "door", "open": true}"#,
      ], "\(child.text)")
    #expect(try await server.wait() == 0, "\(server.text)\(server.errors)")
    #expect(server.text.contains("# the session ends: 2 connections, 6 packets"))
  }

  @Test("A client that asks for something else diverges, and is told so by the answer")
  func clientDiverges() async throws {
    let (server, port) = try await serve(["--connection", "3", "--speed", "max"])
    let answer = try await curl([
      "-i", "-H", "Content-Type: application/json", "-d", #"{"requestId":"r","name":"fans"}"#,
      "http://127.0.0.1:\(port)/things",
    ])
    #expect(try await server.wait() == 1)
    #expect(answer.hasPrefix("HTTP/1.1 500 ") && answer.contains("\nthe replay diverged: "))
    #expect(server.text.contains("the replay diverged: the session has another action here\n"))
    #expect(server.text.contains(", connection 3, "))
    #expect(
      server.text.contains("\n  expected: REQUEST POST  /things  host 127.0.0.1:57663  exchange 1"))
    #expect(
      server.text.contains(
        "\n  actual:   REQUEST POST  /things  host 127.0.0.1:\(port)  exchange 1"))
    #expect(server.text.contains("\n  differs:  body.name: expected \"fan\", actual \"fans\"\n"))
    #expect(server.text.contains("session.jsonl --filter 'connection == 3 and "))
    #expect(
      server.text.contains("\n  or:       if methods and paths alone matter: add --match topic"))
  }

  @Test("A server that answers something else diverges at the answer")
  func serverDiverges() async throws {
    let other = directory.file("other.jsonl")
    let whole = try String(contentsOfFile: Self.file, encoding: .utf8)
    try directory.write(whole.replacing("no such thing", with: "no such things"), to: "other.jsonl")
    let driven = directory.file("driven.txt")
    let run = try await RunningCommand.run(
      [
        "replay", "serve", other, "--connection", "6", "--speed", "max", "--",
        RunningCommand.path, "replay", "drive", Self.file, "{url}", "--connection", "6",
        "--speed", "max", "-o", driven,
      ], in: directory)
    let text = try String(contentsOfFile: driven, encoding: .utf8)
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    #expect(text.contains("the replay diverged: the session has another action here\n"))
    #expect(text.contains("\n  expected: RESPONSE 404 Not Found  exchange 1"))
    #expect(
      text.contains(
        "\n  differs:  body.error: expected \"no such thing\", actual \"no such things\"\n"),
      "\(text)")
  }

  // MARK: What is too much, or something else

  @Test("A body beyond all measure is refused before it is read, and so is what is no HTTP")
  func limits() async throws {
    let (server, port) = try await serve(["--connection", "2", "--speed", "max"])
    let stranger = try await curl(["-k", "-w", "%{http_code}", "https://127.0.0.1:\(port)/"])
    #expect(stranger.hasSuffix("000"))
    let large = try await curl([
      "-i", "-H", "Content-Length: 16777217", "-H", "Expect:", "-d", "x",
      "http://127.0.0.1:\(port)/login",
    ])
    #expect(large.hasPrefix("HTTP/1.1 413 "))
    #expect(try await server.wait() == 1)
    #expect(
      server.text.contains("\n  actual:   the client sends a body of more than 16 MiB\n"),
      "\(server.text)")

    let (other, next) = try await serve(["--connection", "2", "--speed", "max"])
    let long = String(repeating: "x", count: 70_000)
    try directory.write("header = \"X-Long: \(long)\"\n", to: "curl.txt")
    let head = try await curl(
      ["-i", "-K", directory.file("curl.txt"), "http://127.0.0.1:\(next)/login"])
    #expect(head.hasPrefix("HTTP/1.1 431 "))
    #expect(try await other.wait() == 1)
  }

  @Test("A session of HTTP wants a URL of HTTP, and one of something else does not")
  func checksURLs() async throws {
    let drive = ["replay", "drive", Self.file]
    let mqtt = try await RunningCommand.run(drive + ["mqtt://127.0.0.1:1"], in: directory)
    #expect(mqtt.status == 2)
    #expect(
      mqtt.errors.contains(
        "mqtt://127.0.0.1:1 is no URL of HTTP, which the session is; type http://HOST:PORT or "
          + "https://HOST:PORT"), "\(mqtt.errors)")
    let named = try await RunningCommand.run(
      drive + ["http://ada@127.0.0.1:1"], in: directory)
    #expect(named.status == 2 && named.errors.contains("--header 'Authorization: ...'"))
    let socket = PackageFolder.recordings.appending(path: "sdk/requests/ask.pcap")
    let http = try await RunningCommand.run(
      ["replay", "drive", socket.path, "http://127.0.0.1:1"], in: directory)
    #expect(http.status == 2 && http.errors.contains("type ws://HOST:PORT/PATH"))
    let absent = try await RunningCommand.run(drive + ["http://127.0.0.1:1"], in: directory)
    #expect(absent.status == 2 && absent.errors.contains("http://127.0.0.1:1/: can't be reached"))
  }
}
