/// The keys of one object of JSON, read with errors that say where the object stands and which key is wrong.
///
/// What an error is, and how it is worded, is the business of the file that is read: of a folder of answers, a script
/// for the cloud, a case. Of two equal keys the first counts.
package struct JSONFields<Wording: JSONFieldWording>: Sendable {
  /// The keys with their values, in their order.
  package let members: [JSONMember]
  /// Where the object stands, such as `replies[2]`; empty for the whole file.
  package let path: String
  /// How errors are worded.
  package let wording: Wording

  /// Takes the keys of an object as they are.
  /// - Parameters:
  ///   - members: The keys with their values.
  ///   - path: Where the object stands.
  ///   - wording: How errors are worded.
  package init(_ members: [JSONMember], path: String, wording: Wording) {
    (self.members, self.path, self.wording) = (members, path, wording)
  }

  /// Takes an object, whatever keys it has.
  /// - Parameters:
  ///   - value: The object.
  ///   - path: Where it stands.
  ///   - wording: How errors are worded.
  /// - Throws: The error of the wording for what is no object.
  package init(_ value: JSONValue, path: String, wording: Wording) throws(Wording.Failure) {
    guard case .object(let members) = value else {
      throw wording.failure(.isNone(of: .object, value), of: nil, in: path)
    }
    self.init(members, path: path, wording: wording)
  }

  /// Takes an object that has nothing but known keys, each of them once.
  /// - Parameters:
  ///   - value: The object.
  ///   - path: Where it stands.
  ///   - keys: The keys that it may have.
  ///   - wording: How errors are worded.
  /// - Throws: The error of the wording for what is no such object.
  package init(
    _ value: JSONValue, path: String, keys: [String], wording: Wording
  ) throws(Wording.Failure) {
    try self.init(value, path: path, wording: wording)
    try check(keys: keys)
    var seen: Set<String> = []
    for member in members where !seen.insert(member.key).inserted {
      throw error(member.key, .isRepeated)
    }
  }

  /// Checks that there is no key that nothing reads.
  /// - Parameter known: The keys that are read.
  /// - Throws: The error of the wording for another one.
  package func check(keys known: [String]) throws(Wording.Failure) {
    for member in members where !known.contains(member.key) {
      let nearest = NearestName.find(member.key, in: known)
      throw error(member.key, .isUnknown(nearest: nearest, known: known))
    }
  }

  // MARK: Errors

  /// The error of a key.
  /// - Parameters:
  ///   - key: The key.
  ///   - problem: What is wrong with it.
  /// - Returns: The error.
  package func error(_ key: String, _ problem: JSONFieldProblem) -> Wording.Failure {
    wording.failure(problem, of: key, in: path)
  }

  /// The error of a key that only its reader knows.
  /// - Parameters:
  ///   - key: The key.
  ///   - message: What is wrong with it, such as `is no topic`.
  /// - Returns: The error.
  package func error(_ key: String, _ message: String) -> Wording.Failure {
    error(key, .other(message))
  }

  /// The place of a key, such as `replies[2].topic`.
  package func name(_ key: String) -> String { wording.place(of: key, in: path, whole: "") }

  // MARK: Values

  /// The value of a key; nil where it is left out.
  package subscript(key: String) -> JSONValue? { members.first { $0.key == key }?.value }

  /// The text of a key; nil where it is left out.
  package func text(_ key: String) throws(Wording.Failure) -> String? {
    guard let value = self[key] else { return nil }
    guard let text = value.text else { throw error(key, .isNone(of: .text, value)) }
    return text
  }

  /// The text of a key that must be there.
  package func requiredText(_ key: String) throws(Wording.Failure) -> String {
    guard let text = try text(key) else { throw error(key, .isMissing) }
    return text
  }

  /// The flag of a key; nil where it is left out.
  package func flag(_ key: String) throws(Wording.Failure) -> Bool? {
    guard let value = self[key] else { return nil }
    guard let flag = value.bool else { throw error(key, .isNone(of: .flag, value)) }
    return flag
  }

  /// The whole number of a key; nil where it is left out.
  package func integer(
    _ key: String, in range: ClosedRange<Int>
  ) throws(Wording.Failure) -> Int? {
    guard let value = self[key] else { return nil }
    guard let number = value.integer, range.contains(number) else {
      throw error(key, .isNone(of: .integer(range), value))
    }
    return number
  }

  /// The quality of service; nil where it is left out.
  package func qos() throws(Wording.Failure) -> QoS? {
    try integer("qos", in: 0...2).flatMap { QoS(rawValue: UInt8(truncatingIfNeeded: $0)) }
  }

  /// The time of a key, in seconds that may have fractions; nil where it is left out.
  package func seconds(
    _ key: String, least: Double = 0
  ) throws(Wording.Failure) -> Duration? {
    guard let value = self[key] else { return nil }
    let range = least...1_000_000_000
    guard let seconds = value.double, range.contains(seconds) else {
      throw error(key, .isNone(of: .seconds(range), value))
    }
    return .nanoseconds(Int64((seconds * 1_000_000_000).rounded()))
  }

  /// The elements of an array with their places; none where it is left out.
  package func elements(
    _ key: String
  ) throws(Wording.Failure) -> [(value: JSONValue, path: String)] {
    guard let value = self[key] else { return [] }
    guard let elements = value.elements else { throw error(key, .isNone(of: .array, value)) }
    return elements.enumerated().map { ($0.element, "\(name(key))[\($0.offset)]") }
  }

  /// The members of an object whose keys are names; none where it is left out.
  package func members(_ key: String) throws(Wording.Failure) -> [JSONMember] {
    guard let value = self[key] else { return [] }
    guard case .object(let members) = value else { throw error(key, .isNone(of: .object, value)) }
    return members
  }
}

/// What is wrong with a key of an object, or with what should be the object.
package enum JSONFieldProblem {
  /// What a value has to be.
  package enum Kind {
    /// An object.
    case object
    /// A text.
    case text
    /// True or false.
    case flag
    /// An array.
    case array
    /// A whole number of a range.
    case integer(ClosedRange<Int>)
    /// A number of seconds of a range.
    case seconds(ClosedRange<Double>)
  }

  /// There is no such key; with the one that it is nearest to, if it is near to any, and all that there are.
  case isUnknown(nearest: String?, known: [String])
  /// The key stands there twice.
  case isRepeated
  /// The key is not there.
  case isMissing
  /// The value is none of its kind.
  case isNone(of: Kind, JSONValue)
  /// Something that only the key's reader knows, worded already.
  case other(String)
}

/// How the errors of one kind of file are worded.
package protocol JSONFieldWording: Sendable {
  /// The error.
  associatedtype Failure: Error

  /// Words an error.
  /// - Parameters:
  ///   - problem: What is wrong.
  ///   - key: The key; nil where the object itself is none.
  ///   - path: Where the object stands.
  /// - Returns: The error.
  func failure(_ problem: JSONFieldProblem, of key: String?, in path: String) -> Failure
}

extension JSONFieldWording {
  /// The place of a key, such as `replies[2].topic`.
  /// - Parameters:
  ///   - key: The key; nil where the object itself is meant.
  ///   - path: Where the object stands.
  ///   - whole: What the whole file is called.
  /// - Returns: The place.
  package func place(of key: String?, in path: String, whole: String) -> String {
    guard let key else { return path.isEmpty ? whole : path }
    return path.isEmpty ? key : "\(path).\(key)"
  }
}
