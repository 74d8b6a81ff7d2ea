import DeviceSDK
import Glibc
import LiveClient
import RepriseCore
import TestSupport
import Testing
import Wire

/// `reprise simulate ws://`, with the SDK's own provider.
@Suite struct SimulateRequestsTests {
  private let directory = Scratch()
  private let port: UInt16

  init() throws {
    port = try Socket.freePort()
  }

  private var url: String { "ws://127.0.0.1:\(port)" }

  private func start(_ url: String, _ more: [String] = []) async throws -> RunningCommand {
    let command = try RunningCommand(["simulate", url] + more, in: directory)
    try await command.tells("listening")
    return command
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func answersUntilItIsInterrupted(signal: Int32, status: Int32) async throws {
    let script = #"""
      {"answers":[{"service":"drop","request":1,"faults":["drop"]}],
       "pushes":[{"json":{"token":"hush-2"},"on":"pushed"}]}
      """#
    try directory.write(script, to: "server.json")
    let command = try await start(url, ["--script", directory.file("server.json")])
    let first = try RequestProvider<Question>(url)
    #expect(try await first.outcome("drop") == "serverConnection")
    #expect(try await first.outcome("drop") == #"{"a":1}"#)
    try await first.close()
    let second = try WebSocketClient(url: url)
    #expect(try await second.after(.connect(ConnectOptions())) == .connected(.init()))
    let request = #"{"service":"pushed","uniqueId":2,"content":{"token":"hush-1"}}"#
    for event in [try await second.after(.sendText(request)), try await second.event()] {
      guard case .text = event else {
        Issue.record("\(event)")
        return
      }
    }
    #expect(try await command.stop(signal) == status)
    guard case .closed(.byServer(_, let reason)) = try await second.event() else {
      Issue.record("not closed")
      return
    }
    #expect(reason.contains("1001"))
    check(command.text.split(separator: "\n").map(String.init))
    #expect(command.errors == "reprise: \(url)/: note: listening; Ctrl-C ends it\n")
  }

  /// What the lines of ``answersUntilItIsInterrupted(signal:status:)`` are to say.
  private func check(_ lines: [String]) {
    func kinds(of connection: Int) -> [String] {
      lines.filter { $0.contains("  #\(connection) ") }.map { line in
        line.split(separator: " ", omittingEmptySubsequences: true).dropFirst(3).prefix(2)
          .joined(separator: " ")
      }
    }
    let opening = ["→ OPEN", "→ UPGRADE", "← UPGRADED"]
    #expect(kinds(of: 1) == opening + ["→ TEXT", "← CLOSE"])
    #expect(
      kinds(of: 2) == opening + ["→ TEXT", "← TEXT", "→ CLOSE", "← CLOSE", "→ CLOSE"])
    #expect(
      kinds(of: 3) == opening
        + ["→ TEXT", "← TEXT", "← TEXT", "← CLOSE", "→ CLOSE", "← CLOSE"])
    let numbers = lines.dropFirst().map { line in line.split(separator: " ").dropFirst().first }
    #expect(numbers == (1..<lines.count).map { "\($0)" })
    #expect(lines.filter { $0.contains("code 1001") }.count == 2)
    #expect(!lines.contains { $0.contains("hush") })
  }

  @Test func saysWhyAMessageIsNotAnswered() async throws {
    let command = try await start(url)
    let client = try WebSocketClient(url: url)
    #expect(try await client.after(.connect(ConnectOptions())) == .connected(.init()))
    let odd = #"{"uniqueId":"7","service":"s"}"#
    try await client.perform(.init(.init(rawValue: 101), .sendText(odd)))
    try await client.perform(.init(.init(rawValue: 102), .sendBinary([1, 2])))
    // The first answer is to the first request.
    let answer = try await client.after(.sendText(#"{"uniqueId":8,"service":"s"}"#))
    guard case .text(let text) = answer, text.contains(#""uniqueId":8"#) else {
      Issue.record("\(answer)")
      return
    }
    #expect(try await command.stop(SIGINT) == 130)
    let notes = command.errors.split(separator: "\n").filter { $0.contains("is not answered") }
    #expect(notes.count == 2)
    let string = "its uniqueId is a string, not a whole number; a request is a text {"
    #expect(notes.first?.contains(string) == true)
    #expect(notes.first?.hasSuffix("}; a script's envelope tells keys of the client's own") == true)
    #expect(notes.last?.contains("on connection 1 is not answered: it is binary; ") == true)
  }

  /// With names of a client's own, and with those of the model beside it.
  @Test func answersByTheEnvelopeOfItsScript() async throws {
    try directory.write(
      #"{"envelope":{"id":"seq","service":"path","content":"body"}}"#, to: "server.json")
    let command = try await start(url, ["--script", directory.file("server.json")])
    var envelope = RequestEnvelope()
    (envelope.id, envelope.service, envelope.content) = ("seq", "path", "body")
    let provider = try RequestProvider<Question>(url, envelope)
    #expect(try await provider.outcome("x") == #"{"a":1}"#)
    try await provider.close()
    let stranger = try RequestProvider<Question>(url)
    #expect(try await stranger.outcome("x", timeout: .seconds(1)) == "timedOut")
    try await command.tells(
      "a message on connection 2 is not answered: it has no seq; a request is a text "
        + #"{"seq": 1, "path": "nlu/analyze", "method": "POST", "product": "P", "body": "{}"}"#)
    try await stranger.close()
    #expect(try await command.stop(SIGINT) == 130)
    #expect(!command.errors.contains("on connection 1 "))
  }

  @Test func saysWhatIsWrongWithAnEnvelope() async throws {
    try directory.write(#"{"envelope":{"servise":"path"}}"#, to: "server.json")
    let file = directory.file("server.json")
    let result = try await RunningCommand.run(["simulate", url, "--script", file], in: directory)
    #expect(result.status == 2 && result.output == "")
    #expect(
      result.errors
        == "reprise: \(file): envelope.servise is no key here; did you mean \"service\"?; type "
        + "reprise help simulate-script for an example\n")
  }

  @Test func servesAPathOnly() async throws {
    let command = try await start("\(url)/api?x=1")
    let provider = try RequestProvider<Question>("\(url)/api?token=hush")
    #expect(try await provider.outcome("x") == #"{"a":1}"#)
    try await provider.close()
    let stranger = try WebSocketClient(url: "\(url)/other?token=hush")
    guard case .closed(.lost(let reason)) = try await stranger.after(.connect(ConnectOptions()))
    else {
      Issue.record("not refused")
      return
    }
    #expect(reason.contains("404"))
    try await command.tells("/api: note: a client that asks for /other is refused with the ")
    #expect(try await command.stop(SIGTERM) == 143)
    #expect(!(command.text + command.errors).contains("hush"))
  }

  @Test func listensOnANameAndSpeaksTLS() async throws {
    let certificates = try await Certificates()
    let secure = "wss://localhost:\(port)"
    let command = try await start(
      secure,
      [
        "--cert", certificates.certificate("server"), "--key", certificates.key("server"),
        "--ca-file", certificates.authority,
      ])
    let tls = TLSOptions(
      authorityFile: certificates.authority, certificateFile: certificates.certificate("client"),
      keyFile: certificates.key("client"))
    let client = try WebSocketClient(url: secure, tls: tls)
    #expect(try await client.after(.connect(ConnectOptions())) == .connected(.init()))
    let request = #"{"content":"{}","method":"GET","product":"","service":"s","uniqueId":1}"#
    #expect(try await client.after(.sendText(request)) == .text(request))
    #expect(try await client.after(.disconnect) == .closed(.byUser))
    #expect(try await command.stop(SIGINT) == 130)
  }

  @Test func tellsThatItCannotListen() async throws {
    let (socket, taken) = try Socket.listening()
    defer { _ = socket }
    let damaged = ["CERTIFICATE", "PRIVATE KEY"].map {
      "-----BEGIN \($0)-----\nnonsense\n-----END \($0)-----\n"
    }
    try directory.write(damaged.joined(), to: "bad.pem")
    let file = directory.file("bad.pem")
    let secure = ["wss://127.0.0.1:\(port)", "--cert", file, "--key", file]
    for (words, message) in [
      (["ws://127.0.0.1:\(taken)"], "127.0.0.1:\(taken) can't be listened on: Address already in"),
      // An address for documentation, which no machine has (RFC 5737).
      (["ws://192.0.2.1:\(port)"], "192.0.2.1:\(port) can't be listened on: Cannot assign "),
      (["ws://[2001:db8::1]:\(port)"], "[2001:db8::1]:\(port) can't be listened on: "),
      (secure, "127.0.0.1:\(port) can't be listened on: the certificate or its key is bad; check"),
    ] {
      let result = try await RunningCommand.run(["simulate"] + words, in: directory)
      #expect(result.status == 2 && result.output == "")
      #expect(result.errors.hasPrefix("reprise: \(message)"), "\(result.errors)")
      #expect(result.errors.count { $0 == "\n" } == 1)
    }
  }

  @Test func endsQuietlyWhenNobodyReadsItsLines() async throws {
    let reader = "{ head -n 1; exec <&-; echo gone >&2; }"
    let script = "$0 simulate $1 | \(reader); exit ${PIPESTATUS[0]}"
    let child = try Child(
      ["bash", "-c", script, RunningCommand.path, url], errorsApart: true)
    try await child.wait(for: "listening") { $0.errorText.contains("listening") }
    // Its first line ends the reader, and the next one the command.
    let first = try #require(try Socket.connected(to: port))
    first.write(RawClient.request("/").head.bytes)
    try await child.wait(for: "the reader's end") { $0.errorText.contains("gone") }
    let second = try #require(try Socket.connected(to: port))
    second.write(RawClient.request("/").head.bytes)
    let status = await child.wait()
    #expect(status == 0)
    #expect(!child.errors.contains("Broken pipe"))
  }

  @Test func isAClientOfABrokerWhenAVersionOfMQTTIsGiven() async throws {
    let broker = try await WebSocketBroker()
    let command = try RunningCommand(
      ["simulate", broker.url, "--mqtt", "3.1.1"], in: directory)
    try await command.prints("SUBACK")
    #expect(try await command.stop(SIGTERM) == 143)
    #expect(command.text.contains("CONNACK     accepted"))
  }
}
