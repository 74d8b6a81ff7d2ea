/// The keys of one object in a file of answers, read with errors that name the file and the key.
typealias AnswerFields = JSONFields<AnswerWording>

/// How errors in a file of answers are worded.
struct AnswerWording: JSONFieldWording {
  let file: String

  func failure(
    _ problem: JSONFieldProblem, of key: String?, in path: String
  ) -> DataClientError {
    let place = place(of: key, in: path, whole: "the file")
    return DataClientError(.unreadable, "\(file): \(place) \(Self.text(problem))")
  }

  private static func text(_ problem: JSONFieldProblem) -> String {
    switch problem {
    case .isUnknown(let nearest, let known):
      let hint = nearest.map { "; did you mean \"\($0)\"?" } ?? ""
      return "is no key here\(hint); known are \(known.joined(separator: ", "))"
    case .isRepeated: return "stands here twice; keep one"
    case .isMissing: return "is missing"
    case .isNone(.object, let value): return "is \(value.kindName), not an object"
    case .isNone(.text, let value): return "is \(value.kindName), not a string"
    case .isNone(.flag, let value): return "is \(value.kindName), not true or false"
    case .isNone(.array, let value): return "is \(value.kindName), not an array"
    case .isNone(.integer(let range), _):
      return "is no whole number in \(range.lowerBound)...\(range.upperBound)"
    case .isNone(.seconds, _): return "is no number of seconds that is 0 or more"
    case .other(let message): return message
    }
  }
}

extension AnswerFields {
  init(_ value: JSONValue, file: String, keys: [String]) throws(DataClientError) {
    try self.init(value, path: "", keys: keys, wording: AnswerWording(file: file))
  }

  /// The objects of an array; none when it is left out.
  func objects(_ key: String, keys: [String]) throws(DataClientError) -> [AnswerFields] {
    var result: [AnswerFields] = []
    for (value, path) in try elements(key) {
      result.append(try AnswerFields(value, path: path, keys: keys, wording: wording))
    }
    return result
  }

  func object(_ key: String, keys: [String]) throws(DataClientError) -> AnswerFields? {
    guard let value = self[key] else { return nil }
    return try AnswerFields(value, path: name(key), keys: keys, wording: wording)
  }
}
