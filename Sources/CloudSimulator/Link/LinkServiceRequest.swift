import RepriseCore

/// What a link asks a server for.
struct LinkServiceRequest {
  private let value: JSONValue

  init(parsing payload: [UInt8]) { value = JSONValue(parsing: payload) ?? .null }

  private init(_ value: JSONValue) { self.value = value }

  /// The identifier as it came; nil for what is not to be answered.
  var id: JSONValue? { value["id"] }

  func text(_ key: String) -> String? { value[key]?.text }

  func integer(_ key: String) -> Int? { value[key]?.integer }

  func flag(_ key: String) -> Bool { value[key] == .bool(true) }

  /// A duration in whole seconds; nil when it is missing or out of range.
  func seconds(_ key: String, in range: ClosedRange<Int>) -> Duration? {
    guard let number = integer(key), range.contains(number) else { return nil }
    return .seconds(number)
  }

  /// The temporary states; what is no text is left out.
  var states: [String: String] {
    guard case .object(let members)? = value["states"] else { return [:] }
    return members.reduce(into: [:]) { if let text = $1.value.text { $0[$1.key] = text } }
  }

  /// The topics that a session had joined, with what the user says of itself there.
  var topics: [(name: String, meta: String)] {
    (value["topics"]?.elements ?? []).compactMap { topic in
      topic["topic"]?.text.map { ($0, topic["meta"]?.text ?? "") }
    }
  }

  /// The channels that a session had.
  var restored: [LinkServiceRequest] {
    (value["restore"]?.elements ?? []).map { LinkServiceRequest($0) }
  }
}

extension JSONValue {
  /// An object of strings, in the order of their keys.
  static func strings(_ strings: [String: String]) -> JSONValue {
    .object(strings.sorted { $0.key < $1.key }.map { JSONMember($0.key, .string($0.value)) })
  }
}
