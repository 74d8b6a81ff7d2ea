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
    guard shown != hidden else { return }
    let line = JSONValue(parsing: shown)
    found = Found(
      line: event.context.frame, type: line?["type"]?.text ?? "event",
      key: Self.key(line, JSONValue(parsing: hidden)))
  }

  private static func key(_ shown: JSONValue?, _ hidden: JSONValue?) -> String {
    guard case .object(let members)? = shown else { return "event" }
    return members.first { $0.value != hidden?[$0.key] }?.key ?? "event"
  }
}
