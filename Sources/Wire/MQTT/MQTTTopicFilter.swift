/// Topic names and topic filters, compared as bytes (MQTT 3.1.1 section 4.7).
public enum MQTTTopicFilter {
  /// What is wrong with the wildcards of a filter.
  public enum Check: Sendable, Hashable {
    /// The wildcards stand where they may.
    case valid
    /// `#` is not alone in the last level (MQTT-4.7.1-2); the offset is its byte.
    case misplacedMultiLevel(at: Int)
    /// `+` does not fill a whole level (MQTT-4.7.1-3); the offset is its byte.
    case misplacedSingleLevel(at: Int)
  }

  private static let slash = UInt8(ascii: "/")
  private static let plus = UInt8(ascii: "+")
  private static let hash = UInt8(ascii: "#")

  /// Checks the wildcards of a filter.
  public static func check(_ filter: RawSpan) -> Check {
    for offset in 0..<filter.byteCount {
      let byte = filter.byte(at: offset)
      guard byte == plus || byte == hash else { continue }
      let startsLevel = offset == 0 || filter.byte(at: offset - 1) == slash
      let isLast = offset == filter.byteCount - 1
      if byte == hash {
        if !startsLevel || !isLast { return .misplacedMultiLevel(at: offset) }
      } else if !startsLevel || !(isLast || filter.byte(at: offset + 1) == slash) {
        return .misplacedSingleLevel(at: offset)
      }
    }
    return .valid
  }

  /// Tells whether a filter is that of a shared subscription, `$share/NAME/FILTER` (5.0 section 4.8.2).
  public static func isShared(_ filter: RawSpan) -> Bool {
    filter.byteCount > 7 && filter.extracting(first: 7).equals("$share/")
  }

  /// Returns the filter inside a shared subscription; any other filter comes back as it is.
  @_lifetime(copy filter)
  public static func withoutShare(_ filter: RawSpan) -> RawSpan {
    guard isShared(filter) else { return filter }
    for offset in 7..<filter.byteCount where filter.byte(at: offset) == slash {
      return filter.extracting((offset + 1)..<filter.byteCount)
    }
    return filter
  }

  /// Tells whether a topic name matches a filter.
  ///
  /// A topic that begins with `$` does not match a filter that begins with a wildcard
  /// (MQTT-4.7.2-1).
  /// - Parameters:
  ///   - filter: A valid filter, without `$share`.
  ///   - topic: A topic name.
  /// - Returns: Whether a subscription to the filter gets the topic's messages.
  public static func matches(_ filter: RawSpan, topic: RawSpan) -> Bool {
    var position = 0
    var index = 0
    if topic.byteCount > 0, topic.byte(at: 0) == UInt8(ascii: "$"), filter.byteCount > 0 {
      let first = filter.byte(at: 0)
      if first == plus || first == hash { return false }
    }
    while index < filter.byteCount {
      let byte = filter.byte(at: index)
      if byte == hash { return true }
      if byte == plus {
        while position < topic.byteCount, topic.byte(at: position) != slash { position += 1 }
        index += 1
        continue
      }
      guard position < topic.byteCount, topic.byte(at: position) == byte else {
        // "a/#" matches "a" too: the number sign stands for the parent level as well.
        return position == topic.byteCount && byte == slash && index + 2 == filter.byteCount
          && filter.byte(at: index + 1) == hash
      }
      position += 1
      index += 1
    }
    return position == topic.byteCount
  }
}
