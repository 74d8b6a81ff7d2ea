/// A topic filter and what is wanted of it.
public struct Subscription: Sendable, Hashable {
  /// The topic filter (MQTT 3.1.1 section 4.7).
  public var filter: String
  /// The highest QoS.
  public var qos: QoS
  /// What is wanted besides, which takes ``Capabilities/properties``.
  public var options: SubscriptionOptions

  /// Creates a subscription.
  public init(
    _ filter: String, qos: QoS = .atLeastOnce,
    options: SubscriptionOptions = SubscriptionOptions()
  ) {
    self.filter = filter
    self.qos = qos
    self.options = options
  }
}

/// What a subscription of MQTT 5.0 asks for besides (section 3.8.3.1).
///
/// MQTT 3.1.1 has none of it: a client without ``Capabilities/properties`` refuses a subscription that has any.
public struct SubscriptionOptions: Sendable, Hashable {
  /// When the server sends what it retains.
  public enum RetainHandling: UInt8, Sendable, Hashable, CaseIterable {
    /// With each SUBSCRIBE.
    case always = 0
    /// Where the session has no subscription of the filter yet.
    case ifNew = 1
    /// Never.
    case never = 2
  }

  /// Whether what the client publishes itself does not come back to it.
  public var noLocal: Bool
  /// Whether a message keeps the flag RETAIN that it was published with; else one that is not kept for later has none.
  public var retainAsPublished: Bool
  /// When the server sends what it retains.
  public var retainHandling: RetainHandling

  /// Creates options; those of MQTT 3.1.1 unless others are named.
  public init(
    noLocal: Bool = false, retainAsPublished: Bool = false,
    retainHandling: RetainHandling = .always
  ) {
    self.noLocal = noLocal
    self.retainAsPublished = retainAsPublished
    self.retainHandling = retainHandling
  }

  /// Whether they ask for nothing that MQTT 3.1.1 does not do.
  public var isEmpty: Bool { self == SubscriptionOptions() }

  /// Reads the byte of a SUBSCRIBE.
  init(byte: UInt8) {
    noLocal = byte & 0x04 != 0
    retainAsPublished = byte & 0x08 != 0
    retainHandling = RetainHandling(rawValue: byte >> 4 & 0b11) ?? .never
  }

  /// The bits of a SUBSCRIBE's byte, beside those of the QoS.
  package var bits: UInt8 {
    (noLocal ? 0x04 : 0) | (retainAsPublished ? 0x08 : 0) | retainHandling.rawValue << 4
  }
}
