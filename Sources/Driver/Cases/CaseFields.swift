import RepriseCore
package import Wire

/// The keys of an object in the file of a case, read with errors that name it.
struct CaseFields {
  let members: [JSONMember]
  private let place: String

  init(_ value: JSONValue, _ place: String) throws(DriverError) {
    guard case .object(let members) = value else {
      throw DriverError(.badCase, "\(place) is no object")
    }
    (self.members, self.place) = (members, place)
  }

  private init(_ members: [JSONMember], _ place: String) {
    (self.members, self.place) = (members, place)
  }

  /// The same by another name.
  func named(_ place: String) -> CaseFields { CaseFields(members, place) }

  subscript(key: String) -> JSONValue? { members.first { $0.key == key }?.value }

  func wrong(_ key: String, _ what: String) -> DriverError {
    DriverError(.badCase, "\(place): \"\(key)\" \(what)")
  }

  /// Checks that there is no key that nothing reads.
  func checkKeys(_ known: Set<String>) throws(DriverError) {
    for member in members where !known.contains(member.key) {
      let hint = NearestName.find(member.key, in: known.sorted()).map {
        "; did you mean \"\($0)\"?"
      }
      throw wrong(member.key, "is no key there\(hint ?? "; leave it out")")
    }
  }

  // MARK: Values

  func text(_ key: String) throws(DriverError) -> String {
    guard let text = self[key]?.text, !text.isEmpty else { throw wrong(key, "is no text") }
    return text
  }

  func texts(_ key: String) throws(DriverError) -> [String] {
    guard let elements = self[key]?.elements else { throw wrong(key, "is no list") }
    let texts = elements.compactMap(\.text)
    guard texts.count == elements.count else { throw wrong(key, "holds something that is no text") }
    return texts
  }

  func integer(_ key: String, in range: ClosedRange<Int>) throws(DriverError) -> Int? {
    guard let value = self[key] else { return nil }
    guard let number = value.integer, range.contains(number) else {
      throw wrong(key, "is no whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func choice<Choice: RawRepresentable<String>>(
    _ key: String, of all: [Choice]
  ) throws(DriverError) -> Choice? {
    guard let value = self[key] else { return nil }
    guard let choice = all.first(where: { $0.rawValue == value.text }) else {
      throw wrong(key, "is none of \(Self.names(all))")
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
        throw wrong(key, "has \"\(text)\", which is none of \(Self.names(all))")
      }
      choices.append(choice)
    }
    return choices
  }

  private static func names<Choice: RawRepresentable<String>>(_ all: [Choice]) -> String {
    all.map(\.rawValue).joined(separator: ", ")
  }

  func list<Element>(
    _ key: String, _ read: (JSONValue, String) throws(DriverError) -> Element
  ) throws(DriverError) -> [Element] {
    guard let elements = self[key]?.elements else { throw wrong(key, "is no list") }
    var result: [Element] = []
    for (index, element) in elements.enumerated() {
      result.append(try read(element, "\(place), step \(index + 1)"))
    }
    return result
  }

  /// The versions of MQTT; both where none is named.
  func versions() throws(DriverError) -> [MQTTVersion] {
    guard self["versions"] != nil else { return [.v3_1_1, .v5_0] }
    var versions: [MQTTVersion] = []
    for text in try texts("versions") {
      guard let version = MQTTVersion(number: text) else {
        throw wrong("versions", "has \"\(text)\", which is neither 3.1.1 nor 5.0")
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
        guard case .object(let row) = element else { throw wrong("rows", "holds no object") }
        rows.append(row)
      }
      guard !rows.isEmpty else { throw wrong("rows", "has none") }
      return rows
    case .object(let columns):
      var rows: [[JSONMember]] = [[]]
      for column in columns {
        guard let values = column.value.elements, !values.isEmpty else {
          throw wrong("rows", "has no list of values for \(column.key)")
        }
        rows = rows.flatMap { row in values.map { row + [JSONMember(column.key, $0)] } }
      }
      return rows
    default: throw wrong("rows", "is neither a list of objects nor an object of lists")
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
