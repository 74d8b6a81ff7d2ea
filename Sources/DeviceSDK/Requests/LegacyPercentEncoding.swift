import RepriseCore

/// What the first clients of the model did to parameters, for servers that undo it.
///
/// A string at the top level that has a character from U+4E00 to U+9FA5, or a space that is not at one of
/// its ends, is percent-encoded as the query of a URL (RFC 3986 section 3.4). Nested values stay.
enum LegacyPercentEncoding {
  /// Returns parameters as they are sent.
  static func encode(_ parameters: JSONValue) -> JSONValue {
    guard case .object(let members) = parameters else { return parameters }
    return .object(
      members.map { member in
        guard let text = member.value.text, isMeant(text) else { return member }
        return JSONMember(member.key, .string(encode(text)))
      })
  }

  private static func isMeant(_ text: String) -> Bool {
    let scalars = text.unicodeScalars
    if scalars.contains(where: { (0x4E00...0x9FA5).contains($0.value) }) { return true }
    return scalars.drop { $0.properties.isWhitespace }.reversed()
      .drop { $0.properties.isWhitespace }.contains(" ")
  }

  private static func encode(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
      if isAllowed(byte) {
        result.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return result
  }

  /// What may stand in a query as it is: pchar, `/` and `?`.
  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~!$&'()*+,;=:@/?".utf8.contains(byte)
    }
  }
}
