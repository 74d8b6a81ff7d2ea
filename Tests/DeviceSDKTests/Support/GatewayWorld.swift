import CloudSimulator
import RepriseCore
import Synchronization
import TestSupport

@testable import DeviceSDK

/// A sub-device that a test has in its hand.
final class TestSubdevice: SubdeviceConnection {
  /// What it does when it is opened.
  enum Behaviour: Sendable {
    case opens
    case fails
    /// It opens never, and gives up when it is cancelled.
    case hangs
  }

  struct OutOfReach: Error {}

  private struct State {
    var isOpen: Bool
    var behaviour: Behaviour
    var openings = 0
    var closings = 0
    var abandonments = 0
  }

  private let state: Mutex<State>
  private let said: SubdeviceInfo

  init(
    _ subdevice: Subdevice = GatewayBench.sub, isOpen: Bool = true, _ behaviour: Behaviour = .opens
  ) throws {
    said = try GatewayBench.info(subdevice)
    state = Mutex(State(isOpen: isOpen, behaviour: behaviour))
  }

  var isReady: Bool { state.withLock { $0.isOpen } }
  var openings: Int { state.withLock { $0.openings } }
  var closings: Int { state.withLock { $0.closings } }
  /// How many openings were cancelled.
  var abandonments: Int { state.withLock { $0.abandonments } }

  func goAway(_ behaviour: Behaviour) {
    state.withLock { state in
      state.isOpen = false
      state.behaviour = behaviour
    }
  }

  func open() async throws {
    let behaviour = state.withLock { state in
      state.openings += 1
      return state.behaviour
    }
    switch behaviour {
    case .opens: state.withLock { $0.isOpen = true }
    case .fails: throw OutOfReach()
    case .hangs:
      let (end, _) = AsyncStream<Never>.makeStream()
      for await _ in end {}
      state.withLock { $0.abandonments += 1 }
      throw CancellationError()
    }
  }

  func close() async throws {
    state.withLock { state in
      state.isOpen = false
      state.closings += 1
    }
  }

  func info() throws -> SubdeviceInfo { said }
}

/// A gateway and a cloud in one broker, in virtual time.
struct GatewayWorld: Sendable {
  static let phone = CloudDevice(productKey: "a1gw", deviceName: "phone")
  static let lamp = CloudDevice(productKey: "123", deviceName: "test")

  let broker: InProcessBroker
  let cloud: SimulatedCloud
  /// What went over the gateway's connection.
  let log: WireLog

  /// The configuration of a gateway with a connection of its own.
  static func configuration() throws -> GatewayConfiguration {
    let credentials = DeviceCredentials(
      productKey: "a1gw", deviceName: "phone", deviceSecret: "phone-secret")
    var configuration = GatewayConfiguration(
      .own(try credentials.identity(timestamp: 789, secureMode: .tcp)))
    configuration.reconnect.jitterPercent = 0
    return configuration
  }

  /// Runs a started gateway with a connection of its own beside a cloud.
  static func run<Value: Sendable>(
    _ json: String = #"{"gateway":{}}"#,
    _ change: (inout GatewayConfiguration) -> Void = { _ in },
    body: (Gateway, GatewayWorld) async throws -> Value
  ) async throws -> Value {
    var configuration = try configuration()
    change(&configuration)
    return try await withWorld(json) { world, client in
      try await withGateway(on: client, configuration: configuration) { gateway in
        try await gateway.start()
        return try await body(gateway, world)
      }
    }
  }

  /// Runs a body beside a cloud; the client is the app's connection.
  static func withWorld<Value: Sendable>(
    _ json: String = #"{"gateway":{}}"#,
    body: (GatewayWorld, any DataClient) async throws -> Value
  ) async throws -> Value {
    let broker = InProcessBroker()
    let log = WireLog()
    let client = AnyClient(broker.client(named: "app")) { action, client in
      try await client.perform(action)
      log.note(action.kind)
    }
    let cloud = SimulatedCloud(try CloudScript(parsing: Array(json.utf8)), broker: broker)
    let cloudClient = broker.client(named: "cloud")
    return try await beside {
      try await cloud.run(on: cloudClient)
    } _: {
      try await body(GatewayWorld(broker: broker, cloud: cloud, log: log), client)
    }
  }
}

/// What was sent over a connection.
final class WireLog: Sendable {
  private let actions = Mutex<[ClientAction.Kind]>([])

  func note(_ kind: ClientAction.Kind) { actions.withLock { $0.append(kind) } }

  var connects: Int { count { if case .connect = $0 { true } else { false } } }

  func publishes(to topic: String) -> Int {
    count { if case .publish(let message) = $0 { message.topic == topic } else { false } }
  }

  /// The payloads of what was published on a topic, as text.
  func payloads(to topic: String) -> [String] {
    actions.withLock { actions in
      actions.compactMap { action in
        guard case .publish(let message) = action, message.topic == topic else { return nil }
        return String(decoding: message.payload, as: UTF8.self)
      }
    }
  }

  private func count(_ isMeant: (ClientAction.Kind) -> Bool) -> Int {
    actions.withLock { $0.count(where: isMeant) }
  }
}
