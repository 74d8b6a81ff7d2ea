import RepriseCore

/// Counts the connections that give no events although something is known of them, to name them.
final class LeftConnections {
  /// What is said of connections.
  enum Kind: Hashable {
    /// They speak TLS of a version, with a server of a name.
    case tls(version: UInt16?, isChosen: Bool, serverName: String?, TLSObstacle)
    /// They hold nothing of what the user said.
    case not(DecodeRule)
    /// What they begin with is not whole, so that it is not known what they ask for.
    case unread(UnreadStart)
  }

  private struct Key: Hashable {
    let kind: Kind
    let port: UInt16
  }

  /// So many kinds are told apart; the rest is only counted.
  private static let mostKinds = 16

  private var counts: [Key: (connections: Int, firstFrame: Int)] = [:]
  private var others = 0
  /// The alerts that are not told.
  private var alerts = 0

  /// Counts a connection.
  func add(_ kind: Kind, port: UInt16, frame: Int) {
    let key = Key(kind: kind, port: port)
    if let known = counts[key] {
      counts[key] = (known.connections + 1, min(known.firstFrame, frame))
    } else if counts.count < Self.mostKinds {
      counts[key] = (1, frame)
    } else {
      others += 1
    }
  }

  /// Counts an alert that is not told: one of a flood on a connection of which nothing else is known.
  func addAlert() { alerts += 1 }

  /// Counts a connection that is not decrypted, or not to its end.
  func add(_ session: TLSSession, _ obstacle: TLSObstacle, port: UInt16, frame: Int) {
    let (server, client) = (session.serverHello, session.clientHello)
    let kind = Kind.tls(
      version: (server ?? client)?.version, isChosen: server != nil,
      serverName: client?.extensions.serverName, obstacle)
    add(kind, port: port, frame: frame)
  }

  /// A sentence for each kind, in the order of their first frames.
  var notes: [String] {
    var notes = counts.sorted {
      ($0.value.firstFrame, $0.key.port) < ($1.value.firstFrame, $1.key.port)
    }
    .map { Self.note($0.key, $0.value.connections, $0.value.firstFrame) }
    if others > 0 {
      notes.append("\(others) more connections can't be read for reasons like these")
    }
    if alerts > 0 {
      notes.append(
        "\(alerts) alerts of TLS are left out: before it is known what a connection speaks 8 of it are kept"
      )
    }
    return notes
  }

  private static func note(_ key: Key, _ count: Int, _ frame: Int) -> String {
    let connections = count == 1 ? "1 connection" : "\(count) connections"
    switch key.kind {
    case .tls(let version, let isChosen, let serverName, let obstacle):
      let name = version.map { (isChosen ? "" : "up to ") + TLSHello.name(ofVersion: $0) } ?? "TLS"
      let server = serverName.map { $0.isEmpty ? "" : " with \($0)" } ?? ""
      let remedy = obstacle.remedy.map { "; \($0)" } ?? ""
      return "\(connections) of port \(key.port) spoke \(name)\(server) and \(obstacle.text) "
        + "(first in frame \(frame))\(remedy)"
    case .not(let rule):
      let name =
        switch rule {
        case .webSocket: "WebSocket"
        case .http: "HTTP"
        case .tls: "TLS"
        case .mqtt, .none: "MQTT"
        }
      return "--decode \(key.port)=\(Self.name(rule)): nothing in \(connections) of that port "
        + "looks like \(name) (first in frame \(frame)); leave the option out"
    case .unread(let start):
      let request = start.isCONNECT ? "a CONNECT of MQTT" : "a request for WebSocket"
      let loss =
        start.isCut
        ? "cut by the capture's snapshot length; take it with -s 0" : "not whole in the capture"
      return "\(connections) of port \(key.port) can't be read: what may be \(request) is \(loss) "
        + "(first in frame \(frame))"
    }
  }

  private static func name(_ rule: DecodeRule) -> String {
    switch rule {
    case .mqtt(version: nil): "mqtt"
    case .mqtt(let version?): "\(WireProtocol.mqtt(version).name)"
    case .webSocket: "websocket"
    case .http: "http"
    case .tls: "tls"
    case .none: "none"
    }
  }
}
