package import RepriseCore
package import Wire

/// What both ends of recorded connections do, in the order of the session.
package struct SessionScript: Sendable {
  /// The connections of MQTT or WebSocket, in order of first sight; none where HTTP is replayed.
  package internal(set) var connections: [ConnectionScript]
  /// The requests of HTTP, in order; none where something else is replayed.
  package let exchanges: [ScriptExchange]
  /// What of the session is not replayed, one sentence each.
  package internal(set) var notes: [String] = []
  /// Which messages of servers are those that a client published: the place of the message among a connection's steps,
  /// and that of what it comes of.
  package let deliveries: [StepPath: StepPath]

  /// Joins connections.
  /// - Parameters:
  ///   - connections: The connections.
  ///   - notes: What is left out.
  init(_ connections: [ConnectionScript], notes: [String]) {
    (self.connections, self.notes) = (connections, notes)
    exchanges = []
    deliveries = Self.deliveries(in: connections)
  }

  /// Joins requests of HTTP.
  /// - Parameters:
  ///   - exchanges: The requests, in order; at least one.
  ///   - notes: What is left out.
  init(_ exchanges: [ScriptExchange], notes: [String]) {
    (self.exchanges, self.notes) = (exchanges, notes)
    (connections, deliveries) = ([], [:])
  }

  /// Whether it is one of HTTP: all of a script are of one kind, as one server is.
  package var isHTTP: Bool { !exchanges.isEmpty }

  /// How many connections are replayed.
  package var connectionCount: Int {
    isHTTP ? Set(exchanges.map(\.connection)).count : connections.count
  }

  /// Where a step stands.
  package struct StepPath: Sendable, Hashable {
    /// The place of the connection among all.
    package let connection: Int
    /// The place of the step in it.
    package let step: Int

    /// Names a step.
    package init(connection: Int, step: Int) { (self.connection, self.step) = (connection, step) }
  }

  /// A message that is delivered has the topic and the payload of one that was published before it: the last such one.
  private static func deliveries(in connections: [ConnectionScript]) -> [StepPath: StepPath] {
    struct Message: Hashable {
      let topic: String
      let payload: [UInt8]
    }
    var published: [Message: StepPath] = [:]
    var deliveries: [StepPath: StepPath] = [:]
    let all = connections.indices.flatMap { connection in
      connections[connection].steps.indices.map { StepPath(connection: connection, step: $0) }
    }
    for path in all.sorted(by: { connections.step($0).order < connections.step($1).order }) {
      let step = connections.step(path)
      guard let packet = step.packet, packet.type == .publish,
        case .publish(let publish) = packet.decoded?.content
      else { continue }
      let message = Message(topic: publish.topic, payload: publish.payload)
      if step.sender == .client {
        published[message] = path
      } else if let source = published[message], source.connection != path.connection {
        deliveries[path] = source
      }
    }
    return deliveries
  }

  /// Whether its connections are WebSocket that carries no MQTT; all of a script are of one kind, as one server is.
  package var isWebSocket: Bool {
    connections.contains { if case .webSocket = $0.language { true } else { false } }
  }

  /// The first message of a client in which a secret seems to be hidden; nil where there is none.
  package var hidingMessage: ReplayPlace? {
    if let exchange = exchanges.first(where: \.isHiding) { return exchange.asked.place }
    return connections.lazy.flatMap(\.steps).first { step in
      guard step.sender == .client, let unit = step.unit else { return false }
      return Self.payload(of: unit).contains(RedactionRules.mark)
    }?.place
  }

  /// What a message says, as text; empty for what is no message.
  private static func payload(of unit: ReplayUnit) -> String {
    switch unit {
    case .packet(let packet):
      guard case .publish(let publish) = packet.decoded?.content else { return "" }
      return String(decoding: publish.payload, as: UTF8.self)
    case .frame(let frame): return String(decoding: frame.payload, as: UTF8.self)
    case .handshake: return ""
    }
  }

  /// Lets all clients show other credentials than the recorded ones.
  /// - Parameters:
  ///   - username: The user name; nil leaves the recorded ones.
  ///   - password: The password; nil leaves the recorded ones.
  package mutating func replaceCredentials(username: String?, password: [UInt8]?) {
    for index in connections.indices {
      connections[index].replaceCredentials(username: username, password: password)
    }
  }
}

extension [ConnectionScript] {
  /// The step at a path of the same connections.
  func step(_ path: SessionScript.StepPath) -> ScriptStep { self[path.connection].steps[path.step] }
}

/// What both ends of a recorded connection do, from the CONNECT on, or from the request for WebSocket.
package struct ConnectionScript: Sendable {
  /// What is spoken on a connection.
  package enum Language: Sendable, Hashable {
    /// MQTT, whatever carries it.
    case mqtt(MQTTVersion)
    /// WebSocket that carries no MQTT, for which the client has asked by this target.
    case webSocket(target: String)
  }

  /// The number of the connection in its file.
  package let number: Int
  /// What is spoken on it.
  package let language: Language
  /// The name that the client had; empty where it had none.
  package let clientID: String
  /// Whether the client asked for a session that it may have had.
  let keepsSession: Bool
  /// The longest silence that the client announced, in seconds; 0 is none.
  package let keepAlive: UInt16
  /// What is done, in order.
  package internal(set) var steps: [ScriptStep]

  /// Creates a script of steps, the first of which is a CONNECT or a request for WebSocket; nil where it is none that can
  /// be read.
  init?(_ number: Int, _ steps: [ScriptStep]) {
    (self.number, self.steps) = (number, steps)
    switch steps.first?.unit {
    case .packet(let packet):
      guard case .connect(let connect) = packet.decoded?.content else { return nil }
      (language, clientID) = (.mqtt(packet.version), connect.clientID)
      (keepsSession, keepAlive) = (!connect.cleanStart, connect.keepAlive)
    case .handshake(.request(let request)):
      (language, clientID) = (.webSocket(target: request.target), "")
      (keepsSession, keepAlive) = (false, 0)
    case .handshake, .frame, nil: return nil
    }
  }

  /// Whether the recording has the end of the connection, or that somebody says farewell in front of it.
  package var hasEnd: Bool {
    steps.last?.unit == nil || steps.contains { $0.unit?.isFarewell == true }
  }

  /// Whether the password of its CONNECT is not in the recording.
  package var lacksPassword: Bool {
    guard case .connect(let connect) = steps.first?.packet?.decoded?.content else { return false }
    return RedactionRules.isMark(connect.password ?? [])
  }

  fileprivate mutating func replaceCredentials(username: String?, password: [UInt8]?) {
    guard let packet = steps.first?.packet, var changed = packet.decoded,
      case .connect(var connect) = changed.content
    else { return }
    connect.username = username ?? connect.username
    connect.password = password ?? connect.password
    changed.content = .connect(connect)
    if let replaced = try? ReplayPacket(changed, insteadOf: packet) {
      steps[0].content = .said(.packet(replaced))
    }
  }
}
