package import RepriseCore
package import Wire

/// One thing that is done in a case, or waited for.
package struct CaseStep: Sendable, Hashable {
  /// What is done.
  package enum Action: String, Sendable, Hashable, CaseIterable {
    /// Opens a connection, sends CONNECT or a request for WebSocket, and waits for the answer.
    case connect
    /// Waits for a connection and its CONNECT, and sends CONNACK; of WebSocket, answers a request.
    case accept
    /// Opens a connection, or waits for one, and sends nothing; of WebSocket, with the handshake.
    case open
    /// Sends SUBSCRIBE, and waits for the answer.
    case subscribe
    /// Sends UNSUBSCRIBE, and waits for the answer.
    case unsubscribe
    /// Sends PUBLISH, and waits for the end of its exchange.
    case publish
    /// Sends a packet, and waits for nothing.
    case send
    /// Sends a frame of WebSocket, whatever it is, and waits for nothing.
    case frame
    /// Sends a message of WebSocket, and waits for one.
    case message
    /// Sends bytes, whatever they are, and waits for nothing.
    case bytes
    /// Waits until packets have come, or the end of the connection.
    case await
    /// Sends PINGREQ or a Ping, and waits for the answer: what the other end did before is over then.
    case fence
    /// No longer answers packets of these types by itself.
    case hold
    /// Answers again, and sends the answers that were held back.
    case release
    /// Sends DISCONNECT, ends the connection in good order, and waits for the server's end.
    case disconnect
    /// Sends a Close frame, and waits for the end of the connection.
    case close
    /// Ends the connection in good order, without DISCONNECT.
    case finish
    /// Breaks the connection off.
    case reset
    /// Lets true time pass.
    case wait

    /// The keys that a step may have besides those of every step and, where it sends a packet, its fields.
    fileprivate var keys: Set<String> {
      switch self {
      case .accept, .connect, .subscribe, .unsubscribe, .publish: ["await"]
      case .bytes: ["hex"]
      case .await: ["type", "end", "count", "seconds"]
      case .hold: ["types"]
      case .wait: ["seconds"]
      case .open, .release, .send, .fence, .disconnect, .finish, .reset, .frame, .message, .close:
        []
      }
    }

    /// The type of the packet that is sent, whose fields the step has; nil where there is none, or the step says.
    fileprivate var packet: MQTTPacketType? {
      switch self {
      case .accept: .connack
      case .connect: .connect
      case .subscribe: .subscribe
      case .unsubscribe: .unsubscribe
      case .publish: .publish
      case .disconnect: .disconnect
      case .open, .release, .send, .bytes, .await, .fence, .hold, .finish, .reset, .wait, .frame,
        .message, .close:
        nil
      }
    }
  }

  /// What is done.
  let action: Action
  /// The client that does it; nothing where time passes.
  package let client: String
  /// The only version in which it is done; nil is each.
  package let version: MQTTVersion?
  /// The other keys, in which names of values may stand.
  package let fields: [JSONMember]
  /// Where it stands, for errors.
  let place: String

  /// The keys of every step.
  private static func common(_ kind: CaseKind) -> Set<String> {
    switch kind {
    case .broker: ["do", "client", "in"]
    case .client: ["do", "in"]
    case .webSocket: ["do"]
    }
  }
  /// The fields of packets, by type.
  private static let packetFields: [MQTTPacketType: Set<String>] = [
    .connect: [
      "clientID", "cleanStart", "keepAlive", "will", "username", "password", "properties", "bridge",
    ],
    .connack: ["sessionPresent", "reasonCodes", "properties"],
    .publish: ["topic", "payload", "qos", "retain", "dup", "packetID", "properties"],
    .subscribe: [
      "filters", "filter", "qos", "noLocal", "retainAsPublished", "retainHandling",
      "packetID", "properties",
    ],
    .unsubscribe: ["filters", "filter", "packetID", "properties"],
    .disconnect: ["reasonCodes", "properties"],
  ]

  /// Reads a step.
  /// - Parameters:
  ///   - value: The step, an object.
  ///   - kind: What is driven by it.
  ///   - place: Where it stands, for errors.
  /// - Throws: ``DriverError`` that names the place, the key and what it must be.
  init(_ value: JSONValue, _ kind: CaseKind, _ place: String) throws(DriverError) {
    let fields = try CaseFields(value, place)
    guard let action = try fields.choice("do", of: kind.actions) else {
      throw fields.error("do", "is missing; it says what is done")
    }
    self.action = action
    self.place = place
    client = action == .wait || !kind.hasClients ? "" : try fields.filledText("client")
    version = try fields["in"].map { (value) throws(DriverError) in
      guard let version = value.text.flatMap(MQTTVersion.init(number:)) else {
        throw fields.error("in", "is neither 3.1.1 nor 5.0")
      }
      return version
    }
    if kind == .webSocket {
      try fields.check(keys: Self.common(kind).union(action.webSocketKeys).sorted())
    } else if action != .send {
      let packet = action.packet.flatMap { Self.packetFields[$0] } ?? []
      try fields.check(keys: Self.common(kind).union(action.keys).union(packet).sorted())
    }
    self.fields = fields.members.filter { !Self.common(kind).contains($0.key) }
  }

  /// Its fields, with values in the places that name them.
  /// - Parameter find: The value of a name; nil leaves the place as it is.
  /// - Returns: The fields.
  func filled(_ find: (Substring) -> JSONValue?) -> CaseFields {
    let members = fields.map { field in
      JSONMember(field.key, CaseTemplate.fill(field.value, find), offset: field.offset)
    }
    return CaseFields(members, path: place, wording: CaseWording())
  }
}

extension CaseFields {
  /// The time of a step, in seconds that may have fractions.
  func seconds(orElse usual: Double) throws(DriverError) -> Duration {
    let value = self["seconds"]
    guard let seconds = value == nil ? usual : value?.double, (0...600).contains(seconds) else {
      throw error("seconds", "is no number from 0 to 600")
    }
    return .milliseconds(Int(seconds * 1_000))
  }

  /// The bytes of a step: pairs of hexadecimal digits, with or without spaces.
  func hex() throws(DriverError) -> [UInt8] {
    let text = self["hex"]?.text ?? ""
    let digits = text.utf8.filter { $0 != UInt8(ascii: " ") }
    let values = digits.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard !digits.isEmpty, values.count == digits.count, values.count % 2 == 0 else {
      throw error("hex", "is not pairs of hexadecimal digits")
    }
    return stride(from: 0, to: values.count, by: 2).map { place in
      UInt8(truncatingIfNeeded: values[place] << 4 | values[place + 1])
    }
  }

  /// The packets that a step waits for: their type, and how many; nil where it waits for the end of the connection.
  func awaited() throws(DriverError) -> (MQTTPacketType, Int)? {
    guard let name = self["type"]?.text else { return nil }
    guard let type = MQTTPacketType(named: name) else {
      throw error("type", "names no packet of MQTT")
    }
    return (type, self["count"]?.integer ?? 1)
  }

  /// The types of packets of a step.
  func types() throws(DriverError) -> Set<MQTTPacketType> {
    var types: Set<MQTTPacketType> = []
    for value in self["types"]?.elements ?? [] {
      guard let type = value.text.flatMap(MQTTPacketType.init(named:)) else {
        throw error("types", "has something that is no packet of MQTT")
      }
      types.insert(type)
    }
    return types
  }
}
