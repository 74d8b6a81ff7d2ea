/// Topic names and topic filters, compared as bytes (MQTT 3.1.1 section 4.7).
public enum MQTTTopicFilter {
  /// The first wildcards of a filter that stand where they may not, by their bytes.
  public struct Misplaced: Sendable, Hashable {
    /// A `#` that is not alone in the last level (3.1.1 MQTT-4.7.1-2, 5.0 MQTT-4.7.1-1).
    public var multiLevel: Int?
    /// A `+` that does not fill a whole level (3.1.1 MQTT-4.7.1-3, 5.0 MQTT-4.7.1-2).
    public var singleLevel: Int?

    /// Creates what was found; nil is what is not there.
    public init(multiLevel: Int? = nil, singleLevel: Int? = nil) {
      self.multiLevel = multiLevel
      self.singleLevel = singleLevel
    }

    /// Whether all wildcards stand where they may.
    public var isEmpty: Bool { multiLevel == nil && singleLevel == nil }
  }

  /// What a filter is as a shared subscription, `$share/NAME/FILTER` (5.0 section 4.8.2).
  public enum Share: Sendable, Hashable {
    /// It is none.
    case none
    /// It is one, whose filter begins at a byte.
    case filter(at: Int)
    /// It begins as one, but the name is empty (MQTT-4.8.2-1); the offset is where it belongs.
    case emptyName(at: Int)
    /// It begins as one, but the name holds a wildcard at a byte, or no filter follows there (MQTT-4.8.2-2).
    case badName(at: Int)
  }

  private static let slash = UInt8(ascii: "/")
  private static let plus = UInt8(ascii: "+")
  private static let hash = UInt8(ascii: "#")

  /// Checks the wildcards of a filter.
  public static func misplacedWildcards(in filter: RawSpan) -> Misplaced {
    var misplaced = Misplaced()
    for offset in 0..<filter.byteCount {
      let byte = filter.byte(at: offset)
      guard byte == plus || byte == hash else { continue }
      let startsLevel = offset == 0 || filter.byte(at: offset - 1) == slash
      let isLast = offset == filter.byteCount - 1
      if byte == hash {
        if misplaced.multiLevel == nil, !startsLevel || !isLast { misplaced.multiLevel = offset }
      } else if misplaced.singleLevel == nil,
        !startsLevel || !(isLast || filter.byte(at: offset + 1) == slash)
      {
        misplaced.singleLevel = offset
      }
    }
    return misplaced
  }

  /// Tells whether a filter is one of a shared subscription.
  public static func share(of filter: RawSpan) -> Share {
    guard filter.byteCount >= 7, filter.extracting(first: 7).equals("$share/") else { return .none }
    var wildcard: Int?
    var end = 7
    while end < filter.byteCount, filter.byte(at: end) != slash {
      let byte = filter.byte(at: end)
      if wildcard == nil, byte == plus || byte == hash { wildcard = end }
      end += 1
    }
    if end == 7 { return .emptyName(at: 7) }
    if let wildcard { return .badName(at: wildcard) }
    return end + 1 < filter.byteCount ? .filter(at: end + 1) : .badName(at: end)
  }

  private static func isShared(_ filter: RawSpan) -> Bool {
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
  ///   - sparingDollar: Whether a wildcard at the start spares topics that begin with `$`.
  /// - Returns: Whether a subscription to the filter gets the topic's messages.
  public static func matches(
    _ filter: RawSpan, topic: RawSpan, sparingDollar: Bool = true
  ) -> Bool {
    if sparingDollar, topic.byteCount > 0, topic.byte(at: 0) == UInt8(ascii: "$"),
      filter.byteCount > 0
    {
      let first = filter.byte(at: 0)
      if first == plus || first == hash { return false }
    }
    return filter.withUnsafeBytes { filter in
      topic.withUnsafeBytes { topic in matches(filter, topic) }
    }
  }

  private static func matches(
    _ filter: UnsafeRawBufferPointer, _ topic: UnsafeRawBufferPointer
  ) -> Bool {
    var index = equalBytes(filter, 0, topic, 0)
    var position = index
    while index < filter.count {
      let byte = filter[index]
      if byte == hash { return true }
      if byte == plus {
        position = endOfLevel(topic, position)
        index += 1
        let equal = equalBytes(filter, index, topic, position)
        index += equal
        position += equal
        continue
      }
      guard position < topic.count, topic[position] == byte else {
        // "a/#" matches "a" too: the number sign stands for the parent level as well.
        return position == topic.count && byte == slash && index + 2 == filter.count
          && filter[index + 1] == hash
      }
      position += 1
      index += 1
    }
    return position == topic.count
  }

  /// How many bytes from two places on are the same in both and no wildcard; of what is behind the last eight, none.
  @inline(__always)
  private static func equalBytes(
    _ filter: UnsafeRawBufferPointer, _ index: Int, _ topic: UnsafeRawBufferPointer,
    _ position: Int
  ) -> Int {
    let end = min(filter.count - index, topic.count - position)
    var count = 0
    while end - count >= 8 {
      let word = Self.word(filter, index + count)
      let difference =
        word ^ Self.word(topic, position + count)
      let wildcards = zeros(word ^ 0x2B2B_2B2B_2B2B_2B2B) | zeros(word ^ 0x2323_2323_2323_2323)
      guard difference | wildcards == 0 else {
        return count + min(firstByte(of: difference), firstByte(of: wildcards))
      }
      count += 8
    }
    return count
  }

  /// Where the level ends that a place of a topic is in.
  @inline(__always)
  private static func endOfLevel(_ topic: UnsafeRawBufferPointer, _ start: Int) -> Int {
    var position = start
    while topic.count - position >= 8 {
      let word = Self.word(topic, position)
      let slashes = zeros(word ^ 0x2F2F_2F2F_2F2F_2F2F)
      guard slashes == 0 else { return position + firstByte(of: slashes) }
      position += 8
    }
    while position < topic.count, topic[position] != slash { position += 1 }
    return position
  }

  /// Eight bytes, of which the first is the lowest.
  @inline(__always)
  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// Eight bytes, the first of which is not 0 where the first 0 is in others; 0 where there is none.
  @inline(__always)
  private static func zeros(_ word: UInt64) -> UInt64 {
    (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
  }

  /// The place of the first of eight bytes that is not 0; 8 where all are.
  @inline(__always)
  private static func firstByte(of word: UInt64) -> Int { word.trailingZeroBitCount / 8 }
}
