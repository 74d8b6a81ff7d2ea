import Driver
import LiveClient
import RepriseCore

/// `reprise conform server`: drives a server of WebSocket by cases, and judges what it does.
enum ConformServerCommand: Command {
  private static let launch = OptionSpec(
    name: "launch", value: "COMMAND",
    help: """
      Starts the server by COMMAND, in which {port} is the port to listen on, and stops it at \
      the end.
      """)

  static let spec = CommandSpec(
    name: "conform server", summary: "Drives a WebSocket server by cases, and judges what it does.",
    operands: "URL | --launch COMMAND", operandCount: 0...1,
    options: DriveOptions.own + [launch] + DriveOptions.running + DriveOptions.report + [
      BrokerOptions.authority, BrokerOptions.certificate, BrokerOptions.key,
      BrokerOptions.insecure, BrokerOptions.header,
    ],
    details: """
      URL is ws://HOST:PORT/PATH, or wss:// for TLS, of a server that sends every message back
      as it came: an echo shows the server's own frames, and that it goes on. A case says what
      a client does, well or badly: handshakes, frames, fragments, text, closing and
      permessage-deflate. reprise conform list --cases shows them all, reprise conform explain
      CASE one of them. What both say is recorded, byte by byte, and judged by the clauses of
      RFC 6455 that conform trace judges captures by; only what the server does is in the
      report.

      A case by which none of its clauses could be judged is inconclusive, and counts as
      nothing: so is one that the RFC lets a server answer as it likes. A server without
      permessage-deflate need not have it, and its cases are not-applicable.

      Only the address that was given is connected to. With --save each finding can be judged
      again: reprise conform trace FOLDER. Recordings hold what --header says.

      What the steps of a case may be tells Conformance/websocket/README.md.

      Examples:
        reprise conform server ws://localhost:9001/echo
        reprise conform server --launch 'python echo.py {port}' --save evidence/
        reprise conform server wss://host/echo --ca-file ca.pem --profile full
        reprise conform server ws://localhost:9001 --case text-invalid,ping
        reprise conform server ws://localhost:9001 --case ./my-case.json --dry-run
        reprise conform server ws://localhost:9001 --report junit=results.xml
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    // Stopped at the end of the run, when nobody knows it any more.
    var launched: LaunchedBroker?
    defer { withExtendedLifetime(launched) {} }
    // What lets clients in is no one's to see, and so the fields of --header are not shown.
    return try WebSocketRun.run(
      arguments, console, .server,
      asking: { try arguments.operands.first.map(url).flatMap { WebSocketTarget($0) } }
    ) {
      let command = arguments.value(launch)
      guard (command == nil) != arguments.operands.isEmpty else {
        throw UsageError(
          command == nil
            ? "no server is named" : "--launch starts the server that the URL names too",
          "type ws://HOST:PORT/PATH, or --launch 'COMMAND {port}'")
      }
      launched = try command.map { try LaunchedBroker($0) }
      return .server(try place(launched, arguments, console))
    }
  }

  private static func place(
    _ launched: LaunchedBroker?, _ arguments: Arguments, _ console: Console
  ) throws -> BrokerPlace {
    let url = try url(
      arguments.operands.first ?? launched.map { "ws://127.0.0.1:\($0.port)/" } ?? "")
    if url.isSecure { console.noteKeyLog() }
    return try BrokerPlace(
      url, tls: BrokerOptions.tls(arguments, isSecure: url.isSecure),
      credentials: BrokerPlace.Credentials(),
      headers: BrokerOptions.headers(arguments, isWebSocket: true))
  }

  private static func url(_ text: String) throws(UsageError) -> BrokerURL {
    // What is said of a broker's URL would lead away from here.
    let scheme = text.prefix { $0 != ":" }.lowercased()
    guard ["ws", "wss", "mqtt", "mqtts"].contains(scheme) else {
      throw UsageError(
        "the server's URL has no scheme of WebSocket", "type ws:// or wss://HOST:PORT/PATH")
    }
    let url = try BrokerOptions.url(text)
    guard url.path != nil else {
      throw UsageError("\(url) is no URL of WebSocket", "type ws:// or wss://HOST:PORT/PATH")
    }
    guard url.username == nil else {
      throw UsageError(
        "a user name in the URL is nothing that a WebSocket has a place for",
        "add --header 'Authorization: ...'")
    }
    return url
  }
}
