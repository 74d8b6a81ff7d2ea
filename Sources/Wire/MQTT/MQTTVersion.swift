/// A version of MQTT, by the Protocol Level that a CONNECT names (MQTT 3.1.1 section 3.1.2.2).
public enum MQTTVersion: UInt8, Sendable, Hashable, CaseIterable {
  /// MQTT 3.1, protocol name `MQIsdp`.
  case v3_1 = 3
  /// MQTT 3.1.1, the OASIS standard of 2014.
  case v3_1_1 = 4
  /// MQTT 5.0, the OASIS standard of 2019.
  case v5_0 = 5

  /// The protocol name that stands in a CONNECT of this version.
  public var protocolName: String { self == .v3_1 ? "MQIsdp" : "MQTT" }

  /// What this version does differently from the others.
  public var rules: MQTTRules { MQTTRules(self) }
}

/// The differences between the versions of MQTT, each with a name.
public struct MQTTRules: Sendable, Hashable {
  private let version: MQTTVersion

  init(_ version: MQTTVersion) { self.version = version }

  /// Packets carry properties, and acknowledgements reason codes (5.0 section 2.2.2).
  public var hasProperties: Bool { version == .v5_0 }
  /// UNSUBACK has one reason code a filter (5.0 section 3.11.3).
  public var unsubackHasReasonCodes: Bool { version == .v5_0 }
  /// Packet type 15 is AUTH (5.0 section 3.15) and not reserved.
  public var hasAuth: Bool { version == .v5_0 }
  /// A server may send DISCONNECT (5.0 section 3.14).
  public var serverMayDisconnect: Bool { version == .v5_0 }
  /// CONNACK tells by a flag whether a session is present (since 3.1.1 section 3.2.2.2).
  public var hasSessionPresent: Bool { version != .v3_1 }
  /// Every flag of the fixed header outside PUBLISH has one required value (since 3.1.1 section 2.2.2).
  public var fixesHeaderFlags: Bool { version != .v3_1 }
  /// A password needs a user name (3.1.1 section 3.1.2.9; dropped by 5.0).
  public var passwordNeedsUserName: Bool { version != .v5_0 }
  /// A client without an identifier must start clean (3.1.1 section 3.1.3.1).
  public var emptyClientIDNeedsCleanStart: Bool { version != .v5_0 }
  /// A PUBLISH may leave its topic empty and name a Topic Alias (5.0 section 3.3.2.1).
  public var allowsEmptyTopic: Bool { version == .v5_0 }
  /// A filter `$share/NAME/FILTER` is a shared subscription (5.0 section 4.8.2).
  public var hasSharedSubscriptions: Bool { version == .v5_0 }
  /// SUBACK can refuse a filter by the code 0x80 (since 3.1.1 section 3.9.3).
  public var subackMayRefuse: Bool { version != .v3_1 }
  /// The shortest encoding of a length is required (5.0 section 1.5.5).
  public var requiresShortestLength: Bool { version == .v5_0 }
}
