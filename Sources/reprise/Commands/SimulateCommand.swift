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

      A script changes the answers. Every key may be left out, the first rule that fits is
      taken, and times are in seconds. For a broker, with topics that may be short or full,
      and have wildcards:
        {
          "tokens": { "stale": { "code": 2043 } },
          "replies": [
            { "topic": "/account/bind", "request": 1, "code": 2152 },
            { "topic": "/light/get", "data": { "on": true }, "after": 2.5 },
            { "topic": "/light/#", "request": [2, 3], "faults": ["duplicate"] }
          ],
          "pushes": [
            { "properties": { "LightSwitch": 1 }, "after": 3, "every": 5, "times": 10 },
            { "status": "offline", "on": "/light/set", "after": 1 },
            { "event": { "identifier": "Error", "type": "alert", "value": { "Code": 7 } } },
            { "binding": "Unbind", "device": "PRODUCT/DEVICE" },
            { "topic": "/thing/topo/add/status", "params": { "status": 0 } },
            { "topic": "/thing/model/down_raw", "payload": "any text", "qos": 0 }
          ],
          "gateway": {
            "devices": [{ "device": "PRODUCT/DEVICE", "sign": "292f..." }],
            "loginsPerMinute": 5,
            "pushes": [{ "set": { "Power": 0 }, "subdevice": "PRODUCT/DEVICE", "after": 30 }]
          },
          "links": {
            "tokens": { "stale": { "code": 6 }, "short": { "lifetime": 60 } },
            "refusedChannels": { "secret": 7 },
            "lostChannels": ["gone"]
          }
        }

      Faults of a reply: \(faults).
      drop-connection is for scenarios in process: no broker can be told to do it.

      A request is a text message, and so is its answer, which has uniqueId, service, method
      and product of the request:
        {"uniqueId": 7, "service": "nlu/analyze", "method": "POST", "product": "P",
         "content": "{\\"text\\":\\"hello\\"}"}
      uniqueId is a whole number, content a text that holds JSON, or JSON itself; method,
      product and content may be left out. The service system/heart-beat is answered without
      content. A refusal has "error": {"code": 4, "desc": "..."} in place of content. What is
      no request is not answered, and a note says why.

      For a server of requests, with services that may end with * for all that begin so:
        {
          "answers": [
            { "service": "nlu/analyze", "content": { "ret_code": "0000" }, "after": 2.5 },
            { "service": "nlu/*", "request": [2, 3], "faults": ["duplicate"] },
            { "service": "pay", "error": { "code": 2, "desc": "busy" } }
          ],
          "pushes": [
            { "json": { "service": "news" }, "after": 3, "every": 5, "times": 10 },
            { "text": "hello", "on": "nlu/analyze", "after": 1 },
            { "bytes": [1, 2, 3] }
          ],
          "login": "session/login",
          "answersHeartbeats": true
        }
      Requests are counted on all connections; with "login", others are refused until that
      service was asked for.

      Faults of an answer: \(requestFaults).

      Examples:
        reprise simulate mqtt://localhost
        reprise simulate mqtt://localhost:1884 --script cloud.json
        reprise simulate ws://localhost:8080/api --script server.json
        reprise simulate wss://localhost:8443 --cert server.pem --key server.key
      """)

  /// The names of the faults that a real broker can have, in lines of the help.
  private static var faults: String {
    list(CloudFault.allCases.filter { $0 != .dropConnection }.map(\.rawValue))
  }

  /// The names of the faults of a server of requests, in lines of the help.
  private static var requestFaults: String { list(RequestFault.allCases.map(\.rawValue)) }

  private static func list(_ names: [String]) -> String {
    names.enumerated().map { index, name in
      name + (index == names.count - 1 ? "" : index == 5 ? ",\n" : ", ")
    }.joined()
  }

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
    let cloud = CloudSimulator(behaviour, options: broker.connect)
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
      throw UsageError("\(path): \(error.message)", "type reprise help simulate for an example")
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
