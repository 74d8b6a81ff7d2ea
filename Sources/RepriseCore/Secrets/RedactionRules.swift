import Wire

/// What must not be told: the one set of rules of all that shows or keeps a session.
///
/// Lines of text and of JSON, recordings, reports and divergences hide by it, whatever they were made from. What is
/// a secret by its name stands in `SecretNames`, where secrets stand in text in `SecretScanner`. With
/// ``hidesSecrets``, `***` stands
///
/// * for passwords and authentication data, wherever MQTT has them;
/// * in every text (payloads, topics, identifiers, user properties, reasons, headers, addresses) for the values of
///   JSON members, of XML elements, of pairs such as `token=…` and of header lines that have the name of a secret, for
///   what stands before the host of an address, for bearer tokens, and for private keys in PEM format;
/// * for a payload in another encoding than UTF-8 that tells a secret, for one that could not be inflated, for the
///   rest of a WebSocket message from the frame on that goes on inside a secret, and for `bytes` that would tell
///   what the fields hide.
///
/// A short text that is a secret and has no name is shown; hide it by ``keys`` or ``topics``.
public struct RedactionRules: Sendable, Hashable {
  /// What stands in the place of what is hidden; a replay takes it for any value.
  public static let mark = "***"

  /// Whether a text is all hidden: the mark, or a star for each byte, as in a redacted capture.
  /// - Parameter text: The text in UTF-8.
  /// - Returns: Whether it is.
  package static func isMark(_ text: some Collection<UInt8>) -> Bool {
    text.count >= mark.utf8.count && text.allSatisfy { $0 == UInt8(ascii: "*") }
  }

  /// Returns a text with ``mark`` in the place of as many stars as what they hide had bytes.
  /// - Parameter text: The text.
  /// - Returns: The text, as it would be hidden where lengths don't matter.
  package static func shorteningMarks(in text: String) -> String {
    var stars = 0
    let short = text.utf8.filter { byte in
      stars = byte == UInt8(ascii: "*") ? stars + 1 : 0
      return stars <= mark.utf8.count
    }
    return String(decoding: short, as: UTF8.self)
  }

  /// Whether passwords, tokens, signatures and the like are hidden.
  public var hidesSecrets: Bool { didSet { names = Self.names(hidesSecrets, keys) } }
  /// Whether user names are hidden.
  public var hidesUsernames: Bool
  /// Whether the correlation data of MQTT 5.0 is hidden.
  public var hidesCorrelationData: Bool
  /// Further names, such as those of JSON members and of user properties, whose values are hidden, whatever their
  /// case.
  public var keys: Set<String> { didSet { names = Self.names(hidesSecrets, keys) } }
  /// Topic filters; the payloads of messages that match one are hidden as a whole.
  public var topics: [String]
  /// The names of secrets.
  private(set) var names: SecretNames

  /// Creates rules.
  public init(
    hidesSecrets: Bool = true, hidesUsernames: Bool = false, hidesCorrelationData: Bool = false,
    keys: Set<String> = [], topics: [String] = []
  ) {
    self.hidesSecrets = hidesSecrets
    self.hidesUsernames = hidesUsernames
    self.hidesCorrelationData = hidesCorrelationData
    self.keys = keys
    self.topics = topics
    names = Self.names(hidesSecrets, keys)
  }

  private static func names(_ hidesSecrets: Bool, _ keys: Set<String>) -> SecretNames {
    SecretNames(
      hasTable: hidesSecrets,
      keys: keys.map { Array($0.lowercased().utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
  }

  /// Whether nothing is hidden.
  package var hidesNothing: Bool {
    names.isEmpty && !hidesUsernames && !hidesCorrelationData && topics.isEmpty
  }

  /// Whether more is hidden than secrets: parts of packets can't be told apart in bytes then.
  var hidesMore: Bool {
    hidesUsernames || hidesCorrelationData || !keys.isEmpty || !topics.isEmpty
  }

  /// The names of the rules, for the header of a recording.
  package var ruleNames: [String] {
    (hidesSecrets ? ["password", "secrets"] : []) + (hidesUsernames ? ["username"] : [])
      + (hidesCorrelationData ? ["correlation"] : [])
      + keys.map { $0.lowercased() }.sorted().map { "key:\($0)" } + topics.map { "topic:\($0)" }
  }

  /// Whether the payload of a message is hidden for its topic; also where none is known.
  package func hidesPayload(on topic: String) -> Bool {
    hidesPayload(on: topic.utf8Span.span.bytes)
  }

  /// Whether the payload of a message is hidden for its topic; also where only an alias stands for that.
  func hidesPayload(on topic: RawSpan) -> Bool {
    guard !topics.isEmpty else { return false }
    if topic.isEmpty { return true }
    return topics.contains { filter in
      let filter = Array(filter.utf8)
      return MQTTTopicFilter.matches(filter.span.bytes, topic: topic)
    }
  }
}

extension RedactionRules {
  /// Why a rule that a user typed is none.
  package enum TypedError: Error, Hashable {
    /// It is none of the rules.
    case unknown
    /// What it has for a topic filter is none.
    case notTopicFilter(String)
  }

  /// Adds a rule as users type it: `secrets`, `username`, `correlation`, `key:NAME` or `topic:FILTER`.
  /// - Throws: ``TypedError``.
  package mutating func add(typed rule: String) throws(TypedError) {
    let parts = rule.split(separator: ":", maxSplits: 1).map(String.init)
    switch (parts.first, parts.count) {
    case ("secrets", 1): hidesSecrets = true
    case ("username", 1): hidesUsernames = true
    case ("correlation", 1): hidesCorrelationData = true
    case ("key", 2): keys.insert(parts[1].lowercased())
    case ("topic", 2):
      guard Subscription(parts[1]).isWellFormed else { throw .notTopicFilter(parts[1]) }
      topics.append(parts[1])
    default: throw .unknown
    }
  }
}
