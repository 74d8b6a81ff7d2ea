/// What a server of requests can do wrong when it answers.
public enum RequestFault: String, Sendable, Hashable, CaseIterable {
  /// Nothing is answered.
  case noAnswer = "no-answer"
  /// The answer comes twice.
  case duplicate
  /// The answer names a request that was never sent.
  case unknownID = "unknown-id"
  /// The answer's identifier is a text.
  case textID = "text-id"
  /// The answer names no request.
  case noID = "no-id"
  /// The answer does not name its service.
  case noService = "no-service"
  /// The answer has no content.
  case noContent = "no-content"
  /// The content is JSON itself, and not a text that holds it.
  case objectContent = "object-content"
  /// The answer breaks off in the middle.
  case malformed
  /// The answer is a binary message.
  case binary
  /// The connection is closed with a Close frame instead.
  case close
  /// The connection is lost instead, without a Close frame.
  case drop
}
