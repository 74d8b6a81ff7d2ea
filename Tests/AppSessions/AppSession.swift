public import CloudSimulator
public import DeviceSDK
public import RepriseCore
import Synchronization
import TestSupport

/// Sessions of apps with the simulated cloud, made and recorded in process and in virtual time.
public enum AppSession {
  /// What stands before the short topics that the app sends to.
  public static let up = "/sys/a1pk/dev1/app/up"
  /// What stands before the short topics that the app receives.
  public static let down = "/sys/a1pk/dev1/app/down"

  /// Records what an app does with a channel.
  /// - Parameters:
  ///   - script: How the cloud behaves.
  ///   - configure: Changes the channel's configuration.
  ///   - body: What the app does.
  /// - Returns: The recording.
  /// - Throws: What the body throws.
  public static func record(
    _ script: CloudScript = CloudScript(),
    configure: (inout ChannelConfiguration) -> Void = { _ in },
    _ body: (AppBench) async throws -> Void
  ) async throws -> [UInt8] {
    var configuration = ChannelConfiguration(
      appKey: "1234", authCode: "test",
      identity: try ChannelIdentity(productKey: "a1pk", deviceName: "dev1"))
    configure(&configuration)
    return try await world(script) { recorder, broker, cloud in
      try await withChannel(on: recorder, configuration: configuration) { channel in
        try await body(AppBench(channel, broker, cloud))
      }
    }
  }

