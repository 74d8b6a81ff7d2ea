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
}
