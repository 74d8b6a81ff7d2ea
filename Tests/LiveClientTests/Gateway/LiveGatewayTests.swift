import DeviceSDK
import Glibc
import LiveClient
import RepriseCore
import Synchronization
import TestSupport
import Testing

/// A channel and a gateway on one connection to a real broker, with `reprise simulate` as their cloud.
@Suite struct LiveGatewayTests {
  /// A sub-device that is always there.
  private struct Lamp: SubdeviceConnection {
    let isReady = true
    func open() async throws {}
    func close() async throws {}
    func info() throws -> SubdeviceInfo {
      try SubdeviceInfo(
        signing: DeviceCredentials(
          productKey: "123", deviceName: "test", deviceSecret: "secret"), clientID: "123")
    }
  }

  private let directory = Scratch()
  private let broker: Broker

  init() async throws {
    broker = try await Broker()
  }

  /// A sub-device that has to be connected to first, as one by Bluetooth.
  private final class BluetoothLamp: SubdeviceConnection {
    private let opened = Atomic<Bool>(false)

    var isReady: Bool { opened.load(ordering: .acquiring) }
    func open() async throws { opened.store(true, ordering: .releasing) }
    func close() async throws { opened.store(false, ordering: .releasing) }
    func info() throws -> SubdeviceInfo { try Lamp().info() }
  }

  private func withCloud(
    _ body: (Channel, Gateway) async throws -> Void
  ) async throws -> String {
    try await withCloud {
      let session = SharedSession(on: try MosquittoClient(url: broker.url))
      let identity = try ChannelIdentity(productKey: "a1gw", deviceName: "phone")
      try await withChannel(
        on: session, configuration: ChannelConfiguration(appKey: "1234", identity: identity)
      ) { channel in
        try await withGateway(
          on: session, configuration: GatewayConfiguration(ridingAs: identity.clientID)
        ) { gateway in
          try await channel.start()
          try await gateway.start()
          try await body(channel, gateway)
        }
      }
    }
  }

  /// Runs something beside the cloud, and returns what the cloud has logged.
  private func withCloud(_ body: () async throws -> Void) async throws -> String {
    let sign = "292f1d18f6fddf8e7a8c04405b5176db278a49213ab60e4a90c08a32cb4a0d70"
    try directory.write(
      #"{"gateway":{"devices":[{"device":"123/test","sign":"\#(sign)"}],"pushes":["#
        + #"{"set":{"Power":0},"subdevice":"123/test","on":"/sys/+/+/thing/event/+/post"}]}}"#,
      to: "cloud.json")
    let cloud = try RunningCommand(
      ["simulate", broker.url, "--script", directory.file("cloud.json")], in: directory)
    try await cloud.prints("SUBACK")
    try await body()
    #expect(try await cloud.stop(SIGINT) == 130)
    return cloud.text
  }

  @Test func doesWhatAnApplicationWants() async throws {
    let log = try await withCloud {
      let identity = try DeviceCredentials(
        productKey: "a1gw", deviceName: "phone", deviceSecret: "made up"
      ).identity(secureMode: .tcp)
      try await withGateway(
        on: try MosquittoClient(url: broker.url),
        configuration: GatewayConfiguration(.own(identity))
      ) { gateway in
        try await gateway.start()
        let lamp = BluetoothLamp()
        let line = try await gateway.line(for: lamp)
        #expect(lamp.isReady && line.state == .ready)
        try await line.addTopology()
        try await line.goOnline()
        let commands = line.commands
        let reply = try await line.post(properties: ["Power": 1])
        #expect(reply.code == 200)
        for await command in commands {
          #expect(command.kind == .setProperties && command.params == ["Power": 0])
          try await line.answer(command, ["Power": 0])
          break
        }
        try await line.close()
        #expect(!lamp.isReady && gateway.lines.isEmpty)
      }
    }
    #expect(log.contains("/sys/123/test/thing/service/property/set_reply"))
    #expect(log.contains("/ext/session/a1gw/phone/combine/logout"))
  }

  @Test func takesASubdeviceThroughItsDay() async throws {
    let log = try await withCloud { channel, gateway in
      let line = try await gateway.connect(Lamp())
      #expect(line.isOnline)
      var commands = line.commands.makeAsyncIterator()
      #expect(try await line.post(properties: ["Power": 1]).code == 200)
      let command = try #require(await commands.next())
      #expect(command.kind == .setProperties && command.params == ["Power": 0])
      try await line.answer(command)
      #expect(try await channel.invoke("/x", ["a": 1]).data == ["a": 1])
      #expect(try await gateway.topology() == [line.subdevice])
      try await line.goOffline()
      let error = try await #require(throws: GatewayError.self) {
        try await line.post(properties: ["Power": 1])
      }
      #expect(error.cloudCode == 520)
      try await line.deleteTopology()
      #expect(line.state == .ready)
    }
    #expect(log.contains("/sys/123/test/thing/service/property/set_reply"))
    #expect(!log.contains("292f1d18"), "signatures are not shown")
  }

  /// Real brokers keep what is retained over connections; a sweep that another member's subscription hides finds all.
  @Test func clearsWhatTheBrokerRetains() async throws {
    _ = try await withCloud { channel, gateway in
      let mine = "/sys/a1gw/phone/user"
      try await channel.subscribe("\(mine)/#")
      for number in 0..<300 {
        try await gateway.upload([1], to: "\(mine)/\(number)", retain: true)
      }
      try await channel.publish("/status", ["level": 0.5], retain: true)
      #expect(try await channel.clearRetained(matching: "/#") == ["/sys/a1gw/phone/app/up/status"])
      try await gateway.clearRetained("\(mine)/0")
      #expect(
        try await gateway.clearRetained(matching: "\(mine)/+")
          == (1..<300).map { "\(mine)/\($0)" }.sorted())
      #expect(try await gateway.clearRetained(matching: "/sys/#") == [])
    }
  }

  @Test func bringsASubdeviceBackAfterALostConnection() async throws {
    let log = try await withCloud { channel, gateway in
      let line = try await gateway.connect(Lamp())
      var changes = line.changes.makeAsyncIterator()
      // A broker keeps one connection of a name: this one takes it away.
      let other = try MosquittoClient(url: broker.url)
      let name = ConnectOptions(clientID: "phone&a1gw")
      try await other.perform(ClientAction(.init(rawValue: 1), .connect(name)))
      #expect(await changes.next()?.state == .topology)
      #expect(await changes.next()?.state == .online)
      #expect(try await line.post(properties: ["Power": 1]).code == 200)
      #expect(channel.state == .connected && gateway.statistics.automaticLogins == 1)
    }
    #expect(log.contains("/ext/session/a1gw/phone/combine/login_reply"))
  }
}
