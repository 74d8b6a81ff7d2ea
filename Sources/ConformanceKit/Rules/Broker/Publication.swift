internal import RepriseCore
internal import Wire

/// What clients published to a server that has one topic and one payload.
///
/// A message that a server delivers names no sender: it is known again by topic and payload alone. Rules that compare
/// a delivery with what was published look at those that were published once.
struct Publication {
  // Many are kept: what is large stands first, so that nothing is left free between them.
  /// What tells server, topic and payload.
  let key: UInt64
  /// The connection that it came on first, and the session of its client; 0 where that is not known.
  let connection: Int
  let client: UInt64
  private(set) var first: Moment
  /// When it was published last.
  private(set) var last: Timestamp
  private var takenAt = Int64.min
  /// What stands in its properties that the server must pass on, in a place of its own: few messages have any.
  private(set) var forwarded: Forwarded
  /// The key of the message before it among those of its line; 0 where there is none.
  var before: UInt64 = 0
  private var times: UInt32 = 1
  /// The bytes of topic and payload, of which no PUBLISH has fewer.
  private(set) var size: UInt32 = 0
  /// Its place among the messages of its connection that have the same topic and QoS, from 1.
  var sequence: UInt32 = 0
  /// The clause of 5.0 by which it is a new message, where its identifier had been another one's; nil where it had not.
  var reuse: MQTTRule?
  let qos: UInt8
  let retain: Bool
  /// Whether it was sent again, or may have been.
  var wasRepeated: Bool
  /// Whether it is the will of a client, which nobody but the server publishes.
  var isWill = false
  /// Whether the connection of the will ended so that the server is to publish it: then it is a message like others.
  var isDue = false
  /// Whether the server refused it by a code of 5.0.
  var wasRefused = false
  /// Whether it was not acknowledged when its connection ended, so that the server need not have taken it.
  var wasLeft = false
  /// Whether it was published before as well, long ago, and whether ever with another QoS, RETAIN or properties.
  var wasThere = false
  var isMixed = false

  /// How often it was published; messages that were sent again are not counted.
  var count: Int {
    get { Int(times) }
    set { times = UInt32(clamping: newValue) }
  }

  /// When the server showed that it had it; nil where it has not.
  var taken: Timestamp? {
    get { takenAt == .min ? nil : Timestamp(nanoseconds: takenAt) }
    set { takenAt = newValue?.nanoseconds ?? .min }
  }

  /// Whether it was published once, and not as a will that is not due.
  var isSingle: Bool { count == 1 && (!isWill || isDue) && !wasThere }

  /// Whether it was published alike but for the moment, be it several times, and not as a will that is not due.
  var isAgreed: Bool { !isMixed && (!isWill || isDue) }

  /// By when the server had it: what its host has is not yet read where the server is busy, or stands still for a while.
  var read: Timestamp {
    taken
      ?? Timestamp(nanoseconds: last.nanoseconds.addingSaturating(ConnectionState.patience))
  }

  /// How long before a message must have been published to be over when it is published again, in nanoseconds.
  private static let age: Int64 = 30_000_000_000

  /// Takes another time for that at which it was published, once.
  mutating func move(to time: Timestamp) {
    first.time = time
    last = time
  }

  /// Shares what the server must pass on with the message before it, where that is the same: mostly it is, and many are
  /// kept.
  mutating func shareForwarded(with last: inout Forwarded) {
    guard forwarded.isSome, let own = forwarded.value else { return }
    if own == last.value { forwarded = last } else { last = forwarded }
  }

  /// Takes note that a client published the same elsewhere, which may be the same server.
  mutating func doubtOrigin() {
    count += 1
    isMixed = true
  }

  /// Takes the same message sent again, which a client that goes on by another version may send without its properties.
  ///
  /// The server may have read the one or the other, and so may pass on the properties of either.
  mutating func take(again: Publication) {
    wasRepeated = true
    last = again.first.time
    if !isAlike(again) { isMixed = true }
  }

  /// Takes the same topic and payload once more.
  mutating func take(_ next: Publication) {
    if isWill || !isAlike(next) { isMixed = true }
    guard !isMixed, next.first.time.nanoseconds(since: last) > Self.age else {
      count += 1
      last = next.first.time
      return
    }
    self = next
    wasThere = true
  }

  /// Whether it was published as another one was, but for the moment.
  private func isAlike(_ other: Publication) -> Bool {
    other.qos == qos && other.retain == retain
      && forwarded.isEqualButForExpiry(to: other.forwarded)
  }

  init(
    _ key: UInt64, of client: UInt64, _ packet: borrowing MQTTPacketView, _ context: EventContext
  ) {
    self.key = key
    self.client = client
    connection = context.connection
    first = Moment(context)
    last = first.time
    qos = packet.qos
    retain = packet.retain
    wasRepeated = packet.dup
    forwarded = Forwarded(packet)
    size = UInt32(clamping: packet.topic.byteCount + packet.payload.byteCount)
  }

  init(willOf client: UInt64, _ key: UInt64, qos: UInt8, retain: Bool, _ context: EventContext) {
    self.key = key
    self.client = client
    connection = context.connection
    first = Moment(context)
    last = first.time
    self.qos = qos
    self.retain = retain
    wasRepeated = false
    isWill = true
    forwarded = .unreadable
  }
}

/// What a server must pass on unaltered, as far as it can be read.
enum Forwarded {
  case nothing
  case properties(Boxed<ForwardedProperties>)
  case unreadable

