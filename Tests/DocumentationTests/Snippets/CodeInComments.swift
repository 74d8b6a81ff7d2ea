import Capture
import CloudSimulator
import DeviceSDK
import LiveClient
import RepriseCore
import RepriseTesting
import Testing
import XCTest

/// The code in the documentation comments of the libraries, as their readers come to write it.
///
/// What is in a test here is run, the rest is compiled.
enum CodeInComments {
  static func request(
    client: any DataClient,
    show: @MainActor @escaping @Sendable (Result<Weather, any Error>) -> Void
  ) {
    client.send(WeatherRequest(city: "Hangzhou")) { @MainActor result in show(result) }
  }

  static func replayOfUsers(client: ReplayClient, app: LampApp) async throws {
    while let due = try await client.nextDueAction() {
      guard case .publish(let message) = due.action else { break }
      await app.press(message.topic)  // what brings the recorded action about
    }
  }

  static func twoInOneTime() throws -> [ReplayClient] {
    let time = SharedTime()
    let options = ReplayOptions(pace: .shared(time))
    let cloud = try ReplayClient(contentsOf: "night.pcap", of: .client("hall"), options: options)
    let family = try ReplayClient(contentsOf: "night.pcap", of: .client("family"), options: options)
    return [cloud, family]
  }

  static func dialogue(events: ReplayEvents) throws -> ReplayClient {
    let dialogue = try events.dialogue()
    for step in dialogue {
      if case .event(.message(let message)) = step.content { print(step.place, message.topic) }
    }
    let client = try ReplayClient(events)
    return client
  }

  static func events(bytes: [UInt8]) throws -> ReplayClient {
    var events = ReplayEvents(of: .client("dev1&a1pk"))
    var stream = RecordingStream()
    try stream.consume(bytes.span.bytes, into: &events)
    try stream.finish(into: &events)
    let client = try ReplayClient(events)
    return client
  }

  static func log(configuration: inout ChannelConfiguration) throws {
    let log = DeviceLog(level: .info, to: try LogFile("/var/log/lamp.log", limitInKB: 512))
    configuration.log = log  // of a channel, a gateway, a link or a session
    log.level = .debug  // from now on, for all of them
  }

  static func network(channel: Channel) async throws {
    async let _: Void = channel.follow(try NetworkMonitor().changes)
  }

  static func regularly(gateway: Gateway, line: GatewayLine, change: LineChange) async throws {
    var moment = change.time
    while true {
      moment = moment.advanced(by: .seconds(900))
      try await gateway.sleep(until: moment)
      try await line.post(properties: ["Temperature": 20.5])
    }
  }

  static func endpoint(configuration: ChannelConfiguration) throws -> any DataClient {
    let client = try MosquittoClient(configuration.endpoint.address(defaultHost: "iot.example"))
    return client
  }

  static func session(client: any DataClient) async throws {
    let kitchen = MQTTConfiguration(clientID: "kitchen")
    try await withSession(on: client, configuration: kitchen) { mqtt in
      try await mqtt.publish("home/kitchen/door", "open", qos: .atLeastOnce, retain: true)
      for try await message in mqtt.messages(matching: "home/+/lamp") {
        print(message.topic, message.text ?? "")
      }
    }
  }

  static func provider(client: any DataClient, logger: RequestLogger) async throws -> Analysis {
    let provider = RequestProvider<MyAPI>(client: client, plugins: [logger, BusinessErrors()])
    let answer: Analysis = try await provider.request(.analyze(question: "Are you OK?"))
    return answer
  }

  static func shared(
    client: any DataClient, channelConfiguration: ChannelConfiguration,
    gatewayConfiguration: GatewayConfiguration
  ) async throws {
    let session = SharedSession(on: client)
    try await withChannel(on: session, configuration: channelConfiguration) { channel in
      try await withGateway(on: session, configuration: gatewayConfiguration) { gateway in
        try await channel.start()
        try await gateway.start()
        // …
      }
    }
  }

  static func bytes() throws -> Int {
    var source = try ByteSource(path: "-")
    var records = 0
    while source.peek(16).byteCount == 16 {  // fewer only where the input ends
      records += 1
      source.consume(16)
    }
    if let failure = source.failure { throw failure }
    return records
  }

