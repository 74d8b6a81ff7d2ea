import RepriseCore
import Wire

/// An event as it is compared: the fields that `inspect` shows of it, without what tells nothing of its meaning.
struct NormalForm {
  private let options: DiffOptions
  private let writer: EventJSONWriter
  private var line: [UInt8] = []

  init(_ options: DiffOptions) {
    self.options = options
    writer = EventJSONWriter(hiding: options.hidden)
  }

  /// What tells where and how an event was on the wire, and what can't be read of it.
  private static let placing: Set<String> = [
    "frame", "time", "connection", "from", "inferred", "over", "order", "length", "bytes",
    "missing", "moreErrors", "firstFrame", "firstTime", "answered", "late", "merged",
    "clientSilence",
    "clientRest", "serverRest", "exchange", "decoded", "http", "fin", "masked", "maskingKey",
    "compressed", "notInflated", "carries", "concealed", "obstacle", "remedy", "evidence",
  ]
  /// What is made anew in each run.
  private static let identifying: Set<String> = ["packetID", "clientID"]
  /// Headers that say how a message is carried, or where to.
  private static let carrying: Set<String> = [
    "host", "content-length", "transfer-encoding", "connection", "keep-alive",
  ]
  /// The packets in which a reason code of 0 says as much as none.
  private static let mayLackReason: Set<String> = [
    "PUBACK", "PUBREC", "PUBREL", "PUBCOMP", "DISCONNECT",
  ]

  /// Returns the fields of an event.
  /// - Parameters:
  ///   - event: The event.
  ///   - reading: What it is on its connection.
  /// - Returns: What is compared of it.
  mutating func form(of event: borrowing EventView, as reading: Reading) -> JSONValue {
    plainMessage(event, reading) ?? formByLine(of: event, as: reading)
  }

  /// Returns the fields of an event, read from the line that `inspect` shows.
  mutating func formByLine(of event: borrowing EventView, as reading: Reading) -> JSONValue {
    line.removeAll(keepingCapacity: true)
    writer.append(event, to: &line)
    guard case .object(let members)? = JSONValue(parsing: line) else { return .null }
    let type = members.first { $0.key == "type" }?.value.text ?? ""
    var fields: [JSONMember] = []
    for member in members {
      if let kept = field(member, of: type) { fields.append(kept) }
    }
    if let topic = reading.topic {
      fields.removeAll { $0.key == "topic" }
      fields.append(JSONMember("topic", options.hidden.shown(topic).json))
    }
    if case .closed = event.body {
      // Behind a leave it is equal to either.
      let by = reading.isBehindLeave ? RedactionRules.mark : event.context.sender.rawValue
      fields.append(JSONMember("by", .string(by)))
    }
    if event.context.isRebuilt {
      fields.removeAll { $0.key == "errors" }
      fields.append(JSONMember("errors", .string(RedactionRules.mark)))
    }
    if event.lacksPayload {
      fields.removeAll { $0.key == "payload" }
      fields.append(JSONMember("payload", .string(RedactionRules.mark)))
    }
    if options.details.contains(.times) {
      let elapsed = event.context.time.nanoseconds(since: reading.start)
      fields.append(JSONMember("time", .number(String(elapsed))))
    }
    return JSONValue.object(fields).meaning(without: [])
  }

  /// Returns the fields of a message that has nothing uncommon, the same as by its line and several times as fast; nil
  /// for any other event.
  func plainMessage(_ event: borrowing EventView, _ reading: Reading) -> JSONValue? {
    guard options.details.isEmpty, options.hidden.topics.isEmpty, !event.context.isRebuilt,
      case .mqtt(let packet) = event.body, packet.type == .publish, !packet.hasFaults,
      packet.missing == 0, !packet.hasProperties, packet.bytes.byteCount < 1 << 16,
      UTF8Text.isWellFormed(packet.payload)
    else { return nil }
    let topic = options.hidden.shown(reading.topic ?? String(copying: packet.topic)) as String
    let payload = options.hidden.shown(String(copying: packet.payload)) as String
    return .object([
      JSONMember("payload", data(.string(payload))),
      JSONMember("qos", .number(String(packet.qos))),
      JSONMember("retain", .bool(packet.retain)),
      JSONMember("topic", JSONValue.string(topic).meaning(without: [])),
      JSONMember("type", "PUBLISH"),
    ])
  }

