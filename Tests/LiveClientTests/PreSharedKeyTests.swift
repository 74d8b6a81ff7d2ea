import Foundation
import LiveClient
import RepriseCore
import TestSupport
import Testing

/// TLS by a key that client and broker share, and every way in which it must not work.
@Suite struct PreSharedKeyTests {
  private static let key: [UInt8] = (0...15).map { $0 * 0x11 }
  private static let right = PreSharedKey(identity: SecureBroker.identity, key: key)

  /// Connects, sends itself a message and goes.
  /// - Returns: `connected`, or why there was no connection.
  private func outcome(_ port: UInt16, _ shared: PreSharedKey) async throws -> String {
    let client = try TestClient(
      "mqtts://localhost:\(port)", tls: TLSOptions(preSharedKey: shared))
    try await client.perform(.connect(ConnectOptions()))
    switch try await client.event() {
    case .connected:
      try await client.subscribe("a")
      try await client.publish("a", [7])
      #expect(try await client.message().payload == [7])
      try await client.disconnect()
      return "connected"
    case .closed(.lost(let text)), .closed(.unreached(let text, _)): return text
    case let other: return "\(other)"
    }
  }

  @Test(arguments: SecureBroker.Version.allCases)
  func connectsByTheKeyThatTheBrokerHas(_ version: SecureBroker.Version) async throws {
    let broker = try await SecureBroker(version)
    let port = try broker.port(.sharedKey)
    #expect(try await outcome(port, Self.right) == "connected")
    var other = Self.right
    other.key[15] ^= 1
    var unknown = Self.right
    unknown.identity = "devices"
    for shared in [other, unknown] {
      let text = try await outcome(port, shared)
      #expect(text.contains("pre-shared key of \(shared.identity)"), "\(text)")
      #expect(!text.contains(SecureBroker.sharedKey.dropLast(2)), "\(text)")
    }
  }

  /// Keys begin with zeros as well, and have lengths of their own.
  @Test(arguments: [[0], [0, 0, 7], [0x10, 0], Array(repeating: 0xAB, count: 64)] as [[UInt8]])
  func takesAnyKey(_ key: [UInt8]) async throws {
    let directory = Scratch()
    let digits = key.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    try directory.write("device:\(digits)\n", to: "psk")
    let port = try Socket.freePort()
    let broker = try await Broker(
      ["allow_anonymous true", "listener \(port) 127.0.0.1", "psk_hint reprise"],
      globals: ["psk_file \(directory.file("psk"))"], directory: directory)
    #expect(try await outcome(port, PreSharedKey(identity: "device", key: key)) == "connected")
    _ = broker
  }

