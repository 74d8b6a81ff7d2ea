import RepriseCore

/// Looks for secrets that stand in a recording in clear.
struct SecretCheck: EventConsumer {
  /// Where a secret stands.
  struct Found: Sendable, Hashable {
    /// The line of a recording, or the frame of a capture.
    var line: Int
    /// The type of the event.
    var type: String
    /// The member of the line that has it.
    var key: String
  }

  /// The first secret; nil when there is none.
  private(set) var found: Found?
  private let plain = EventJSONWriter(showsSecrets: true)
  private let hiding: EventJSONWriter

  /// Creates a check.
  /// - Parameter rules: What is a secret.
  init(_ rules: RedactionRules) { hiding = EventJSONWriter(hiding: rules) }

  /// Looks at an event: what hiding changes was not hidden.
  mutating func consume(_ event: borrowing EventView) {
    guard found == nil else { return }
    var shown: [UInt8] = []
    var hidden: [UInt8] = []
    plain.append(event, to: &shown)
    hiding.append(event, to: &hidden)
    guard shown != hidden, let line = JSONValue(parsing: shown),
      let key = Self.differingKey(line, JSONValue(parsing: hidden))
    else { return }
    found = Found(line: event.context.frame, type: line["type"]?.text ?? "event", key: key)
  }

  /// The first member that hiding changes, or takes away.
  private static func differingKey(_ shown: JSONValue, _ hidden: JSONValue?) -> String? {
    guard case .object(let members) = shown else { return nil }
    return members.first { differ($0.value, hidden?[$0.key]) }?.key
  }

  private static func differ(_ shown: JSONValue, _ hidden: JSONValue?) -> Bool {
    guard shown != hidden else { return false }
    // What was hidden before it was written is shown as data whose text is the mark, or in a capture as many stars.
    let mark = JSONValue.string(RedactionRules.mark)
    if hidden == mark, case .string(let text) = shown["utf8"] ?? shown {
      return !RedactionRules.isMark(text.utf8)
    }
    if case .string(let text) = shown, case .string(let other)? = hidden {
      return RedactionRules.shorteningMarks(in: text) != other
    }
    guard case .object(let members) = shown, case .object? = hidden else { return true }
    return members.contains { differ($0.value, hidden?[$0.key]) }
  }
}
