import DeviceSDK
import RepriseCore

/// Channels on live clients.
enum LiveChannel {
  static let up = "/sys/pk/dn/app/up"
  static let down = "/sys/pk/dn/app/down"

  /// The configuration of the one device that there is, whose connection comes back at once.
  ///
  /// Where time limits something, there is plenty of it: a machine at work may keep a test waiting.
  static func configuration() throws -> ChannelConfiguration {
    let identity = try ChannelIdentity(productKey: "pk", deviceName: "dn")
    var configuration = ChannelConfiguration(appKey: "1", identity: identity)
    configuration.reconnect = BackOff(
      first: .milliseconds(20), longest: .seconds(1), jitterPercent: 0)
    configuration.callTimeout = .seconds(300)
    configuration.connectTimeout = .seconds(300)
    configuration.kickWindow = .seconds(600)
    return configuration
  }
}
