import DeviceSDK
import Glibc
import LiveClient
import RepriseCore
import TestSupport
import Testing

/// `reprise simulate`, with a broker and the SDK's own channel.
@Suite struct SimulateCommandTests {
  private let directory = Scratch()
  private let broker: Broker

  init() async throws {
    broker = try await Broker()
  }

  private func start(_ more: [String] = []) async throws -> RunningCommand {
    let command = try RunningCommand(["simulate", broker.url] + more, in: directory)
    try await command.prints("SUBACK")
    return command
  }

  private func configuration() throws -> ChannelConfiguration {
    ChannelConfiguration(
      appKey: "1234", authCode: "test",
      identity: try ChannelIdentity(productKey: "a1pk", deviceName: "dev1"))
  }

  @Test func letsAChannelBind() async throws {
    let script = #"{"tokens":{"stale":{"code":2043}},"pushes":[{"status":"online","on":"/x"}]}"#
    try directory.write(script, to: "cloud.json")
    let command = try await start(["--script", directory.file("cloud.json")])
    let client = try MosquittoClient(url: broker.url)
    let data = try await withChannel(on: client, configuration: try configuration()) { channel in
      try await channel.start()
      await #expect(throws: ChannelError.self) { try await channel.bind(token: "stale") }
      try await channel.bind(token: "good")
      #expect(channel.account == .bound)
      return try await channel.invoke("/x", ["a": 1]).data
    }
    #expect(data == ["a": 1])
    try await command.prints("/app/down/thing/status")
    #expect(try await command.stop(SIGINT) == 130)
    let lines = command.text.split(separator: "\n").map(String.init)
    func has(_ arrow: String, _ topic: String, _ text: String) -> Bool {
      lines.contains { line in
        line.contains("\(arrow) PUBLISH") && line.contains(topic) && line.contains(text)
      }
    }
    #expect(has("←", "/sys/a1pk/dev1/app/up/account/bind", #""iotToken":"***""#))
    #expect(has("→", "/sys/a1pk/dev1/app/down/account/bind_reply", #""code":2043"#))
    #expect(has("→", "/sys/a1pk/dev1/app/down/account/bind_reply", #""code":200"#))
    #expect(has("→", "/sys/a1pk/dev1/app/down/x_reply", #""data":{"a":1}"#))
    #expect(!lines.contains { $0.contains("good") || $0.contains("PUBACK") })
    #expect(lines.last?.hasSuffix("CLOSE       fin") == true)
    #expect(command.errors == "")
  }

  /// Without a script gateways and links are answered too.
  @Test func servesGatewaysAndLinks() async throws {
    let command = try await start()
    let identity = try DeviceCredentials(
      productKey: "a1gw", deviceName: "phone", deviceSecret: "made up"
    ).identity(secureMode: .tcp)
    try await withGateway(
      on: try MosquittoClient(url: broker.url), configuration: GatewayConfiguration(.own(identity))
    ) { gateway in
      try await gateway.start()
      #expect(try await gateway.topology() == [])
    }
    try await withLink(
      on: try MosquittoClient(url: broker.url),
      configuration: LinkConfiguration(appID: "app", userID: "u")
    ) { link in
      try await link.login(token: "t")
      try await link.logout()
    }
    #expect(try await command.stop(SIGINT) == 130)
    #expect(command.text.contains("/sys/a1gw/phone/thing/topo/get_reply"))
    #expect(command.text.contains("link/app/message/u/"))
    #expect(command.errors == "")
  }

  @Test func connectsAgain() async throws {
    let command = try await start()
    await broker.stop()
    try await command.prints("CLOSE")
    try await command.prints("ATTEMPT")
    try await broker.start()
    try await command.prints("SUBACK", times: 2)
    #expect(command.text.components("SUBACK") == 2)
    #expect(try await command.stop(SIGTERM) == 143)
  }

  @Test func tellsThatThereIsNoBroker() async throws {
    await broker.stop()
    let result = try await RunningCommand.run(["simulate", broker.url], in: directory)
    #expect(result.status == 2)
    #expect(result.errors.contains("Connection refused; check host and port"))
  }
}
