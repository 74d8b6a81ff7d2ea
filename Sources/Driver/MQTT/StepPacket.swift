import RepriseCore
import Wire

/// The packet that a step sends.
struct StepPacket {
  let bytes: [UInt8]
  let type: MQTTPacketType
  let packetID: UInt16?
  /// The QoS of a PUBLISH, as far as it has one.
  let qos: Int
  /// The packet, with all of its fields.
  let json: JSONValue

  /// Makes the packet of a step.
  /// - Parameters:
  ///   - step: The step.
  ///   - fields: The step's fields, in which values stand in the places that named them.
  ///   - defaults: What the packet has where the step says nothing of it.
  ///   - version: The version to encode it by.
  /// - Throws: ``DriverError`` that names the step and what is wrong.
  init(
    _ step: CaseStep, _ fields: CaseFields, _ defaults: Defaults, _ version: MQTTVersion
  ) throws(DriverError) {
    guard let name = Self.name(of: step, fields), let type = MQTTPacketType(named: name) else {
      throw fields.error("type", "names no packet of MQTT")
    }
    var members = fields.members.filter { $0.key != "await" }
    func add(_ key: String, _ value: JSONValue?) {
      guard let value, !members.contains(where: { $0.key == key }) else { return }
      members.append(JSONMember(key, value))
    }
    add("type", .string(name))
    switch type {
    case .connect:
      add("clientID", .string(defaults.clientID))
      add("cleanStart", true)
      add("keepAlive", 60)
      add("username", defaults.credentials.username.map { .string($0) })
    case .publish:
      add("payload", .string(defaults.payload))
      add("qos", 0)
    case .connack:
      add("sessionPresent", false)
      add("reasonCodes", [0])
    case .subscribe, .unsubscribe: Self.addFilters(to: &members)
    default: break
    }
    let qos = members.first { $0.key == "qos" }?.value.integer ?? 0
    if Self.hasIdentifier(type, qos) { add("packetID", .number(String(defaults.packetID))) }
    self.type = type
    self.qos = type == .publish ? qos : 0
    json = .object(members)
    packetID = json["packetID"]?.integer.flatMap { UInt16(exactly: $0) }
    let isNamed = fields["username"] != nil || fields["password"] != nil
    bytes = try Self.encoded(
      json, version, step, password: isNamed ? nil : defaults.credentials.password,
      defaults.credentials.authentication)
  }

  /// What ends the exchange that it begins; nil where there is none.
  var ending: ((HeardPacket) -> Bool)? {
    let id = packetID
    switch type {
    case .connect: return { $0.type == .connack }
    case .subscribe: return { $0.type == .suback && $0.packetID == id }
    case .unsubscribe: return { $0.type == .unsuback && $0.packetID == id }
    case .pingreq: return { $0.type == .pingresp }
    case .publish where qos == 1: return { $0.type == .puback && $0.packetID == id }
    case .publish where qos == 2:
      // One that has no QoS 2 may answer by PUBACK, which ends it as well.
      return {
        $0.packetID == id
          && ([.pubcomp, .puback].contains($0.type) || $0.type == .pubrec && $0.code >= 0x80)
      }
    default: return nil
    }
  }

  /// What a packet has where its step says nothing of it.
  struct Defaults {
    var clientID: String
    var credentials: BrokerPlace.Credentials
    var payload: String
    var packetID: UInt16
  }

  private static func name(of step: CaseStep, _ fields: CaseFields) -> String? {
    switch step.action {
    case .connect: "CONNECT"
    case .subscribe: "SUBSCRIBE"
    case .unsubscribe: "UNSUBSCRIBE"
    case .publish: "PUBLISH"
    case .disconnect: "DISCONNECT"
    case .fence: "PINGREQ"
    case .send: fields["type"]?.text
    case .accept: "CONNACK"
    case .open, .bytes, .await, .hold, .release, .finish, .reset, .wait, .frame, .message, .close:
      nil
    }
  }

  private static func hasIdentifier(_ type: MQTTPacketType, _ qos: Int) -> Bool {
    switch type {
    case .publish: qos > 0
    case .subscribe, .unsubscribe, .puback, .pubrec, .pubrel, .pubcomp: true
    default: false
    }
  }

  /// Takes one filter with its options, or texts, for what a list of filters is.
  private static func addFilters(to members: inout [JSONMember]) {
    let options: Set<String> = ["qos", "noLocal", "retainAsPublished", "retainHandling"]
    if let filter = members.first(where: { $0.key == "filter" }) {
      let own = members.filter { options.contains($0.key) || $0.key == "filter" }
      members.removeAll { options.contains($0.key) || $0.key == "filter" }
      if !members.contains(where: { $0.key == "filters" }) {
        members.append(JSONMember("filters", .array([.object(own)]), offset: filter.offset))
      }
    }
    guard let place = members.firstIndex(where: { $0.key == "filters" }),
      let elements = members[place].value.elements
    else { return }
    members[place].value = .array(
      elements.map { $0.text.map { .object([JSONMember("filter", .string($0))]) } ?? $0 })
  }

  private static func encoded(
    _ json: JSONValue, _ version: MQTTVersion, _ step: CaseStep, password: [UInt8]?,
    _ authentication: Authentication?
  ) throws(DriverError) -> [UInt8] {
    var packet: MQTTPacket
    do throws(RecordingError) { packet = try MQTTPacket(json: json, version: version) } catch {
      throw DriverError(.badCase, "\(step.place): \(error.message)")
    }
    // A password need not be text, and so is no value of JSON before.
    if case .connect(var connect) = packet.content, let password {
      connect.password = password
      packet.content = .connect(connect)
    }
    if version == .v5_0 { authentication?.complete(&packet) }
    do throws(MQTTEncodingError) { return try packet.encoded() } catch {
      throw DriverError(.badCase, "\(step.place): the packet can't be encoded: \(error)")
    }
  }
}
