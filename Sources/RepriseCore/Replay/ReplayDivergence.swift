/// Where a replay left the session: what was expected there, what was done, and how they differ.
public struct ReplayDivergence: Sendable, Hashable {
  /// What went wrong.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The action is not the one that the session has next.
    case otherAction = "other-action"
    /// The session has no more actions.
    case extraAction = "extra-action"
    /// The session has an action that nobody performs.
    case missingAction = "missing-action"
    /// The replay was finished before the session was.
    case leftOver = "left-over"
  }

  /// What went wrong.
  public var kind: Kind
  /// The place in the session; nil behind its end.
  public var place: ReplayPlace?
  /// What the session has there.
  public var expected: String?
  /// What was done instead.
  public var actual: String?
  /// What differs.
  public var differences: [ReplayDifference]
  /// How many other actions might have come as well; the expected one is that which is most like what was done.
  public var alternatives: Int = 0
  /// Where the session has just what was done, if it comes later.
  public var laterPlace: ReplayPlace?
  /// What the application had thrown when it left the session.
  public var applicationError: String?
  /// What to do now, with the command to type.
  public var remedy: String
  /// What makes such a difference none, if it is meant: a role, another way to match, a new recording.
  public var advice: [String] = []

  /// Creates a divergence of a replay that has no application.
  package init(
    kind: Kind, place: ReplayPlace?, expected: String?, actual: String?,
    differences: [ReplayDifference], alternatives: Int = 0, laterPlace: ReplayPlace? = nil,
    remedy: String, advice: [String] = []
  ) {
    self.kind = kind
    self.place = place
    self.expected = expected
    self.actual = actual
    self.differences = differences
    self.alternatives = alternatives
    self.laterPlace = laterPlace
    self.remedy = remedy
    self.advice = advice
  }

  /// The line that sums it up.
  private var headline: String {
    switch kind {
    case .otherAction: "the replay diverged: the session has another action here"
    case .extraAction: "the replay diverged: the session has no more actions"
    case .missingAction: "the replay diverged: the session has an action here that nobody performs"
    case .leftOver: "the replay ended before the session did"
    }
  }
}

extension ReplayDivergence: CustomStringConvertible {
  /// The divergence in lines: headline, place, expected, actual, differences, what to type next.
  public var description: String {
    var lines = [headline]
    if let place { lines.append("  at:       \(place)") }
    if let expected { lines.append("  expected: \(expected)") }
    if let actual { lines.append("  actual:   \(actual)") }
    lines += differences.prefix(20).map { "  differs:  \($0)" }
    if differences.count > 20 {
      lines.append("  differs:  in \(differences.count - 20) more places")
    }
    if alternatives > 0 {
      lines.append(
        "  note:     any of \(alternatives + 1) actions may come here; what was done is most like this one"
      )
    }
    if let applicationError {
      lines.append("  note:     the application had ended with an error: \(applicationError)")
    }
    if let laterPlace {
      lines.append("  note:     the session has this action later, at \(laterPlace)")
    }
    lines.append("  next:     \(remedy)")
    lines += advice.map { "  or:       \($0)" }
    return lines.joined(separator: "\n")
  }
}

/// One difference between a recorded action and the one that was performed.
public struct ReplayDifference: Sendable, Hashable {
  /// What differs: a field, the level of a topic, a member of JSON, or an offset in bytes.
  public var place: String
  /// The recorded value; nil when there is none.
  public var expected: String?
  /// The value of this run; nil when there is none.
  public var actual: String?

  /// Creates a difference.
  public init(place: String, expected: String?, actual: String?) {
    self.place = place
    self.expected = expected
    self.actual = actual
  }

  /// The first difference of two payloads that are not JSON, in hexadecimal unless one of them tells a secret,
  /// and that of their lengths.
  static func ofBytes(
    _ place: String, _ expected: [UInt8], _ actual: [UInt8]
  ) -> [ReplayDifference] {
    let offset = zip(expected, actual).prefix { $0 == $1 }.count
    var result: [ReplayDifference] = []
    if offset < max(expected.count, actual.count) {
      let rules = RedactionRules()
      let isSecret = [expected, actual].contains { rules.findSecret(in: $0.span.bytes) }
      result.append(
        ReplayDifference(
          place: "\(place) from byte \(offset)",
          expected: isSecret ? RedactionRules.mark : hex(expected.dropFirst(offset)),
          actual: isSecret ? RedactionRules.mark : hex(actual.dropFirst(offset))))
    }
    if expected.count != actual.count {
      result.append(
        ReplayDifference(
          place: "\(place) length", expected: "\(expected.count)", actual: "\(actual.count)"))
    }
    return result
  }

  private static func hex(_ bytes: ArraySlice<UInt8>) -> String? {
    guard !bytes.isEmpty else { return nil }
    let digits = bytes.prefix(16).map { byte in
      let text = String(byte, radix: 16)
      return text.utf8.count == 1 ? "0\(text)" : text
    }
    return digits.joined(separator: " ") + (bytes.count > 16 ? " …" : "")
  }
}

extension ReplayDifference: CustomStringConvertible {
  /// The place with both values.
  public var description: String {
    "\(place): expected \(expected ?? "nothing"), actual \(actual ?? "nothing")"
  }
}
