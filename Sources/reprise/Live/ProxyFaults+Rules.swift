import Proxy
import RepriseCore

extension ProxyFaults {
  /// Reads rules such as `delay:200ms`, `server.chop:1`, `corrupt:12`.
  /// - Parameter rules: What was typed.
  /// - Throws: ``UsageError`` for anything else.
  init(rules: [String]) throws(UsageError) {
    self.init()
    for rule in rules {
      let parts = rule.split(separator: ":", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { throw Self.error(rule) }
      var name = Substring(parts[0])
      var senders = Peer.allCases
      for peer in Peer.allCases where name.hasPrefix("\(peer.rawValue).") {
        senders = [peer]
        name = name.dropFirst(peer.rawValue.count + 1)
      }
      for sender in senders { try add(name, parts[1], of: sender, rule) }
    }
  }

  private mutating func add(
    _ name: Substring, _ value: String, of sender: Peer, _ rule: String
  ) throws(UsageError) {
    guard name != "delay" else {
      let time = Arguments.milliseconds(value) ?? 0
      guard (1...3_600_000).contains(time) else { throw Self.error(rule) }
      self[sender].delay = Int64(time) * 1_000_000
      return
    }
    guard let number = Int(value), number >= (name == "drop" ? 0 : 1), value.first != "+" else {
      throw Self.error(rule)
    }
    switch name {
    case "drop": self[sender].limit = number
    case "chop": self[sender].pieceSize = number
    case "corrupt": self[sender].corrupted.insert(number)
    default: throw Self.error(rule)
    }
  }

  private static func error(_ rule: String) -> UsageError {
    UsageError(
      "--fault can't be '\(rule)'",
      "it takes delay:TIME (1ms to 1h), drop:N, chop:N and corrupt:N, and client. or server. in front"
    )
  }
}
