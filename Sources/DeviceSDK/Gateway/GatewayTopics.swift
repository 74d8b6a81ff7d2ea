/// The topics of a gateway and of its sub-devices.
///
/// All are full topics: `/sys/{productKey}/{deviceName}/thing/…` and `/ext/…`.
struct GatewayTopics: Sendable, Hashable {
  let gateway: Subdevice

  var addTopology: String { system("topo/add") }
  var deleteTopology: String { system("topo/delete") }
  var getTopology: String { system("topo/get") }
  var found: String { system("list/found") }
  var register: String { system("sub/register") }
  var unregister: String { system("sub/unregister") }
  var packPost: String { system("event/property/pack/post") }
  var login: String { session("login") }
  var logout: String { session("logout") }
  var batchLogin: String { session("batch_login") }
  var batchLogout: String { session("batch_logout") }
  var sessionError: String { "/ext/error/\(gateway)" }
  var addRequest: String { system("topo/add/notify") }
  var topologyChange: String { system("topo/change") }

  /// A topic of nobody's, whose UNSUBSCRIBE marks the end of what the cloud retains.
  var endOfSweep: String { system("sweep/end") }

  /// What a gateway listens to as long as it is connected.
  var own: [String] { [sessionError, addRequest, topologyChange] }

  private func system(_ path: String) -> String { Self.thing(gateway, path) }

  private func session(_ path: String) -> String { "/ext/session/\(gateway)/combine/\(path)" }

  static func thing(_ device: Subdevice, _ path: String) -> String {
    "/sys/\(device)/thing/\(path)"
  }

  /// What a sub-device listens to as long as it is online: services, and what its gateway is told.
  static func commands(of subdevice: Subdevice) -> [String] {
    ["service/#", "model/down_raw", "disable", "enable", "delete"].map { thing(subdevice, $0) }
  }
}

/// A topic of a gateway or of one of its sub-devices, taken apart.
package struct GatewayTopic: Sendable, Hashable {
  /// What the topic is below its device.
  enum Kind: Sendable, Hashable {
    /// `/sys/…/thing/…`, with what is behind `thing/`.
    case thing(String)
    /// `/ext/error/…`.
    case sessionError
    /// Anything else that names a device.
    case other
  }

  /// The device that the topic names.
  package let device: Subdevice
  /// What stands behind it: `thing/topo/add`, `combine/login`; empty for errors of sessions.
  package let path: String
  let kind: Kind

  /// Takes a topic apart; nil when it names no device.
  package init?(_ topic: String) {
    let levels = topic.split(separator: "/", maxSplits: 5, omittingEmptySubsequences: false)
    guard levels.count >= 4, levels[0].isEmpty else { return nil }
    let first: Int
    switch (levels[1], levels[2]) {
    case ("sys", _): first = 2
    case ("ext", "error"), ("ext", "session"): first = 3
    default: return nil
    }
    guard levels.indices.contains(first + 1),
      let device = try? Subdevice(
        productKey: String(levels[first]), deviceName: String(levels[first + 1]))
    else { return nil }
    self.device = device
    path = levels.dropFirst(first + 2).joined(separator: "/")
    if levels[1] == "ext" {
      kind = levels[2] == "error" && levels.count == 5 ? .sessionError : .other
    } else if levels.count == 6, levels[4] == "thing" {
      kind = .thing(String(levels[5]))
    } else {
      kind = .other
    }
  }
}
