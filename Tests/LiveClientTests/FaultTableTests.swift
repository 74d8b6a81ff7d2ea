import DeviceSDK
import Glibc
import LiveClient
import RepriseCore
import TestSupport
import Testing

/// What goes wrong with a live connection, and the one error that says so and what to do.
@Suite struct FaultTableTests {
  typealias Version = MosquittoClient.Version

  /// Opens a connection that must fail.
  /// - Returns: Why, in words.
  private func failure(
    _ url: String, _ version: Version = .v3_1_1, _ tls: TLSOptions = TLSOptions(),
    _ options: ConnectOptions = ConnectOptions()
  ) async throws -> String {
    let client = try TestClient(url, version: version, tls: tls)
    let why = try #require(try await client.failure(options))
    // The channel says the same, with its class.
    let channel = try await channelError(url, version, tls, options)
    let kinds: [ChannelError.Kind] =
      if case .refused = why { [.login, .gateway] } else { [.network] }
    #expect(kinds.contains(channel.kind) && channel.message.contains("\(why)"), "\(channel)")
    return "\(why)"
  }

  /// The first error that a channel tells of a connection that must fail.
  private func channelError(
    _ url: String, _ version: Version, _ tls: TLSOptions, _ options: ConnectOptions
  ) async throws -> ChannelError {
    var configuration = try LiveChannel.configuration()
    configuration.reconnect = BackOff(first: .seconds(3_600), longest: .seconds(3_600))
    configuration.identity = try ChannelIdentity(
      productKey: "pk", deviceName: "dn", password: options.password)
    let client = try MosquittoClient(url: url, version: version, tls: tls)
    return try await withChannel(on: client, configuration: configuration) { channel in
      let changes = channel.stateChanges
      channel.startConnect()
      for await change in changes {
        if let error = change.error { return error }
      }
      throw Child.Failure(description: "no error")
    }
  }

  private func expect(_ text: String, _ parts: String...) {
    for part in parts { #expect(text.contains(part), "\(text)") }
    #expect(!text.contains("\n") && !text.hasSuffix("."), "\(text)")
  }

  @Test func theBrokerIsNotThere() async throws {
    let port = try Socket.freePort()
    expect(
      try await failure("mqtt://127.0.0.1:\(port)"), "127.0.0.1 port \(port)",
      "Connection refused", "; start the server, or correct host and port")
  }

  @Test func theNameDoesNotResolve() async throws {
    expect(
      try await failure("mqtt://no-such-host.invalid"), "no-such-host.invalid port 1883",
      "; correct the host's name")
  }

  @Test(
    arguments: [
      (1, "unacceptable protocol version (code 1); connect with another version of MQTT"),
      (2, "identifier rejected (code 2); choose another client identifier"),
      (3, "server unavailable (code 3); try again later"),
      (4, "bad user name or password (code 4); correct user name and password"),
      (5, "not authorized (code 5); correct user name and password, or ask who runs the server"),
    ] as [(UInt8, String)])
  func theServerRefuses(_ code: UInt8, _ text: String) async throws {
    let server = try ScriptedServer { socket in
      _ = socket.readPacket()
      socket.write([0x20, 2, 0, code])
    }
    #expect(
      try await failure("mqtt://127.0.0.1:\(server.port)")
        == "the server refused the connection: \(text)")
  }

  @Test(
    arguments: [
      (0x80, "unspecified error"), (0x81, "malformed packet"), (0x82, "protocol error"),
      (0x83, "implementation specific error"), (0x84, "unsupported protocol version"),
      (0x85, "client identifier not valid"), (0x86, "bad user name or password"),
      (0x87, "not authorized"), (0x88, "server unavailable"), (0x89, "server busy"),
      (0x8A, "banned"), (0x8C, "bad authentication method"), (0x90, "topic name invalid"),
      (0x95, "packet too large"), (0x97, "quota exceeded"), (0x99, "payload format invalid"),
      (0x9A, "retain not supported"), (0x9B, "QoS not supported"), (0x9C, "use another server"),
      (0x9D, "server moved"), (0x9F, "connection rate exceeded"),
    ] as [(UInt8, String)])
  func theServerRefusesUnderVersion5(_ code: UInt8, _ meaning: String) async throws {
    let server = try ScriptedServer { socket in
      _ = socket.readPacket()
      socket.write([0x20, 3, 0, code, 0])
    }
    let number = "0x\(String(code, radix: 16, uppercase: true))"
    expect(
      try await failure("mqtt://127.0.0.1:\(server.port)", .v5_0),
      "the server refused the connection: \(meaning) (code \(number)); ")
  }

  @Test(arguments: Version.allCases) func thePasswordIsWrong(_ version: Version) async throws {
    let directory = Scratch()
    try await Child.run(["mosquitto_passwd", "-b", "-c", directory.file("users"), "dn&pk", "right"])
    let broker = try await Broker([
      "allow_anonymous false", "password_file \(directory.file("users"))",
    ])
    let options = ConnectOptions(username: "dn&pk", password: [UInt8]("wrong-secret".utf8))
    let text = try await failure(broker.url, version, TLSOptions(), options)
    expect(text, "not authorized (code \(version == .v5_0 ? "0x87" : "5")); correct ")
    #expect(!text.contains("secret"))
  }

  @Test func theAuthorityOrTheHostIsWrong() async throws {
    let certificates = try await Certificates()
    let trusted = try await certificates.broker("server")
    expect(
      try await failure(
        "mqtts://localhost:\(trusted.port)", .v3_1_1,
        TLSOptions(authorityFile: certificates.otherAuthority)), "not trusted",
      "; trust the authority that issued it")
    let wrong = try await certificates.broker("wrong")
    expect(
      try await failure(
        "mqtts://localhost:\(wrong.port)", .v3_1_1,
        TLSOptions(authorityFile: certificates.authority)), "not for the host localhost",
      "; connect by a name that stands in it")
  }

  @Test(arguments: [[], [0x30, 2, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF]] as [[UInt8]])
  func theServerSpeaksSomethingElse(_ answer: [UInt8]) async throws {
    let server = try ScriptedServer { socket in
      _ = socket.readPacket()
      socket.write(answer)
    }
    expect(
      try await failure("mqtt://127.0.0.1:\(server.port)"), "127.0.0.1 port \(server.port): ",
      "; see whether ", "MQTT")
  }

  @Test(arguments: Version.allCases) func theBrokerIsKilled(_ version: Version) async throws {
    let broker = try await Broker()
    let client = try await TestClient.connected(broker, version: version)
    await broker.stop(SIGKILL)
    let event = try await client.event()
    // The system ends the connections of a process in good order.
    guard case .closed(.byServer(code: nil, let text)) = event else {
      Issue.record("\(event)")
      return
    }
    expect(text, "127.0.0.1 port \(broker.port): ", "; connect again")
    #expect(await client.refusal(.publish(Message(topic: "a", payload: []))) == .notConnected)
  }
}