  /// A server that shows a certificate instead, in which nobody is asked for the key, gets not even a CONNECT.
  @Test(arguments: ["-tls1_2", "-tls1_3"])
  func tellsNothingToAServerWithoutTheKey(_ version: String) async throws {
    let certificates = try await Certificates()
    let port = try Socket.freePort()
    // It goes on as long as its input does.
    let script = "mkfifo \"$0\" && exec openssl s_server \"$@\" 0<>\"$0\""
    let server = try Child([
      "bash", "-c", script, certificates.directory.file("input"), "-accept", "127.0.0.1:\(port)",
      "-cert", certificates.certificate("server"), "-key", certificates.key("server"), version,
    ])
    try await server.wait(for: "its port") { $0.text.contains("ACCEPT") }
    let text = try await outcome(port, Self.right)
    #expect(
      text.contains(
        version == "-tls1_3"
          ? "shows a certificate and does not use the pre-shared key" : "pre-shared key of device"),
      "\(text)")
    try await server.wait(for: "the end of the handshake") { $0.text.contains("ERROR") }
    #expect(!server.text.contains("MQTT"), "\(server.text)")
  }

  @Test func refusesWhatCannotBeSent() throws {
    let url = "mqtts://localhost"
    let bad = [
      PreSharedKey(identity: "", key: [1]), PreSharedKey(identity: "a\0b", key: [1]),
      PreSharedKey(identity: String(repeating: "x", count: 129), key: [1]),
      PreSharedKey(identity: "a", key: []),
      PreSharedKey(identity: "a", key: Array(repeating: 1, count: 257)),
    ]
    for shared in bad {
      let error = #expect(throws: DataClientError.self) {
        try MosquittoClient(url: url, tls: TLSOptions(preSharedKey: shared))
      }
      #expect(error?.code == .invalidAction)
    }
    for (identity, count) in [(String(repeating: "x", count: 128), 256), ("a", 1)] {
      let shared = PreSharedKey(identity: identity, key: Array(repeating: 1, count: count))
      _ = try MosquittoClient(url: url, tls: TLSOptions(preSharedKey: shared))
    }
    let both = TLSOptions(authorityFile: "/dev/null", preSharedKey: Self.right)
    let error = #expect(throws: DataClientError.self) { try MosquittoClient(url: url, tls: both) }
    #expect(error?.message.contains("takes the place of certificates") == true)
    let webSocket = #expect(throws: DataClientError.self) {
      try WebSocketClient(url: "wss://localhost", tls: TLSOptions(preSharedKey: Self.right))
    }
    #expect(webSocket?.code == .unsupported)
  }

  @Test func isNeverShown() {
    let options = TLSOptions(preSharedKey: PreSharedKey(identity: "device", key: [201, 202, 203]))
    var dumped = ""
    dump(options, to: &dumped)
    for text in [dumped, "\(options)", String(reflecting: options)] {
      #expect(text.contains("device"))
      for byte in ["201", "202", "203", "c9"] { #expect(!text.contains(byte), "\(text)") }
    }
  }

  // MARK: The command

  /// Neither the list of processes has the key nor anything that is written.
  @Test(arguments: [false, true]) func recordsWithoutTellingTheKey(isAttached: Bool) async throws {
    let broker = try await SecureBroker()
    let directory = Scratch()
    let path = directory.file("a.jsonl")
    let words =
      isAttached
      ? ["--psk-identity=device", "--psk=\(SecureBroker.sharedKey)"] : SecureBroker.sharing
    let command = try RunningCommand(
      broker.recording(try broker.url(.sharedKey), to: path, words, count: 2), in: directory)
    try await command.tells("connected and subscribed")
    let titles = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap {
      Int($0) == nil ? nil : Child.text(of: "/proc/\($0)/cmdline")
    }.filter { $0.contains(path) }
    #expect(titles.count == 1)
    for title in titles {
      #expect(title.contains("--psk\(isAttached ? "=" : "\0")\(String(repeating: "*", count: 32))"))
      #expect(title.contains("device") && !title.contains(SecureBroker.sharedKey), "\(title)")
    }
    try await Child.run([
      "mosquitto_pub", "-p", "\(broker.broker.port)", "-q", "1", "-t", "keys/more", "-m", "1",
    ])
    #expect(try await command.wait() == 0)
    #expect(try Recorded(path).payloads == [#"{"on":true}"#, "1"])
    let told = Child.text(of: path) + command.text + command.errors
    #expect(!told.contains(SecureBroker.sharedKey))
  }

  @Test func saysWhatIsWrongWithTheKey() async throws {
    let broker = try await SecureBroker()
    let directory = Scratch()
    let path = directory.file("a.jsonl")
    let cases: [([String], SecureBroker.Way, String)] = [
      (
        ["--psk-identity", "device", "--psk", "00"], .sharedKey,
        "; check --psk-identity and --psk\n"
      ),
      (
        ["--psk-identity", "other", "--psk", "00"], .sharedKey, "; check --psk-identity and --psk\n"
      ),
      (
        SecureBroker.sharing, .tcp,
        "; leave --psk out and trust its certificate, or use the port that the key is for\n"
      ),
    ]
    for (words, way, end) in cases {
      let command = try await RunningCommand.run(
        broker.recording(try broker.url(way), to: path, words), in: directory)
      #expect(command.status == 2 && command.errors.hasSuffix(end), "\(command.errors)")
      #expect(!command.errors.contains(SecureBroker.sharedKey))
    }
  }
}
