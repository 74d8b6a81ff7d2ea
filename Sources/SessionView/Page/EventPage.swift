package import RepriseCore

/// Everything that is to be told of an event: its fields, what answers it, what was found, how its connection is.
package struct EventPage: Sendable {
  /// Another event that this one has to do with.
  package struct Relation: Sendable {
    /// Its place in the archive.
    package var event: Int
    /// Its frame, its connection and its type.
    package var frame: Int
    var connection: Int
    var type: String
    /// What is asked and answered.
    var pair: ExchangePair
  }

  /// When, where and between whom it happened.
  package let context: EventContext
  /// The event as `inspect` prints it for programs.
  package let event: JSONValue
  /// What it answers, and what answers it.
  let questions: [Relation]
  package let answers: [Relation]
  /// What became of its questions that have no answer.
  let fates: [ExchangeFate]
  /// What was found in it.
  package let findings: [SessionFinding]
  /// How its connection is behind it.
  let picture: ConnectionPicture
  /// Its bytes, if it has some.
  let bytes: ShownBytes?
  /// What is not shown.
  let redaction: RedactionRules

  /// Makes the page of an event; nil where there is none.
  init?(of index: Int, in session: ViewedSession) {
    let archive = session.archive
    let redaction = session.redaction
    let found = archive.withEvent(at: index) { event in
      var json: [UInt8] = []
      EventJSONWriter(hiding: redaction).append(event, to: &json)
      return (JSONValue(parsing: json), ShownBytes(event, hiding: redaction))
    }
    guard let (json, bytes) = found, let json, let picture = session.picture(at: index),
      let context = archive.context(at: index)
    else { return nil }
    self.context = context
    event = json
    self.bytes = bytes
    self.picture = picture
    self.redaction = redaction
    questions = archive.questions(of: index).compactMap { pair in
      Self.relation(pair, pair.question, session)
    }
    answers = archive.answers(to: index).compactMap { pair in
      Self.relation(pair, pair.answer, session)
    }
    fates = archive.fates(of: index)
    findings = session.findings(at: index).map { session.findings[$0] }
  }

  private static func relation(
    _ pair: ExchangePair, _ event: Int, _ session: ViewedSession
  ) -> Relation? {
    guard let context = session.archive.context(at: event) else { return nil }
    return Relation(
      event: event, frame: context.frame, connection: context.connection,
      type: session.typeName(at: event), pair: pair)
  }
}
