package import Wire

/// A code by which a server refuses, in words: those of CONNACK in MQTT 3.1.1 (section 3.2.2.3) and
/// the reason codes of MQTT 5.0 (section 2.4).
///
/// The two do not overlap: the first are below 0x80, the others begin there.
package struct ServerReason: Sendable {
  private let code: UInt8

  /// Takes a code.
  package init(_ code: UInt8) { self.code = code }

  /// What the code means, the code, and what can be done.
  /// - Parameter reason: The reason in the server's own words.
  /// - Returns: The text, without a full stop.
  package func text(saying reason: String? = nil) -> String {
    let (meaning, remedy) =
      Self.words[code] ?? ("a code of no standard", "look into the server's log")
    let number = code < 0x80 ? "\(code)" : "0x\(String(code, radix: 16, uppercase: true))"
    let said = reason.map { ", \"\($0)\"" } ?? ""
    return "\(meaning) (code \(number)\(said)); \(remedy)"
  }

  /// The name of a code that a packet carries, in small letters but for acronyms; nil where a code says that all is
  /// well, and for one of no standard.
  package static func name(_ code: UInt8, in type: MQTTPacketType) -> String? {
    switch (type, code) {
    case (.connack, 1...5), (_, 0x80...): words[code]?.meaning
    case (.puback, 0x10), (.pubrec, 0x10): "no matching subscribers"
    case (.unsuback, 0x11): "no subscription existed"
    case (.disconnect, 0x04): "disconnect with will message"
    default: nil
    }
  }

  /// Whether the server may accept the same later.
  var mayPass: Bool {
    switch code {
    case 1, 2, 4, 5, 0x81, 0x82, 0x84...0x87, 0x8A, 0x8C, 0x90, 0x95, 0x99...0x9D: false
    default: true
    }
  }

  /// What each code means, in the words of the standard, and what can be done.
  private static let words: [UInt8: (meaning: String, remedy: String)] = [
    1: ("unacceptable protocol version", "connect with another version of MQTT"),
    2: ("identifier rejected", "choose another client identifier"),
    3: ("server unavailable", "try again later"),
    4: ("bad user name or password", "correct user name and password"),
    5: ("not authorized", "correct user name and password, or ask who runs the server"),
    0x80: ("unspecified error", "look into the server's log"),
    0x81: ("malformed packet", "record the session and see what was sent"),
    0x82: ("protocol error", "record the session and see what was sent"),
    0x83: ("implementation specific error", "look into the server's log"),
    0x84: ("unsupported protocol version", "connect with another version of MQTT"),
    0x85: ("client identifier not valid", "choose another client identifier"),
    0x86: ("bad user name or password", "correct user name and password"),
    0x87: ("not authorized", "correct who you are, or have the server's access list allow it"),
    0x88: ("server unavailable", "try again later"),
    0x89: ("server busy", "try again later"),
    0x8A: ("banned", "ask who runs the server"),
    0x8B: ("server shutting down", "try again later"),
    0x8C: ("bad authentication method", "use a method that the server knows"),
    0x8D: ("keep alive timeout", "connect again, with a longer keep-alive time"),
    0x8E: ("session taken over", "give each client an identifier of its own"),
    0x8F: ("topic filter invalid", "correct the topic filter"),
    0x90: ("topic name invalid", "correct the topic"),
    0x91: ("packet identifier in use", "start a new session"),
    0x92: ("packet identifier not found", "start a new session"),
    0x93: ("receive maximum exceeded", "record the session and see what was sent"),
    0x94: ("topic alias invalid", "record the session and see what was sent"),
    0x95: ("packet too large", "send less at a time"),
    0x96: ("message rate too high", "send less often"),
    0x97: ("quota exceeded", "try again later, or have the server's quota raised"),
    0x98: ("administrative action", "ask who runs the server"),
    0x99: ("payload format invalid", "correct the payload"),
    0x9A: ("retain not supported", "retain nothing on this server"),
    0x9B: ("QoS not supported", "use a lower QoS"),
    0x9C: ("use another server", "connect to another server"),
    0x9D: ("server moved", "connect to where it is now"),
    0x9E: ("shared subscriptions not supported", "subscribe without $share"),
    0x9F: ("connection rate exceeded", "connect less often"),
    0xA0: ("maximum connect time", "connect again"),
    0xA1: ("subscription identifiers not supported", "subscribe without one"),
    0xA2: ("wildcard subscriptions not supported", "subscribe to whole topics"),
  ]
}

extension ClientEvent.Closed {
  /// Whether the same connection may succeed later although nobody changes anything.
  ///
  /// A lost connection may, one that never was, and one that was refused by a server that is busy, or gave no
  /// reason. A client that is refused for what it is, or asks for, is refused again.
  public var mayPass: Bool {
    switch self {
    case .byUser: false
    case .refused(let code): ServerReason(code).mayPass
    case .byServer, .lost, .unreached: true
    }
  }

  /// Whether it is the user who is not welcome (MQTT 3.1.1 section 3.2.2.3, 5.0 section 3.2.2.2), and not
  /// what it asks for.
  package var refusesIdentity: Bool {
    guard case .refused(let code) = self else { return false }
    return [4, 5, 0x86, 0x87, 0x8A, 0x8C].contains(code)
  }
}

extension ClientEvent.Closed: CustomStringConvertible {
  /// Why the connection is closed, with the server's code, and what can be done, for people.
  public var description: String {
    switch self {
    case .byUser: "the connection was closed"
    case .refused(let code): "the server refused the connection: \(ServerReason(code).text())"
    case .byServer(_, let text), .lost(let text), .unreached(let text, _): text
    }
  }
}
