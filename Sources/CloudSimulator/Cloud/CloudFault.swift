/// What the cloud can do wrong when it answers a request.
public enum CloudFault: String, Sendable, Hashable, CaseIterable {
  /// Nothing is answered.
  case noReply = "no-reply"
  /// The answer comes twice.
  case duplicate
  /// The answer has another identifier, of the same type.
  case wrongID = "wrong-id"
  /// The identifier comes back as a number.
  case numericID = "numeric-id"
  /// The answer has no identifier.
  case noID = "no-id"
  /// The answer has no code.
  case noCode = "no-code"
  /// The answer has no data.
  case noData = "no-data"
  /// The answer is not JSON, but a page of HTML.
  case notJSON = "not-json"
  /// The answer is not well-formed UTF-8.
  case notUTF8 = "not-utf8"
  /// The answer has no bytes.
  case emptyPayload = "empty-payload"
  /// The answer comes on the topic without `_reply`.
  case wrongTopic = "wrong-topic"
  /// The device's connection is lost instead; in process only.
  case dropConnection = "drop-connection"
}