  /// Returns a member of a line as it is compared; nil where it does not count.
  private func field(_ member: JSONMember, of type: String) -> JSONMember? {
    if Self.placing.contains(member.key) { return nil }
    if Self.identifying.contains(member.key), !options.details.contains(.ids) { return nil }
    switch member.key {
    case "dup" where !options.details.contains(.repeats): return nil
    case "protocol" where type != "CONNECT": return nil
    case "server", "client": return nil
    case "reasonCodes":
      if type == "CONNACK" { return nil }
      return Self.mayLackReason.contains(type) && member.value == [0] ? nil : member
    case "filters":
      return JSONMember(
        member.key, .array((member.value.elements ?? []).map { $0.withoutDefaults }))
    case "properties":
      let properties = properties(member.value)
      return properties == .object([]) ? nil : JSONMember(member.key, properties)
    case "payload", "password": return JSONMember(member.key, data(member.value))
    case "will": return JSONMember(member.key, will(member.value))
    case "headers": return JSONMember(member.key, headers(member.value))
    case "error", "errors": return JSONMember(member.key, member.value.faults)
    default: return member
    }
  }

  /// Returns the text of `{"utf8":…}`, read where it is JSON, and anything else as it is.
  private func data(_ value: JSONValue) -> JSONValue {
    (value["utf8"] ?? value).meaning(without: options.ignoredKeys)
  }

  private func will(_ value: JSONValue) -> JSONValue {
    guard case .object(let members) = value else { return value }
    return .object(
      members.map { member in
        switch member.key {
        case "payload": JSONMember(member.key, data(member.value))
        case "properties": JSONMember(member.key, properties(member.value))
        default: member
        }
      })
  }

  private func properties(_ value: JSONValue) -> JSONValue {
    guard case .object(let members) = value else { return value }
    return .object(
      members.compactMap { member in
        switch member.key {
        case "topicAlias", "assignedClientIdentifier":
          return options.details.contains(.ids) ? member : nil
        case "userProperty":
          let pairs = (member.value.elements ?? []).filter { !isIgnored($0[0]?.text ?? "") }
          return pairs.isEmpty ? nil : JSONMember(member.key, .array(pairs))
        case "correlationData", "authenticationData":
          return JSONMember(member.key, data(member.value))
        default: return member
        }
      })
  }

  /// Returns header lines as an object, as only the order of those of one name tells something (RFC 9110 section 5.3).
  private func headers(_ value: JSONValue) -> JSONValue {
    var fields: [String: [JSONValue]] = [:]
    for pair in value.elements ?? [] {
      guard let name = pair[0]?.text?.lowercased(), let value = pair[1] else { continue }
      if Self.carrying.contains(name) || isIgnored(name) { continue }
      if name == "date", !options.details.contains(.times) { continue }
      if name == "sec-websocket-key" || name == "sec-websocket-accept",
        !options.details.contains(.ids)
      {
        continue
      }
      fields[name, default: []].append(value)
    }
    return .object(
      fields.map { name, values in
        JSONMember(name, values.count == 1 ? values.first ?? .null : .array(values))
      })
  }

  private func isIgnored(_ name: String) -> Bool {
    !options.ignoredKeys.isEmpty && options.ignoredKeys.contains(name.lowercased())
  }
}

extension JSONValue {
  /// A filter without the options of MQTT 5.0 that say what every earlier version does.
  fileprivate var withoutDefaults: JSONValue {
    guard case .object(let members) = self else { return self }
    return .object(
      members.filter { member in
        switch member.key {
        case "noLocal", "retainAsPublished": member.value != false
        case "retainHandling": member.value != 0
        default: true
        }
      })
  }

  /// What is wrong, without where in the stream.
  fileprivate var faults: JSONValue {
    switch self {
    case .array(let faults): .array(faults.map(\.faults))
    case .object(let members): .object(members.filter { $0.key == "code" || $0.key == "field" })
    case .null, .bool, .number, .string: self
    }
  }
}

extension EventView {
  /// Whether a part of what a message carries was not captured, or can't be read.
  fileprivate var lacksPayload: Bool {
    switch body {
    case .mqtt(let packet): return packet.missing > 0 && packet.type == .publish
    case .webSocket(let frame):
      if case .kept = frame.compression { return true }
      return frame.missing > 0
    case .http(let part): return part.message.map { $0.missing > 0 } ?? false
    case .opened, .closed, .attempted, .gap, .malformed, .handshake, .tls: return false
    }
  }
}
