package import Wire

/// Which recorded values stand for which values of this run, role by role.
package struct ReplayBindings: Sendable {
  /// A value of this run in the place of a recorded one.
  struct Binding: Sendable, Hashable {
    let role: String
    let recorded: String
    let actual: String
  }

  private struct Key: Sendable, Hashable {
    let role: String
    let recorded: String
  }

  private struct Value {
    let actual: String
    /// Where the action stands that it came with; earlier messages can't know of it.
    let position: Int
  }

  /// The role of correlation data.
  static let correlation = "correlationData"

  /// Bytes as a text that no others have.
  static func text(of bytes: [UInt8]) -> String {
    String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }

  /// How many values are kept: an answer comes within as many requests, and a session may have any number.
  private static let limit = 65_536

  /// What a recorded value stands for, by the places of the actions: actions may be performed before the answers to
  /// earlier ones are handed out, and may have the same recorded value.
  private var values: [Key: [Value]] = [:]
  /// The values in the order in which they were bound, with the position of the action then.
  private var order = ReplayQueue<(key: Key, position: Int)>()

  /// Knows no value.
  package init() {}

  /// Whether every recorded value stands for itself.
  package var isEmpty: Bool { values.isEmpty }

  /// Keeps what a matched action bound.
  /// - Parameters:
  ///   - bindings: The values.
  ///   - number: Where the action stands in the session.
  ///   - position: Where the next event to hand out stands.
  mutating func bind(_ bindings: [Binding], at number: Int, handingOut position: Int) {
    for binding in bindings {
      let key = Key(role: binding.role, recorded: binding.recorded)
      let value = Value(actual: binding.actual, position: number)
      guard let earlier = values[key] else {
        guard binding.recorded != binding.actual else { continue }
        values[key] = [value]
        order.append((key, number))
        continue
      }
      // Actions may be performed in another order than theirs.
      let place = (earlier.lastIndex { $0.position < number } ?? -1) + 1
      var all = earlier
      all.insert(value, at: place)
      let needed = Self.needed(all, handingOut: position)
      let isMeaningless = needed.count == 1 && binding.recorded == binding.actual
      values[key] = isMeaningless ? nil : needed
    }
    while order.count > Self.limit, let oldest = order.first { forget(oldest.key, oldest.position) }
  }

  /// The values that something which is handed out from a position on can have.
  private static func needed(_ values: [Value], handingOut position: Int) -> [Value] {
    let last = values.lastIndex { $0.position <= position } ?? 0
    return Array(values[last...])
  }

  /// Forgets the oldest value, unless it was bound again since.
  private mutating func forget(_ key: Key, _ position: Int) {
    order.removeFirst()
    guard let last = values[key]?.last else { return }
    if last.position == position {
      values[key] = nil
    } else {
      order.append((key, last.position))
    }
  }

  /// The value of this run for a recorded one, as a message at a position of the session knows it.
  func actual(_ role: String, _ recorded: String, at position: Int) -> String? {
    values[Key(role: role, recorded: recorded)]?.last { $0.position < position }?.actual
  }

  /// Keeps what a packet that matched has bound.
  /// - Parameters:
  ///   - comparison: The comparison that it matched by.
  ///   - number: Where the packet stands in its connection.
  ///   - position: Where the next packet to send stands.
  package mutating func bind(
    _ comparison: ReplayComparison, at number: Int, handingOut position: Int
  ) {
    bind(comparison.bindings, at: number, handingOut: position)
  }

  /// Rewrites a recorded PUBLISH as the other end has to get it.
  /// - Parameters:
  ///   - publish: The message.
  ///   - roles: Where values have roles.
  ///   - position: Where the packet stands in its connection.
  /// - Returns: The message; nil where no bound value stands in it.
  package func rewritten(
    _ publish: MQTTPacket.Publish, by roles: ReplayRoles, at position: Int
  ) -> MQTTPacket.Publish? {
    var message = Message(publish)
    rewrite(&message, by: roles, at: position)
    var result = publish
    result.topic = message.topic
    result.payload = message.payload
    let correlation = message.properties.correlationData ?? []
    result.properties = publish.properties.map {
      $0.id == .correlationData ? MQTTProperty($0.id, .binary(correlation)) : $0
    }
    return result == publish ? nil : result
  }

  /// Rewrites a recorded message of the server as this run's user has to get it.
  /// - Parameters:
  ///   - message: The message; changed only where a bound value stands.
  ///   - roles: Where values have roles.
  ///   - position: Where the message stands in the session.
  func rewrite(_ message: inout Message, by roles: ReplayRoles, at position: Int) {
    guard !values.isEmpty else { return }
    if message.hasProperties, let recorded = message.properties.correlationData,
      let actual = actual(Self.correlation, Self.text(of: recorded), at: position)
    {
      message.properties.correlationData = actual.unicodeScalars.map {
        UInt8(truncatingIfNeeded: $0.value)
      }
    }
    if roles.canHaveRoles(inTopic: message.topic) { rewriteTopic(&message.topic, roles, position) }
    rewrite(&message.payload, by: roles, at: position)
  }

  /// Rewrites what a recorded message says as the other end has to get it.
  /// - Parameters:
  ///   - payload: What it says.
  ///   - roles: Where values have roles.
  ///   - position: Where the message stands in its connection.
  /// - Returns: What it says then; nil where no bound value stands in it.
  package func rewritten(
    _ payload: [UInt8], by roles: ReplayRoles, at position: Int
  ) -> [UInt8]? {
    var result = payload
    rewrite(&result, by: roles, at: position)
    return result == payload ? nil : result
  }

  private func rewrite(_ payload: inout [UInt8], by roles: ReplayRoles, at position: Int) {
    guard !values.isEmpty, let json = JSONValue(container: payload) else { return }
    var splices: [Splice] = []
    collect(json, path: "", roles, position, into: &splices)
    Splice.apply(splices, to: &payload)
  }

  private func rewriteTopic(_ topic: inout String, _ roles: ReplayRoles, _ position: Int) {
    let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
    let places = roles.roles(inTopic: levels)
    guard !places.isEmpty else { return }
    let rewritten = levels.enumerated().map { index, level in
      places[index].flatMap { actual($0, String(level), at: position) } ?? String(level)
    }
    topic = rewritten.joined(separator: "/")
  }

  private func collect(
    _ value: JSONValue, path: String, _ roles: ReplayRoles, _ position: Int,
    into splices: inout [Splice]
  ) {
    switch value {
    case .array(let elements):
      for element in elements { collect(element, path: path, roles, position, into: &splices) }
    case .object(let members):
      for member in members {
        let path = path.isEmpty ? member.key : "\(path).\(member.key)"
        guard let role = roles.role(key: member.key, path: path),
          let recorded = member.value.scalarText
        else {
          collect(member.value, path: path, roles, position, into: &splices)
          continue
        }
        guard let actual = actual(role, recorded, at: position) else { continue }
        splices.append(Splice(member, actual))
      }
    case .null, .bool, .number, .string: return
    }
  }
}

