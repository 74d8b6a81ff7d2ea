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

  /// A filter at the moment of a request, so that a later answer does not undo a newer request.
  struct Reference {
    var index: Int
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
  /// The Subscription Identifiers that were given.
  private var numbers: Set<UInt32> = []
  /// The connection whose packets change the list: that of another one goes on where a session does.
  var connection: UInt32 = 0
  private(set) var hasForgottenNumbers = false
  private static let maximumNumbers = 4_096
  /// Whether filters were left out because there were too many.
  private(set) var isOverfull = false
  /// Whether a filter begins with `$` and is neither `$SYS` nor `$share`: a broker's own extension.
  private(set) var hasExtension = false
  /// Whether a filter was ever that of a group.
  private(set) var hasShares = false
  /// Whether a SUBSCRIBE was bad, so that nobody knows what a server that took it makes of its filters.
  var hasFaultyRequest = false

  /// The memory that the filters take, in bytes.
  var reserved: Int {
    // The dictionary takes its key, its value and a bit, and is kept three quarters full.
    text.grownSize + entries.grownSize + places.capacity * 22
      + numbers.capacity * 5
      + tree.reserved
  }

  /// The answers by which the filters stand, of which a finding tells a few.
  var evidence: [Finding.Evidence] {
    var told = Set<Finding.Evidence>()
    for entry in entries where entry.frame > 0 && told.count < Self.maximumFirst {
      told.insert(
        Finding.Evidence(
          frame: Int(entry.frame), connection: Int(entry.connection),
          role: "SUBACK for other filters"))
    }
    return Array(told)
  }

  /// The filters without wildcards, by hashes, in the order in which they were first asked for.
  var plainFilters: some Sequence<UInt64> {
    entries.lazy.compactMap { entry in
      let filter = text.span.bytes.extracting(entry.text)
      return Self.hasWildcard(filter) ? nil : Self.hash(filter)
    }
  }

  /// Adds a filter at its SUBSCRIBE.
  /// - Parameters:
  ///   - filter: The filter.
  ///   - options: Its options (5.0 section 3.8.3.1); in 3.1.1 they are the QoS.
  ///   - identifier: The Subscription Identifier of the SUBSCRIBE; 0 is none.
  ///   - time: When it was asked for, in nanoseconds.
  ///   - knowsShares: Whether `$share` begins the name of a share, as in 5.0: by 3.1.1 it is a level as others are, or an
  ///     extension of the server.
  /// - Returns: The filter at this moment; nil where there is no room for it.
  mutating func request(
    _ filter: RawSpan, options: UInt8 = 0, _ identifier: UInt32 = 0, at time: Int64 = 0,
    knowsShares: Bool = true
  ) -> Reference? {
    serial += 1
    note(identifier)
    let inner = MQTTTopicFilter.withoutShare(filter)
    let isShared = inner.byteCount < filter.byteCount
    if isShared { hasShares = true }
    if isShared, !knowsShares { hasExtension = true }
    if let index = find(inner) {
      entries[index].ask(again: options, isShared: isShared, identifier, at: time)
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
    // What is hidden of a filter matches nobody knows what.
    if Self.isExtension(inner) || inner.holdsHidden { hasExtension = true }
    let start = text.count
    inner.withUnsafeBytes { text.append(contentsOf: $0) }
    guard !Self.hasWildcard(inner) || addWildcards(inner, start..<text.count) else {
      text.removeSubrange(start...)
      isOverfull = true
      return nil
    }
    places[key] = entries.count
    entries.append(
      Entry(
        text: start..<text.count, serial: serial, requested: time, changed: time,
        identifier: identifier, firstRequested: WholeSeconds(nanoseconds: time),
        standing: .requested, options: options, openQoS: options & 0b11,
        handlings: 1 << (options >> 4 & 0b11), wasPublished: options & 0b1000 != 0,
        wasShared: isShared, wasPlain: !isShared))
    return Reference(index: entries.count - 1, serial: serial)
  }

  private mutating func note(_ identifier: UInt32) {
    guard identifier > 0, !numbers.contains(identifier) else { return }
    if numbers.count < Self.maximumNumbers {
      numbers.insert(identifier)
    } else {
      hasForgottenNumbers = true
    }
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
  /// - Parameters:
  ///   - reference: The filter at the moment of its request.
  ///   - code: The code of the SUBACK; from 0x80 on it refuses.
  ///   - moment: The SUBACK.
  mutating func settle(_ reference: Reference, code: UInt8, at moment: Moment) {
    guard entries.indices.contains(reference.index) else { return }
    let isGranted = code < 0x80
    entries[reference.index].raise(to: code)
    guard entries[reference.index].serial == reference.serial else {
      if isGranted { entries[reference.index].mayBeGranted = true }
      return
    }
    // A refusal of a filter that was granted before, or may have been, leaves in doubt whether the old one stands.
    let mayStand = entries[reference.index].mayStand
    entries[reference.index].closeRequests()
    guard isGranted || !mayStand else { return }
    entries[reference.index].stand(isGranted ? .granted : .refused, at: moment, on: connection)
    if isGranted { entries[reference.index].grantedQoS = min(code, 2) }
  }

  /// Takes a SUBACK whose code for a filter was not captured: it may have granted any QoS that was asked for.
  mutating func settleUnread(_ reference: Reference) {
    guard entries.indices.contains(reference.index) else { return }
    entries[reference.index].mayBeGranted = true
    entries[reference.index].highestQoS = max(
      entries[reference.index].highestQoS, entries[reference.index].openQoS)
    entries[reference.index].lowestQoS = 0
  }

  /// Removes a filter at its UNSUBACK.
  mutating func remove(_ reference: Reference, at moment: Moment) {
    guard entries.indices.contains(reference.index) else { return }
    if entries[reference.index].openRemovals > 0 { entries[reference.index].openRemovals -= 1 }
    guard entries[reference.index].serial == reference.serial else { return }
    // Of a shared subscription and one of the same filter that is not, one stays.
    guard !(entries[reference.index].wasShared && entries[reference.index].wasPlain) else {
      entries[reference.index].isMixed = true
      return
    }
    // Requests before it that have no answer came first, and were ended with it.
    entries[reference.index].closeRequests()
    entries[reference.index].stand(.removed, at: moment, on: connection)
  }

  /// Notes that an UNSUBSCRIBE of a filter is under way.
  mutating func doubt(_ reference: Reference) {
    guard entries.indices.contains(reference.index) else { return }
    entries[reference.index].isUnsure = true
    if entries[reference.index].openRemovals < .max { entries[reference.index].openRemovals += 1 }
  }

  /// Looks at all filters that a topic matches.
  /// - Parameters:
  ///   - topic: The topic.
  ///   - body: What to do with each; it may be called for those that were refused or removed, too.
  @inline(__always)
  mutating func forEachMatch(of topic: RawSpan, _ body: (Matched) -> Void) {
    guard entries.count > Self.maximumFirst else {
      for index in entries.indices where matches(index, topic) { body(Matched(entries[index])) }
      return
    }
    let direct = find(topic)
    if let direct { body(Matched(entries[direct])) }
    for index in tried where index != direct && matches(index, topic) {
      body(Matched(entries[index]))
    }
    guard !tree.isEmpty else { return }
    let (entries, text) = (entries, text)
    _ = tree.first(matching: topic, in: text.span.bytes) { index in
      if index != direct { body(Matched(entries[index])) }
      return false
    }
    if tree.isExhausted { isOverfull = true }
  }

  /// Finds a filter that a topic that begins with `$` matches by a wildcard at its start alone.
  /// - Returns: The first of those that it matches; nil where there is none.
  func wildMatch(_ topic: RawSpan) -> Entry? {
    entries.first { entry in
      guard entry.standing == .granted || entry.standing == .requested else { return false }
      let filter = text.span.bytes.extracting(entry.text)
      guard filter.byteCount > 0, filter.extracting(first: 1).isWildcard else { return false }
      return MQTTTopicFilter.matches(filter, topic: topic, sparingDollar: false)
    }
  }

  /// Tells whether a topic matches a filter only if characters are normalised, or their case does not count.
  func matchesLoosely(_ topic: RawSpan) -> Bool {
    let levels = Self.levels(of: topic)
    return entries.contains { entry in
      guard entry.standing == .granted || entry.standing == .requested else { return false }
      return Self.isLoose(Self.levels(of: text.span.bytes.extracting(entry.text)), levels)
    }
  }

  private static func isLoose(_ filter: [String], _ topic: [String]) -> Bool {
    var isOther = false
    for (place, level) in filter.enumerated() {
      if level == "#" { return isOther }
      guard place < topic.count else { return false }
      if level == "+" { continue }
      // Strings are equal by canonical equivalence, whatever their bytes.
      guard level.lowercased() == topic[place].lowercased() else { return false }
      if !level.utf8.elementsEqual(topic[place].utf8) { isOther = true }
    }
    return isOther && filter.count == topic.count
  }

  /// The levels, parted at the bytes that are slashes: one may stand in front of a character that joins it.
  private static func levels(of text: RawSpan) -> [String] {
    [UInt8](copying: text).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
  }

  /// Whether a Subscription Identifier was ever given, as far as they are kept.
  func wasGiven(_ identifier: UInt32) -> Bool { numbers.contains(identifier) }

  /// Whether a filter was ever asked for with another Subscription Identifier than before.
  var hasChangedNumbers: Bool { entries.contains(where: \.hasOtherNumber) }

  /// How many filters were removed that did not come back, the first of them at a time.
  var removed: (count: Int, since: Int64) {
    var (count, since) = (0, Int64.max)
    for entry in entries where entry.standing == .removed && !entry.wasShared {
      count += 1
      since = min(since, entry.changed)
    }
    return (count, since)
  }

  /// Finds a filter that the client is subscribed to, character by character.
  func reference(to filter: RawSpan) -> Reference? {
    let inner = MQTTTopicFilter.withoutShare(filter)
    guard let index = find(inner) else { return nil }
    let entry = entries[index]
    guard entry.standing == .requested || entry.standing == .granted else { return nil }
    // A share of the filter is another subscription than the filter itself.
    guard inner.byteCount < filter.byteCount ? entry.wasShared : entry.wasPlain else { return nil }
    return Reference(index: index, serial: entry.serial)
  }

  /// How the client stands to a filter that it unsubscribes from.
  ///
  /// Shared subscriptions are kept without the name of their share, so nothing is said of them.
  func standing(of filter: RawSpan) -> FilterStanding {
    let inner = MQTTTopicFilter.withoutShare(filter)
    guard inner.byteCount == filter.byteCount, !filter.holdsHidden else { return .unknown }
    guard let index = find(inner) else {
      return isOverfull || hasExtension || hasFaultyRequest ? .unknown : .strange
    }
    let entry = entries[index]
    return entry.standing == .granted && !entry.isUnsure && !entry.wasShared ? .granted : .unknown
  }

  private func matches(_ index: Int, _ topic: RawSpan) -> Bool {
    MQTTTopicFilter.matches(text.span.bytes.extracting(entries[index].text), topic: topic)
  }

  private func find(_ filter: RawSpan) -> Int? {
    // Of a few it is quicker to look at each than to find the place.
    guard entries.count > Self.maximumFirst else {
      return entries.indices.first { isEqual($0, filter) }
    }
    guard let index = places[Self.hash(filter)], isEqual(index, filter) else { return nil }
    return index
  }

  @inline(__always)
  private func isEqual(_ index: Int, _ filter: RawSpan) -> Bool {
    let range = entries[index].text
    return range.count == filter.byteCount && text.span.bytes.extracting(range).equals(filter)
  }

  /// What tells a filter, or a topic.
  static func hash(_ text: RawSpan) -> UInt64 { TextHash.of(text) }

  private static func hasWildcard(_ filter: RawSpan) -> Bool {
    filter.withUnsafeBytes { $0.contains(UInt8(ascii: "+")) || $0.contains(UInt8(ascii: "#")) }
  }

  private static func isExtension(_ filter: RawSpan) -> Bool {
    guard filter.byteCount > 0 else { return false }
    guard filter.extracting(first: 1).equals("$") else { return false }
    return !(filter.byteCount >= 4 && filter.extracting(first: 4).equals("$SYS"))
  }
}

extension RawSpan {
  /// Whether it is a wildcard character.
  fileprivate var isWildcard: Bool { equals("+") || equals("#") }
}
