import RepriseCore

/// The keys of one object in a script, read with errors that name the key.
typealias ScriptFields = JSONFields<ScriptWording>

/// How errors in a script are worded.
struct ScriptWording: JSONFieldWording {
  /// What the whole file is.
  let whole: String

  func failure(
    _ problem: JSONFieldProblem, of key: String?, in path: String
  ) -> SimulatorError {
    ScriptFields.error(place(of: key, in: path, whole: whole), Self.text(problem))
  }

  private static func text(_ problem: JSONFieldProblem) -> String {
    switch problem {
    case .isUnknown(let nearest?, _): return "is no key here; did you mean \"\(nearest)\"?"
    case .isUnknown(nil, let known):
      return "is no key here; known are \(known.joined(separator: ", "))"
    case .isRepeated: return "is there twice"
    case .isMissing: return "is missing"
    case .isNone(.object, _): return "must be an object"
    case .isNone(.text, _): return "must be a string"
    case .isNone(.flag, _): return "must be true or false"
    case .isNone(.array, _): return "must be an array"
    case .isNone(.integer(let range), _):
      let upper = range.upperBound == .max ? "or more" : "to \(range.upperBound)"
      return "must be a whole number, \(range.lowerBound) \(upper)"
    case .isNone(.seconds(let range), _):
      return "must be a number of seconds, \(range.lowerBound) to 1000000000"
    case .other(let message): return message
    }
  }
}

extension ScriptFields {
  init(
    _ value: JSONValue, path: String, keys: [String], whole: String = "the script"
  ) throws(SimulatorError) {
    try self.init(value, path: path, keys: keys, wording: ScriptWording(whole: whole))
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

  static func error(_ place: String, _ message: String) -> SimulatorError {
    SimulatorError(.unreadableScript, "\(place) \(message)")
  }

  /// A topic filter, which may be short; nil when it is left out.
  func filter(_ key: String) throws(SimulatorError) -> String? {
    guard let text = try text(key) else { return nil }
    try Self.check(filter: text, name(key))
    return text
  }

  static func check(filter: String, _ place: String) throws(SimulatorError) {
    guard !filter.isEmpty, Subscription(CloudTopic.upFilter(filter)).isWellFormed else {
      throw error(place, "is no topic filter: \"\(filter)\"")
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

  /// A device as `productKey/deviceName`; nil when it is left out.
  func device(_ key: String) throws(SimulatorError) -> CloudDevice? {
    guard let text = try text(key) else { return nil }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty,
      !text.contains("+"), !text.contains("#")
    else { throw error(key, "must be productKey/deviceName") }
    return CloudDevice(productKey: String(parts[0]), deviceName: String(parts[1]))
  }

  /// The code of an answer: a whole number, or digits in a string, kept as it is.
  func code(_ key: String) throws(SimulatorError) -> JSONValue? {
    guard let value = self[key] else { return nil }
    guard value.integer != nil || value.text.flatMap({ Int($0) }) != nil else {
      throw error(key, "must be a whole number, or one in a string")
    }
    return value
  }

  /// The texts of an array with their places; none when it is left out.
  func texts(_ key: String) throws(SimulatorError) -> [(text: String, path: String)] {
    var texts: [(String, String)] = []
    for (value, path) in try elements(key) {
      guard let text = value.text else { throw Self.error(path, "must be a string") }
      texts.append((text, path))
    }
    return texts
  }
}
