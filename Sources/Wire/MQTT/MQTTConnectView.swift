/// The fields of a CONNECT, decoded in place.
public struct MQTTConnectView: ~Escapable {
  private let bytes: RawSpan
  private let layout: MQTTConnectLayout

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, header: MQTTFixedHeader) {
    self.bytes = bytes
    var decoder = MQTTPacketDecoder(bytes, header: header, version: .v3_1_1)
    layout = decoder.decodeConnect()
  }

  /// The protocol name's UTF-8: `MQTT` or `MQIsdp`.
  public var protocolName: RawSpan { @_lifetime(copy self) get { bytes.part(layout.protocolName) } }
  /// The Protocol Level without the bridge bit: 3, 4 or 5.
  public var protocolLevel: UInt8 { layout.protocolLevel & 0x7F }
  /// Whether the sender says by bit 7 of the level that it is a bridge, as mosquitto does.
  public var isBridge: Bool { layout.protocolLevel & 0x80 != 0 }
  /// The Connect Flags byte.
  public var flags: UInt8 { layout.flags }
  /// Clean Session (3.1.1) or Clean Start (5.0).
  public var cleanStart: Bool { layout.flags & 0b10 != 0 }
  /// The longest time between two packets of the client, in seconds; 0 is no limit.
  public var keepAlive: UInt16 { layout.keepAlive }
  /// The client identifier's UTF-8.
  public var clientID: RawSpan { @_lifetime(copy self) get { bytes.part(layout.clientID) } }
  /// Whether the Will Flag is set.
  public var hasWill: Bool { layout.flags & 0b100 != 0 }
  /// The QoS of the will, 0...3; 3 is a fault.
  public var willQoS: UInt8 { layout.flags >> 3 & 0b11 }
  /// Whether the will is to be retained.
  public var willRetain: Bool { layout.flags & 0b10_0000 != 0 }
  /// The will's topic; empty without a will.
  public var willTopic: RawSpan { @_lifetime(copy self) get { bytes.part(layout.willTopic) } }
  /// The will's message; empty without a will.
  public var willPayload: RawSpan { @_lifetime(copy self) get { bytes.part(layout.willPayload) } }
  /// The will's properties (5.0).
  public var willProperties: MQTTPropertiesView {
    @_lifetime(copy self) get { MQTTPropertiesView(bytes, in: layout.willProperties ?? .empty) }
  }
  /// Which properties the will has, and whether all of them could be read (5.0).
  public var willPropertySet: MQTTPropertySet { layout.willPropertySet }
  /// Whether the User Name Flag is set.
  public var hasUsername: Bool { layout.flags & 0b1000_0000 != 0 }
  /// The user name's UTF-8; empty without one.
  public var username: RawSpan { @_lifetime(copy self) get { bytes.part(layout.username) } }
  /// Whether the Password Flag is set.
  public var hasPassword: Bool { layout.flags & 0b100_0000 != 0 }
  /// The password's bytes; empty without one.
  public var password: RawSpan { @_lifetime(copy self) get { bytes.part(layout.password) } }
}

/// Where the fields of a CONNECT stand.
struct MQTTConnectLayout: Sendable {
  var protocolName = ByteRange.empty
  var protocolLevel: UInt8 = 0
  var flags: UInt8 = 0
  var keepAlive: UInt16 = 0
  var clientID = ByteRange.empty
  var willProperties: ByteRange?
  var willPropertySet = MQTTPropertySet()
  var willTopic = ByteRange.empty
  var willPayload = ByteRange.empty
  var username = ByteRange.empty
  var password = ByteRange.empty
}
