internal import RepriseCore
internal import Wire

// Values as findings show them.
extension UInt8 {
  /// The byte as 0x1F.
  var hexadecimal: String { "0x" + digits }

  /// Its last bits, as 0 and 1.
  func bits(_ count: Int) -> String {
    let text = String(self & (1 << count - 1), radix: 2)
    return String(repeating: "0", count: Swift.max(0, count - text.utf8.count)) + text
  }
}

extension FixedWidthInteger {
  /// All its hexadecimal digits.
  var digits: String {
    let text = String(self, radix: 16, uppercase: true)
    return String(repeating: "0", count: Swift.max(0, Self.bitWidth / 4 - text.utf8.count)) + text
  }
}

extension MQTTPacketType {
  /// The name within a sentence: `a SUBACK`, `an UNSUBACK`.
  var withArticle: String {
    let name = "\(name)"
    return "AEIOU".contains(name.prefix(1)) ? "an \(name)" : "a \(name)"
  }
}

extension MQTTPacketView {
  /// The packet as the value that was seen: `SUBACK 7 (first byte 0x90)`.
  var seen: String {
    let id = packetID.map { " \($0)" } ?? ""
    return "\(type.name)\(id) (first byte \(header.firstByte.hexadecimal))"
  }
}

extension EventView {
  /// The frame that the event is, as the value that was seen: `TEXT (first byte 0x81)`.
  var seenFrame: String {
    guard case .webSocket(let frame) = body else { return "frame \(context.frame)" }
    return "\(frame.opcode.name) (first byte \(frame.header.firstByte.hexadecimal))"
  }
}

extension Timestamp {
  /// The time since an earlier moment as text, to the millisecond: `61.204 s`.
  func seconds(since earlier: Timestamp) -> String {
    Self.seconds(nanoseconds(since: earlier))
  }

  /// A number of nanoseconds as seconds, to the millisecond.
  static func seconds(_ nanoseconds: Int64) -> String {
    "\((Double(nanoseconds) / 1_000_000).rounded() / 1_000) s"
  }
}
