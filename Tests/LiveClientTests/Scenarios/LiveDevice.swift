import CloudSimulator
import DeviceSDK
import RepriseCore

@testable import reprise

/// A device that tests use, whose channel comes back quickly.
struct LiveDevice {
  let name: String
  let configuration: ChannelConfiguration

  init(_ name: String) throws {
    self.name = name
    var configuration = ChannelConfiguration(
      appKey: "1234", identity: try ChannelIdentity(productKey: "a1pk", deviceName: name))
    configuration.reconnect = BackOff(first: .milliseconds(10), jitterPercent: 0)
    self.configuration = configuration
  }

  /// A message of the cloud to the device.
  func message(_ topic: String, _ payload: String) -> Message {
    Message(
      topic: "/sys/a1pk/\(name)/app/down\(topic)", payload: Array(payload.utf8), qos: .atLeastOnce)
  }

  /// A simulator that is the cloud of the device.
  func cloud(_ script: String) throws -> LiveWorld.Cloud {
    LiveWorld.Cloud(
      script: try CloudScript(parsing: Array(script.utf8)),
      device: CloudDevice(productKey: "a1pk", deviceName: name))
  }
}
