internal import RepriseCore

extension SubscriptionList {
  /// A filter, and all that was asked and said of it.
  struct Entry {
    var text: Range<Int>
    var serial: Int
    /// When it was last asked for, and when it last came to stand as it does.
    var requested: Int64
    var changed: Int64
    /// The frame of the answer by which it stands, and its connection.
    var frame: UInt32 = 0
    var connection: UInt32 = 0
    /// The Subscription Identifier that it was last asked for with; 0 is none.
    var identifier: UInt32
    /// When it was first asked for since it is there.
    var firstRequested: WholeSeconds
    var standing: Standing
    /// The options that it was last asked for with.
    var options: UInt8
    /// The QoS that it has, the highest that it ever had, and the highest that an open request asks for.
    var grantedQoS: UInt8 = 0
    var highestQoS: UInt8 = 0
    /// The lowest QoS that it ever had; 3 where it had none.
    var lowestQoS: UInt8 = 3
    var openQoS: UInt8
    /// How many requests of it have no answer in the capture, which may have been lost.
    var openCount: UInt8 = 1
    /// The ways of Retain Handling that it was ever asked for with, one bit each.
    var handlings: UInt8
    /// Whether it was ever asked for with Retain As Published.
    var wasPublished: Bool
    /// Whether it was ever asked for as a shared subscription, and as one that is not shared.
    var wasShared: Bool
    var wasPlain: Bool
    /// Whether it was there already when it was last asked for, and whether an open request in front of that may have
    /// ended it.
    var wasThere = false
    var mayHaveGone = false
    /// Whether it was ever removed.
    var wasRemoved = false
    /// Whether it was asked for with another Subscription Identifier before, or without one.
    var hasOtherNumber = false
    /// Whether an answer to a request before the last one granted it, or may have, since it came to stand as it does.
    var mayBeGranted = false
    /// Whether a request of it is open that may change or end it, or was refused where it stood.
    var isUnsure = false
    /// How many UNSUBSCRIBEs of it are under way.
    var openRemovals: UInt8 = 0
    /// Whether it was shared and not, and one of the two was removed.
    var isMixed = false

    /// The packet by which it stands; none where it was not answered.
    var evidence: [Finding.Evidence] {
      guard frame > 0 else { return [] }
      return [
        Finding.Evidence(
          frame: Int(frame), connection: Int(connection), role: "SUBACK of the filter")
      ]
    }
  }

  /// One filter that a topic matches.
  struct Matched {
    let standing: Standing
    let requested: Int64
    let firstRequested: Int64
    let changed: Int64
    let frame: Int
    let connection: UInt32
    let identifier: UInt32
    let options: UInt8
    let grantedQoS: UInt8
    let highestQoS: UInt8
    let lowestQoS: UInt8
    let handlings: UInt8
    let wasPublished: Bool
    let wasShared: Bool
    let wasPlain: Bool
    let wasThere: Bool
    let mayHaveGone: Bool
    let wasRemoved: Bool
    let isUnsure: Bool
    let hasOtherNumber: Bool

    init(_ entry: Entry) {
      standing = entry.standing
      requested = entry.requested
      firstRequested = entry.firstRequested.nanoseconds
      changed = entry.changed
      frame = Int(entry.frame)
      connection = entry.connection
      identifier = entry.identifier
      options = entry.options
      grantedQoS = entry.grantedQoS
      // Messages may come before the SUBACK.
      highestQoS = max(entry.highestQoS, entry.openQoS)
      lowestQoS = entry.lowestQoS
      handlings = entry.handlings
      wasPublished = entry.wasPublished
      wasShared = entry.wasShared
      wasPlain = entry.wasPlain
      wasThere = entry.wasThere
      mayHaveGone = entry.mayHaveGone
      wasRemoved = entry.wasRemoved
      isUnsure = entry.isUnsure || entry.isMixed
      hasOtherNumber = entry.hasOtherNumber
    }
  }
}

extension SubscriptionList.Entry {
  /// Takes another SUBSCRIBE of the filter.
  mutating func ask(
    again options: UInt8, isShared: Bool, _ identifier: UInt32, at time: Int64
  ) {
    wasThere = standing == .granted
    if standing == .removed || standing == .refused {
      firstRequested = WholeSeconds(nanoseconds: time)
    }
    mayHaveGone = wasThere && isUnsure
    // Until it is answered the old one may stand, or the new one.
    isUnsure = wasThere
    if standing != .granted { standing = .requested }
    openQoS = max(openQoS, options & 0b11)
    if openCount < .max { openCount += 1 }
    self.options = options
    requested = time
    handlings |= 1 << (options >> 4 & 0b11)
    if options & 0b1000 != 0 { wasPublished = true }
    if isShared { wasShared = true } else { wasPlain = true }
    if identifier != self.identifier { hasOtherNumber = true }
    self.identifier = identifier
  }

  /// Whether it may stand though its last request is refused: another one that has no answer may have been granted.
  var mayStand: Bool { standing == .granted || mayBeGranted || openCount > 0 }

  /// Takes the answer to the last request: what was asked for before may have been granted all the same, and messages
  /// of it be on their way, at any QoS up to the one that was asked for.
  mutating func closeRequests() {
    if openCount > 0 { (highestQoS, lowestQoS) = (max(highestQoS, openQoS), 0) }
    (openQoS, openCount) = (0, 0)
  }

  /// Notes that the server granted a QoS.
  mutating func raise(to code: UInt8) {
    if openCount > 0 { openCount -= 1 }
    guard code <= 2 else { return }
    highestQoS = max(highestQoS, code)
    lowestQoS = min(lowestQoS, code)
  }

  mutating func stand(
    _ standing: SubscriptionList.Standing, at moment: Moment, on connection: UInt32
  ) {
    self.standing = standing
    if standing == .removed { wasRemoved = true }
    changed = moment.time.nanoseconds
    frame = UInt32(clamping: moment.frame)
    self.connection = connection
    // What ends it may have been sent before it was granted.
    isUnsure = standing == .granted && openRemovals > 0
    mayBeGranted = false
  }
}
