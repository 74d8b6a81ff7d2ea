import Foundation
import Glibc
import RepriseCore
import TestSupport
import Testing

/// `reprise replay serve` and `reprise replay drive`: with each other, with mosquitto, and with mosquitto's own programs.
@Suite struct ReplaySessionTests {
  private let directory = Scratch()

  private static func recording(_ name: String) -> String {
    PackageFolder.path("Recordings/\(name)")
  }

  /// A recorded server that waits for clients.
  private struct Server {
    let command: RunningCommand
    let port: String

    init(_ words: [String], in directory: Scratch) async throws {
      command = try RunningCommand(
        ["replay", "serve"] + words + ["--listen", "127.0.0.1:0"], in: directory)
      let text = "listening on 127.0.0.1:"
      try await command.tells(text)
      port = String(
        command.errors.split(separator: text).last?.prefix { $0.isNumber } ?? "0")
    }

    /// The end: the status, and the lines that it wrote.
    func end() async throws -> (status: Int32, output: String) {
      (try await command.wait(), command.text)
    }
  }

  // MARK: Both ends

  /// All captures and recordings whose connections of MQTT are whole.
  static let sessions = [
    "account-bind", "account-bind/session.jsonl", "keep-alive-expired", "keep-alive-ping",
    "large-payload", "mqtt-over-websocket", "non-ascii-topics", "protocol-v31",
    "publisher-redelivery-v311", "qos-levels-v311", "qos-levels-v5", "rabbitmq-sessions-v311",
    "rabbitmq-topics-v311", "refused-connections", "request-response-v5",
    "retained-set-and-cleared", "session-expiry-v5", "session-resumption-v311",
    "session-taken-over", "subscription-options-v5", "wildcards-and-unsubscribe",
    "will-on-lost-connection", "wills-and-groups-v5",
  ]

  @Test("Both ends of a session go through it together", arguments: sessions, ["tcp", "websocket"])
  func bothEnds(session: String, carrier: String) async throws {
    let file = Self.recording(session)
    let server = try await Server([file, "--speed", "max"], in: directory)
    let url =
      carrier == "tcp" ? "mqtt://127.0.0.1:\(server.port)" : "ws://127.0.0.1:\(server.port)/mqtt"
    let client = try await RunningCommand.run(
      ["replay", "drive", file, url, "--speed", "max"], in: directory)
    let served = try await server.end()
    #expect(client.status == 0, "\(client.output)\(client.errors)")
    #expect(served.status == 0, "\(served.output)\(server.command.errors)")
    let shown = Set(client.output.withoutTimes)
    #expect(shown.count > 1)
    // Pings are answered as they come, and are no lines of the server.
    let all = Set(served.output.withoutTimes)
    #expect(shown.filter { !$0.contains("PINGREQ") } == all)
  }

  // MARK: A live server

  /// Sessions that a fresh mosquitto repeats.
  @Test(
    "A fresh mosquitto does what it did",
    arguments: [
      "large-payload", "non-ascii-topics", "protocol-v31", "qos-levels-v311", "qos-levels-v5",
      "request-response-v5", "retained-set-and-cleared", "session-taken-over",
      "subscription-options-v5", "wildcards-and-unsubscribe", "session-resumption-v311",
    ])
  func drivesMosquitto(session: String) async throws {
    let broker = try await Broker()
    let run = try await RunningCommand.run(
      ["replay", "drive", Self.recording(session), broker.url, "--speed", "max"], in: directory)
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    await broker.stop()
  }

