import Wire

/// What packets say of the version of a connection whose CONNECT is not in the capture.
///
/// Bytes are weighed by how much likelier they are in 5.0 than in 3.1 and 3.1.1. A packet that is
/// faultless in one layout only decides, as senders hardly ever break their own format. A PUBLISH
/// that fits both mostly has an empty property length, 0: as 3.1.1 that is a message which begins
/// with NUL. Before text that is rare, and the rarer the more text there is; before other bytes it
/// is not, as numbers begin so, and says nothing. Properties of one number may be bytes of 3.1.1,
/// too, those with a name or a text hardly.
struct MQTTEvidence {
  /// Where in a packet the evidence stands.
  enum Place: Sendable {
    case layout, emptyProperties, properties
  }

  /// Above 0 for 5.0, below it for 3.1 and 3.1.1.
  private(set) var weight = 0
  /// What the evidence for 5.0 is; nil when there is none.
  private(set) var place: Place?

  /// So much tells a version.
  static let enough = 4
  /// What a packet weighs that is faultless in one layout only.
  static let decisive = 8
  /// More than this is not kept, so that later packets can still outweigh it.
  static let most = 32
  /// Text is looked at so far.
  private static let mostText = 32

  /// Weighs one packet.
  /// - Parameters:
  ///   - packet: The packet, as 5.0 lays it out.
  ///   - layouts: The layouts by which it is faultless.
  init(_ packet: borrowing MQTTPacketView, fitting layouts: MQTTLayouts) {
    switch layouts {
    case .v5:
      weight = Self.decisive
      place = .layout
    case .v3: weight = -Self.decisive
    case .both where packet.type == .publish && packet.missing == 0: weigh(packet)
    default: return
    }
  }

  private mutating func weigh(_ message: borrowing MQTTPacketView) {
    let text = Self.textLength(message.payload)
    var properties = message.properties
    var count = 0
    while let property = properties.next() {
      count += 1
      switch property.id.kind {
      case .string, .stringPair: weight += property.bytes(in: message.bytes).byteCount < 2 ? 3 : 6
      case .byte, .twoByteInteger, .fourByteInteger, .variableByteInteger, .binary: weight += 3
      }
      if weight >= Self.decisive { break }
    }
    // Up to three characters behind a NUL are a number of two or four bytes.
    if count > 0 || text >= 4 { weight += text }
    weight = min(weight, Self.decisive)
    if weight > 0 { place = count > 0 ? .properties : .emptyProperties }
  }

  /// How many bytes of text a message begins with; 0 where it is not all text.
  private static func textLength(_ payload: RawSpan) -> Int {
    let part = payload.extracting(first: min(payload.byteCount, mostText))
    var validator = UTF8Validator()
    guard validator.consume(part) == nil,
      validator.isComplete || part.byteCount < payload.byteCount
    else { return 0 }
    let isPlain = part.withUnsafeBytes { bytes in
      bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
    }
    return isPlain ? part.byteCount : 0
  }
}
