/// A message to be sent, with places for values of the message that it answers.
///
/// `{{id}}` is the member `id` of the payload, `{{payload.a.b}}` any member, `{{topic}}` the topic,
/// `{{topic.3}}` its third level, `{{responseTopic}}` where an answer is wanted, `{{now}}` the time in milliseconds since
/// 1970. A string that is one such place alone becomes the value itself, be it a number or an object.
struct AnswerTemplate: Sendable {
  /// What a template takes its values from.
  struct Source {
    let topic: String
    let properties: MessageProperties
    let payload: JSONValue?
    let now: Timestamp

    init(_ message: Message, now: Timestamp) {
      topic = message.topic
      properties = message.properties
      payload = try? JSONParser.parse(message.payload.span.bytes)
      self.now = now
    }

    fileprivate func value(_ name: Substring) -> JSONValue? {
      let parts = name.split(separator: ".")
      switch parts.first {
      case "id": return parts.count == 1 ? payload?.member(["id"]) : nil
      case "payload": return payload?.member(parts.dropFirst())
      case "now": return .number(String(now.nanoseconds / 1_000_000))
      case "responseTopic": return properties.responseTopic.map(JSONValue.string)
      case "topic":
        guard parts.count > 1 else { return .string(topic) }
        let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
        guard let number = Int(parts[1]), number >= 1, number <= levels.count else { return nil }
        return .string(String(levels[number - 1]))
      default: return nil
      }
    }
  }

  private enum Payload: Sendable {
    case json(JSONValue)
    case text(String)
    case bytes([UInt8])
  }

  /// The topic, with places.
  let topic: String
  /// How long after the cause it is sent.
  let delay: Duration
  private let payload: Payload
  private let qos: QoS
  private let isRetained: Bool

  static let keys = ["topic", "payload", "base64", "qos", "retain", "after"]
  /// The keys of an answer without a topic.
  static let frameKeys = ["payload", "base64", "after"]

  /// Reads an answer.
  /// - Parameters:
  ///   - fields: The answer in its file.
  ///   - hasTopic: Whether it has a topic, as messages of MQTT do.
  /// - Throws: ``DataClientError/Code/unreadable`` with the file and the key.
  init(_ fields: AnswerFields, hasTopic: Bool = true) throws(DataClientError) {
    topic = hasTopic ? try fields.requiredText("topic") : ""
    qos = try fields.qos() ?? .atMostOnce
    isRetained = try fields.flag("retain") ?? false
    delay = try fields.seconds("after") ?? .zero
    if let text = try fields.text("base64") {
      guard fields["payload"] == nil else {
        throw fields.error("base64", "stands beside payload; one of them is enough")
      }
      guard let bytes = Base64.decode(text) else {
        throw fields.error("base64", "is not canonical base 64")
      }
      payload = .bytes(bytes)
    } else {
      switch fields["payload"] {
      case .string(let text): payload = .text(text)
      case let value?: payload = .json(value)
      case nil: payload = .bytes([])
      }
    }
    guard !hasTopic || !topic.isEmpty else { throw fields.error("topic", "is empty") }
    for name in names where !Self.isPlace(name, hasTopic: hasTopic) {
      let known = "id, payload.…, \(hasTopic ? "topic, topic.N, responseTopic, " : "")now"
      throw fields.error("payload", "or topic has {{\(name)}}, which is none of \(known)")
    }
  }

