import Driver
import RepriseCore

/// `reprise conform broker`: drives a broker by cases, and judges what it does.
enum ConformBrokerCommand: Command {
  static let launch = OptionSpec(
    name: "launch", value: "COMMAND",
    help: """
      Starts the broker by COMMAND, in which {port} is the port to listen on, and stops it at \
      the end.
      """)
  static let method = OptionSpec(
    name: "auth-method", value: "NAME",
    help: "The method of enhanced authentication that clients name in MQTT 5.0.")
  static let methodData = OptionSpec(
    name: "auth-data", value: "FILE", repeats: true, isFile: true,
    help: """
      All bytes of FILE are the data that goes with it; the second FILE is what answers the \
      first AUTH of the broker, and so on.
      """)
  static let spec = CommandSpec(
    name: "conform broker", summary: "Drives a broker by cases, and judges what it does.",
    operands: "URL | --launch COMMAND", operandCount: 0...1,
    options: DriveOptions.own + [.spec, launch] + DriveOptions.running + DriveOptions.report + [
      BrokerOptions.username, BrokerOptions.passwordFile, method, methodData,
      BrokerOptions.authority,
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

      --shard 3/16 runs the third of sixteen parts of the cases, each part against a broker of
      its own; reprise report merge joins their reports in JSON. Cases run many at a time as it
      is.

      What the steps of a case may be tells Conformance/broker/README.md.

      Examples:
        reprise conform broker mqtt://localhost
        reprise conform broker --launch 'mosquitto -p {port}' --save evidence/
        reprise conform broker mqtts://host --ca-file ca.pem --profile full
        reprise conform broker mqtt://localhost --case will-on-reset --spec mqtt-5.0
        reprise conform broker mqtt://localhost --case ./my-case.json --dry-run
        reprise conform broker mqtt://localhost --chop 3
        reprise conform broker mqtt://localhost --report junit=results.xml
        reprise conform broker mqtt://localhost --profile full --shard 2/3 -f json -o 2.json
      """)

  /// What clients show by enhanced authentication; nil where no method is named.
  static func authentication(_ arguments: Arguments) throws(UsageError) -> Authentication? {
    let files = arguments.list(methodData)
    guard let method = arguments.value(method) else {
      guard files.isEmpty else {
        throw UsageError("--auth-data is for --auth-method", "name the method, too")
      }
      return nil
    }
    guard !method.isEmpty else {
      throw UsageError("--auth-method names no method", "type its name, such as SCRAM-SHA-256")
    }
    var data: [[UInt8]] = []
    for file in files { data.append(try SmallFile.bytes(file, "--auth-data")) }
    return Authentication(method: method, data: data)
  }

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let versions = try DriveOptions.versions(arguments, .broker)
    let share = try DriveOptions.share(of: .broker, in: versions, arguments)
    if arguments.has(DriveOptions.dryRun) { return try DriveOptions.show(share, arguments) }
    let report = try DriveReport(arguments, share, console)
    let session = try DriverSession(arguments, console)
    let results = try session.run(share, in: versions)
    return try report.write(
      results, by: Set(versions.map(\.standard) + (session.isWebSocket ? ["rfc6455"] : [])),
      on: .server)
  }
}
