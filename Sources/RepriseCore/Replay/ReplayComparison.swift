/// What differs between a recorded action or packet and that of this run.
package struct ReplayComparison {
  /// What differs; nothing where they match.
  package internal(set) var differences: [ReplayDifference] = []
  /// The values that were made anew.
  private(set) var bindings: [ReplayBindings.Binding] = []
  let options: ReplayOptions
  /// Whether nobody wants to know more than that there is a difference.
  private let isBrief: Bool
  /// Whether values that are the recorded ones are noted too.
  private let notesEqualValues: Bool
  /// How a secret stands in a recording; it may have been anything.
  static let hidden = RedactionRules.mark
  /// What differences may tell.
  private static let redaction = RedactionRules()

  /// Creates a comparison that has found nothing.
  /// - Parameters:
  ///   - options: How to compare.
  ///   - isAfterBindings: Whether recorded values stand for others already, so that one which stands for itself
  ///     has to be known, too.
  ///   - isBrief: Whether a message on another topic is not compared further.
  package init(_ options: ReplayOptions, isAfterBindings: Bool = false, isBrief: Bool = false) {
    self.options = options
    self.isBrief = isBrief
    notesEqualValues = isAfterBindings && options.match != .strict
  }

  /// How many values were made anew: of several actions that match, the one with the fewest is meant.
  package var changes: Int { bindings.count { $0.recorded != $0.actual } }

  /// Compares two actions; nothing in ``differences`` means that they match.
  mutating func compare(_ expected: ClientAction.Kind, _ actual: ClientAction.Kind) {
    switch (expected, actual) {
    case (.connect(let expected), .connect(let actual)): compare(expected, actual)
    case (.subscribe(let expected), .subscribe(let actual)): compare(expected, actual)
    case (.unsubscribe(let expected), .unsubscribe(let actual)): compareFilters(expected, actual)
    case (.publish(let expected), .publish(let actual)): compare(expected, actual)
    case (.sendText(let expected), .sendText(let actual)):
      comparePayloads("text", Array(expected.utf8), Array(actual.utf8))
    case (.sendBinary(let expected), .sendBinary(let actual)):
      comparePayloads("binary", expected, actual)
    case (.send(let expected), .send(let actual)): compare(expected, actual)
    case (.disconnect, .disconnect): return
    case (.connect, _), (.subscribe, _), (.unsubscribe, _), (.publish, _), (.send, _),
      (.sendText, _), (.sendBinary, _), (.disconnect, _):
      note("kind", expected.name, actual.name)
    }
  }

  /// Takes note of a value that was made anew.
  mutating func bind(_ role: String, _ recorded: String, _ actual: String) {
    bindings.append(.init(role: role, recorded: recorded, actual: actual))
  }

  mutating func note(_ place: String, _ expected: String?, _ actual: String?) {
    let isSecret = Self.isSecret(place)
    func shown(_ value: String) -> String {
      isSecret ? Self.hidden : Self.redaction.shown(value)
    }
    differences.append(
      ReplayDifference(place: place, expected: expected.map(shown), actual: actual.map(shown)))
  }

  /// Whether a recorded text is another one with its secrets hidden.
  static func isHidden(_ recorded: String, of text: String) -> Bool {
    recorded.contains(hidden)
      && redaction.shown(text) == RedactionRules.shorteningMarks(in: recorded)
  }

  /// Whether one of the members that a place lies in has the name of a secret.
  private static func isSecret(_ place: String) -> Bool {
    let parts = place.split(separator: ".").map { $0.prefix { $0 != "[" } }
    // The name of a member may have dots in it.
    return parts.indices.contains { start in
      (start..<parts.count).contains { end in
        redaction.names.contain(parts[start...end].joined(separator: "."))
      }
    }
  }

  mutating func compare(
    _ place: String, _ expected: some Equatable, _ actual: some Equatable
  ) {
    let (expected, actual) = ("\(expected)", "\(actual)")
    if expected != actual, !Self.isHidden(expected, of: actual) { note(place, expected, actual) }
  }

  // MARK: CONNECT

  mutating func compare(_ expected: ConnectOptions, _ actual: ConnectOptions) {
    guard options.match != .topic else { return }
    let anew = options.match == .strict ? [] : options.roles.connectFields
    // A name that is a topic has roles in its levels.
    if !anew.contains(.clientID) { compareTopics("clientID", expected.clientID, actual.clientID) }
    if anew.contains(.clientID) {
      bindings.append(
        .init(role: "clientID", recorded: expected.clientID, actual: actual.clientID))
    }
    compare("cleanStart", expected.cleanStart, actual.cleanStart)
    compare("keepAlive", expected.keepAlive, actual.keepAlive)
    if !anew.contains(.username), expected.username != actual.username,
      !RedactionRules.isMark((expected.username ?? "").utf8),
      !Self.isHidden(expected.username ?? "", of: actual.username ?? "")
    {
      note("username", expected.username, actual.username)
    }
    let isHidden = RedactionRules.isMark(expected.password ?? [])
    if !anew.contains(.password), !isHidden, expected.password != actual.password {
      // A password is never shown, not even when it is wrong.
      note("password", expected.password.map { _ in "" }, actual.password.map { _ in "" })
    }
    switch (expected.will, actual.will) {
    case (nil, nil): return
    case (let expected?, let actual?): compare(expected, actual, prefix: "will.")
    case (let expected, let actual): note("will", expected?.topic, actual?.topic)
    }
  }

  // MARK: Topics and filters

  mutating func compare(_ expected: [Subscription], _ actual: [Subscription]) {
    compareFilters(expected.map(\.filter), actual.map(\.filter))
    guard options.match != .topic, expected.count == actual.count else { return }
    for (index, (expected, actual)) in zip(expected, actual).enumerated() {
      compare("filters[\(index)].qos", expected.qos.rawValue, actual.qos.rawValue)
      // Most sessions were recorded from clients that set them without being asked.
      guard options.match == .strict else { continue }
      compare("filters[\(index)].options", expected.options.bits, actual.options.bits)
    }
  }

  mutating func compareFilters(_ expected: [String], _ actual: [String]) {
    for index in 0..<max(expected.count, actual.count) {
      let place = "filters[\(index)]"
      guard index < expected.count else {
        note(place, nil, actual[index])
        continue
      }
      guard index < actual.count else {
        note(place, expected[index], nil)
        continue
      }
      compareTopics(place, expected[index], actual[index])
    }
  }

  mutating func compareTopics(_ place: String, _ expected: String, _ actual: String) {
    guard expected != actual || notesEqualValues, !Self.isHidden(expected, of: actual) else {
      return
    }
    let recorded = expected.split(separator: "/", omittingEmptySubsequences: false)
    let performed = actual.split(separator: "/", omittingEmptySubsequences: false)
    guard recorded.count == performed.count, recorded.count > 1 else {
      return expected == actual ? () : note(place, expected, actual)
    }
    let roles = options.match == .strict ? [:] : options.roles.roles(inTopic: recorded)
    for (index, (level, other)) in zip(recorded, performed).enumerated() {
      if let role = roles[index] {
        bindings.append(.init(role: role, recorded: String(level), actual: String(other)))
      } else if level != other {
        note("\(place) level \(index + 1)", String(level), String(other))
      }
    }
  }

  // MARK: Requests

  private mutating func compare(_ expected: RequestMessage, _ actual: RequestMessage) {
    compare("method", expected.method.uppercased(), actual.method.uppercased())
    // A recorded path that is not below the base has its slash.
    compareTopics("path", expected.path, String(actual.path.drop { $0 == "/" }))
    if isBrief, !differences.isEmpty { return }
    let before = differences
    let (wanted, done) = (expected.sentParameters, actual.sentParameters)
    if options.match == .strict {
      for key in Set(wanted.keys).union(done.keys).sorted() where wanted[key] != done[key] {
        note("parameters.\(key)", wanted[key]?.shown, done[key]?.shown)
      }
      return
    }
    func members(_ parameters: [String: JSONValue]) -> [JSONMember] {
      parameters.sorted { $0.key < $1.key }.map { JSONMember($0.key, $0.value) }
    }
    compareMembers("parameters", path: "", members(wanted), members(done))
    // Only what has a role counts then.
    if options.match == .topic { differences = before }
  }

  // MARK: Messages

  mutating func compare(_ expected: Message, _ actual: Message, prefix: String = "") {
    compareTopics("\(prefix)topic", expected.topic, actual.topic)
    if isBrief, !differences.isEmpty { return }
    if options.match != .topic {
      compare("\(prefix)qos", expected.qos.rawValue, actual.qos.rawValue)
      compare("\(prefix)retain", expected.isRetained, actual.isRetained)
    }
    comparePayloads("\(prefix)payload", expected.payload, actual.payload)
    if expected.hasProperties, actual.hasProperties, options.match != .strict {
      bindCorrelation(expected.properties.correlationData, actual.properties.correlationData)
    }
  }

  /// What a request's answer carries is made anew in each run (MQTT 5.0 section 4.10).
  private mutating func bindCorrelation(_ expected: [UInt8]?, _ actual: [UInt8]?) {
    guard let expected, let actual else { return }
    bindings.append(
      .init(
        role: ReplayBindings.correlation, recorded: ReplayBindings.text(of: expected),
        actual: ReplayBindings.text(of: actual)))
  }

  mutating func comparePayloads(_ place: String, _ expected: [UInt8], _ actual: [UInt8]) {
    if options.match == .strict {
      if expected != actual { differences += ReplayDifference.ofBytes(place, expected, actual) }
      return
    }
    guard expected != actual || notesEqualValues, !RedactionRules.isMark(expected) else { return }
    guard let recorded = try? JSONParser.parse(expected.span.bytes),
      let performed = try? JSONParser.parse(actual.span.bytes)
    else {
      let text = String(decoding: actual, as: UTF8.self)
      if options.match == .json, expected != actual,
        !Self.isHidden(String(decoding: expected, as: UTF8.self), of: text)
      {
        differences += ReplayDifference.ofBytes(place, expected, actual)
      }
      return
    }
    let before = differences
    compareJSON(place, path: "", recorded, performed)
    // Only what has a role counts then.
    if options.match == .topic { differences = before }
  }

  private mutating func compareJSON(
    _ place: String, path: String, _ expected: JSONValue, _ actual: JSONValue
  ) {
    switch (expected, actual) {
    case (.object(let members), .object(let others)):
      compareMembers(place, path: path, members, others)
    case (.array(let elements), .array(let others)):
      for index in 0..<max(elements.count, others.count) {
        let place = "\(place)[\(index)]"
        guard index < elements.count else {
          note(place, nil, others[index].shown)
          continue
        }
        guard index < others.count else {
          note(place, elements[index].shown, nil)
          continue
        }
        compareJSON(place, path: path, elements[index], others[index])
      }
    case (.string(let text), _) where RedactionRules.isMark(text.utf8): return
    case (.string(let text), .string(let other)) where text != other:
      if Self.isHidden(text, of: other) { return }
      // Requests carry their parameters as JSON in a string.
      guard let recorded = JSONValue(container: text), let performed = JSONValue(container: other)
      else { return note(place, expected.shown, actual.shown) }
      compareJSON(place, path: path, recorded, performed)
    default:
      if !expected.isEqual(to: actual) { note(place, expected.shown, actual.shown) }
    }
  }

  private mutating func compareMembers(
    _ place: String, path: String, _ expected: [JSONMember], _ actual: [JSONMember]
  ) {
    let expected = Self.counting(expected)
    let actual = Self.counting(actual)
    let others = Dictionary(actual.map { ($0.key, $0) }) { $1 }
    for member in expected {
      let place = "\(place).\(member.key)"
      let path = path.isEmpty ? member.key : "\(path).\(member.key)"
      guard let other = others[member.key] else {
        if !options.roles.optionalPaths.contains(path) { note(place, member.value.shown, nil) }
        continue
      }
      if let role = options.roles.role(key: member.key, path: path),
        let recorded = member.value.scalarText, let performed = other.value.scalarText
      {
        if !RedactionRules.isMark(recorded.utf8) {
          bindings.append(.init(role: role, recorded: recorded, actual: performed))
        }
      } else {
        compareJSON(place, path: path, member.value, other.value)
      }
    }
    let known = Set(expected.map(\.key))
    for other in actual where !known.contains(other.key) {
      let path = path.isEmpty ? other.key : "\(path).\(other.key)"
      if options.roles.optionalPaths.contains(path) { continue }
      note("\(place).\(other.key)", nil, other.value.shown)
    }
  }

  /// The members that count: of equal keys the last.
  private static func counting(_ members: [JSONMember]) -> [JSONMember] {
    var seen: Set<String> = []
    return members.reversed().filter { seen.insert($0.key).inserted }.reversed()
  }
}

extension JSONValue {
  /// Reads text that is an object or an array of JSON; nil when it is none.
  fileprivate init?(container text: String) {
    guard text.hasPrefix("{") || text.hasPrefix("[") else { return nil }
    self.init(parsing: Array(text.utf8))
  }

  /// The value as JSON, with secrets hidden and cut where it is long.
  fileprivate var shown: String {
    String(String(decoding: hidingSecrets.utf8, as: UTF8.self).prefix(200))
  }

  /// Whether two values that are neither both objects nor both arrays mean the same.
  fileprivate func isEqual(to other: JSONValue) -> Bool {
    if case .number(let digits) = self, case .number(let others) = other {
      // 1, 1.0 and 1e0 are one number; integers too large for a Double are compared by their digits.
      return digits == others || (Double(digits) == Double(others) && digits.utf8.count < 16)
    }
    return self == other
  }
}
