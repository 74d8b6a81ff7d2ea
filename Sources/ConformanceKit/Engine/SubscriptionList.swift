internal import Wire

/// The filters that a client subscribed to on one connection, as far as they are kept.
struct SubscriptionList {
  /// How a filter stands.
  enum Standing {
    /// SUBSCRIBE was sent; messages may come before SUBACK.
    case requested
    /// SUBACK granted it.
    case granted
    /// SUBACK refused it.
    case refused
    /// UNSUBACK removed it.
    case removed
  }

  /// What is known of a topic.
  enum Match {
    case subscribed
    case unsubscribed
    case none
  }

  /// A filter at the moment of a request, so that a later answer does not undo a newer request.
  struct Reference {
    var index: Int
    var serial: Int
  }

  private struct Entry {
    var text: Range<Int>
    var standing: Standing
    var serial: Int
  }

  /// The most filters, and the most bytes of them, that are kept.
  static let maximumCount = 4_096
  static let maximumBytes = 256 << 10
  /// The most filters that are tried one by one: the first few, for which that is quickest, and those
  /// whose wildcards stand where they may not, which have no place in a tree of levels.
  static let maximumFirst = 8
  static let maximumTried = 64

  private var text: [UInt8] = []
  private var entries: [Entry] = []
  /// The place of each filter by a hash of its text; a second filter of the same hash is not kept.
  private var places: [UInt64: Int] = [:]
  /// The places of the filters with wildcards that are tried one by one.
  private var tried: [Int] = []
  /// The other filters with wildcards.
  private(set) var tree = TopicTree()
  private var serial = 0
  /// Messages often come for one filter in a row, so the last match is tried first.
  private var lastMatch = 0
  /// Whether filters were left out because there were too many.
  private(set) var isOverfull = false
  /// Whether a filter begins with `$` and is neither `$SYS` nor `$share`: a broker's own extension.
  private(set) var hasExtension = false

  /// The memory that the filters take, in bytes.
  var reserved: Int {
    // The dictionary takes its key, its value and a bit, and is kept three quarters full.
    text.capacity + entries.capacity * MemoryLayout<Entry>.stride + places.capacity * 22
      + tree.reserved
  }

  /// Adds a filter at its SUBSCRIBE.
  mutating func request(_ filter: RawSpan) -> Reference? {
    serial += 1
    let inner = MQTTTopicFilter.withoutShare(filter)
    if let index = find(inner) {
      if entries[index].standing != .granted { entries[index].standing = .requested }
      entries[index].serial = serial
      return Reference(index: index, serial: serial)
    }
    let key = Self.hash(inner)
    guard entries.count < Self.maximumCount, places[key] == nil,
      text.count + inner.byteCount <= Self.maximumBytes
    else {
      isOverfull = true
      return nil
    }
    if Self.isExtension(inner) { hasExtension = true }
    let start = text.count
    inner.withUnsafeBytes { text.append(contentsOf: $0) }
    guard !Self.hasWildcard(inner) || addWildcards(inner, start..<text.count) else {
      text.removeSubrange(start...)
      isOverfull = true
      return nil
    }
    places[key] = entries.count
    entries.append(Entry(text: start..<text.count, standing: .requested, serial: serial))
    return Reference(index: entries.count - 1, serial: serial)
  }

  /// Makes the next entry one that is looked for where topics match its wildcards; false when there
  /// is no room for it.
  private mutating func addWildcards(_ filter: RawSpan, _ range: Range<Int>) -> Bool {
    if tried.count >= Self.maximumFirst, MQTTTopicFilter.misplacedWildcards(in: filter).isEmpty {
      let text = text
      return tree.insert(range, in: text.span.bytes, for: entries.count)
    }
    guard tried.count < Self.maximumTried else { return false }
    tried.append(entries.count)
    return true
  }

  /// Takes the server's word on a filter.
  mutating func settle(_ reference: Reference, isGranted: Bool) {
    guard entries.indices.contains(reference.index) else { return }
    // A refusal of a filter that was granted before leaves in doubt whether the old one stands.
    guard isGranted || entries[reference.index].standing != .granted else { return }
    guard entries[reference.index].serial == reference.serial else { return }
    entries[reference.index].standing = isGranted ? .granted : .refused
  }

  /// Removes a filter at its UNSUBACK.
  mutating func remove(_ reference: Reference) {
    guard entries.indices.contains(reference.index) else { return }
    guard entries[reference.index].serial == reference.serial else { return }
    entries[reference.index].standing = .removed
  }

  /// Finds a filter that the client is subscribed to, character by character.
  func reference(to filter: RawSpan) -> Reference? {
    guard let index = find(MQTTTopicFilter.withoutShare(filter)) else { return nil }
    let entry = entries[index]
    guard entry.standing == .requested || entry.standing == .granted else { return nil }
    return Reference(index: index, serial: entry.serial)
  }

  /// Matches a topic with the filters.
  mutating func match(_ topic: RawSpan) -> Match {
    if lastMatch < entries.count, isLive(lastMatch), matches(lastMatch, topic) {
      return .subscribed
    }
    var wasUnsubscribed = false
    if let index = find(topic), entries[index].standing != .refused {
      if isLive(index) { return take(index) }
      wasUnsubscribed = true
    }
    for index in tried where entries[index].standing != .refused {
      guard matches(index, topic) else { continue }
      if isLive(index) { return take(index) }
      wasUnsubscribed = true
    }
    guard !tree.isEmpty else { return wasUnsubscribed ? .unsubscribed : .none }
    // Looked at beside the tree, which changes meanwhile.
    let (entries, text) = (entries, text)
    let found = tree.first(matching: topic, in: text.span.bytes) { index in
      switch entries[index].standing {
      case .requested, .granted: return true
      case .removed: wasUnsubscribed = true
      case .refused: break
      }
      return false
    }
    if let found { return take(found) }
    if tree.isExhausted { isOverfull = true }
    return wasUnsubscribed ? .unsubscribed : .none
  }

  private mutating func take(_ index: Int) -> Match {
    lastMatch = index
    return .subscribed
  }

  private func isLive(_ index: Int) -> Bool {
    switch entries[index].standing {
    case .requested, .granted: true
    case .refused, .removed: false
    }
  }

  private func matches(_ index: Int, _ topic: RawSpan) -> Bool {
    MQTTTopicFilter.matches(text.span.bytes.extracting(entries[index].text), topic: topic)
  }

  private func find(_ filter: RawSpan) -> Int? {
    guard let index = places[Self.hash(filter)] else { return nil }
    let range = entries[index].text
    guard range.count == filter.byteCount else { return nil }
    let isEqual = filter.withUnsafeBytes { $0.elementsEqual(text[range]) }
    return isEqual ? index : nil
  }

  private static func hash(_ text: RawSpan) -> UInt64 { TextHash.of(text) }

  private static func hasWildcard(_ filter: RawSpan) -> Bool {
    filter.withUnsafeBytes { $0.contains(UInt8(ascii: "+")) || $0.contains(UInt8(ascii: "#")) }
  }

  private static func isExtension(_ filter: RawSpan) -> Bool {
    guard filter.byteCount > 0 else { return false }
    guard filter.extracting(first: 1).equals("$") else { return false }
    return !(filter.byteCount >= 4 && filter.extracting(first: 4).equals("$SYS"))
  }
}
