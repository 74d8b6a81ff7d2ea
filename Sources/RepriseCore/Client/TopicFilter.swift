import Wire

/// A topic filter whose wildcards stand where MQTT 3.1.1 section 4.7 lets them.
package struct TopicFilter: Sendable, Hashable {
  /// The filter's text.
  package let text: String

  /// Creates a filter; nil when it is empty or a wildcard does not fill its place.
  /// - Parameter text: A filter, or a topic name, which is a filter for itself.
  package init?(_ text: String) {
    guard !text.isEmpty,
      MQTTTopicFilter.misplacedWildcards(in: text.utf8Span.span.bytes).isEmpty
    else { return nil }
    self.text = text
  }

  /// Tells whether a topic name matches.
  /// - Parameter topic: A topic name without wildcards.
  /// - Returns: Whether a subscriber to the filter gets messages with the topic.
  package func matches(_ topic: String) -> Bool { matches(topic.utf8Span.span) }

  /// Tells whether the topic name in UTF-8 matches.
  package func matches(_ topic: Span<UInt8>) -> Bool {
    MQTTTopicFilter.matches(text.utf8Span.span.bytes, topic: topic.bytes)
  }
}
