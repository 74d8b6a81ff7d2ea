import CloudSimulator
import LiveClient
import RepriseCore

/// `reprise simulate`: answers devices on a broker, or requests over WebSocket, as a cloud does.
enum SimulateCommand: Command {
  private static let script = OptionSpec(
    name: "script", value: "FILE", isFile: true,
    help: "How the cloud, or the server, behaves; without a script it is in good health.")

  static let spec = CommandSpec(
    name: "simulate", summary: "Answers devices on a broker, or requests, as a cloud does.",
    operands: "URL", operandCount: 1...1, options: [script, .showSecrets] + BrokerOptions.all,
    details: """
      With mqtt:// and mqtts:// it is a client of the broker that is there: it subscribes to
      /sys/+/+/app/up/# and answers every request on the topic
      /sys/PRODUCT/DEVICE/app/down/..._reply with code 200. Gateways are answered too, on
      /sys/+/+/thing/# and /ext/session/+/+/#, and so are links, on link/+/message/# and
      link/+/stream/#; topics of theirs that the broker refuses are noted and done without.
      So it is with ws:// and wss:// when --mqtt is given.

      Otherwise with ws:// and wss:// it is the server: it listens at HOST:PORT, with a PATH
      only for that, and answers every request with its own parameters, on any number of
      connections. wss:// needs --cert and --key; with --ca-file clients need certificates.

      It goes on until it is interrupted. A line of output has the time (UTC), a number, the
      connection, → for what the client sent or ← for what the server did, and what it was. Of
      a broker the command itself is the client.

      The secrets of TLS go to the file that SSLKEYLOGFILE names, if it does.

      A script changes the answers: reprise help simulate-script shows one for a broker and one
      for a server of requests, reprise help simulate-frames what requests look like.

      Examples:
        reprise simulate mqtt://localhost
        reprise simulate mqtt://localhost:1884 --script cloud.json
        reprise simulate ws://localhost:8080/api --script server.json
        reprise simulate wss://localhost:8443 --cert server.pem --key server.key
      """)

  static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
    let lines = EventLines(
      OutputFile.standard, usesColor: console.usesColor(on: .standard),
      showsSecrets: arguments.has(.showSecrets))
    if try RequestServerOptions.areMeant(by: arguments.operand, arguments) {
      return try await runServer(arguments, lines, console)
    }
    return try await runCloud(arguments, lines, console)
  }

  // MARK: A server of requests

  private static func runServer(
    _ arguments: Arguments, _ lines: EventLines, _ console: Console
  ) async throws -> ExitStatus {
    let options = try RequestServerOptions(arguments.operand, arguments)
    let behaviour = try read(arguments, RequestScript.init(parsing:)) ?? RequestScript()
    let server = SimulatedRequestServer(options, behaviour, shownBy: lines, console)
    do {
      try await server.run()
      return .done
    } catch let error as DataClientError {
      console.error("\(Advice.clause(error.message)); \(remedy(error.message))")
      return .unable
    }
  }

  private static func remedy(_ problem: String) -> String {
    if problem.contains("in use") { return "type another port, or end what listens there" }
    if problem.contains("denied") { return "type a port from 1024 on" }
    if problem.contains("assign") { return "type an address of this machine, such as 127.0.0.1" }
    if problem.contains("not found") { return "check the host name" }
    if problem.contains("certificate") { return "check the files of --cert, --key and --ca-file" }
    return "check host and port"
  }

  // MARK: A cloud

  private static func runCloud(
    _ arguments: Arguments, _ lines: EventLines, _ console: Console
  ) async throws -> ExitStatus {
    let broker = try BrokerOptions(
      arguments.operand, arguments, console, clientID: "cloud-simulator")
    let path = arguments.value(script)
    var behaviour = try read(arguments, CloudScript.init(parsing:)) ?? CloudScript()
    behaviour.serveEverything()
    let cloud = SimulatedCloud(behaviour, options: broker.connect)
    let client = try broker.makeClient()
    let shown = TranscribingClient(
      FirstConnectionClient(client), url: broker.url.description, version: broker.wireVersion,
      tell: lines.take)
    do {
      try await Interruption.cancel {
        try await cloud.run(on: shown) { filters in
          console.note(
            broker.url.description,
            "the broker refuses \(filters.joined(separator: ", ")): who sends there is not answered"
          )
        }
      }
      return .done
    } catch let interrupted as Interrupted {
      await awaitEnd(of: shown)
      throw interrupted
    } catch let error as NoFirstConnection {
      console.error(Advice.line(error.reason, broker))
      return .unable
    } catch let error as SimulatorError {
      if error.code == .needsBroker, let path {
        throw UsageError("\(path): \(error.message)", "take that out of the script")
      }
      throw UsageError("\(broker.url): \(error.message)", "look at the broker's log")
    }
  }

  /// Reads the script, if one is named.
  private static func read<Script>(
    _ arguments: Arguments, _ parse: ([UInt8]) throws(SimulatorError) -> Script
  ) throws(UsageError) -> Script? {
    guard let path = arguments.value(script) else { return nil }
    let bytes = try SmallFile.bytes(path, "--script")
    do {
      return try parse(bytes)
    } catch {
      throw UsageError(
        "\(path): \(error.message)", "type reprise help simulate-script for an example")
    }
  }

  /// Waits until what was sent, and the DISCONNECT behind it, is with the broker.
  private static func awaitEnd(of client: some DataClient) async {
    let deadline = client.now.advanced(by: .seconds(6))
    while let event = try? await client.next(before: deadline) {
      switch event {
      case .closed, .deadline, .ended: return
      default: continue
      }
    }
  }
}
