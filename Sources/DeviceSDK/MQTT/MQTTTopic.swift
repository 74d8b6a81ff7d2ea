import RepriseCore

/// What topic names and topic filters have to be (MQTT 3.1.1 section 4.7), told before anything is sent.
enum MQTTTopic {
  /// Checks a topic name.
  /// - Throws: ``MQTTError`` of kind `invalid`.
  static func checkName(_ topic: String) throws(MQTTError) {
    guard Subscription(topic).isWellFormed, !topic.utf8.contains(where: isWildcard) else {
      throw MQTTError(
        .invalid, "\"\(topic)\" is no topic to send to: it is empty, too long, or has a wildcard")
    }
  }

  /// Checks a topic filter, and reads it.
  /// - Returns: What topics are matched with.
  /// - Throws: ``MQTTError`` of kind `invalid`.
  static func filter(_ text: String) throws(MQTTError) -> TopicFilter {
    guard Subscription(text).isWellFormed, let filter = TopicFilter(shared(text) ?? text) else {
      throw MQTTError(
        .invalid,
        "\"\(text)\" is no topic filter: a wildcard fills a level, # the last, and no filter is empty"
      )
    }
    return filter
  }

  /// The filter that a shared subscription is for (MQTT 5.0 section 4.8.2); nil for another.
  private static func shared(_ text: String) -> String? {
    guard text.hasPrefix("$share/") else { return nil }
    let parts = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
    return parts.count == 3 ? String(parts[2]) : nil
  }

  private static func isWildcard(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "+") || byte == UInt8(ascii: "#")
  }
}
