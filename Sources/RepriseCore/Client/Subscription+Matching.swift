import Wire

extension Subscription {
  /// Whether the filter is one: not empty, and every wildcard where it may stand.
  public var isWellFormed: Bool {
    let bytes = Array(filter.utf8)
    guard !bytes.isEmpty, bytes.count <= 65_535, !bytes.contains(0) else { return false }
    return MQTTTopicFilter.misplacedWildcards(in: bytes.span.bytes).isEmpty
  }

  /// Tells whether a topic name matches the filter (MQTT 3.1.1 section 4.7).
  /// - Parameter topic: A topic name.
  /// - Returns: Whether a subscriber gets messages on the topic.
  public func matches(_ topic: String) -> Bool {
    MQTTTopicFilter.matches(
      filter.utf8Span.span.bytes, topic: topic.utf8Span.span.bytes)
  }
}
