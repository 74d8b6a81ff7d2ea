package import RepriseCore

/// One sentence of a story.
package struct Sentence: Sendable, Hashable {
  /// What a sentence is of.
  package enum Role: Sendable, Hashable {
    case opening, ending, other
  }

  /// What it is of.
  var role: Role
  /// Where it begins.
  package var frame: Int
  /// The last frame that it is about; the same for what happens once.
  package var lastFrame: Int
  /// When it begins.
  package var time: Timestamp
  /// The connection.
  package var connection: Int
  /// What happened, without a full stop; secrets are in it as they are.
  package var text: String

  init(_ context: EventContext, _ text: String, _ role: Role = .other) {
    self.role = role
    (frame, lastFrame) = (context.frame, context.frame)
    (time, connection) = (context.time, context.connection)
    self.text = text
  }
}
