import DeviceSDK
import RepriseCore

/// How a scenario wants its gateway.
struct GatewaySettings: Sendable {
  /// The identity of the gateway.
  let identity: ChannelIdentity
  /// How the gateway behaves.
  private(set) var gateway: GatewayConfiguration
  /// The channel on whose connection the gateway rides; nil when it has its own.
  private(set) var channel: ChannelConfiguration?

  /// Reads the configuration of a scenario.
  /// - Parameter scenario: The scenario.
  /// - Throws: ``ConformanceError`` for an unknown setting.
  init(_ scenario: Scenario) throws {
    identity = try Self.identity(scenario)
    gateway = GatewayConfiguration(.own(identity))
    if scenario.configuration["rides"] == .bool(true) {
      gateway = try GatewayConfiguration(ridingAs: identity.clientID)
      channel = ChannelConfiguration(appKey: "1234", authCode: "test", identity: identity)
      channel?.reconnect.jitterPercent = 0
    }
    gateway.reconnect.jitterPercent = 0
    guard case .object(let members) = scenario.configuration else { return }
    for member in members where !["rides", "signMethod"].contains(member.key) {
      guard set(member.key, member.value) else {
        throw ConformanceError(
          .badCatalogue, "the scenario \(scenario.name) has the unknown setting \(member.key)")
      }
    }
  }

  /// A plain identity, or one that proves itself by a secret that was made up for it.
  private static func identity(_ scenario: Scenario) throws -> ChannelIdentity {
    guard let method = scenario.configuration["signMethod"]?.text.flatMap(SignMethod.init(named:))
    else { return try ChannelIdentity(productKey: "a1pk", deviceName: scenario.name) }
    return try DeviceCredentials(
      productKey: "a1pk", deviceName: scenario.name, deviceSecret: "made up for the gateway"
    ).identity(method: method, timestamp: 1_581_417_203_000, secureMode: .tcp)
  }

  private mutating func set(_ key: String, _ value: JSONValue) -> Bool {
    switch (key, value) {
    case ("subscribesToCommands", .bool(let flag)): gateway.subscribesToCommands = flag
    case ("syncsTopology", .bool(let flag)): gateway.syncsTopology = flag
    case ("receivesOfflineMessages", .bool(let flag)): gateway.receivesOfflineMessages = flag
    case ("limits", .object(let limits)):
      return limits.allSatisfy { limit($0.key, $0.value.integer) }
    default: return false
    }
    return true
  }

  private mutating func limit(_ key: String, _ value: Int?) -> Bool {
    guard let value else { return false }
    switch key {
    case "topologyPerRequest": gateway.limits.topologyPerRequest = value
    case "loginsPerRequest": gateway.limits.loginsPerRequest = value
    case "registrationsPerRequest": gateway.limits.registrationsPerRequest = value
    case "online": gateway.limits.online = value
    case "concurrentLogins": gateway.limits.concurrentLogins = value
    case "loginsPerMinute": gateway.limits.loginsPerMinute = value
    default: return false
    }
    return true
  }
}
