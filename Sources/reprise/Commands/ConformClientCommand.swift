import Driver
import RepriseCore

/// `reprise conform client`: is the broker of a client, drives it by cases, and judges what it does.
enum ConformClientCommand: Command {
  static let listen = OptionSpec(
    name: "listen", value: "HOST:PORT",
    help: "Waits there for a client that connects by itself, again for each case.")
  static let publishes = OptionSpec(
    name: "publishes", value: "COMMAND",
    help: "Starts a client that publishes, for the cases of those.")
  static let subscribes = OptionSpec(
    name: "subscribes", value: "COMMAND",
    help: "Starts a client that subscribes, for the cases of those.")

  static let webSocket = OptionSpec(
    name: "websocket", help: "Is the server of a client of WebSocket that echoes, without MQTT.")

  static let spec = CommandSpec(
    name: "conform client", summary: "Is the broker of a client, and judges what that does.",
    operands: "[-- COMMAND...]", operandCount: 0...Int.max,
    options: DriveOptions.own
      + [.spec, publishes, subscribes, webSocket, listen, ProxySettings.authorityFolder]
      + DriveOptions.running + DriveOptions.report,
    details: """
      Each case starts COMMAND anew, and is the broker that it connects to: it answers in good
      order, or late, not at all, or wrongly, as the case says. reprise conform list --cases
      shows the cases, reprise conform explain CASE one of them. What both say is recorded,
      byte by byte, and judged by the clauses that conform trace judges captures by; only what
      the client does is in the report.

      In COMMAND these stand for what differs from case to case:
        {port}       the port to connect to; it is another one for each case
        {host}       127.0.0.1
        {url}        mqtt://127.0.0.1:PORT
        {topic}      a topic
        {qos}        0, 1 or 2
        {count}      how many messages are to be published
        {keepalive}  the Keep Alive in seconds
        {version}    311 or 5
        {id}         a client identifier
        {ca}         the file of a certificate authority, for mqtts:// and wss://
      A client that speaks WebSocket or TLS to the port is answered by that, and the clauses of
      WebSocket are judged as well. Without {version} the client is met in the one that it
      speaks.

      The client is met first, to see what it does of itself: whether it publishes or
      subscribes, and by which QoS; {qos} is 2 then, and less where it does nothing by that.
      Cases of what it does not do are not-applicable. With --publishes and --subscribes two
      programs are one client. A case by which none of its clauses could be judged is
      inconclusive, and counts as nothing.

      With --listen cases wait one after the other for the next connection, a minute at most.
      TLS is spoken there with --ca-folder.

      With --websocket COMMAND is a client of WebSocket that sends every message back as it
      came: {url} stands for ws://127.0.0.1:PORT/, and the clauses of RFC 6455 are judged. For
      TLS type wss://{host}:{port}/, with {ca}.

      What the steps of a case may be tell Conformance/client/README.md and
      Conformance/websocket/README.md.

      Examples:
        reprise conform client -- mosquitto_sub -p {port} -t {topic} -q {qos} -V {version}
        reprise conform client --publishes 'mosquitto_pub -p {port} -t {topic} -q {qos} -m hi'
        reprise conform client --save evidence/ -- ./my-app --broker {url}
        reprise conform client --listen localhost:1884 --case ping
        reprise conform client --websocket -- python echo.py {url}
        reprise conform client --websocket --listen localhost:8080
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    if arguments.has(webSocket) { return try runWebSocket(arguments, console) }
    let versions = try DriveOptions.versions(arguments, .client)
    let share = try DriveOptions.share(of: .client, in: versions, arguments)
    if arguments.has(DriveOptions.dryRun) { return try DriveOptions.show(share, arguments) }
    let report = try DriveReport(arguments, share, console)
    let session = try ClientSession(arguments, console)
    let (results, specs) = try session.run(share, in: versions)
    return try report.write(results, by: specs, on: .client)
  }

  /// Drives a client of WebSocket, which has nothing of MQTT.
  private static func runWebSocket(
    _ arguments: Arguments, _ console: Console
  ) throws -> ExitStatus {
    for option in [OptionSpec.spec, publishes, subscribes]
    where arguments.has(option) {
      throw UsageError("--\(option.name) is for clients of MQTT", "leave it or --websocket out")
    }
    return try WebSocketClientRun.run(arguments, console)
  }
}
