import Foundation
import RepriseCore
import TestSupport
import Testing

/// Real brokers, clients and peers of WebSocket, driven by a few cases: what they fail is what was found of them in the
/// field by all cases (`Recordings/field`).
@Suite struct FieldSubjectTests {
  private static let package = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../..").standardized.path
  private static let agents = "\(package)/.build/venv/bin/python \(package)/Tests/Field/agents"

  /// A subject of the field, how `reprise conform` drives it, and by which cases.
  struct Subject: Sendable, CustomTestStringConvertible {
    let name: String
    let words: [String]
    let cases: Set<String>
    var testDescription: String { name }

    /// A client of MQTT.
    static func client(
      _ name: String, _ publishes: String, _ subscribes: String,
      cases: Set<String> = ["deliver", "malformed", "maximum-qos", "publish"]
    ) -> Subject {
      Subject(
        name: name, words: ["client", "--publishes", publishes, "--subscribes", subscribes],
        cases: cases)
    }

    /// A client of MQTT that takes the options of the agents.
    static func client(_ name: String, agent: String) -> Subject {
      let program = "\(agents)/mqtt_\(agent).py"
      let options = "--port {port} --topic {topic} --qos {qos} --version {version}"
      return client(
        name, "\(program) publish \(options) --count {count}", "\(program) subscribe \(options)")
    }

    /// A server of WebSocket.
    static func server(_ name: String, _ cases: Set<String>) -> Subject {
      let launch = "\(agents)/ws_\(name).py serve --port {port}"
      return Subject(name: "\(name)-server", words: ["server", "--launch", launch], cases: cases)
    }

    /// A client of WebSocket.
    static func connecting(_ name: String, _ cases: Set<String>) -> Subject {
      let program = "\(agents)/ws_\(name).py".split(separator: " ").map(String.init)
      return Subject(
        name: "\(name)-client",
        words: ["client", "--websocket", "--"] + program + ["connect", "{url}"], cases: cases)
    }
  }

  private static let pahoC = "-h 127.0.0.1 -p {port} -t {topic} -q {qos} -V {version}"

  private static let subjects: [Subject] = [
    .client("paho-mqtt", agent: "paho"),
    .client("gmqtt", agent: "gmqtt"),
    .client("aiomqtt", agent: "aiomqtt"),
    // It publishes one message: whether anything shows that it knows the Maximum QoS by then is a matter of microseconds.
    .client(
      "paho-c", "paho_c_pub \(pahoC) -m {payload}", "paho_c_sub \(pahoC) -k {keepalive}",
      cases: ["deliver", "malformed", "publish"]),
    Subject(
      name: "amqtt",
      words: [
        "broker", "--launch",
        "env PATH=\(package)/.build/venv/bin:$PATH \(package)/Tests/Field/amqtt.sh {port}",
      ],
      cases: ["filter-not-utf-8", "ping", "publish-qos-3"]),
    Subject(
      name: "rabbitmq",
      words: ["broker", "--launch", "\(package)/Tests/Field/rabbitmq.sh {port}"],
      cases: ["connect-reserved-flag", "ping", "second-connect"]),
    .server("websockets", ["frame-unmasked", "request-missing"]),
    .server("aiohttp", ["extension-malformed", "frame-unmasked", "request-old-http"]),
    .server(
      "tornado",
      ["close-codes-invalid", "extension-malformed", "frame-unmasked", "request-old-http"]),
    .server("wsproto", ["extension-malformed", "frame-unmasked", "request-old-http"]),
    .connecting("websockets", ["close-codes-invalid", "frame-masked"]),
    .connecting(
      "aiohttp",
      [
        "answer-extension-malformed", "answer-extension-unasked", "answer-subprotocol-unasked",
        "frame-masked",
      ]),
    .connecting(
      "tornado", ["answer-subprotocol-unasked", "close-codes-invalid", "frame-masked"]),
    .connecting("wsproto", ["close-codes-invalid", "frame-masked"]),
  ]

  private let directory = Scratch()

  /// The clauses that were seen to fail by one of the cases.
  private func known(_ subject: Subject) throws -> Set<String> {
    let file = URL(filePath: "\(Self.package)/Recordings/field/\(subject.name)/found.json")
    guard
      case .object(let failed)? = JSONValue(parsing: Array(try Data(contentsOf: file)))?["failed"]
    else {
      throw CocoaError(.fileReadCorruptFile)
    }
    let shown = failed.filter { clause in
      let run = clause.value.text ?? ""
      return subject.cases.contains(String(run.prefix { $0 != "." }))
    }
    return Set(shown.map(\.key))
  }

  @Test("A few cases find of each what all of them found", arguments: subjects)
  func failsWhatIsKnown(_ subject: Subject) async throws {
    // The options stand in front of the command that follows `--`.
    let cut = subject.words.firstIndex(of: "--") ?? subject.words.endIndex
    let options = ["--case", subject.cases.sorted().joined(separator: ","), "--format", "json"]
    let run = try await DrivenRun(
      subject.words[..<cut] + options + subject.words[cut...], in: directory)
    let known = try known(subject)
    #expect(run.status == (known.isEmpty ? 0 : 1), "\(run.errors)")
    #expect(run.failed == known)
    #expect(run.clauses("passed").count >= 5)
  }
}
