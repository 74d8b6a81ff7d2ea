import DeviceSDK
import RepriseCore

/// How a scenario wants requests configured.
struct RequestSettings {
  /// How requests are sent; without jitter.
  var configuration = RequestConfiguration()
  /// Whether the application can log in.
  var canLogIn = false

  /// Reads the configuration of a scenario.
  /// - Parameter scenario: The scenario.
  /// - Throws: ``ConformanceError`` for an unknown setting.
  init(_ scenario: Scenario) throws(ConformanceError) {
    configuration.reconnect.jitterPercent = 0
    guard case .object(let members) = scenario.configuration else { return }
    for member in members {
      guard take(member) else {
        throw ConformanceError(
          .badCatalogue,
          "the scenario \(scenario.name) has the unknown setting \(member.key), or a bad value")
      }
    }
  }

  /// Takes a setting.
  /// - Returns: Whether there is such a one.
  private mutating func take(_ member: JSONMember) -> Bool {
    switch (member.key, member.value) {
    case ("product", .string(let value)): configuration.product = value
    case ("heartbeat", .null): configuration.heartbeatInterval = nil
    case ("fixedDelay", .bool(true)): configuration.reconnect = RequestConfiguration.fixedDelay
    case ("reconnectLimit", let value): return set(\.reconnectLimit, value.integer)
    case ("resendCount", let value): return set(\.resendCount, value.integer)
    case ("whileConnecting", .string("fail")): configuration.whileConnecting = .fail
    case ("queue", let value):
      return set(\.whileConnecting, value.integer.map { .queue(limit: $0) })
    case ("legacyPercentEncoding", .bool(let value)):
      var format = JSONRequestFormat()
      format.usesLegacyPercentEncoding = value
      configuration.format = format
    case ("login", .bool(let value)): canLogIn = value
    default: return false
    }
    return true
  }

  private mutating func set<Value>(
    _ path: WritableKeyPath<RequestConfiguration, Value>, _ value: Value?
  ) -> Bool {
    guard let value else { return false }
    configuration[keyPath: path] = value
    return true
  }
}
