public import RepriseCore

/// A message that came down the channel.
///
/// Its payload is not looked into until one of ``json``, ``params`` or ``text`` is asked for.
public struct ChannelMessage: Sendable, Hashable {
  /// The topic as it stood in the packet.
  public let fullTopic: String
  /// The payload as it came; empty when a retained message was cleared.
  public let payload: [UInt8]
  /// How hard it was tried.
  public let qos: QoS
  /// Whether the server had kept it.
  public let isRetained: Bool
  /// When it was received, by the client's clock.
  public let time: Timestamp
  /// How many bytes of the topic are the channel's prefix.
  let prefixLength: Int

  init(_ message: Message, prefixLength: Int, time: Timestamp) {
    fullTopic = message.topic
    payload = message.payload
    qos = message.qos
    isRetained = message.isRetained
    self.time = time
    self.prefixLength = prefixLength
  }

  /// The topic without the channel's prefix: `/thing/properties`.
  public var topic: String {
    let utf8 = fullTopic.utf8
    guard let start = utf8.index(utf8.startIndex, offsetBy: prefixLength, limitedBy: utf8.endIndex)
    else { return fullTopic }
    return String(fullTopic[start...])
  }

  /// The topic without the prefix, in UTF-8.
  @_lifetime(borrow self)
  func topicBytes() -> Span<UInt8> {
    let bytes = fullTopic.utf8Span.span
    return prefixLength <= bytes.count ? bytes.extracting(prefixLength...) : bytes
  }

  /// The payload as JSON, parsed at each call; nil when it is none.
  public var json: JSONValue? { payload.isEmpty ? nil : JSONValue(parsing: payload) }

  /// The member `params` of the payload, or the whole of it when it has none.
  public var params: JSONValue? {
    guard let json else { return nil }
    return json["params"] ?? json
  }

  /// The payload as text; nil when it is not UTF-8.
  public var text: String? { String(validating: payload, as: UTF8.self) }

  /// Tells whether the message has waited longer than it should, as after a new connection.
  /// - Parameters:
  ///   - age: How old a message may be.
  ///   - now: The time, by the clock that ``time`` is of.
  /// - Returns: Whether it is older.
  public func isOlder(than age: Duration, at now: Timestamp) -> Bool {
    now.nanoseconds(since: time) > age.clampedNanoseconds
  }
}
