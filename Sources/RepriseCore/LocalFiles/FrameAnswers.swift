/// What a folder of answers says of messages without topics.
struct FrameAnswers: Sendable {
  /// What a message has to be to be answered, and the answers.
  private struct Rule: Sendable {
    /// The message itself; nil takes any.
    let text: String?
    /// The members that the message's JSON has to have; nil takes any.
    let match: JSONValue?
    let answers: [AnswerTemplate]

    func fits(_ payload: [UInt8], _ json: JSONValue?) -> Bool {
      if let text, !payload.elementsEqual(text.utf8) { return false }
      guard let match else { return true }
      return json?.contains(match) ?? false
    }
  }

  /// What the server sends by itself when a connection is opened.
  let greeting: [AnswerTemplate]
  private let rules: [Rule]

  /// Reads the file.
  /// - Throws: ``DataClientError/Code/unreadable`` with the file and the key.
  init(_ value: JSONValue) throws(DataClientError) {
    let root = try AnswerFields(
      value, file: AnswerBook.messages, keys: ["greeting", "messages"])
    greeting = try Self.templates("greeting", root)
    var rules: [Rule] = []
    for fields in try root.objects("messages", keys: ["text", "match", "answers"]) {
      guard fields["answers"] != nil else {
        throw fields.error("answers", "is missing; [] says that nothing is answered")
      }
      rules.append(
        Rule(
          text: try fields.text("text"), match: fields["match"],
          answers: try Self.templates("answers", fields)))
    }
    self.rules = rules
  }

  private static func templates(
    _ key: String, _ fields: AnswerFields
  ) throws(DataClientError) -> [AnswerTemplate] {
    var result: [AnswerTemplate] = []
    for fields in try fields.objects(key, keys: AnswerTemplate.frameKeys) {
      result.append(try AnswerTemplate(fields, hasTopic: false))
    }
    return result
  }

  /// Returns the answers to a message: those of the first rule that fits.
  /// - Throws: ``DataClientError/Code/noAnswer`` when none does.
  func answers(to payload: [UInt8]) throws(DataClientError) -> [AnswerTemplate] {
    let json = JSONValue(parsing: payload)
    if let rule = rules.first(where: { $0.fits(payload, json) }) { return rule.answers }
    throw DataClientError(
      .noAnswer,
      "\(AnswerBook.messages) has no answer to this message; add "
        + "{\"match\":{…},\"answers\":[]} to its key messages")
  }
}

extension JSONValue {
  /// Whether every member of another value is here too, with the same value; numbers by their value.
  fileprivate func contains(_ other: JSONValue) -> Bool {
    switch (self, other) {
    case (.object(let members), .object(let wanted)):
      return wanted.allSatisfy { wanted in
        members.contains { $0.key == wanted.key && $0.value.contains(wanted.value) }
      }
    case (.array(let elements), .array(let wanted)):
      return elements.count == wanted.count
        && zip(elements, wanted).allSatisfy { $0.contains($1) }
    case (.number(let digits), .number(let wanted)):
      return digits == wanted || Double(digits) == Double(wanted)
    default: return self == other
    }
  }
}
