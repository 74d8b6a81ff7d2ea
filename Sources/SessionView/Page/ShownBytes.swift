import RepriseCore
import Wire

/// The bytes of an event, of which nothing is shown that must not be told.
package struct ShownBytes: Sendable {
  /// What the bytes are of, for people.
  let title: String
  /// The bytes; nil stands for one that is hidden.
  let bytes: [UInt8?]
  /// How many there are in all; those at the end may not be shown.
  package let count: Int

  /// The most bytes that are shown of an event.
  private static let limit = 64 << 10

  /// Takes the bytes of an event; nil where it has none.
  init?(_ event: borrowing EventView, hiding redaction: RedactionRules) {
    switch event.body {
    case .mqtt(let packet):
      let places = redaction.places(in: packet)
      self.init(
        "of the packet", [UInt8](copying: packet.bytes), places, size: packet.header.packetSize,
        isRebuilt: event.context.isRebuilt)
    case .webSocket(let frame):
      guard frame.cargo != .mqtt, frame.cargo != .mqttConcealed else { return nil }
      self.init(
        "of the payload, without its mask", [UInt8](copying: frame.payload),
        redaction.places(in: frame), size: Int(clamping: frame.header.payloadLength))
    case .http(let part):
      guard let message = part.message, !message.body.isEmpty else { return nil }
      let body = message.body
      self.init(
        "of the body", body, redaction.places(in: body.span.bytes),
        size: body.count + message.missing)
    case .opened, .closed, .attempted, .gap, .malformed, .handshake, .tls: return nil
    }
  }

  private init?(
    _ title: String, _ all: [UInt8], _ places: SecretPlaces, size: Int, isRebuilt: Bool = false
  ) {
    guard !all.isEmpty else { return nil }
    self.title = isRebuilt ? title + ", put together from its fields" : title
    count = size
    var shown: [UInt8?] = all.prefix(Self.limit).map { $0 }
    for place in places.places {
      for index in place.offset..<(place.offset + place.bytes.count)
      where shown.indices.contains(index) {
        shown[index] = nil
      }
    }
    if let end = places.end, end < shown.count {
      for index in max(0, end)..<shown.count { shown[index] = nil }
    }
    bytes = shown
  }

  /// The bytes as digits, two each; `**` stands for one that is hidden.
  var hexadecimal: String { bytes.map { Self.digits($0) }.joined() }

  /// The bytes as lines: the offset, the digits, and what they are in ASCII.
  /// - Parameter width: How many bytes a line has.
  /// - Returns: The lines.
  package func lines(of width: Int) -> [String] {
    let width = max(1, width)
    var lines = stride(from: 0, to: bytes.count, by: width).map { start in
      let row = bytes[start..<min(start + width, bytes.count)]
      let offset = String(start, radix: 16)
      let padding = String(repeating: "0", count: max(0, 4 - offset.count))
      let digits = row.map { Self.digits($0) }.joined(separator: " ")
      let space = String(repeating: " ", count: max(0, 3 * width - digits.count))
      return "\(padding)\(offset)  \(digits)\(space)|\(String(row.map(Self.character)))|"
    }
    if count > bytes.count { lines.append("and \(count - bytes.count) more bytes") }
    return lines
  }

  private static func digits(_ byte: UInt8?) -> String {
    guard let byte else { return "**" }
    return (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }

  private static func character(_ byte: UInt8?) -> Character {
    guard let byte else { return "*" }
    return (0x20..<0x7F).contains(byte) ? Character(UnicodeScalar(byte)) : "."
  }
}