  /// Whether a name is that of a place; what has no topic has no places for one.
  private static func isPlace(_ name: Substring, hasTopic: Bool) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return switch parts.first {
    case "id", "now": parts.count == 1
    case "payload": true
    case "responseTopic": hasTopic && parts.count == 1
    case "topic": hasTopic && (parts.count == 1 || parts.count == 2 && Int(parts[1]) ?? 0 > 0)
    default: false
    }
  }

  /// The names of all places.
  private var names: [Substring] {
    var texts = [topic]
    switch payload {
    case .text(let text): texts.append(text)
    case .json(let value): value.collectTexts(into: &texts)
    case .bytes: break
    }
    return texts.flatMap { text in Self.parts(of: text).compactMap(\.name) }
  }

  /// Returns the message that answers another one.
  /// - Parameter source: The message that is answered.
  /// - Returns: The answer.
  /// - Throws: ``DataClientError/Code/noAnswer`` when the message lacks a value that a place needs.
  func message(for source: Source) throws(DataClientError) -> Message {
    let bytes: [UInt8]
    switch payload {
    case .bytes(let plain): bytes = plain
    case .text(let text): bytes = Array(try Self.fill(text, source).utf8)
    case .json(let value):
      var filled: [UInt8] = []
      try Self.fill(value, source).append(to: &filled)
      bytes = filled
    }
    let topic = try Self.fill(topic, source)
    // An answer returns what its request is known by (MQTT 5.0 section 4.10.1).
    let isAnswer = !topic.isEmpty && topic == source.properties.responseTopic
    return Message(
      topic: topic, payload: bytes, qos: qos, isRetained: isRetained,
      properties: MessageProperties(
        correlationData: isAnswer ? source.properties.correlationData : nil))
  }

  /// Returns the message without a topic that answers another one: bytes where the file has base 64.
  /// - Parameter source: The message that is answered.
  /// - Returns: The answer.
  /// - Throws: ``DataClientError/Code/noAnswer`` when the message lacks a value that a place needs.
  func frame(for source: Source) throws(DataClientError) -> ClientEvent {
    let bytes = try message(for: source).payload
    if case .bytes = payload { return .binary(bytes) }
    return .text(String(decoding: bytes, as: UTF8.self))
  }

  private static func fill(
    _ value: JSONValue, _ source: Source
  ) throws(DataClientError) -> JSONValue {
    switch value {
    case .null, .bool, .number: return value
    case .string(let text):
      let parts = parts(of: text)
      if parts.count == 1, let name = parts[0].name { return try look(name, source) }
      return .string(try fill(text, source))
    case .array(let elements):
      var filled: [JSONValue] = []
      for element in elements { filled.append(try fill(element, source)) }
      return .array(filled)
    case .object(let members):
      var filled: [JSONMember] = []
      for member in members {
        filled.append(JSONMember(member.key, try fill(member.value, source)))
      }
      return .object(filled)
    }
  }

  private static func fill(_ text: String, _ source: Source) throws(DataClientError) -> String {
    var filled = ""
    for part in parts(of: text) {
      guard let name = part.name else {
        filled += part.text
        continue
      }
      let value = try look(name, source)
      if let text = value.scalarText {
        filled += text
      } else {
        var bytes: [UInt8] = []
        value.append(to: &bytes)
        filled += String(decoding: bytes, as: UTF8.self)
      }
    }
    return filled
  }

  private static func look(
    _ name: Substring, _ source: Source
  ) throws(DataClientError) -> JSONValue {
    guard let value = source.value(name) else {
      throw DataClientError(
        .noAnswer,
        "the answer\(source.topic.isEmpty ? "" : " to \(source.topic)") needs {{\(name)}}, which the "
          + "message that was sent does not have")
    }
    return value
  }

  /// A piece of a text: as it is, or a place.
  private struct Part {
    var text: Substring
    var name: Substring?
  }

  private static func parts(of text: String) -> [Part] {
    var parts: [Part] = []
    var rest = text[...]
    while let open = rest.firstRange(ofText: "{{") {
      guard let close = rest[open.upperBound...].firstRange(ofText: "}}") else { break }
      if open.lowerBound > rest.startIndex { parts.append(Part(text: rest[..<open.lowerBound])) }
      let name = rest[open.upperBound..<close.lowerBound]
      parts.append(Part(text: rest[open.lowerBound..<close.upperBound], name: name))
      rest = rest[close.upperBound...]
    }
    if !rest.isEmpty { parts.append(Part(text: rest)) }
    return parts
  }
}

extension JSONValue {
  /// The member at the end of a path of keys.
  fileprivate func member(_ path: some Sequence<Substring>) -> JSONValue? {
    path.reduce(self) { value, key in value?[String(key)] }
  }

  fileprivate func collectTexts(into texts: inout [String]) {
    switch self {
    case .string(let text): texts.append(text)
    case .array(let elements): for element in elements { element.collectTexts(into: &texts) }
    case .object(let members): for member in members { member.value.collectTexts(into: &texts) }
    case .null, .bool, .number: return
    }
  }
}