  /// Records what an app does with a channel, and with a gateway that rides on its connection.
  /// - Parameter body: What the app does; the cloud is one that serves gateways.
  /// - Returns: The recording.
  /// - Throws: What the body throws.
  public static func recordShared(
    _ body: (AppBench, Gateway) async throws -> Void
  ) async throws -> [UInt8] {
    let configuration = ChannelConfiguration(
      appKey: "1234", authCode: "test",
      identity: try ChannelIdentity(productKey: "a1pk", deviceName: "dev1"))
    let riding = try GatewayConfiguration(ridingAs: "dev1&a1pk")
    let script = try CloudScript(parsing: Array(#"{"gateway":{}}"#.utf8))
    return try await world(script) { recorder, broker, cloud in
      let session = SharedSession(on: recorder)
      try await withChannel(on: session, configuration: configuration) { channel in
        try await withGateway(on: session, configuration: riding) { gateway in
          try await body(AppBench(channel, broker, cloud), gateway)
        }
      }
    }
  }

  /// Records an app that calls both, starts the gateway later, loses the connection while its lamp is online, and
  /// stops the gateway before it goes.
  /// - Returns: The recording.
  /// - Throws: What went wrong.
  public static func recordSharedDay() async throws -> [UInt8] {
    try await recordShared { app, gateway in
      try await app.channel.start()
      try await app.wait(until: 1)
      _ = try await app.channel.invoke("/light/get", ["v": 1])
      try await gateway.start()
      let line = try await gateway.connect(NearLamp())
      var changes = line.changes.makeAsyncIterator()
      _ = try await line.post(properties: ["Power": 1])
      app.cloud.push(.init(.properties([JSONMember("LightSwitch", 1)])), to: app.device)
      try await app.wait(until: 3)
      app.cloud.endSessions(of: app.device)
      app.broker.drop("app")
      while let change = await changes.next(), change.state != .online {}
      _ = try await line.post(properties: ["Power": 0])
      try await gateway.stop()
      _ = try await app.channel.invoke("/light/get", ["v": 2])
    }
  }

  /// Records what a client does that is no channel of ours.
  /// - Parameters:
  ///   - script: How the cloud behaves.
  ///   - body: What the client does.
  /// - Returns: The recording.
  /// - Throws: What the body throws.
  public static func recordClient(
    _ script: CloudScript = CloudScript(), _ body: (RawApp) async throws -> Void
  ) async throws -> [UInt8] {
    try await world(script) { recorder, broker, _ in try await body(RawApp(recorder, broker)) }
  }

  /// Returns the events of a recording, for a replay.
  /// - Parameters:
  ///   - recording: The recording.
  ///   - selection: Whose events.
  /// - Returns: The events.
  /// - Throws: `RecordingError` when it is none.
  public static func events(
    _ recording: [UInt8], of selection: ReplaySelection = .only
  ) throws -> ReplayEvents {
    var events = ReplayEvents(of: selection)
    var stream = RecordingStream()
    try stream.consume(recording.span.bytes, into: &events)
    try stream.finish(into: &events)
    return events
  }

  private static func world(
    _ script: CloudScript,
    _ body: (RecordingClient<InProcessClient, MemorySink>, InProcessBroker, SimulatedCloud)
      async throws -> Void
  ) async throws -> [UInt8] {
    let broker = InProcessBroker()
    let cloud = SimulatedCloud(script, broker: broker)
    let cloudClient = broker.client(named: "cloud")
    let redaction = RedactionRules(hidesSecrets: false)
    let recorder = try RecordingClient(
      broker.client(named: "app"), to: MemorySink(), redaction: redaction)
    try await beside {
      try await cloud.run(on: cloudClient)
    } _: {
      try await body(recorder, broker, cloud)
    }
    try recorder.finish()
    return recorder.sink.bytes
  }
}

/// What an app has in a session.
public struct AppBench: Sendable {
  /// The channel.
  public let channel: Channel
  /// The broker that the channel and the cloud meet at.
  public let broker: InProcessBroker
  /// The cloud.
  public let cloud: SimulatedCloud
  /// The device that the app is.
  public let device = CloudDevice(productKey: "a1pk", deviceName: "dev1")
  private let clock: InProcessClient
  private let start: Timestamp

  init(_ channel: Channel, _ broker: InProcessBroker, _ cloud: SimulatedCloud) {
    self.channel = channel
    self.broker = broker
    self.cloud = cloud
    clock = broker.client(named: "clock", isAwaited: false)
    start = broker.now
  }

  /// Waits until so many seconds of the session have passed.
  public func wait(until seconds: Int64) async throws {
    _ = try await clock.next(before: start.advanced(by: .seconds(seconds)))
  }

  /// Connects, and goes on when the subscription to everything is answered.
  public func connect() async throws {
    try await channel.start()
    try await wait(until: 1)
  }

  /// Connects, hears in the next seconds that a lamp's switch became 1 and 2, and goes on in the fifth.
  public func connectAndHearTwice() async throws {
    try await connect()
    for value in 1...2 {
      try await wait(until: 1 + Int64(value))
      cloud.push(.init(.properties([JSONMember("LightSwitch", .number("\(value)"))])), to: device)
    }
    try await wait(until: 5)
  }
}

/// A client that an app brought along, whose every packet a test chooses.
public final class RawApp: Sendable {
  private let lastID = Atomic<UInt32>(0)
  private let client: any DataClient
  private let broker: InProcessBroker
  private let start: Timestamp

  init(_ client: any DataClient, _ broker: InProcessBroker) {
    self.client = client
    self.broker = broker
    start = broker.now
  }

  /// Performs an action.
  public func perform(_ kind: ClientAction.Kind) async throws {
    let id = lastID.add(1, ordering: .relaxed).newValue
    try await client.perform(ClientAction(ClientAction.ID(rawValue: id), kind))
  }

  /// Reads events until so many seconds of the session have passed.
  public func read(until seconds: Double) async throws {
    let end = start.advanced(by: .milliseconds(Int64(seconds * 1_000)))
    while try await client.next(before: end) != .deadline {}
  }

  /// Loses the connection.
  public func lose() { broker.drop("app") }

  /// Has the broker close the connection in good order.
  public func hangUp() { broker.hangUp("app") }

  /// Connects.
  public func connect(
    as clientID: String = "dev1&a1pk", cleanStart: Bool = true, keepAlive: UInt16 = 60,
    username: String? = "dev1&a1pk", password: String? = nil, will: Message? = nil
  ) async throws {
    try await perform(
      .connect(
        ConnectOptions(
          clientID: clientID, cleanStart: cleanStart, keepAlive: keepAlive, username: username,
          password: password.map { Array($0.utf8) }, will: will)))
  }

  /// Subscribes to filters.
  public func subscribe(_ filters: String..., qos: QoS = .atLeastOnce) async throws {
    try await perform(.subscribe(filters.map { Subscription($0, qos: qos) }))
  }

  /// Publishes text.
  public func publish(
    _ topic: String, _ payload: String, qos: QoS = .atLeastOnce, isRetained: Bool = false
  ) async throws {
    try await perform(
      .publish(
        Message(topic: topic, payload: Array(payload.utf8), qos: qos, isRetained: isRetained)))
  }
}

/// A lamp that is always in reach.
public struct NearLamp: SubdeviceConnection {
  /// Creates the lamp.
  public init() {}

  /// Whether it can be reached.
  public var isReady: Bool { true }
  /// Does nothing.
  public func open() async throws {}
  /// Does nothing.
  public func close() async throws {}

  /// What the lamp says of itself.
  /// - Throws: Nothing, as its names are right.
  public func info() throws -> SubdeviceInfo {
    try SubdeviceInfo(
      productKey: "home", deviceName: "lamp", clientID: "lamp-1", sign: "292f",
      signMethod: "hmacSha1", timestamp: "789")
  }
}
