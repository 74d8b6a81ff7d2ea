import RepriseCore

/// What the first bytes of a side say of all of them.
///
/// A client that connects to the port of another server is answered by its words. Cut into packets they would make faults of MQTT,
/// which nobody has sent.
enum MQTTBeginning {
  /// They did not come yet.
  case awaited
  case mqtt
  /// They are of another protocol.
  case foreign

  /// Reads the first bytes.
  init(_ bytes: RawSpan) {
    self = Self.words.contains { Self.begins(bytes, with: $0) } ? .foreign : .mqtt
  }

  /// How HTTP answers, SSH and AMQP greet, and an alert of TLS (RFC 8446 section 5.1: type 21, two bytes long) begins.
  ///
  /// Where nil stands any byte may. None of it is a packet of MQTT: its flags are wrong.
  private static let words: [[UInt8?]] =
    ["HTTP/1.", "SSH-", "AMQP"].map { Array($0.utf8) } + [[0x15, 3, nil, 0, 2]]

  private static func begins(_ bytes: RawSpan, with word: [UInt8?]) -> Bool {
    guard bytes.byteCount >= word.count else { return false }
    return bytes.withUnsafeBytes { bytes in
      zip(bytes, word).allSatisfy { byte, expected in expected.map { $0 == byte } ?? true }
    }
  }
}