  /// Reads the properties of a PUBLISH without faults.
  init(_ packet: borrowing MQTTPacketView) {
    // Nothing is to be passed on of one of 3.1.1.
    guard packet.hasProperties else {
      self = packet.version.rules.hasProperties ? .unreadable : .nothing
      return
    }
    let set = packet.propertySet
    guard set.isWhole else {
      self = .unreadable
      return
    }
    self = .nothing
    let isAny =
      set.contains(.payloadFormatIndicator) || set.contains(.messageExpiryInterval)
      || set.contains(.contentType) || set.contains(.responseTopic)
      || set.contains(.correlationData) || set.contains(.userProperty)
    guard isAny else { return }
    let properties = ForwardedProperties(packet)
    if !properties.isPlain { self = .properties(Boxed(properties)) }
  }

  /// The properties; nil where they can't be read.
  var value: ForwardedProperties? {
    switch self {
    case .nothing: ForwardedProperties()
    case .properties(let properties): properties.value
    case .unreadable: nil
    }
  }

  /// Whether there are any that can be read.
  var isSome: Bool { if case .properties = self { true } else { false } }

  /// The Message Expiry Interval.
  var expiry: UInt32? {
    if case .properties(let properties) = self { properties.value.expiry } else { nil }
  }

  /// Whether a server that got it may have passed on the other: not where both can be read and are not the same.
  func mayBecome(_ other: Forwarded) -> Bool {
    guard let own = value, let others = other.value else { return true }
    return own.withoutExpiry == others.withoutExpiry
  }

  fileprivate func isEqualButForExpiry(to other: Forwarded) -> Bool {
    if case .nothing = self, case .nothing = other { return true }
    return value?.withoutExpiry == other.value?.withoutExpiry
  }
}

extension Publication {
  /// Takes a will whose connection ended.
  init(willOf client: UInt64, _ key: UInt64, _ will: Wills.Will, _ due: Wills.Due) {
    self.key = key
    self.client = client
    connection = will.connection
    first = Moment(time: Timestamp(nanoseconds: due.alive), frame: due.moment.frame)
    last = first.time
    qos = will.qos
    retain = will.isRetained
    wasRepeated = false
    isWill = true
    forwarded = .unreadable
  }
}

/// What a server must pass on unaltered of a PUBLISH of 5.0 (sections 3.3.2.3.2 to 3.3.2.3.9), by hashes.
struct ForwardedProperties: Equatable {
  var format: UInt64 = 0
  var contentType: UInt64 = 0
  var responseTopic: UInt64 = 0
  var correlation: UInt64 = 0
  /// The User Properties in their order.
  var users: [UInt64] = []
  /// The Message Expiry Interval, in seconds.
  var expiry: UInt32?

  init() {}

  /// Whether it has what another one has not, and no server adds: it was published with that.
  func hasMore(than sent: ForwardedProperties) -> Bool {
    sent.format == 0 && format != 0 || sent.contentType == 0 && contentType != 0
      || sent.responseTopic == 0 && responseTopic != 0
      || sent.correlation == 0 && correlation != 0 || sent.expiry == nil && expiry != nil
  }

  /// Whether it has anything that another one has as well.
  func sharesAny(with sent: ForwardedProperties) -> Bool {
    format != 0 && format == sent.format || contentType != 0 && contentType == sent.contentType
      || responseTopic != 0 && responseTopic == sent.responseTopic
      || correlation != 0 && correlation == sent.correlation
      || users.contains(where: sent.users.contains)
  }

  /// The User Properties among some, in their order.
  static func users(of properties: MQTTPropertiesView, in bytes: RawSpan) -> [UInt64] {
    var users: [UInt64] = []
    var properties = properties
    while let property = properties.next() {
      if property.id == .userProperty { users.append(hash(ofUser: property, in: bytes)) }
    }
    return users
  }

  private static func hash(ofUser property: MQTTPropertyView, in bytes: RawSpan) -> UInt64 {
    ContentHash.of(
      property.secondBytes(in: bytes), in: ContentHash.of(property.bytes(in: bytes), in: 4))
  }

  /// Reads the properties of a PUBLISH, of which it has some.
  fileprivate init(_ packet: borrowing MQTTPacketView) {
    var properties = packet.properties
    while let property = properties.next() {
      switch property.id {
      // 0 means the same as none (section 3.3.2.3.2).
      case .payloadFormatIndicator: format = UInt64(property.integer)
      case .messageExpiryInterval: expiry = UInt32(clamping: property.integer)
      case .contentType: contentType = ContentHash.of(property.bytes(in: packet.bytes), in: 1)
      case .responseTopic: responseTopic = ContentHash.of(property.bytes(in: packet.bytes), in: 2)
      case .correlationData: correlation = ContentHash.of(property.bytes(in: packet.bytes), in: 3)
      case .userProperty: users.append(Self.hash(ofUser: property, in: packet.bytes))
      default: break
      }
    }
  }
}

extension ForwardedProperties {
  /// Whether there is nothing in it.
  fileprivate var isPlain: Bool {
    format == 0 && contentType == 0 && responseTopic == 0 && correlation == 0 && users.isEmpty
      && expiry == nil
  }

  /// The same but for what tells when it was published.
  fileprivate var withoutExpiry: ForwardedProperties {
    var rest = self
    rest.expiry = nil
    return rest
  }
}
