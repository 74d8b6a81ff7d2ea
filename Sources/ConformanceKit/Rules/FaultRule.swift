internal import Wire

/// A rule about the format of single packets: it is violated by certain faults of certain packets.
///
/// Rules of this kind are data. A packet without faults costs one addition for all of them together:
/// what they were exercised on is found at the end from the counts of first bytes.
struct FaultRule: Sendable {
  /// A fault that violates the clause.
  struct Pattern: Sendable {
    var code: MQTTFault.Code
    /// The fields in which it does; none stands for any.
    var fields: [MQTTField] = []
  }

  /// The packets that the clause speaks of, besides CONNECT.
  enum Subject: Sendable {
    case none
    case types([MQTTPacketType])
    /// PUBLISH of certain QoS, and other types.
    case publish(qos: ClosedRange<UInt8>, and: [MQTTPacketType] = [])
    /// Every packet whose flags are reserved.
    case reservedFlags
    /// CONNACKs that refuse.
    case refusals
  }

  /// The CONNECTs that a clause speaks of.
  enum ConnectCondition: Sendable {
    case always
    case will, noWill
    case username, noUsername
    case password, noPassword
    case noClientID
    /// At least two fields in the payload.
    case severalFields
  }

  /// A field that the flags of a CONNECT do not announce.
  enum ExtraField: Sendable {
    case will, username, password
  }

  /// What the receiver of a bad packet must do.
  enum Reaction: Sendable {
    case none
    /// The receiver closes the connection.
    case receiverCloses
    /// The server closes the connection when it received it.
    case serverCloses
  }

  /// The clauses that it judges; a version without one does not have the rule.
  var clauses: ClauseIDs
  var expected: String
  var patterns: [Pattern]
  var subject = Subject.none
  var connect: ConnectCondition?
  var extra: ExtraField?
  var reaction = Reaction.none
  /// Whether a cut field counts only in a packet that holds no whole filter before it.
  var needsNoFilter = false

  /// Whether the first byte alone decides, so that missing bytes do not matter.
  var isOfFirstByte: Bool {
    patterns.allSatisfy { $0.fields == [.fixedHeader] }
  }

  /// Tells whether the clause speaks of packets with a first byte; of CONNECT ``connect`` decides.
  func speaks(of firstByte: UInt8) -> Bool {
    let type = MQTTPacketType(firstByte: firstByte)
    switch subject {
    case .none, .refusals: return false
    case .types(let types): return types.contains(type)
    case .publish(let qos, let types):
      return type == .publish ? qos.contains(firstByte >> 1 & 0b11) : types.contains(type)
    case .reservedFlags:
      return ![.publish, .connect, .reserved, .auth].contains(type)
    }
  }

  /// Returns the first fault of a packet that violates the clause.
  func match(_ faults: [MQTTFault]) -> MQTTFault? {
    faults.first { fault in
      patterns.contains {
        $0.code == fault.code && ($0.fields.isEmpty || $0.fields.contains(fault.field))
      }
    }
  }

  /// The last field of a CONNECT that the clause needs to be found; nil is the last of all.
  var lastField: MQTTField? {
    guard patterns.allSatisfy({ !$0.fields.isEmpty }) else { return nil }
    return patterns.flatMap(\.fields).max { $0.placeInConnect < $1.placeInConnect }
  }
}

extension MQTTField {
  /// The place of a field in CONNECT, counted from the start of the packet.
  var placeInConnect: Int {
    switch self {
    case .fixedHeader: 0
    case .remainingLength: 1
    case .protocolName: 2
    case .protocolLevel: 3
    case .connectFlags: 4
    case .keepAlive: 5
    case .clientID: 6
    case .willTopic: 7
    case .willPayload: 8
    case .username: 9
    case .password: 10
    default: 11
    }
  }
}
