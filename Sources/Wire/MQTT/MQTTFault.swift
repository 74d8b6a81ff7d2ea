/// A place where a packet breaks a rule of its format: what, in which field, at which byte.
///
/// A packet with faults is still decoded as far as it goes. What can't even be cut out of the stream
/// is a ``MQTTFramingError`` instead.
public struct MQTTFault: Error, Sendable, Hashable {
  /// Which rule is broken.
  public let code: Code
  /// The field that breaks it.
  public let field: MQTTField
  /// Where, in bytes from the first byte of the packet.
  public let offset: Int
  /// The property that breaks it; nil where the fault is of no property, or of one that there is not.
  public let property: MQTTPropertyID?

  /// Creates a fault.
  public init(
    _ code: Code, in field: MQTTField, at offset: Int, of property: MQTTPropertyID? = nil
  ) {
    self.code = code
    self.field = field
    self.offset = offset
    self.property = property
  }

  /// The rules that a packet can break, each a stable name for tools.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// A field runs past the end of the packet, or is not there at all.
    case fieldCut = "field-cut"
    /// Bytes are left over after the last field.
    case trailingBytes = "trailing-bytes"
    /// The packet type is reserved.
    case reservedType = "reserved-type"
    /// The flags of the fixed header are not the required ones.
    case reservedFlags = "reserved-flags"
    /// A Variable Byte Integer takes more bytes than it needs, which 5.0 forbids.
    case lengthNotShortest = "length-not-shortest"
    /// A QoS of 3.
    case invalidQoS = "invalid-qos"
    /// DUP is set at QoS 0.
    case dupAtQoS0 = "dup-at-qos-0"
    /// The packet identifier is 0.
    case zeroPacketID = "zero-packet-id"
    /// A string is not well-formed UTF-8.
    case invalidUTF8 = "invalid-utf8"
    /// A string holds U+0000.
    case nullCharacter = "null-character"
    /// The protocol name is neither `MQTT` nor `MQIsdp`.
    case unknownProtocolName = "unknown-protocol-name"
    /// The protocol level is none that this library knows, or does not go with the name.
    case unknownProtocolLevel = "unknown-protocol-level"
    /// The reserved bit of the connect flags is set.
    case reservedConnectFlag = "reserved-connect-flag"
    /// Will QoS is not 0 though there is no will.
    case willQoSWithoutWill = "will-qos-without-will"
    /// Will Retain is 1 though there is no will.
    case willRetainWithoutWill = "will-retain-without-will"
    /// A password comes without a user name.
    case passwordWithoutUserName = "password-without-user-name"
    /// The client identifier is empty and the session is not to start clean.
    case emptyClientID = "empty-client-id"
    /// The client identifier is longer than the 23 characters of MQTT 3.1.
    case longClientID = "long-client-id"
    /// A topic name holds a wildcard.
    case wildcardInTopic = "wildcard-in-topic"
    /// A topic name or filter is empty.
    case emptyTopic = "empty-topic"
    /// `#` is not alone in the last level of a filter.
    case misplacedMultiLevelWildcard = "misplaced-multi-level-wildcard"
    /// `+` does not fill a whole level of a filter.
    case misplacedSingleLevelWildcard = "misplaced-single-level-wildcard"
    /// A SUBSCRIBE or UNSUBSCRIBE has no filter, or its answer no code.
    case emptyList = "empty-list"
    /// Reserved bits are set beside a requested QoS.
    case reservedOptionBits = "reserved-option-bits"
    /// Retain Handling is 3.
    case invalidRetainHandling = "invalid-retain-handling"
    /// No Local is set on a shared subscription.
    case noLocalOnShared = "no-local-on-shared"
    /// The share name of a shared subscription is empty (5.0).
    case emptyShareName = "empty-share-name"
    /// The share name of a shared subscription holds a wildcard, or no filter stands behind it (5.0).
    case badShareName = "bad-share-name"
    /// Reserved bits of the acknowledge flags in CONNACK are set.
    case reservedConnackFlags = "reserved-connack-flags"
    /// A CONNACK that refuses says that a session is present.
    case sessionPresentOnRefusal = "session-present-on-refusal"
    /// A return or reason code that the packet type does not have.
    case unknownReasonCode = "unknown-reason-code"
    /// Nothing stands where 5.0 has a Property Length, be it 0.
    case noPropertyLength = "no-property-length"
    /// A property runs past the end of the properties.
    case propertyCut = "property-cut"
    /// A property identifier that the standard does not have.
    case unknownProperty = "unknown-property"
    /// A property that the packet type must not carry.
    case propertyNotAllowed = "property-not-allowed"
    /// A property that may stand once stands again.
    case repeatedProperty = "repeated-property"
    /// A property has a value that it must not have.
    case invalidPropertyValue = "invalid-property-value"