/// A value to be put in the place of another one in JSON text.
private struct Splice {
  let offset: Int
  let text: [UInt8]

  init(_ member: JSONMember, _ actual: String) {
    offset = member.offset
    var text: [UInt8] = []
    // What the server answered with stays what it is: a number or a string.
    if case .number = member.value, JSONValue.isNumber(actual) {
      text.append(contentsOf: actual.utf8)
    } else {
      text.append(quoted: actual)
    }
    self.text = text
  }

  static func apply(_ splices: [Splice], to payload: inout [UInt8]) {
    for splice in splices.sorted(by: { $0.offset > $1.offset }) {
      payload.replaceSubrange(
        splice.offset..<end(of: payload, from: splice.offset), with: splice.text)
    }
  }

  /// Where the string or number ends that starts at an offset.
  private static func end(of payload: [UInt8], from offset: Int) -> Int {
    var index = offset
    guard index < payload.count else { return offset }
    guard payload[index] == UInt8(ascii: "\"") else {
      while index < payload.count, !isDelimiter(payload[index]) { index += 1 }
      return index
    }
    index += 1
    while index < payload.count, payload[index] != UInt8(ascii: "\"") {
      index += payload[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(index + 1, payload.count)
  }

  private static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), 0x20, 0x09, 0x0A, 0x0D: true
    default: false
    }
  }
}

extension JSONValue {
  /// Reads what is an object or an array of JSON; nil for anything else.
  init?(container bytes: [UInt8]) {
    guard let first = bytes.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
      let value = try? JSONParser.parse(bytes.span.bytes)
    else { return nil }
    self = value
  }

  /// The text of a string or of a number; nil for what has none that could be bound.
  var scalarText: String? {
    switch self {
    case .string(let text), .number(let text): text
    case .null, .bool, .array, .object: nil
    }
  }

  /// Whether a text is a number of JSON.
  static func isNumber(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard case .number = try? JSONParser.parse(bytes.span.bytes) else { return false }
    return true
  }
}
