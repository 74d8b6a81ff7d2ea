import Glibc
import TestSupport
import Testing

/// The connections of `reprise record client`, and every way in which there is none.
@Suite struct RecordConnectionTests {
  private let directory = Scratch()

  private func record(
    _ url: String, _ more: [String] = []
  ) async throws -> (status: Int32, errors: String) {
    let result = try await RunningCommand.run(
      ["record", "client", url, "-t", "#", "--duration", "1s", "-o", directory.file("a.jsonl")]
        + more, in: directory)
    if result.status != 0 {
      #expect(result.errors.count { $0 == "\n" } == 1, "\(result.errors)")
      var status = stat()
      #expect(stat(directory.file("a.jsonl"), &status) != 0)
    }
    return (result.status, result.errors)
  }

  @Test func speaksTLS() async throws {
    let certificates = try await Certificates()
    let broker = try await certificates.broker("server", ["require_certificate true"])
    let url = "mqtts://localhost:\(broker.port)"
    let client = [
      "--cert", certificates.certificate("client"), "--key", certificates.key("client"),
    ]
    let right = try await record(url, ["--ca-file", certificates.authority] + client)
    #expect(right.status == 0, "\(right.errors)")
    #expect(try Recorded(directory.file("a.jsonl")).types.contains("SUBACK"))
    unlink(directory.file("a.jsonl"))
    let without = try await record(url, ["--ca-file", certificates.authority])
    #expect(without.status == 2)
    #expect(without.errors.contains("--cert and --key"), "\(without.errors)")
  }

  @Test func trustsNobodyElse() async throws {
    let certificates = try await Certificates()
    let broker = try await Broker([
      "allow_anonymous true", "certfile \(certificates.certificate("wrong"))",
      "keyfile \(certificates.key("wrong"))",
    ])
    let url = "mqtts://localhost:\(broker.port)"
    for authority in [[], ["--ca-file", certificates.otherAuthority]] {
      let result = try await record(url, authority)
      #expect(result.status == 2)
      #expect(result.errors.contains("the server's certificate is not trusted"))
      #expect(result.errors.contains("--ca-file, or, in a test, add --insecure"))
    }
    let mismatch = try await record(url, ["--ca-file", certificates.authority])
    #expect(mismatch.status == 2)
    #expect(mismatch.errors.contains("is not for the host localhost; use the host name"))
    #expect(try await record(url, ["--insecure"]).status == 0)
  }

  @Test func showsWhoItIs() async throws {
    try await Child.run(["mosquitto_passwd", "-b", "-c", directory.file("users"), "ann", "p ü"])
    let broker = try await Broker([
      "allow_anonymous false", "password_file \(directory.file("users"))",
    ])
    try directory.write("p ü\nnot this\n", to: "right")
    try directory.write("p\n", to: "wrong")
    let wrong = try await record(
      broker.url, ["--username", "ann", "--password-file", directory.file("wrong")])
    #expect(wrong.status == 2)
    #expect(
      wrong.errors
        == "reprise: \(broker.url): the broker refuses the connection: not authorised, or a wrong "
        + "user name or password (code 5); check --username and what is in --password-file\n")
    let url = broker.url.replacing("mqtt://", with: "mqtt://ann@")
    let right = try await record(url, ["--password-file", directory.file("right")])
    #expect(right.status == 0, "\(right.errors)")
    let text = Child.text(of: directory.file("a.jsonl"))
    #expect(text.contains(#""username":"ann","password":"***""#))
    unlink(directory.file("a.jsonl"))
    let inURL = try await record(
      broker.url.replacing("mqtt://", with: "mqtt://ann:p%20%C3%BC@"), ["--show-secrets"])
    #expect(inURL.status == 0)
    #expect(inURL.errors.contains("can see the password in the URL; use --password-file"))
    let open = Child.text(of: directory.file("a.jsonl"))
    #expect(open.contains(#""password":{"utf8":"p ü"}"#))
    #expect(!open.contains("ann:p"))
  }

  @Test(arguments: [
    (1, "it does not speak this version of MQTT (code 1); try --mqtt 5.0"),
    (2, "it does not take the client identifier (code 2); give another one by --client-id"),
    (3, "it is not available now (code 3); try again later"),
    (4, "wrong user name or password (code 4); check --username"),
  ])
  func tellsWhyItIsRefused(code: UInt8, text: String) async throws {
    let server = try ScriptedServer { socket in
      _ = socket.readPacket()
      socket.write([0x20, 2, 0, code])
    }
    let result = try await record("mqtt://127.0.0.1:\(server.port)")
    #expect(result.status == 2)
    #expect(result.errors.contains(text), "\(result.errors)")
  }

  @Test func tellsOfAFilterThatIsRefused() async throws {
    let server = try ScriptedServer { socket in
      _ = socket.readPacket()
      socket.write([0x20, 2, 0, 0])
      guard let subscribe = socket.readPacket() else { return }
      socket.write([0x90, 3] + subscribe.body.prefix(2) + [0x80])
      _ = socket.readPacket()
    }
    let command = try await RunningCommand.run(
      [
        "record", "client", "mqtt://127.0.0.1:\(server.port)", "-t", "a/#", "-o",
        directory.file("a.jsonl"),
      ], in: directory)
    #expect(command.status == 2)
    #expect(command.errors.contains("does not let this user subscribe to a/#; name another"))
    #expect(try Recorded(directory.file("a.jsonl")).types.last == "CLOSE fin")
  }

  @Test func canBeInterruptedWhileNobodyAnswers() async throws {
    let counter = Counter()
    let server = try ScriptedServer { socket in
      _ = socket.readPacket()
      counter.add()
      _ = socket.read(1)
    }
    let command = try RunningCommand(
      [
        "record", "client", "mqtt://127.0.0.1:\(server.port)", "-t", "#", "-o",
        directory.file("a.jsonl"),
      ], in: directory)
    try await counter.reaches(1)
    #expect(try await command.stop(SIGINT) == 130)
    var status = stat()
    #expect(stat(directory.file("a.jsonl"), &status) != 0)
  }

  @Test func tellsOfNoAnswerInTime() async throws {
    let server = try ScriptedServer { socket in _ = socket.read(1_000) }
    let url = "mqtt://127.0.0.1:\(server.port)"
    let result = try await record(url)
    #expect(result.status == 2)
    #expect(result.errors.hasPrefix("reprise: \(url): the server did not answer in time; "))
  }
}