    /// One sentence for a reader.
    public var message: String {
      switch self {
      case .fieldCut: "the field runs past the end of the packet or is missing"
      case .trailingBytes: "bytes are left over after the last field"
      case .reservedType: "the packet type is reserved"
      case .reservedFlags: "the flags of the fixed header are not the required ones"
      case .lengthNotShortest: "the length is not in its shortest encoding"
      case .invalidQoS: "QoS 3 does not exist"
      case .dupAtQoS0: "DUP is set at QoS 0"
      case .zeroPacketID: "the packet identifier is 0"
      case .invalidUTF8: "the string is not well-formed UTF-8"
      case .nullCharacter: "the string holds U+0000"
      case .unknownProtocolName: "the protocol name is neither MQTT nor MQIsdp"
      case .unknownProtocolLevel: "the protocol level does not go with the protocol name"
      case .reservedConnectFlag: "the reserved connect flag is set"
      case .willQoSWithoutWill: "Will QoS is set without a will"
      case .willRetainWithoutWill: "Will Retain is set without a will"
      case .passwordWithoutUserName: "a password comes without a user name"
      case .emptyClientID: "the client identifier is empty without a clean start"
      case .longClientID: "the client identifier has more than 23 characters"
      case .wildcardInTopic: "the topic name holds a wildcard"
      case .emptyTopic: "the topic is empty"
      case .misplacedMultiLevelWildcard: "# does not stand alone in the last level"
      case .misplacedSingleLevelWildcard: "+ does not fill a whole level"
      case .emptyList: "the list is empty"
      case .reservedOptionBits: "reserved bits of the subscription options are set"
      case .invalidRetainHandling: "Retain Handling 3 does not exist"
      case .noLocalOnShared: "No Local is set on a shared subscription"
      case .emptyShareName: "the share name is empty"
      case .badShareName: "the share name holds a wildcard, or no filter stands behind it"
      case .reservedConnackFlags: "reserved acknowledge flags are set"
      case .sessionPresentOnRefusal: "a refusal says that a session is present"
      case .unknownReasonCode: "the packet type has no such code"
      case .noPropertyLength: "nothing stands where the Property Length belongs"
      case .propertyCut: "the property runs past the end of the properties"
      case .unknownProperty: "the standard has no such property"
      case .propertyNotAllowed: "the packet type must not carry the property"
      case .repeatedProperty: "the property stands more than once"
      case .invalidPropertyValue: "the property has a forbidden value"
      }
    }
  }
}

extension MQTTFault: CustomStringConvertible {
  /// The fault in one line: message, field and offset.
  public var description: String { "\(code.message) (\(field.rawValue), byte \(offset))" }
}

/// The fields of the control packets, by the names that the command line prints.
public enum MQTTField: String, Sendable, Hashable, CaseIterable {
  /// Type and flags.
  case fixedHeader
  /// The length of what follows the fixed header.
  case remainingLength
  /// The name of the protocol in CONNECT.
  case protocolName
  /// The level of the protocol in CONNECT.
  case protocolLevel
  /// The flags in CONNECT.
  case connectFlags
  /// The keep-alive time in CONNECT.
  case keepAlive
  /// The properties of 5.0.
  case properties
  /// The client identifier in CONNECT.
  case clientID
  /// The properties of a will.
  case willProperties
  /// The topic of a will.
  case willTopic
  /// The message of a will.
  case willPayload
  /// The user name in CONNECT.
  case username
  /// The password in CONNECT.
  case password
  /// The flags in CONNACK.
  case acknowledgeFlags
  /// The topic of a PUBLISH.
  case topic
  /// The packet identifier.
  case packetID
  /// A topic filter.
  case filter
  /// The options behind a topic filter.
  case subscriptionOptions
  /// A return or reason code.
  case reasonCode
  /// The message of a PUBLISH.
  case payload
}

/// Why a stream of bytes can't be cut into packets any further.
public struct MQTTFramingError: Error, Sendable, Hashable {
  /// What is wrong.
  public let code: Code
  /// Where the packet starts that can't be cut, in bytes from the start of the stream.
  public let offset: Int

  /// Creates an error.
  public init(_ code: Code, at offset: Int) {
    self.code = code
    self.offset = offset
  }

  /// The ways in which cutting fails.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The Remaining Length does not end within four bytes (MQTT 3.1.1 section 2.2.3).
    case malformedLength = "malformed-remaining-length"
    /// Bytes that are no packet, where one should begin.
    case notMQTT = "not-mqtt"

    /// One sentence for a reader.
    public var message: String {
      switch self {
      case .malformedLength: "the remaining length does not end within four bytes"
      case .notMQTT: "no control packet starts here"
      }
    }
  }
}
