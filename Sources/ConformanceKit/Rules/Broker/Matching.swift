/// What the subscriptions of a client have to say of a topic.
struct Matching: ~Copyable {
  /// How many filters match that stand, or may.
  var count = 0
  /// Whether all of them are granted, and nothing is under way that changes them.
  var isCertain = true
  /// When the last of them came to stand as it does, and was last asked for.
  var since = Int64.min
  var requested = Int64.min
  /// When the one was last asked for that was longest not.
  var earliest = Int64.max
  /// When the first of them was first asked for since it is there.
  var firstRequested = Int64.max
  /// The highest QoS that one of them has, and that one ever had, be it removed meanwhile.
  var grantedQoS: UInt8 = 0
  var highestQoS: UInt8 = 0
  /// The lowest QoS that one of them had before it was granted a higher one; the largest number where none was.
  var formerQoS = UInt8.max
  /// Whether all of them want none of the client's own messages (No Local).
  var isDeaf = true
  /// Whether one of them does, and another one does not.
  var isPartlyDeaf: Bool { hasDeaf && !isDeaf }
  private var hasDeaf = false
  /// Whether one of them, and all of them, want RETAIN as it was published.
  var somePublished = false
  var allPublished = true
  /// Whether one of them ever wanted that, be it removed meanwhile.
  var everPublished = false
  /// Whether none of them, those that were removed included, was ever asked for with a Retain Handling of 0, or without
  /// 2.
  var neverSendsAll = true
  var neverSends = true
  /// Whether all of them were there already when they were last asked for, and whether one of them may have been ended
  /// in front of that.
  var wereThere = true
  var mayHaveGone = false
  /// Whether one of them, or another one that matches, was ever removed.
  var wereRemoved = false
  var isShared = false
  var isPlain = false
  /// Whether one that matches was refused.
  var wereRefused = false
  /// The Subscription Identifiers that they have, or had when they were removed.
  var numbers: [UInt32] = []
  /// Whether all of them have one and had no other before, those that were removed included, and whether those that
  /// have one had no other.
  var areNumbered = true
  var areKept = true
  /// The frames of the first SUBACKs, and their connections.
  private var firstFrames: InlineArray<4, UInt32> = .init(repeating: 0)
  private var firstConnections: InlineArray<4, UInt32> = .init(repeating: 0)
  private var frameCount = 0
  /// When the last filter that matched was removed; nil where one stands, or was not removed for certain.
  var removed: (since: Int64, frame: Int, connection: Int)?
  /// Whether one that was removed may stand for another client of its group, or beside it.
  var hasDoubtfulRemoval = false

  /// Whether there are more than are kept.
  var hasMoreNumbers = false
  private static let mostNumbers = 64

  mutating func add(_ filter: SubscriptionList.Matched) {
    if filter.wasRemoved { wereRemoved = true }
    if filter.standing != .refused {
      if filter.wasPublished { everPublished = true }
      if filter.handlings & 0b001 != 0 { neverSendsAll = false }
      if filter.handlings != 0b100 { neverSends = false }
    }
    if filter.standing != .refused, filter.identifier > 0 {
      if numbers.count < Self.mostNumbers {
        numbers.append(filter.identifier)
      } else {
        hasMoreNumbers = true
      }
    }
    switch filter.standing {
    case .refused:
      wereRefused = true
      return
    case .removed:
      areKept = false
      // A copy that it was due may still be on its way, without a number.
      if filter.identifier == 0 || filter.hasOtherNumber { areNumbered = false }
      highestQoS = max(highestQoS, filter.highestQoS)
      // Of a group's filter and the same one besides, one may stand.
      if filter.wasShared { hasDoubtfulRemoval = true }
      if filter.changed > removed?.since ?? .min {
        removed = (filter.changed, filter.frame, Int(filter.connection))
      }
      return
    case .requested, .granted: break
    }
    count += 1
    if filter.standing == .requested || filter.isUnsure { isCertain = false }
    since = max(since, filter.changed)
    requested = max(requested, filter.requested)
    earliest = min(earliest, filter.requested)
    firstRequested = min(firstRequested, filter.firstRequested)
    grantedQoS = max(grantedQoS, filter.grantedQoS)
    highestQoS = max(highestQoS, filter.highestQoS)
    if filter.lowestQoS < filter.grantedQoS { formerQoS = min(formerQoS, filter.lowestQoS) }
    // One of a group is not, and may be kept under the same filter.
    if filter.options & 0b100 == 0 || filter.wasShared { isDeaf = false }
    if filter.options & 0b100 != 0 { hasDeaf = true }
    if filter.options & 0b1000 == 0 { allPublished = false } else { somePublished = true }
    if !filter.wasThere { wereThere = false }
    if filter.mayHaveGone { mayHaveGone = true }
    if filter.identifier == 0 || filter.hasOtherNumber { areNumbered = false }
    if filter.hasOtherNumber { areKept = false }
    if filter.wasShared { isShared = true }
    if filter.wasPlain { isPlain = true }
    if filter.frame > 0, frameCount < firstFrames.count {
      firstFrames[frameCount] = UInt32(clamping: filter.frame)
      firstConnections[frameCount] = filter.connection
      frameCount += 1
    }
  }

  /// The packets that granted the subscriptions, of the first few.
  var evidence: [Finding.Evidence] {
    (0..<frameCount).map {
      Finding.Evidence(
        frame: Int(firstFrames[$0]), connection: Int(firstConnections[$0]),
        role: "SUBACK of a filter that matches")
    }
  }
}
