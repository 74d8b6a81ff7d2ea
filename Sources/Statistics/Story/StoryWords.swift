import RepriseCore
import Wire

/// The words of a story.
enum StoryWords {
  /// A name in quotation marks.
  static func quoted(_ name: Name) -> String {
    "\"\(String(decoding: name.start, as: UTF8.self))\(name.isCut ? "…" : "")\""
  }

  /// Borrowed text in quotation marks, at most its start.
  static func quoted(_ bytes: RawSpan) -> String { quoted(Name(bytes)) }

  static func plural(_ count: Int, _ noun: String) -> String {
    "\(Quantities.count(count)) \(noun)\(count == 1 ? "" : "s")"
  }

  /// A number of nanoseconds in words; nil where the clock went back.
  static func after(_ earlier: Timestamp, _ later: Timestamp) -> String? {
    let time = later.nanoseconds(since: earlier)
    return time < 0 ? nil : Quantities.duration(Int(time))
  }

  /// What a code means, with the code.
  static func reason(_ code: UInt8, in type: MQTTPacketType) -> String {
    let number = code < 0x80 ? "\(code)" : "0x\(String(code, radix: 16, uppercase: true))"
    return "\(ServerReason.name(code, in: type) ?? "a code of no standard") (code \(number))"
  }

  /// What a CONNECT asks for.
  static func connect(_ packet: borrowing MQTTPacketView) -> String {
    guard let connect = packet.connect else { return "sends CONNECT" }
    let version =
      switch packet.version {
      case .v3_1: "3.1"
      case .v3_1_1: "3.1.1"
      case .v5_0: "5.0"
      }
    let clean = packet.version == .v5_0 ? "clean start" : "clean session"
    var parts = [connect.cleanStart ? clean : "no \(clean)"]
    parts.append(connect.keepAlive == 0 ? "no keep-alive" : "keep-alive \(connect.keepAlive) s")
    if connect.hasUsername { parts.append("user name") }
    if connect.hasPassword { parts.append("password") }
    if connect.hasWill {
      parts.append(
        "will on \(quoted(connect.willTopic))\(connect.willRetain ? ", retained" : "")")
    }
    let name =
      connect.clientID.isEmpty ? "without an identifier" : "as \(quoted(connect.clientID))"
    return "connects \(name) by MQTT \(version) (\(parts.joined(separator: ", ")))"
  }

  /// The filters of a SUBSCRIBE or UNSUBSCRIBE, at most ten of them.
  static func filters(_ packet: borrowing MQTTPacketView) -> [String] {
    var filters = packet.filters
    var texts: [String] = []
    var count = 0
    while let filter = filters.next() {
      count += 1
      guard count <= 10 else { continue }
      let qos = packet.type == .subscribe ? " (QoS \(filter.qos))" : ""
      texts.append(quoted(filter.text) + qos)
    }
    if count > 10 { texts.append("\(count - 10) more") }
    return texts
  }

  /// What the codes of a SUBACK or UNSUBACK grant, at most ten of them.
  static func codes(_ packet: borrowing MQTTPacketView) -> String {
    let codes = [UInt8](copying: packet.reasonCodes)
    var texts = codes.prefix(10).map { code in
      if packet.type == .suback, code <= 2 { return "QoS \(code)" }
      return code == 0 ? "done" : "refused: \(reason(code, in: packet.type))"
    }
    if packet.type == .unsuback, codes.contains(0x11) {
      texts = codes.prefix(10).map { $0 == 0x11 ? "there was none" : $0 == 0 ? "done" : "refused" }
    }
    if codes.count > 10 { texts.append("\(codes.count - 10) more") }
    return texts.joined(separator: ", ")
  }
}
