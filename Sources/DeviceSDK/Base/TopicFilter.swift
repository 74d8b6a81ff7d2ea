/// A topic filter whose wildcards stand where MQTT 3.1.1 section 4.7 lets them.
package struct TopicFilter: Sendable, Hashable {
  /// The filter's text.
  package let text: String
  private let levels: [Level]

  private enum Level: Sendable, Hashable {
    case exactly([UInt8])
    case any
    case rest
  }

  /// Creates a filter; nil when it is empty or a wildcard does not fill its place.
  /// - Parameter text: A filter, or a topic name, which is a filter for itself.
  package init?(_ text: String) {
    guard !text.isEmpty else { return nil }
    var levels: [Level] = []
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    for (index, part) in parts.enumerated() {
      if part.elementsEqual("#".utf8) {
        guard index == parts.count - 1 else { return nil }
        levels.append(.rest)
      } else if part.elementsEqual("+".utf8) {
        levels.append(.any)
      } else {
        guard !part.contains(UInt8(ascii: "#")), !part.contains(UInt8(ascii: "+")) else {
          return nil
        }
        levels.append(.exactly(Array(part)))
      }
    }
    self.text = text
    self.levels = levels
  }

  /// Tells whether a topic name matches.
  /// - Parameter topic: A topic name without wildcards.
  /// - Returns: Whether a subscriber to the filter gets messages with the topic.
  package func matches(_ topic: String) -> Bool { matches(topic.utf8Span.span) }

  /// Tells whether the topic name in UTF-8 matches.
  func matches(_ topic: Span<UInt8>) -> Bool {
    var position = 0
    for (index, level) in levels.enumerated() {
      // The place of reading is behind the separator; past the end there are no more levels.
      switch level {
      case .rest:
        return index > 0 || !Self.isReserved(topic)
      case .any:
        guard position <= topic.count, index > 0 || !Self.isReserved(topic) else { return false }
        while position < topic.count, topic[position] != UInt8(ascii: "/") { position += 1 }
      case .exactly(let bytes):
        guard position + bytes.count <= topic.count else { return false }
        for byte in bytes {
          guard topic[position] == byte else { return false }
          position += 1
        }
        guard position == topic.count || topic[position] == UInt8(ascii: "/") else { return false }
      }
      // Over the separator, and at the end of the topic one further: there is no next level.
      position += 1
    }
    return position == topic.count + 1
  }

  /// Tells whether a topic is one of the server's own, which no leading wildcard matches.
  private static func isReserved(_ topic: Span<UInt8>) -> Bool {
    topic.count > 0 && topic[0] == UInt8(ascii: "$")
  }

}
