import RepriseCore
import Wire

@testable import ConformanceKit

/// The packet of MQTT 5.0 that a catalogue's entry gives as an example of a violation, in a session.
struct ExamplePacket {
  let bytes: [UInt8]
  let sender: Peer

  /// Reads the bytes out of an entry; nil where it has none, or properties whose packet nobody knows.
  init?(_ clause: Clause) {
    let runs = Self.runs(of: clause.example ?? "")
    guard let longest = runs.max(by: { $0.count < $1.count }), longest.count > 1 else {
      return nil
    }
    let isPacket = longest[0] >= 0x10 && longest.count == Int(longest[1]) + 2
    guard isPacket else {
      guard let whole = Self.packet(around: longest, clause) else { return nil }
      bytes = whole
      sender = Self.sender(of: whole, clause)
      return
    }
    bytes = longest
    sender = Self.sender(of: longest, clause)
  }

  /// The bytes in a text: words of two digits, one behind the other.
  private static func runs(of text: String) -> [[UInt8]] {
    var runs: [[UInt8]] = [[]]
    for word in text.split(separator: " ") {
      let digits = word.trimmingSuffix { ",.:".contains($0) }
      guard digits.count == 2, let byte = UInt8(digits, radix: 16) else {
        runs.append([])
        continue
      }
      runs[runs.count - 1].append(byte)
      if digits.count < word.count { runs.append([]) }
    }
    return runs
  }

  private static func sender(of bytes: [UInt8], _ clause: Clause) -> Peer {
    switch MQTTPacketType(firstByte: bytes.first ?? 0) {
    case .connack, .suback, .unsuback, .pingresp: .server
    default: clause.actor == .server ? .server : .client
    }
  }

  /// A packet that is faultless but for its properties, given with their length.
  private static func packet(around properties: [UInt8], _ clause: Clause) -> [UInt8]? {
    guard let rule = FaultRule.rules(of: .v5_0).first(where: { $0.clauses.v5_0 == clause.id })
    else { return nil }
    if case .property = rule.connect { return packet(.connect, isWill: false, properties) }
    if case .willProperty = rule.connect { return packet(.connect, isWill: true, properties) }
    guard case .property(_, let types) = rule.subject, let type = types.first else { return nil }
    return packet(type, isWill: false, properties)
  }

  private static func packet(
    _ type: MQTTPacketType, isWill: Bool, _ properties: [UInt8]
  ) -> [UInt8] {
    let name: [UInt8] = [0, 4] + Array("MQTT".utf8)
    let (before, after): ([UInt8], [UInt8]) =
      switch type {
      case .connect where isWill: (name + [5, 6, 0, 60, 0, 0, 1, 0x63], [0, 1, 0x74, 0, 0])
      case .connect: (name + [5, 2, 0, 60], [0, 1, 0x63])
      case .connack: ([0, 0], [])
      case .publish: ([0, 1, 0x74], [0x78])
      case .puback, .pubrec, .pubrel, .pubcomp: ([0, 1, 0], [])
      case .subscribe: ([0, 1], [0, 1, 0x66, 0])
      case .suback, .unsuback: ([0, 1], [0])
      case .unsubscribe: ([0, 1], [0, 1, 0x66])
      case .auth: ([0x18], [])
      default: ([0], [])
      }
    let flags: UInt8 = [.pubrel, .subscribe, .unsubscribe].contains(type) ? 2 : 0
    let body = before + properties + after
    return [type.rawValue << 4 | flags, UInt8(body.count)] + body
  }

  /// The session: the packet comes where one of its type belongs, and the server ends the connection.
  func write(_ script: inout Script) {
    script.wire = .mqtt(.v5_0)
    let type = MQTTPacketType(firstByte: bytes.first ?? 0)
    switch type {
    case .connect: script.open()
    case .connack:
      script.open()
      script.client(.connect(.init(clientID: "c")))
    default: script.start()
    }
    script.add(sender, .mqtt(PacketBytes(bytes)))
    script.close(sender.other)
  }
}

extension Substring {
  fileprivate func trimmingSuffix(_ isCut: (Character) -> Bool) -> Substring {
    var text = self
    while let last = text.last, isCut(last) { text.removeLast() }
    return text
  }
}
