import RepriseCore
package import Wire

/// The keys of an object in the file of a case, read with errors that name it.
typealias CaseFields = JSONFields<CaseWording>

/// How errors in the file of a case are worded.
struct CaseWording: JSONFieldWording {
  func failure(_ problem: JSONFieldProblem, of key: String?, in path: String) -> DriverError {
    let text = Self.text(problem)
    return DriverError(.badCase, key.map { "\(path): \"\($0)\" \(text)" } ?? "\(path) \(text)")
  }

  private static func text(_ problem: JSONFieldProblem) -> String {
    switch problem {
    case .isUnknown(let nearest, _):
      let hint = nearest.map { "did you mean \"\($0)\"?" } ?? "leave it out"
      return "is no key there; \(hint)"
    case .isRepeated: return "is there twice"
    case .isMissing, .isNone(.text, _): return "is no text"
    case .isNone(.object, _): return "is no object"
    case .isNone(.flag, _): return "is neither true nor false"
    case .isNone(.array, _): return "is no list"
    case .isNone(.integer(let range), _):
      return "is no whole number from \(range.lowerBound) to \(range.upperBound)"
    case .isNone(.seconds(let range), _):
      return "is no number from \(range.lowerBound) to \(range.upperBound)"
    case .other(let message): return message
    }
  }
}

extension CaseFields {
  init(_ value: JSONValue, _ place: String) throws(DriverError) {
    try self.init(value, path: place, wording: CaseWording())
  }

  /// The same by another name.
  func named(_ place: String) -> CaseFields {
    CaseFields(members, path: place, wording: wording)
  }

  /// The same with a key of this value, if it has none.
  func with(_ key: String, orElse value: JSONValue) -> CaseFields {
    guard self[key] == nil else { return self }
    return CaseFields(members + [JSONMember(key, value)], path: path, wording: wording)
  }

  /// A text that must be there, and has something in it.
  func filledText(_ key: String) throws(DriverError) -> String {
    let text = try requiredText(key)
    guard !text.isEmpty else { throw error(key, .isMissing) }
    return text
  }

  func texts(_ key: String) throws(DriverError) -> [String] {
    let elements = try list(key)
    let texts = elements.compactMap(\.text)
    guard texts.count == elements.count else { throw error(key, "holds something that is no text") }
    return texts
  }

  func choice<Choice: RawRepresentable<String>>(
    _ key: String, of all: [Choice]
  ) throws(DriverError) -> Choice? {
    guard let value = self[key] else { return nil }
    guard let choice = all.first(where: { $0.rawValue == value.text }) else {
      throw error(key, "is none of \(Self.names(all))")
    }
    return choice
  }

  func choices<Choice: RawRepresentable<String>>(
    _ key: String, of all: [Choice]
  ) throws(DriverError) -> [Choice] {
    guard self[key] != nil else { return [] }
    var choices: [Choice] = []
    for text in try texts(key) {
      guard let choice = all.first(where: { $0.rawValue == text }) else {
        throw error(key, "has \"\(text)\", which is none of \(Self.names(all))")
      }
      choices.append(choice)
    }
    return choices
  }

  private static func names<Choice: RawRepresentable<String>>(_ all: [Choice]) -> String {
    all.map(\.rawValue).joined(separator: ", ")
  }

  /// A list that must be there.
  func list(_ key: String) throws(DriverError) -> [JSONValue] {
    guard self[key] != nil else { throw error(key, "is no list") }
    return try elements(key).map(\.value)
  }

  /// The versions of MQTT; both where none is named.
  func versions() throws(DriverError) -> [MQTTVersion] {
    guard self["versions"] != nil else { return [.v3_1_1, .v5_0] }
    var versions: [MQTTVersion] = []
    for text in try texts("versions") {
      guard let version = MQTTVersion(number: text) else {
        throw error("versions", "has \"\(text)\", which is neither 3.1.1 nor 5.0")
      }
      versions.append(version)
    }
    return versions
  }

  /// The rows of values: a list of objects, or an object of lists, of which every combination is a row.
  func rows() throws(DriverError) -> [[JSONMember]] {
    switch self["rows"] {
    case nil: return [[]]
    case .array(let elements):
      var rows: [[JSONMember]] = []
      for element in elements {
        guard case .object(let row) = element else { throw error("rows", "holds no object") }
        rows.append(row)
      }
      guard !rows.isEmpty else { throw error("rows", "has none") }
      return rows
    case .object(let columns):
      var rows: [[JSONMember]] = [[]]
      for column in columns {
        guard let values = column.value.elements, !values.isEmpty else {
          throw error("rows", "has no list of values for \(column.key)")
        }
        rows = rows.flatMap { row in values.map { row + [JSONMember(column.key, $0)] } }
      }
      return rows
    default: throw error("rows", "is neither a list of objects nor an object of lists")
    }
  }
}

extension MQTTVersion {
  /// The version of a number such as 5.0; nil for those that are not driven.
  init?(number: String) {
    switch number {
    case "3.1.1": self = .v3_1_1
    case "5.0": self = .v5_0
    default: return nil
    }
  }

  /// The number of the version, such as 5.0.
  var number: String {
    switch self {
    case .v3_1: "3.1"
    case .v3_1_1: "3.1.1"
    case .v5_0: "5.0"
    }
  }

  /// The standard of a version that is driven, as catalogues name it.
  package var standard: String { self == .v5_0 ? "mqtt-5.0" : "mqtt-3.1.1" }
}
