import LiveClient
import RepriseCore
import TestSupport
import Testing

/// TLS, and every way in which it must not work.
@Suite struct TLSTests {
  private let certificates: Certificates

  init() async throws { certificates = try await Certificates() }

  private func outcome(
    _ broker: Broker, host: String = "localhost", _ tls: TLSOptions
  ) async throws -> String {
    let client = try TestClient("mqtts://\(host):\(broker.port)", tls: tls)
    try await client.perform(.connect(ConnectOptions()))
    switch try await client.event() {
    case .connected:
      try await client.subscribe("a")
      let payload = [UInt8](repeating: 9, count: 100_000)
      try await client.publish("a", payload)
      #expect(try await client.message().payload == payload)
      try await client.disconnect()
      return "connected"
    case .closed(.lost(let text)), .closed(.unreached(let text, _)): return text
    case let other: return "\(other)"
    }
  }

  @Test(arguments: ["localhost", "127.0.0.1"]) func trustsTheAuthority(_ host: String) async throws
  {
    let tls = TLSOptions(authorityFile: certificates.authority)
    #expect(try await outcome(certificates.broker("server"), host: host, tls) == "connected")
  }

  @Test func trustsNoOtherAuthority() async throws {
    let broker = try await certificates.broker("server")
    for tls in [TLSOptions(authorityFile: certificates.otherAuthority), TLSOptions()] {
      let text = try await outcome(broker, tls)
      #expect(text.contains("not trusted"), "\(text)")
    }
    let careless = TLSOptions(
      authorityFile: certificates.otherAuthority, verifiesCertificate: false)
    #expect(try await outcome(broker, careless) == "connected")
  }

  @Test func trustsNoOtherHost() async throws {
    let broker = try await certificates.broker("wrong")
    let text = try await outcome(broker, TLSOptions(authorityFile: certificates.authority))
    #expect(text.contains("not for the host localhost"), "\(text)")
    let careless = TLSOptions(
      authorityFile: certificates.authority, verifiesHostName: false)
    #expect(try await outcome(broker, careless) == "connected")
  }

  @Test func showsAClientCertificate() async throws {
    let broker = try await certificates.broker("server", ["require_certificate true"])
    var tls = TLSOptions(authorityFile: certificates.authority)
    let text = try await outcome(broker, tls)
    // The alert is lost when the server closes before our CONNECT comes.
    #expect(text.contains("certificate required") || text.contains("client certificate"), "\(text)")
    tls.certificateFile = certificates.certificate("client")
    tls.keyFile = certificates.key("client")
    #expect(try await outcome(broker, tls) == "connected")
  }

  @Test func tellsOfAServerWithoutTLS() async throws {
    let tls = TLSOptions(authorityFile: certificates.authority)
    #expect(try await outcome(Broker(), tls) != "connected")
    let secure = try await certificates.broker("server")
    let client = TestClient(
      try MosquittoClient(url: "mqtt://localhost:\(secure.port)"), broker: secure)
    guard case .lost? = try await client.failure() else {
      Issue.record("not lost")
      return
    }
  }

  @Test(arguments: [0, 5, 100]) func endsWhenTheServerLeavesTheHandshake(_ count: Int) async throws
  {
    let server = try ScriptedServer { socket in _ = socket.read(count) }
    let tls = TLSOptions(authorityFile: certificates.authority)
    let client = try TestClient("mqtts://localhost:\(server.port)", tls: tls)
    for keepAlive: UInt16 in [0, 60] {
      guard case .unreached? = try await client.failure(ConnectOptions(keepAlive: keepAlive)) else {
        Issue.record("reached")
        return
      }
    }
  }

  /// What is wrong with a file of our own is no fault of the server.
  @Test func tellsWhichFileIsBad() async throws {
    let broker = try await certificates.broker("server")
    try certificates.directory.write("no certificate", to: "bad.pem")
    let bad = certificates.directory.file("bad.pem")
    try await Child.run([
      "openssl", "ec", "-in", certificates.key("client"), "-aes256", "-passout", "pass:secret",
      "-out", certificates.directory.file("locked.key"),
    ])
    var tls = TLSOptions(authorityFile: bad)
    var text = try await outcome(broker, tls)
    #expect(text.contains(bad) && text.hasSuffix("; correct the file"), "\(text)")
    tls = TLSOptions(
      authorityFile: certificates.authority, certificateFile: certificates.certificate("client"))
    for key in [bad, certificates.key("locked")] {
      tls.keyFile = key
      text = try await outcome(broker, tls)
      #expect(
        text.contains(key) && text.hasSuffix("; correct the file, and leave it no password"),
        "\(text)")
    }
    tls.keyFile = certificates.key("server")
    text = try await outcome(broker, tls)
    #expect(text.hasSuffix("; give the key of the client's own certificate"), "\(text)")
    (tls.certificateFile, tls.keyFile) = (bad, certificates.key("client"))
    text = try await outcome(broker, tls)
    #expect(text.contains(bad) && text.hasSuffix("; correct the file"), "\(text)")
  }

  /// A directory has its certificates under the hashes of their names.
  @Test func trustsADirectoryOfAuthorities() async throws {
    let broker = try await certificates.broker("server")
    let trusted = Scratch()
    let tls = TLSOptions(authorityDirectory: trusted.path)
    let text = try await outcome(broker, tls)
    #expect(text.contains("not trusted"), "\(text)")
    try await Child.run(["cp", certificates.authority, trusted.file("ca.pem")])
    try await Child.run(["openssl", "rehash", trusted.path])
    #expect(try await outcome(broker, tls) == "connected")
  }

  @Test func refusesFilesThatAreNotThere() throws {
    let missing = TLSOptions(authorityFile: "/nowhere/ca.pem")
    let half = TLSOptions(
      authorityFile: certificates.authority, certificateFile: certificates.certificate("client"))
    for tls in [missing, half] {
      #expect(throws: DataClientError.self) {
        try MosquittoClient(url: "mqtts://localhost", tls: tls)
      }
    }
  }
}
