/// What a message of MQTT 5.0 says besides its topic and its payload (section 3.3.2.3).
///
/// MQTT 3.1.1 has none of it: a client without ``Capabilities/properties`` refuses a message that has any.
public struct MessageProperties: Sendable, Hashable {
  /// Whether the payload is said to be text in UTF-8.
  public var isText: Bool
  /// For how many seconds the message is of use to those who do not have it yet; nil is for ever.
  ///
  /// In a message that came it is what is left of them.
  public var expiryInterval: UInt32?
  /// What the payload is, by a MIME type or any other name that sender and receiver agree on.
  public var contentType: String?
  /// The topic that an answer is wanted on.
  public var responseTopic: String?
  /// What the answer carries, so that its receiver knows what it answers.
  public var correlationData: [UInt8]?
  /// Names and values of the application's own, in their order; a name may come more than once.
  public var userProperties: [UserProperty]

  /// Creates properties.
  public init(
    isText: Bool = false, expiryInterval: UInt32? = nil, contentType: String? = nil,
    responseTopic: String? = nil, correlationData: [UInt8]? = nil,
    userProperties: [UserProperty] = []
  ) {
    self.isText = isText
    self.expiryInterval = expiryInterval
    self.contentType = contentType
    self.responseTopic = responseTopic
    self.correlationData = correlationData
    self.userProperties = userProperties
  }

  /// Whether there is none.
  public var isEmpty: Bool {
    !isText && expiryInterval == nil && contentType == nil && responseTopic == nil
      && correlationData == nil && userProperties.isEmpty
  }

  /// A name and a value of the application's own.
  public struct UserProperty: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value.
    public var value: String

    /// Creates a user property.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }
}

/// Where the properties of a message are kept: most messages have none, and are copied often.
final class MessagePropertiesBox: Sendable, Hashable {
  let properties: MessageProperties

  init(_ properties: MessageProperties) { self.properties = properties }

  static func == (lhs: MessagePropertiesBox, rhs: MessagePropertiesBox) -> Bool {
    lhs.properties == rhs.properties
  }

  func hash(into hasher: inout Hasher) { hasher.combine(properties) }
}
