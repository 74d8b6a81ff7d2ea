/// A difference between two sessions: something that one of them lacks, or that both say otherwise.
package struct Difference: Sendable, Hashable {
  /// The ways to differ.
  package enum Kind: String, Sendable, CaseIterable {
    /// The second session lacks it.
    case onlyA = "only-in-a"
    /// The first session lacks it.
    case onlyB = "only-in-b"
    /// It has other fields.
    case changed
    /// It comes at another place among what its end says.
    case moved
  }

  /// How they differ.
  package var kind: Kind
  /// Of which end, or of the end of the connection.
  package var lane: Lane
  /// What the first session has.
  package var a: Utterance?
  /// What the second session has.
  package var b: Utterance?
  /// The fields that differ, of something that is in both.
  package var fields: [FieldDifference] = []
  /// What it answers, where it is an answer.
  package var asked: Utterance?
  /// What both say before it.
  package var context: (a: Utterance, b: Utterance)?

  /// Where it is told among others of its connection: behind which frames, and of one packet its answers last.
  var place = (a: 0, b: 0, answer: 0)

  /// Compares all but where it is told.
  package static func == (lhs: Difference, rhs: Difference) -> Bool {
    lhs.kind == rhs.kind && lhs.lane == rhs.lane && lhs.a == rhs.a && lhs.b == rhs.b
      && lhs.fields == rhs.fields && lhs.asked == rhs.asked
  }

  /// Hashes what is compared.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(lane)
    hasher.combine(a)
    hasher.combine(b)
    hasher.combine(fields)
    hasher.combine(asked)
  }
}

/// What differs on a connection.
package struct ConnectionDifferences: Sendable {
  /// A connection of one of the sessions.
  package struct Side: Sendable, Hashable {
    /// Its number in the file.
    package let number: Int
    /// What its client calls itself, as it may be shown.
    package let clientID: String?
    /// What it speaks.
    package let wire: String
    /// Where it begins.
    package let frame: Int
    /// How many things are said on it.
    package let items: Int
  }

  /// The connection in the first session; nil where that lacks it.
  package var a: Side?
  /// The connection in the second session; nil where that lacks it.
  package var b: Side?
  /// What differs, in the order in which it was said.
  package var differences: [Difference] = []
  /// What one side has where the other one lacks bytes, so that nobody knows whether it had it.
  package var unknown: [Utterance] = []
  /// Where bytes are missing, of both sides.
  package var losses: [Utterance] = []
  /// Whether there was too much that differs to be laid side by side as well as can be.
  package var isRough = false
  /// Whether there are more differences than are told, as there was no room to keep them.
  package var isCut = false

  /// Whether the session that has none of it may have lost it: it ends early, or lacks frames.
  package var mayBeInBoth = false

  /// Whether one of the sessions lacks it.
  package var isOneSided: Bool { a == nil || b == nil }
}
