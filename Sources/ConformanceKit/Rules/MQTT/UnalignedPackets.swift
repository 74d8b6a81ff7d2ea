internal import RepriseCore
internal import Wire

/// Packets that share a WebSocket frame or span several, and whose answers are not there yet.
struct UnalignedPackets {
  /// A packet that must be answered.
  struct Wait {
    var type: MQTTPacketType
    var answer: MQTTPacketType
    var packetID: UInt16?
    var moment: Moment
  }

  private(set) var waits: [(wait: Wait, sender: Peer)] = []
  private static let maximum = 64
  /// Keeps a packet; of a few at a time the answers are enough to tell.
  mutating func add(_ wait: Wait, from sender: Peer) {
    guard waits.count < Self.maximum else { return }
    waits.append((wait, sender))
  }

  /// Takes a packet of the other side, which has read all that came before what it answers, whatever became of the answers.
  /// - Returns: How many of these it settles.
  mutating func answer(_ type: MQTTPacketType, _ packetID: UInt16?, from answerer: Peer) -> Int {
    guard !waits.isEmpty else { return 0 }
    let index = waits.firstIndex {
      $0.sender != answerer && $0.wait.answer == type && $0.wait.packetID == packetID
    }
    guard let index else { return 0 }
    let frame = waits[index].wait.moment.frame
    let before = waits.count
    waits.removeAll { $0.sender != answerer && $0.wait.moment.frame <= frame }
    return before - waits.count
  }

  /// Forgets those whose answers may be among bytes that are missing.
  mutating func lose(of answerer: Peer) -> Int {
    let before = waits.count
    waits.removeAll { $0.sender != answerer }
    return before - waits.count
  }
}

extension MQTTPacketType {
  /// The packet that answers one of this type, or nil where none is due.
  func answer(toQoS qos: UInt8) -> MQTTPacketType? {
    switch self {
    case .connect: .connack
    case .publish where qos == 1: .puback
    case .publish where qos == 2: .pubrec
    case .pubrec: .pubrel
    case .pubrel: .pubcomp
    case .subscribe: .suback
    case .unsubscribe: .unsuback
    case .pingreq: .pingresp
    case .publish, .connack, .puback, .pubcomp, .suback, .unsuback, .pingresp, .disconnect, .auth,
      .reserved:
      nil
    }
  }
}

extension MQTTPacketView {
  /// Whether it is a PUBREC of 5.0 that refuses a message, which no PUBREL answers.
  var isFailure: Bool { type == .pubrec && (reasonCode ?? 0) >= 0x80 }
}
