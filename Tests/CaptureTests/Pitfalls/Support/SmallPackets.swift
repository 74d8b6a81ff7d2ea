import RepriseCore
import Wire

/// Packets of a few bytes, of which the tests of order make their dialogues.
enum SmallPacket {
  static let ping: [UInt8] = [0xC0, 0]
  static let pong: [UInt8] = [0xD0, 0]

  static func publish(_ id: UInt8) -> [UInt8] { [0x32, 6, 0, 1, 0x61, 0, id, 0x2A] }
  static func puback(_ id: UInt8) -> [UInt8] { [0x40, 2, 0, id] }
}

extension Dialogue {
  /// A connection up to CONNACK, every segment of which carries data or belongs to the handshake.
  static func opened(isFromStart: Bool = true) -> Dialogue {
    var dialogue = Dialogue()
    dialogue.open()
    if !isFromStart { dialogue.segments.removeAll() }
    for turn in Session.all(.v3_1_1).turns.prefix(2) {
      dialogue.send(turn.sender, turn.bytes, acknowledged: false)
    }
    return dialogue
  }
}

extension Tap {
  /// The types of the events with their senders, and a mark where the order is not known.
  var lines: [String] {
    zip(types, events).map { type, event in
      let arrow = event.context.sender == .client ? ">" : "<"
      return "\(arrow)\(type)\(event.context.isOrderUncertain ? "?" : "")"
    }
  }
}
