import ConformanceKit
import Driver
import RepriseCore
import Wire

/// `reprise conform broker`: drives a broker by cases, and judges what it does.
enum ConformBrokerCommand: Command {
  static let launch = OptionSpec(
    name: "launch", value: "COMMAND",
    help: """
      Starts the broker by COMMAND, in which {port} is the port to listen on, and stops it at \
      the end.
      """)
  static let spec = CommandSpec(
    name: "conform broker", summary: "Drives a broker by cases, and judges what it does.",
    operands: "URL | --launch COMMAND", operandCount: 0...1,
    options: DriveOptions.own + [.spec, launch] + DriveOptions.running + DriveOptions.report + [
      BrokerOptions.username, BrokerOptions.passwordFile, BrokerOptions.authority,
      BrokerOptions.certificate, BrokerOptions.key, BrokerOptions.insecure,
      BrokerOptions.header,
    ],
    details: """
      URL is mqtt://HOST:PORT, mqtts:// for TLS, or ws:// and wss://HOST:PORT/PATH, where
      the clauses of WebSocket are judged as well. A case says what clients do, in MQTT 3.1.1
      and 5.0: reprise conform list --cases shows them all, reprise conform explain CASE one of
      them. What they and the broker say is recorded, byte by byte, and judged by the clauses
      that conform trace judges captures by; only what the broker does is in the report.

      The broker is asked first what it can do. What it can't and need not makes the clauses
      about it not-applicable. A case by which none of its clauses could be judged is
      inconclusive, and counts as nothing.

      Only the address that was given is connected to. Topics and client identifiers of a run
      are its own (reprise/RUN/...); what it has the broker keep is taken away at the end, also
      after Ctrl-C, and nothing of others is touched. With --save each finding can be judged
      again: reprise conform trace FOLDER. Recordings hold the password; others can't read them.

      What the steps of a case may be tells Conformance/broker/README.md.

      Examples:
        reprise conform broker mqtt://localhost
        reprise conform broker --launch 'mosquitto -p {port}' --save evidence/
        reprise conform broker mqtts://host --ca-file ca.pem --profile full
        reprise conform broker mqtt://localhost --case will-on-reset --spec mqtt-5.0
        reprise conform broker mqtt://localhost --case ./my-case.json --dry-run
        reprise conform broker mqtt://localhost --chop 3
        reprise conform broker mqtt://localhost --report junit=results.xml
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let versions = try DriveOptions.versions(arguments, .broker)
    let plans = try DriveOptions.plans(of: .broker, in: versions, arguments)
    if arguments.has(DriveOptions.dryRun) { return try DriveOptions.show(plans, arguments) }
    let report = try DriveReport(arguments, plans, console)
    let session = try DriverSession(arguments, console)
    let results = try session.run(plans, in: versions)
    return try report.write(
      results, by: Set(versions.map(\.standard) + (session.isWebSocket ? ["rfc6455"] : [])),
      on: .server, isWhole: !session.isCutShort)
  }
}
