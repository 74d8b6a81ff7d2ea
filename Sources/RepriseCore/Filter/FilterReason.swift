package import Wire

/// A name of return and reason codes, with the codes that have it.
///
/// A name means a code whatever the version of MQTT, which may be unknown: the `success` of 5.0 is the
/// `connection-accepted` of 3.1.1, too.
package struct FilterReason: Sendable, Equatable {
  /// The standard's words in small letters, with hyphens between them.
  package let name: String
  /// The codes by the type of the packets that carry them.
  package private(set) var codes: [MQTTPacketType: [UInt8]] = [:]

  /// The types of packets that carry codes.
  private static let types: [MQTTPacketType] = [
    .connack, .puback, .pubrec, .pubrel, .pubcomp, .suback, .unsuback, .disconnect, .auth,
  ]

  /// All names: first those by which nothing is refused, then the others in the order of their codes.
  package static let all: [FilterReason] = {
    var all = accepting
    for code in UInt8.min...UInt8.max {
      for type in types {
        guard let words = ServerReason.name(code, in: type) else { continue }
        let name = written(words)
        if let place = all.firstIndex(where: { $0.name == name }) {
          all[place].codes[type, default: []].append(code)
        } else {
          all.append(FilterReason(name, code, type))
        }
      }
    }
    return all
  }()

  /// The names by which nothing is refused: MQTT 5.0 section 2.4, and table 3.1 of 3.1.1 for CONNACK, whose name is
  /// also taken without the first word that all names of its table have.
  private static let accepting = [
    FilterReason(
      "success", 0x00, .connack, .puback, .pubrec, .pubrel, .pubcomp, .unsuback, .auth),
    FilterReason("connection-accepted", 0x00, .connack),
    FilterReason("accepted", 0x00, .connack),
    FilterReason("normal-disconnection", 0x00, .disconnect),
    FilterReason("granted-qos-0", 0x00, .suback),
    FilterReason("granted-qos-1", 0x01, .suback),
    FilterReason("granted-qos-2", 0x02, .suback),
    FilterReason("continue-authentication", 0x18, .auth),
    FilterReason("re-authenticate", 0x19, .auth),
  ]

  private init(_ name: String, _ code: UInt8, _ types: MQTTPacketType...) {
    self.name = name
    for type in types { codes[type] = [code] }
  }

  /// Finds a name; nil for another word.
  /// - Parameter text: What was typed, with hyphens or blanks, in any case.
  init?(_ text: String) {
    let name = Self.written(text)
    guard let found = Self.all.first(where: { $0.name == name }) else { return nil }
    self = found
  }

  /// Returns the name that is nearest to a mistyped one; nil when none is near.
  static func nearest(to text: String) -> String? {
    NearestName.find(written(text), in: all.map(\.name))
  }

  private static func written(_ words: String) -> String {
    words.lowercased().replacing(" ", with: "-")
  }

  /// Whether a code in a packet of a type has the name.
  func means(_ code: UInt8, in type: MQTTPacketType) -> Bool {
    codes[type]?.contains(code) ?? false
  }
}
