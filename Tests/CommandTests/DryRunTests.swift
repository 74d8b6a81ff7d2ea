import Testing

/// What `--dry-run` shows of what would be sent.
@Suite struct DryRunTests {
  @Test(
    "A handshake is shown with the path, the query and the host of the URL",
    arguments: [
      ("ws://localhost:9001", "/", "localhost:9001"),
      ("ws://example.org/echo?room=1", "/echo?room=1", "example.org"),
      ("wss://[::1]:8443/a", "/a", "[::1]:8443"),
    ])
  func handshake(url: String, path: String, host: String) throws {
    let words = ["conform", "server", url, "--case", "ping", "--dry-run"]
    let run = try RepriseProcess.run(words + ["--header", "Authorization: hush"])
    #expect(run.status == 0, "\(run.errors)")
    let handshakes = run.output.split(separator: "\n").filter { $0.contains("  open  ") }
    #expect(!handshakes.isEmpty)
    for handshake in handshakes {
      #expect(
        handshake == """
            open  GET \(path) HTTP/1.1 | Host: \(host) | Upgrade: websocket | Connection: Upgrade \
          | Sec-WebSocket-Key: KEY | Sec-WebSocket-Version: 13
          """)
    }
  }

  @Test("A handshake with a server that is started is shown with what stands for its host")
  func launched() throws {
    let run = try RepriseProcess.run(
      ["conform", "server", "--launch", "echo {port}", "--case", "ping", "--dry-run"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.contains("  open  GET / HTTP/1.1 | Host: HOST | "))
  }

  @Test(
    "What is no URL of WebSocket is refused as where it is connected to",
    arguments: [
      ("mqtt://localhost", "mqtt://localhost:1883 is no URL of WebSocket"),
      (
        "http://localhost/mqtt", "the server's URL has no scheme of WebSocket; type ws:// or wss://"
      ),
      ("localhost:8080", "the server's URL has no scheme of WebSocket; type ws:// or wss://"),
    ])
  func noURL(_ url: String, _ message: String) throws {
    let run = try RepriseProcess.run(["conform", "server", url, "--dry-run"])
    #expect(run.status == 2)
    #expect(run.output.isEmpty)
    #expect(run.errors.contains(message), "\(run.errors)")
  }
}
