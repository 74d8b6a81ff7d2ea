import DeviceSDK

/// What a topic of a recorded session says of the gateway's calls.
extension GatewayTopic {
  /// What the request of a gateway on such a topic does with lines; nil when it does nothing with them.
  var lineCall: LineCall? {
    switch path {
    case "thing/topo/add": .addTopology
    case "thing/topo/delete": .deleteTopology
    case "combine/login", "combine/batch_login": .logIn
    case "combine/logout", "combine/batch_logout": .logOut
    default: nil
    }
  }

  /// Whether a sub-device that comes online is subscribed to it for what the cloud wants of it.
  var isForCommands: Bool {
    ["service/#", "model/down_raw", "disable", "enable", "delete"].contains {
      path == "thing/\($0)"
    }
  }

  /// Whether the cloud wants something of a sub-device by it.
  var isCommand: Bool { path.hasPrefix("thing/service/") || isForCommands }

  /// Whether a gateway listens to it as long as it is connected.
  var isOfEveryGateway: Bool {
    ["", "thing/topo/add/notify", "thing/topo/change"].contains(path)
  }

  /// Whether only gateways have such a topic: of sessions of sub-devices, the topology, registrations.
  var isOfGateway: Bool {
    ["combine/", "thing/topo/", "thing/sub/", "thing/list/"].contains { path.hasPrefix($0) }
  }
}