  @Test("A server that sends something else diverges at the place")
  func mosquittoDiverges() async throws {
    let broker = try await Broker()
    let file = directory.file("other.jsonl")
    let capture = Self.recording("qos-levels-v311")
    _ = try await RunningCommand.run(
      ["convert", capture + "/capture.pcap", "-o", file], in: directory)
    // In the session the server delivers something else.
    var lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(
      String.init)
    let place = try #require(
      lines.firstIndex { $0.contains(#""from":"server""#) && $0.contains(#"{"utf8":"2.4"}"#) })
    lines[place] = lines[place].replacing(#"{"utf8":"2.4"}"#, with: #"{"utf8":"2.5"}"#)
    try directory.write(lines.joined(separator: "\n") + "\n", to: "other.jsonl")
    let run = try await RunningCommand.run(
      ["replay", "drive", file, broker.url, "--speed", "max"], in: directory)
    #expect(run.status == 1)
    #expect(run.output.contains("the replay diverged: the session has another action here\n"))
    #expect(run.output.contains("  at:       frame \(place + 1), connection "))
    #expect(run.output.contains("  differs:  payload: expected 2.5, actual 2.4\n"))
    #expect(run.output.contains("  next:     reprise inspect \(file) --filter 'connection == "))
    await broker.stop()
  }

  @Test("Nobody at the address is no divergence")
  func unreachable() async throws {
    let port = try Socket.freePort()
    let run = try await RunningCommand.run(
      ["replay", "drive", Self.recording("qos-levels-v311"), "mqtt://127.0.0.1:\(port)"],
      in: directory)
    #expect(run.status == 2)
    #expect(run.output == "")
    #expect(
      run.errors
        == "reprise: mqtt://127.0.0.1:\(port): can't be reached: Connection refused; check whether "
        + "a server runs there\n")
  }

  // MARK: Clients of others

  @Test("mosquitto's programs do what they did", arguments: ["qos-levels-v311", "qos-levels-v5"])
  func servesMosquittosPrograms(session: String) async throws {
    let server = try await Server([Self.recording(session), "--speed", "max"], in: directory)
    let is5 = session == "qos-levels-v5"
    let version = is5 ? "mqttv5" : "mqttv311"
    func words(_ program: String, _ rest: [String]) -> [String] {
      [program, "-h", "127.0.0.1", "-p", server.port, "-V", version] + rest
    }
    let subscriber = try Child(
      words(
        "mosquitto_sub",
        ["-i", "dashboard", "-q", "2", "-t", "plant/boiler/#", "-C", is5 ? "3" : "4"]
          + (is5
            ? [
              "-D", "subscribe", "subscription-identifier", "42", "-D", "connect",
              "receive-maximum", "5",
            ]
            : [])))
    try await server.command.prints("SUBACK")
    let levels =
      is5
      ? [
        [
          "-i", "sensor-0", "-q", "0", "-t", "plant/boiler/temperature", "-m", "71.5",
          "-D", "publish", "payload-format-indicator", "1", "-D", "publish", "content-type",
          "text/plain",
        ],
        [
          "-i", "sensor-1", "-q", "1", "-t", "plant/boiler/pressure", "-m", "2.4",
          "-D", "publish", "message-expiry-interval", "300",
          "-D", "publish", "user-property", "unit", "bar", "-D", "publish", "user-property", "unit",
          "kPa",
        ],
        [
          "-i", "sensor-2", "-q", "2", "-t", "plant/boiler/alarm", "-m",
          #"{"level":"high","code":17}"#,
          "-D", "publish", "response-topic", "plant/boiler/alarm/seen",
          "-D", "publish", "correlation-data", "0017",
        ],
        [
          "-i", "sensor-3", "-q", "1", "-t", "plant/unheard", "-m", "nobody listens",
          "-D", "disconnect", "reason-string", "shift over",
        ],
      ]
      : [
        ["-i", "sensor-0", "-q", "0", "-t", "plant/boiler/temperature", "-m", "71.5"],
        ["-i", "sensor-1", "-q", "1", "-t", "plant/boiler/pressure", "-m", "2.4"],
        [
          "-i", "sensor-2", "-q", "2", "-t", "plant/boiler/alarm", "-m",
          #"{"level":"high","code":17}"#,
        ],
        ["-i", "sensor-2", "-q", "2", "-t", "plant/boiler/alarm", "-n"],
      ]
    for level in levels { _ = try await Child(words("mosquitto_pub", level)).wait() }
    let heard = await subscriber.wait()
    let served = try await server.end()
    #expect(heard == 0)
    #expect(
      subscriber.text.split(separator: "\n").prefix(3) == [
        "71.5", "2.4", #"{"level":"high","code":17}"#,
      ])
    #expect(served.status == 0, "\(served.output)")
    #expect(served.output.contains("\n# the session ends: 5 connections, "))
    // What is delivered comes of what is published: not before it, though nothing else is waited for.
    for level in ["temperature", "pressure", "alarm"] {
      let lines = served.output.split(separator: "\n")
      let published = lines.firstIndex { $0.contains("→ PUBLISH     plant/boiler/\(level)") }
      let delivered = lines.firstIndex { $0.contains("← PUBLISH     plant/boiler/\(level)") }
      #expect(try #require(published) < #require(delivered))
    }
  }

  /// What mosquitto_pub does in the place of connection 3, which publishes 2.4 by QoS 1.
  static let others: [(words: [String], differs: String)] = [
    (
      ["-i", "sensor-1", "-q", "1", "-t", "plant/boiler/level", "-m", "2.4"],
      "topic level 3: expected pressure, actual level"
    ),
    (
      ["-i", "sensor-1", "-q", "1", "-t", "plant/boiler/pressure", "-m", "2.5"],
      "payload: expected 2.4, actual 2.5"
    ),
    (
      ["-i", "sensor-1", "-q", "0", "-t", "plant/boiler/pressure", "-m", "2.4"],
      "qos: expected 1, actual 0"
    ),
    (
      ["-i", "sensor-x", "-q", "1", "-t", "plant/boiler/pressure", "-m", "2.4"],
      "clientID: expected sensor-1, actual sensor-x"
    ),
  ]

  @Test("A client that does something else diverges", arguments: others)
  func clientDiverges(words: [String], differs: String) async throws {
    let server = try await Server(
      [Self.recording("qos-levels-v311"), "--connection", "3", "--speed", "max"], in: directory)
    let client = try Child(
      ["mosquitto_pub", "-h", "127.0.0.1", "-p", server.port, "-V", "mqttv311"] + words)
    let served = try await server.end()
    client.send(SIGKILL)
    #expect(served.status == 1)
    #expect(served.output.contains("  differs:  \(differs)\n"), "\(served.output)")
  }

  @Test("A client that is started and diverges still comes to its own end")
  func leavesAClientItsEnd() async throws {
    let file = directory.file("told.txt")
    // The shell goes on when its first program has gone; nothing is waited for, so that stopping it would be first.
    let text =
      "mosquitto_pub -h 127.0.0.1 -p {port} -V mqttv311 -i sensor-1 -q 1 -t plant/boiler/pressure -m 2.5;"
      + " mosquitto_pub --help > /dev/null; echo done > \(file)"
    let run = try await RunningCommand.run(
      [
        "replay", "serve", Self.recording("qos-levels-v311"), "--connection", "3", "--speed", "max",
        "--", "sh", "-c", text,
      ], in: directory)
    #expect(run.status == 1, "\(run.output)\(run.errors)")
    #expect(run.output.contains("  differs:  payload: expected 2.4, actual 2.5\n"))
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "done\n")
  }

