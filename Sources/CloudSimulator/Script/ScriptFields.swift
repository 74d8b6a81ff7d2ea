import RepriseCore

/// The keys of one object in a script, read with errors that name the key.
struct ScriptFields {
  /// Where the object stands, such as `replies[2]`; empty for the whole script.
  let path: String
  let members: [JSONMember]

  init(
    _ value: JSONValue, path: String, keys: [String], whole: String = "the script"
  ) throws(SimulatorError) {
    guard case .object(let members) = value else {
      throw Self.error(path.isEmpty ? whole : path, "must be an object")
    }
    self.path = path
    self.members = members
    var seen: Set<String> = []
    for member in members {
      let name = name(member.key)
      guard keys.contains(member.key) else {
        let near = NearestName.find(member.key, in: keys)
        let hint =
          near.map { "did you mean \"\($0)\"?" } ?? "known are \(keys.joined(separator: ", "))"
        throw Self.error(name, "is no key here; \(hint)")
      }
      guard seen.insert(member.key).inserted else { throw Self.error(name, "is there twice") }
    }
  }

  /// Reads the text of a script.
  /// - Throws: ``SimulatorError`` that names the line and the column where it is no JSON.
  static func read(
    _ json: [UInt8], _ whole: String = "the script"
  ) throws(SimulatorError) -> JSONValue {
    do {
      return try JSONValue.read(json)
    } catch {
      let before = json.prefix(error.offset)
      let line = before.count { $0 == UInt8(ascii: "\n") } + 1
      let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
      throw Self.error(
        whole,
        "is no JSON at line \(line), column \(error.offset - start + 1): \(error.message)")
    }
  }

  static func error(_ key: String, _ message: String) -> SimulatorError {
    SimulatorError(.unreadableScript, "\(key) \(message)")
  }

  func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  func error(_ key: String, _ message: String) -> SimulatorError { Self.error(name(key), message) }

  func value(_ key: String) -> JSONValue? { members.first { $0.key == key }?.value }

  func text(_ key: String) throws(SimulatorError) -> String? {
    guard let value = value(key) else { return nil }
    guard let text = value.text else { throw error(key, "must be a string") }
    return text
  }

  func flag(_ key: String) throws(SimulatorError) -> Bool? {
    guard let value = value(key) else { return nil }
    guard case .bool(let flag) = value else { throw error(key, "must be true or false") }
    return flag
  }

  func requiredText(_ key: String) throws(SimulatorError) -> String {
    guard let text = try text(key) else { throw error(key, "is missing") }
    return text
  }

  /// A topic filter, which may be short; nil when it is left out.
  func filter(_ key: String) throws(SimulatorError) -> String? {
    guard let text = try text(key) else { return nil }
    try Self.check(filter: text, name(key))
    return text
  }

  static func check(filter: String, _ key: String) throws(SimulatorError) {
    guard !filter.isEmpty, Subscription(CloudTopic.upFilter(filter)).isWellFormed else {
      throw error(key, "is no topic filter: \"\(filter)\"")
    }
  }

  /// A topic, which may be short.
  func topic(_ key: String) throws(SimulatorError) -> String {
    let text = try requiredText(key)
    try Self.check(filter: text, name(key))
    guard !text.contains("+"), !text.contains("#") else {
      throw error(key, "is sent to, and can't have wildcards: \"\(text)\"")
    }
    return text
  }

  func integer(_ key: String, in range: ClosedRange<Int>) throws(SimulatorError) -> Int? {
    guard let value = value(key) else { return nil }
    guard let number = value.integer, range.contains(number) else {
      let upper = range.upperBound == .max ? "or more" : "to \(range.upperBound)"
      throw error(key, "must be a whole number, \(range.lowerBound) \(upper)")
    }
    return number
  }

  /// The code of an answer: a whole number, or digits in a string, kept as it is.
  func code(_ key: String) throws(SimulatorError) -> JSONValue? {
    guard let value = value(key) else { return nil }
    guard value.integer != nil || value.text.flatMap({ Int($0) }) != nil else {
      throw error(key, "must be a whole number, or one in a string")
    }
    return value
  }

  /// A time in seconds.
  func seconds(_ key: String, least: Double = 0) throws(SimulatorError) -> Duration? {
    guard let value = value(key) else { return nil }
    guard case .number(let digits) = value, let seconds = Double(digits), seconds >= least,
      seconds <= 1_000_000_000
    else { throw error(key, "must be a number of seconds, \(least) to 1000000000") }
    return .nanoseconds(Int64((seconds * 1_000_000_000).rounded()))
  }

  func qos() throws(SimulatorError) -> QoS {
    let number = try integer("qos", in: 0...2) ?? 1
    return QoS(rawValue: UInt8(truncatingIfNeeded: number)) ?? .atLeastOnce
  }

  /// The elements of an array with their places; none when it is left out.
  func elements(_ key: String) throws(SimulatorError) -> [(value: JSONValue, path: String)] {
    guard let value = value(key) else { return [] }
    guard case .array(let elements) = value else { throw error(key, "must be an array") }
    return elements.enumerated().map { ($0.element, "\(name(key))[\($0.offset)]") }
  }
}
