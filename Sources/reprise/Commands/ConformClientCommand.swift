import Driver
import RepriseCore
import Wire

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

  static let spec = CommandSpec(
    name: "conform client", summary: "Is the broker of a client, and judges what that does.",
    operands: "[-- COMMAND...]", operandCount: 0...Int.max,
    options: DriveOptions.own + [publishes, subscribes, listen, ProxySettings.authorityFolder]
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
      subscribes, and by which QoS. Cases of what it does not do are not-applicable. With
      --publishes and --subscribes two programs are one client. A case by which none of its
      clauses could be judged is inconclusive, and counts as nothing.

      With --listen cases wait one after the other for the next connection, a minute at most.
      TLS is spoken there with --ca-folder.

      What the steps of a case may be tells Conformance/client/README.md.

      Examples:
        reprise conform client -- mosquitto_sub -p {port} -t {topic} -q {qos} -V {version}
        reprise conform client --publishes 'mosquitto_pub -p {port} -t {topic} -q {qos} -m hi'
        reprise conform client --save evidence/ -- ./my-app --broker {url}
        reprise conform client --listen localhost:1884 --case ping
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let versions = try DriveOptions.versions(arguments, .client)
    let plans = try DriveOptions.plans(of: .client, in: versions, arguments)
    if arguments.has(DriveOptions.dryRun) { return try DriveOptions.show(plans, arguments) }
    let report = try DriveReport(arguments, plans, console)
    let session = try ClientSession(arguments, console)
    let (results, specs) = try session.run(plans, in: versions)
    return try report.write(results, by: specs, on: .client, isWhole: !session.isCutShort)
  }
}
