import RepriseCore

/// Text parts of which may be hidden: by `***`, or in a redacted capture by as many stars as it had bytes.
enum HiddenText {
  private static let star = UInt8(ascii: "*")

  /// Whether nothing of a text can be read.
  static func isAll(_ text: String) -> Bool { RedactionRules.isMark(text.utf8) }

  /// Whether two texts are equal, as far as both can be read.
  static func mayBeEqual(_ text: String, _ other: String) -> Bool {
    if text == other || isAll(text) || isAll(other) { return true }
    if text.utf8.count == other.utf8.count, isStars(text) || isStars(other) { return true }
    return matches(text, other) || matches(other, text)
  }

  /// Whether a short text is hidden, by fewer stars than the mark has.
  static func isStars(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 == star }
  }

  /// Whether a text is what another one hides parts of.
  private static func matches(_ pattern: String, _ text: String) -> Bool {
    let parts = pattern.split(separator: RedactionRules.mark, omittingEmptySubsequences: false)
    guard parts.count > 1, let first = parts.first, let last = parts.last, text.hasPrefix(first),
      text.utf8.count >= first.utf8.count + last.utf8.count, text.hasSuffix(last)
    else { return false }
    var rest = text.dropFirst(first.count).dropLast(last.count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let found = rest.firstRange(of: part) else { return false }
      rest = rest[found.upperBound...]
    }
    return true
  }

  /// Returns text with quotes around stars that stand where JSON has a value.
  ///
  /// In a redacted capture they are in the place of a number, for which there is no room for quotes.
  static func quotingMarks(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.contains(star) else { return bytes }
    var result: [UInt8] = []
    var isValue = false
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let byte = bytes[index]
      if byte == star, isValue {
        let end = bytes[index...].firstIndex { $0 != star } ?? bytes.endIndex
        result.append(contentsOf: "\"***\"".utf8)
        index = end
        isValue = false
        continue
      }
      switch byte {
      case UInt8(ascii: ":"), UInt8(ascii: ","), UInt8(ascii: "["): isValue = true
      case UInt8(ascii: " "): break
      default: isValue = false
      }
      result.append(byte)
      index += 1
    }
    return result
  }
}