  static func frames() throws {
    var reader = try CaptureReader(path: "-")
    while let frame = try reader.next() { print(frame.number, frame.wireLength) }
  }

  static func segments(of reader: inout CaptureReader) throws {
    var dissector = FrameDissector()
    while let frame = try reader.next() {
      dissector.dissect(frame) { segment in print(segment.source, segment.destination) }
    }
  }

  static func watching(
    client: any DataClient, configuration: ChannelConfiguration,
    live: @Sendable (Channel) async throws -> Void
  ) async throws {
    try await withChannel(on: client, configuration: configuration) { channel in
      async let _: Void = channel.follow(try NetworkMonitor().changes)
      try await live(channel)
    }
  }

  static func cassette(runLamp: (any DataClient) async throws -> Void) async throws {
    let cassette = try Cassette("lamp", record: .once) {
      try MosquittoClient(url: "mqtt://localhost")
    }
    try await cassette.withClient { client in try await runLamp(client) }
  }

  static func server() async throws {
    try await withWebSocketServer { server in
      print(server.url)
      await server.serve { connection in
        for await event in connection.events {
          if case .text(let text) = event { try await connection.send("You said: \(text)") }
        }
      }
    }
  }
}

@Suite struct WorldsInCommentsTests {
  private func live(_ world: some Sendable) async throws {}

  @Test func aBrokerHasSeats() throws {
    let broker = InProcessBroker()
    let device = broker.client(named: "device")
    let cloud = broker.client(named: "cloud")
    #expect(device !== cloud)
  }

  @Test(.timeLimit(.minutes(1))) func aServerOfLinksEndsWithItsGroup() async throws {
    let broker = InProcessBroker()
    let server = LinkServer()
    let client = broker.client(named: "server")
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run(on: client) }
      try await live(broker)  // links, in other clients
      group.cancelAll()
    }
  }

  @Test(.timeLimit(.minutes(1))) func aCloudEndsWithItsGroup() async throws {
    let broker = InProcessBroker()
    let cloud = SimulatedCloud(broker: broker)
    let cloudClient = broker.client(named: "cloud")
    let deviceClient = broker.client(named: "device")
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await cloud.run(on: cloudClient) }
      try await live(deviceClient)  // an SDK
      group.cancelAll()
    }
    #expect(deviceClient !== cloudClient)
  }
}

struct LampApp {
  func press(_ topic: String) async {}
}

enum MyAPI: RequestTarget {
  case analyze(question: String)

  var service: String { "test-services/nlu/analyze" }
  var parameters: JSONValue {
    switch self {
    case .analyze(let question): ["userId": 1, "robotId": "1", "question": .string(question)]
    }
  }
}

final class AppModel {
  let cloud: Owner<Channel>

  init(client: any DataClient, configuration: ChannelConfiguration) {
    cloud = Owner<Channel>(on: client, configuration: configuration)
  }

  func enterForeground() async throws -> Channel { try await cloud.start() }
  func enterBackground() async throws { try await cloud.stop() }
}

/// What a reader calls in tests of their own.
struct LampReplay {
  func lampAnswers() async throws {
    let client = try ReplayClient(
      contentsOf: "lamp.pcap", options: ReplayOptions(actors: .readerOnly))
    try await runLamp(on: client)  // performs, and reads next(before:) until .ended
    try client.finish()
  }

  private func runLamp(on client: any DataClient) async throws {}
}

@Suite struct ClientsInCommentsTests {
  private func makeClient() -> any DataClient { InProcessBroker().client(named: "app") }

  @Test(.timeLimit(.minutes(1))) func isADataClient() async throws {
    let outcomes = try await DataClientConformance.check { makeClient() }
    #expect(outcomes[.deliversInOrder] == .kept)
  }
}

class ReadersTestCase: XCTestCase {
  private func binds() async throws {
    try await replaying("bind", on: { try MosquittoClient(url: "mqtt://localhost") }) { client in
      try await bindTheAccount(on: client)
    }
  }

  private func bindTheAccount(on client: any DataClient) async throws {}
}
