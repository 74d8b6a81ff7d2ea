/// The lines of a key log that are of some connections, and none of those that others wrote.
enum KeyLogExcerpt {
  /// Cuts them out.
  /// - Parameters:
  ///   - log: The key log in the format of NSS.
  ///   - randoms: The randoms of the clients' hellos.
  /// - Returns: The lines in their order, each ended by a line feed.
  static func of(_ log: [UInt8], for randoms: Set<[UInt8]>) -> [UInt8] {
    var excerpt: [UInt8] = []
    for line in log.split(separator: UInt8(ascii: "\n")) {
      let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      let fields = text.split(separator: UInt8(ascii: " "))
      guard fields.count == 3, fields[0].first != UInt8(ascii: "#"),
        let random = TLSKeyLog.bytes(fields[1]), randoms.contains(random)
      else { continue }
      excerpt += text + [UInt8(ascii: "\n")]
    }
    return excerpt
  }

  /// Writes secrets as a key log.
  /// - Parameter secrets: The secrets, by the randoms of the clients' hellos.
  /// - Returns: A line each in the format of NSS, in an order that is always the same.
  static func lines(_ secrets: [[UInt8]: [TLSKeyLog.Label: [UInt8]]]) -> [UInt8] {
    var text = ""
    for (random, labels) in secrets.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      for label in TLSKeyLog.Label.allCases {
        guard let secret = labels[label] else { continue }
        text += "\(label.rawValue) \(digits(random)) \(digits(secret))\n"
      }
    }
    return Array(text.utf8)
  }

  private static func digits(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for byte in bytes {
      for half in [byte >> 4, byte & 15] {
        text.append(half < 10 ? UInt8(ascii: "0") + half : UInt8(ascii: "a") + half - 10)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
