import TestSupport
import Testing

/// A broker of a test's own that speaks MQTT without TLS, with it, by WebSocket in it, and with a pre-shared key, and
/// that has one message for who subscribes to `keys/#`.
struct SecureBroker {
  /// A way to it that TLS is on.
  enum Way: Sendable, CaseIterable {
    case tcp, webSocket, sharedKey
  }

  /// A version of TLS, the latest that a broker speaks.
  enum Version: Sendable, CaseIterable {
    case v1_2, v1_3
  }

  /// The pre-shared key, and whom it is for.
  static let sharedKey = "00112233445566778899aabbccddeeff"
  static let identity = "device"

  let broker: Broker
  let certificates: Certificates
  private let ports: [Way: UInt16]

  /// Starts it.
  /// - Parameters:
  ///   - version: The latest version of TLS; for pre-shared keys it is 1.2 in any case.
  ///   - certificate: The name of its certificate.
  ///   - settings: What its listeners for TLS by certificates are told besides.
  ///   - sharedSettings: What the one by a pre-shared key is told besides.
  /// - Throws: What keeps it from running.
  init(
    _ version: Version = .v1_3, certificate: String = "server", settings: [String] = [],
    sharedSettings: [String] = []
  ) async throws {
    certificates = try await Certificates()
    let directory = Scratch()
    try directory.write("\(Self.identity):\(Self.sharedKey)\n", to: "psk")
    // What mosquitto itself can be told is the earliest version.
    try directory.write(
      """
      openssl_conf = settings
      [settings]
      ssl_conf = contexts
      [contexts]
      system_default = limits
      [limits]
      MaxProtocol = TLSv1.2

      """, to: "openssl.cnf")
    let secure =
      [
        "cafile \(certificates.authority)", "certfile \(certificates.certificate(certificate))",
        "keyfile \(certificates.key(certificate))",
      ] + settings
    var ports: [Way: UInt16] = [:]
    for way in Way.allCases { ports[way] = try Socket.freePort() }
    func listener(_ way: Way) -> String { "listener \(ports[way] ?? 0) 127.0.0.1" }
    broker = try await Broker(
      ["allow_anonymous true", listener(.tcp)] + secure
        + [listener(.webSocket), "protocol websockets"] + secure
        + [listener(.sharedKey), "psk_hint reprise", "use_identity_as_username true"]
        + sharedSettings,
      globals: ["psk_file \(directory.file("psk"))"], directory: directory,
      environment: version == .v1_2 ? ["OPENSSL_CONF=\(directory.file("openssl.cnf"))"] : [])
    self.ports = ports
    try await Child.run([
      "mosquitto_pub", "-p", "\(broker.port)", "-r", "-q", "1", "-t", "keys/state",
      "-m", #"{"on":true}"#,
    ])
  }

  /// The port of a way.
  func port(_ way: Way) throws -> UInt16 { try #require(ports[way]) }

  /// The URL of a way, at a port of its own or that of a proxy.
  func url(_ way: Way, at port: UInt16? = nil) throws -> String {
    let place = "localhost:\(try port ?? self.port(way))"
    return way == .webSocket ? "wss://\(place)/mqtt" : "mqtts://\(place)"
  }

  /// What is typed to record so many messages, of which it has one.
  func recording(
    _ url: String, to path: String, _ words: [String] = [], count: Int = 1
  ) -> [String] {
    [
      "record", "client", url, "--client-id", "keys", "--topic", "keys/#", "--count", "\(count)",
      "-o", path,
    ] + words
  }

  /// What is typed to trust its certificate.
  var trust: [String] { ["--ca-file", certificates.authority] }

  /// What is typed to share its key.
  static let sharing = ["--psk-identity", identity, "--psk", sharedKey]

  /// What is typed to be on terms with it on a way.
  func terms(_ way: Way) -> [String] { way == .sharedKey ? Self.sharing : trust }
}
