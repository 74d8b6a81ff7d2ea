/// The keys of one object in a file of answers, read with errors that name the file and the key.
struct AnswerFields {
  let file: String
  /// Where the object stands in the file, such as `publish[2].answers[0]`.
  let path: String
  let members: [JSONMember]

  init(_ value: JSONValue, file: String, path: String, keys: [String]) throws(DataClientError) {
    guard case .object(let members) = value else {
      throw Self.error(
        file, path.isEmpty ? "the file" : path, "is \(value.kindName), not an object")
    }
    (self.file, self.path, self.members) = (file, path, members)
    var seen: Set<String> = []
    for member in members where !seen.insert(member.key).inserted {
      throw Self.error(file, name(member.key), "stands here twice; keep one")
    }
    for member in members where !keys.contains(member.key) {
      let near = NearestName.find(member.key, in: keys).map { "; did you mean \"\($0)\"?" } ?? ""
      throw Self.error(
        file, name(member.key), "is no key here\(near); known are \(keys.joined(separator: ", "))")
    }
  }

  static func error(_ file: String, _ key: String, _ message: String) -> DataClientError {
    DataClientError(.unreadable, "\(file): \(key) \(message)")
  }

  func error(_ key: String, _ message: String) -> DataClientError {
    Self.error(file, name(key), message)
  }

  private func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  func value(_ key: String) -> JSONValue? { members.first { $0.key == key }?.value }

  func optionalString(_ key: String) throws(DataClientError) -> String? {
    guard let value = value(key) else { return nil }
    guard let text = value.text else { throw error(key, "is \(value.kindName), not a string") }
    return text
  }

  func string(_ key: String) throws(DataClientError) -> String {
    guard let text = try optionalString(key) else { throw error(key, "is missing") }
    return text
  }

  func flag(_ key: String) throws(DataClientError) -> Bool {
    guard let value = value(key) else { return false }
    guard case .bool(let flag) = value else {
      throw error(key, "is \(value.kindName), not true or false")
    }
    return flag
  }

  func integer(
    _ key: String, in range: ClosedRange<Int>, default: Int
  ) throws(DataClientError) -> Int {
    guard let value = value(key) else { return `default` }
    guard let number = value.integer, range.contains(number) else {
      throw error(key, "is no whole number in \(range.lowerBound)...\(range.upperBound)")
    }
    return number
  }

  func optionalInteger(_ key: String, in range: ClosedRange<Int>) throws(DataClientError) -> Int? {
    guard value(key) != nil else { return nil }
    return try integer(key, in: range, default: range.lowerBound)
  }

  func qos(default: QoS = .atMostOnce) throws(DataClientError) -> QoS {
    let number = try integer("qos", in: 0...2, default: Int(`default`.rawValue))
    return QoS(rawValue: UInt8(truncatingIfNeeded: number)) ?? `default`
  }

  /// A delay in seconds.
  func delay() throws(DataClientError) -> Duration {
    guard let value = value("after") else { return .zero }
    guard case .number(let digits) = value, let seconds = Double(digits), seconds >= 0,
      seconds <= 1_000_000_000
    else { throw error("after", "is no number of seconds that is 0 or more") }
    return .nanoseconds(Int64(seconds * 1_000_000_000))
  }

  /// The objects of an array; none when it is left out.
  func objects(_ key: String, keys: [String]) throws(DataClientError) -> [AnswerFields] {
    guard let value = value(key) else { return [] }
    guard case .array(let elements) = value else {
      throw error(key, "is \(value.kindName), not an array")
    }
    var result: [AnswerFields] = []
    for (index, element) in elements.enumerated() {
      result.append(
        try AnswerFields(element, file: file, path: "\(name(key))[\(index)]", keys: keys))
    }
    return result
  }

  func object(_ key: String, keys: [String]) throws(DataClientError) -> AnswerFields? {
    guard let value = value(key) else { return nil }
    return try AnswerFields(value, file: file, path: name(key), keys: keys)
  }
}