  @Test("A client that never ends is stopped", .timeLimit(.minutes(5)))
  func stopsAClient() async throws {
    let pipe = directory.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    // What reads comes to an end when all who could write are gone.
    let reader = try Child(["cat", pipe])
    let text =
      "exec 3> \(pipe); mosquitto_pub -h 127.0.0.1 -p {port} -V mqttv311 -i sensor-1 -t a -m 2.5; sleep 600"
    let run = try await RunningCommand.run(
      [
        "replay", "serve", Self.recording("qos-levels-v311"), "--connection", "3", "--speed", "max",
        "--", "sh", "-c", text,
      ], in: directory)
    #expect(run.status == 1 && run.output.contains("the replay diverged: "))
    #expect(await reader.wait() == 0)
  }

  @Test("A client that is started is one that is served")
  func startsAClient() async throws {
    let run = try await RunningCommand.run(
      [
        "replay", "serve", Self.recording("qos-levels-v311"), "--connection", "3", "--speed", "max",
        "--", "mosquitto_pub", "-p", "{port}", "-V", "mqttv311", "-i", "sensor-1", "-q", "1", "-t",
        "plant/boiler/pressure", "-m", "2.4",
      ], in: directory)
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    #expect(run.errors == "")
    let ended = try await RunningCommand.run(
      [
        "replay", "serve", Self.recording("qos-levels-v311"), "--connection", "3", "--", "false",
        "{port}",
      ], in: directory)
    #expect(ended.status == 1)
    #expect(
      ended.output.contains(
        "  actual:   the command ended with status 1 before it had sent a CONNECT\n"))
  }

  @Test("Lines for programs are those of inspect, and tell the end or the divergence")
  func writesJSON() async throws {
    let words = [
      "replay", "serve", Self.recording("qos-levels-v311"), "--connection", "3", "--speed", "max",
      "--format", "jsonl", "--", "mosquitto_pub", "-p", "{port}", "-V", "mqttv311", "-i",
      "sensor-1", "-q", "1", "-t", "plant/boiler/pressure", "-m",
    ]
    let run = try await RunningCommand.run(words + ["2.4"], in: directory)
    let lines = run.output.split(separator: "\n").map { JSONValue(parsing: Array($0.utf8)) }
    #expect(
      lines.map { $0?["type"]?.text } == [
        "CONNECT", "CONNACK", "PUBLISH", "PUBACK", "DISCONNECT", "end",
      ])
    #expect(lines.prefix(5).map { $0?["frame"]?.integer } == [27, 29, 31, 33, 34])
    #expect(lines.last??["packets"]?.integer == 5)
    let other = try await RunningCommand.run(words + ["9"], in: directory)
    let last = try #require(
      other.output.split(separator: "\n").last.flatMap { JSONValue(parsing: Array($0.utf8)) })
    #expect(other.status == 1)
    #expect(last["type"]?.text == "divergence" && last["frame"]?.integer == 31)
    #expect(last["differences"]?.elements?.map { $0["place"]?.text } == ["payload"])
  }

  @Test("A part of a session is replayed, and a damaged one is not")
  func replaysParts() async throws {
    let file = Self.recording("keep-alive-ping")
    let server = try await Server([file, "--speed", "max", "--from", "+1s"], in: directory)
    let client = try await RunningCommand.run(
      [
        "replay", "drive", file, "mqtt://127.0.0.1:\(server.port)", "--speed", "max", "--from",
        "+1s",
      ], in: directory)
    #expect(client.status == 0, "\(client.output)\(client.errors)")
    #expect(try await server.end().status == 0)
    let field = "field/amqtt/remaining-length.v311.1.pcapng"
    let damaged = try await RunningCommand.run(
      ["replay", "drive", Self.recording(field), "mqtt://127.0.0.1:1"], in: directory)
    #expect(damaged.status == 2 && damaged.output == "")
    #expect(
      damaged.errors.contains(": the remaining length does not end within four bytes at frame 6, "))
  }

  @Test("Both ends go through a session by TLS", arguments: ["mqtts", "wss"])
  func secure(scheme: String) async throws {
    let file = Self.recording("qos-levels-v5")
    let path = scheme == "wss" ? "/mqtt" : ""
    let run = try await RunningCommand.run(
      [
        "replay", "serve", file, "--speed", "max", "--", RunningCommand.path, "replay", "drive",
        file, "\(scheme)://localhost:{port}\(path)", "--ca-file", "{ca}", "--speed", "max",
      ], in: directory)
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    #expect(run.output.contains("\n# the session ends: 5 connections, "))
  }

  @Test("A server that asks for a password gets the one that was typed")
  func showsCredentials() async throws {
    let folder = Scratch()
    try folder.write("hush\n", to: "password")
    _ = try await Child.run([
      "mosquitto_passwd", "-b", "-c", folder.file("users"), "operator", "hush",
    ])
    let broker = try await Broker(
      ["allow_anonymous false", "password_file \(folder.file("users"))"], directory: folder)
    let words = [
      "replay", "drive", Self.recording("qos-levels-v311"), broker.url, "--speed", "max",
      "--connection", "3",
    ]
    let none = try await RunningCommand.run(words, in: directory)
    #expect(none.status == 1)
    #expect(none.output.contains("  differs:  reasonCode: expected 0, actual 5\n"))
    #expect(
      none.output.contains(
        "  or:       if the server wants a password: add --username NAME --password-file FILE\n"))
    let some = try await RunningCommand.run(
      words + ["--username", "operator", "--password-file", folder.file("password")], in: directory)
    #expect(some.status == 0, "\(some.output)\(some.errors)")
    await broker.stop()
  }

  @Test("Ctrl-C ends a server that waits")
  func isInterrupted() async throws {
    let server = try await Server([Self.recording("qos-levels-v311")], in: directory)
    #expect(try await server.command.stop(SIGINT) == 130)
  }

  @Test("A server that loops serves again")
  func loops() async throws {
    let server = try await Server(
      [Self.recording("qos-levels-v311"), "--connection", "3", "--speed", "max", "--loop"],
      in: directory)
    for round in 1...2 {
      let client = try await RunningCommand.run(
        [
          "replay", "drive", Self.recording("qos-levels-v311"), "--connection", "3", "--speed",
          "max",
          "mqtt://127.0.0.1:\(server.port)",
        ], in: directory)
      #expect(client.status == 0, "\(client.output)\(client.errors)")
      try await server.command.prints("DISCONNECT", times: round)
    }
    #expect(try await server.command.stop(SIGINT) == 130)
  }
}
