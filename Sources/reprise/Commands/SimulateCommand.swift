import CloudSimulator
import DataClient
import LiveClient

/// `reprise simulate`: answers devices on a broker as their cloud does.
enum SimulateCommand: Command {
  private static let script = OptionSpec(
    name: "script", value: "FILE", isFile: true,
    help: "How the cloud behaves; without a script it is in good health.")
  private static let secrets = OptionSpec(
    name: "show-secrets", help: "Shows passwords, tokens and signatures instead of ***.")

  static let spec = CommandSpec(
    name: "simulate", summary: "Answers devices on a broker as their cloud does.",
    operands: "URL", operandCount: 1...1, options: [script, secrets] + BrokerOptions.all,
    details: """
      Subscribes to /sys/+/+/app/up/# and answers every request on the topic
      /sys/PRODUCT/DEVICE/app/down/..._reply with code 200, until it is interrupted. A line of
      output has the time (UTC), a number, the connection, ← for what came or → for what was
      sent, and what it was.

      A script changes that. Every key may be left out; of the replies the first that fits
      is taken; topics may be short or full, and have wildcards; times are in seconds:
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
          ]
        }

      Faults of a reply: \(faults).

      Examples:
        reprise simulate mqtt://localhost
        reprise simulate mqtt://localhost:1884 --script cloud.json
      """)

  /// The names of the faults that a real broker can have, in lines of the help.
  private static var faults: String {
    let names = CloudFault.allCases.filter { $0 != .dropConnection }.map(\.rawValue)
    return names.enumerated().map { index, name in
      name + (index == names.count - 1 ? "" : index == 5 ? ",\n" : ", ")
    }.joined()
  }

  static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
    let broker = try BrokerOptions(
      arguments.operand, arguments, console, clientID: "cloud-simulator")
    let path = arguments.value(script)
    let cloud = CloudSimulator(try path.map(read) ?? CloudScript(), options: broker.connect)
    let lines = EventLines(
      OutputFile.standard, usesColor: console.usesColor(on: .standard),
      showsSecrets: arguments.has(secrets))
    let client = try broker.makeClient()
    let shown = TranscribingClient(
      FirstConnectionClient(client), url: broker.url.description, version: broker.wireVersion,
      redaction: RedactionRules(hidesSecrets: !arguments.has(secrets)), tell: lines.take)
    do {
      try await Interruption.cancel { try await cloud.run(on: shown) }
      return .done
    } catch let interrupted as Interrupted {
      await awaitEnd(of: shown)
      throw interrupted
    } catch let error as NoFirstConnection {
      console.error(Advice.line(error.reason, broker))
      return .unable
    } catch let error as CloudError {
      if error.code == .needsBroker, let path {
        throw UsageError("\(path): \(error.message)", "take that out of the script")
      }
      throw UsageError("\(broker.url): \(error.message)", "look at the broker's log")
    }
  }

  private static func read(_ path: String) throws(UsageError) -> CloudScript {
    let bytes = try SmallFile.bytes(path, "--script")
    do {
      return try CloudScript(parsing: bytes)
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
