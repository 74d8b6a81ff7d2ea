import Wire

/// What a recording must not tell, applied before a byte reaches the disk.
public struct RedactionRules: Sendable, Hashable {
  /// What stands in the place of what is hidden; a replay takes it for any value.
  public static let mark = "***"

  /// Whether passwords, and JSON members named like secrets (`token`, `sign`, `…Secret`), are hidden.
  public var hidesSecrets: Bool
  /// Whether user names are hidden.
  public var hidesUsernames: Bool
  /// Further names of JSON members, and of user properties, whose values are hidden, whatever their case; a
  /// payload that has one and is no JSON text as a whole is hidden altogether.
  public var keys: Set<String>
  /// Topic filters; the payloads of messages that match one are hidden as a whole.
  public var topics: [String]

  /// Creates rules.
  public init(
    hidesSecrets: Bool = true, hidesUsernames: Bool = false, keys: Set<String> = [],
    topics: [String] = []
  ) {
    self.hidesSecrets = hidesSecrets
    self.hidesUsernames = hidesUsernames
    self.keys = Set(keys.map { $0.lowercased() })
    self.topics = topics
  }

  /// The names of the rules, for the header of a recording.
  var names: [String] {
    (hidesSecrets ? ["password", "secrets"] : []) + (hidesUsernames ? ["username"] : [])
      + keys.sorted().map { "key:\($0)" } + topics.map { "topic:\($0)" }
  }

  /// Returns a message as the recording may tell it.
  func applied(to message: Message) -> Message {
    var message = message
    if message.hasProperties {
      for index in message.properties.userProperties.indices
      where keys.contains(message.properties.userProperties[index].name.lowercased()) {
        message.properties.userProperties[index].value = Self.mark
      }
    }
    guard !message.payload.isEmpty else { return message }
    let topic = Array(message.topic.utf8)
    let isHidden = topics.contains { filter in
      let filter = Array(filter.utf8)
      return MQTTTopicFilter.matches(filter.span.bytes, topic: topic.span.bytes)
    }
    message.payload = isHidden ? Array(Self.mark.utf8) : applied(toPayload: message.payload)
    return message
  }

  /// Returns a URL as the recording may tell it: without user information, and without tokens in its query.
  func applied(toURL url: String) -> String {
    hidesSecrets ? HandshakeSecrets.hidden(in: url) : url
  }

  /// Returns a payload as the recording may tell it, whatever its topic.
  func applied(toPayload payload: [UInt8]) -> [UInt8] {
    guard !keys.isEmpty else { return payload }
    guard let json = try? JSONParser.parse(payload.span.bytes) else {
      return namesKey(payload) ? Array(Self.mark.utf8) : payload
    }
    let hidden = hiding(json)
    guard hidden != json else { return payload }
    var bytes: [UInt8] = []
    hidden.append(to: &bytes)
    return bytes
  }

  /// Whether the name of a hidden member stands before a quote anywhere: in several JSON texts, in a part of
  /// one, or in one that is not UTF-8.
  private func namesKey(_ payload: [UInt8]) -> Bool {
    let text = Array(String(decoding: payload, as: UTF8.self).lowercased().utf8)
    return keys.contains { key in
      let name = Array(key.utf8)
      var rest = text[...]
      while let first = name.first, let start = rest.firstIndex(of: first) {
        rest = rest[start...]
        let next = rest.dropFirst(name.count).first
        // A quote in JSON that is a string of JSON has a backslash before it.
        let isName = next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\")
        if isName, rest.starts(with: name) { return true }
        rest = rest.dropFirst()
      }
      return false
    }
  }

  private func hiding(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements): .array(elements.map(hiding))
    case .object(let members):
      .object(
        members.map { member in
          let isHidden = keys.contains(member.key.lowercased())
          return JSONMember(member.key, isHidden ? .string(Self.mark) : hiding(member.value))
        })
    case .string(let text): hiding(text).map { .string($0) } ?? value
    case .null, .bool, .number: value
    }
  }

  /// Hides in text that is JSON itself, as requests carry their parameters; nil when nothing is hidden.
  private func hiding(_ text: String) -> String? {
    guard text.hasPrefix("{") || text.hasPrefix("["),
      let json = JSONValue(parsing: Array(text.utf8))
    else { return nil }
    let hidden = hiding(json)
    guard hidden != json else { return nil }
    var bytes: [UInt8] = []
    hidden.append(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}
