/// What tells a finding from others, and is the same when the same session is judged again: the clause, whom it is
/// about, and what was wrong, without frames, times, numbers of connections, and the names of files.
public struct Fingerprint: Sendable, Hashable, CustomStringConvertible {
  /// Sixteen hexadecimal digits.
  public let description: String

  /// Takes a fingerprint as ``description`` writes it; nil for anything else.
  public init?(_ text: String) {
    guard text.utf8.count == 16, text.utf8.allSatisfy(Self.isDigit) else { return nil }
    description = text
  }

  /// The fingerprint of a finding of a clause.
  init(_ finding: Finding, of clause: ClauseKey) {
    let texts: [String]
    switch finding.identity {
    case .read(let print):
      self = print
      return
    case .texts(let own): texts = own
    case nil: texts = [Self.masked(finding.message), Self.masked(finding.actual)]
    }
    self.init(of: [clause.spec, clause.id, finding.subject] + texts)
  }

  private init(of texts: [String]) {
    // FNV-1a, 64 bits.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for text in texts {
      for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
      hash = (hash ^ 0xFF) &* 0x100_0000_01B3
    }
    let digits = String(hash, radix: 16)
    description = String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
    default: false
    }
  }

  /// A sentence without what another run has otherwise: numbers outside of quotation marks, but for a QoS and for codes,
  /// and what a program has drawn by lot inside of them.
  static func masked(_ text: String) -> String {
    var result = ""
    for (index, part) in text.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
    {
      if index > 0 { result += "\"" }
      result += index.isMultiple(of: 2) ? withoutNumbers(part) : RandomName.masked(part)
    }
    return result
  }

  private static func withoutNumbers(_ text: Substring) -> String {
    var result = ""
    var word = ""
    func take() {
      let isCode = word.hasPrefix("0x")
      let isNumber = !isCode && word.utf8.allSatisfy { (0x30...0x39).contains($0) }
      let isQoS = result.hasSuffix("QoS ") && word.utf8.count == 1
      result += isNumber && !word.isEmpty && !isQoS ? "#" : word
      word = ""
    }
    for character in text {
      if character.isASCII, character.isLetter || character.isNumber {
        word.append(character)
      } else {
        take()
        result.append(character)
      }
    }
    take()
    return result
  }
}

/// Names that a program draws by lot, and has another one of in each run.
enum RandomName {
  /// Returns a name with a star in place of each part that looks drawn by lot.
  ///
  /// That is a UUID, eight hexadecimal digits or more, six decimal ones or more, or sixteen letters and digits or more in any
  /// order. What looks like a MAC address stays.
  static func masked(_ text: some StringProtocol) -> String {
    let scalars = Array(text.unicodeScalars)
    var result = String.UnicodeScalarView()
    var start = 0
    while start < scalars.count {
      if isUUID(scalars[start...]) {
        result.append("*")
        start += 36
        continue
      }
      let run = scalars[start...].prefix(while: isAlphanumeric)
      if run.isEmpty {
        result.append(scalars[start])
        start += 1
      } else {
        if isRandom(run) { result.append("*") } else { result.append(contentsOf: run) }
        start = run.endIndex
      }
    }
    return String(result)
  }

  private static func isRandom(_ run: ArraySlice<Unicode.Scalar>) -> Bool {
    let digits = run.count(where: isDigit)
    if digits == run.count { return run.count >= 6 }
    if run.allSatisfy(isHexadecimal) { return run.count >= 8 && run.count != 12 && digits > 0 }
    guard run.count >= 16 else { return false }
    let hasUpper = run.contains { ("A"..."Z").contains($0) }
    let hasLower = run.contains { ("a"..."z").contains($0) }
    return digits > 0 || hasUpper && hasLower
  }

  private static func isUUID(_ scalars: ArraySlice<Unicode.Scalar>) -> Bool {
    let text = scalars.prefix(36)
    guard text.count == 36 else { return false }
    return text.enumerated().allSatisfy { index, scalar in
      [8, 13, 18, 23].contains(index) ? scalar == "-" : isHexadecimal(scalar)
    }
  }

  private static func isAlphanumeric(_ scalar: Unicode.Scalar) -> Bool {
    isDigit(scalar) || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

  private static func isHexadecimal(_ scalar: Unicode.Scalar) -> Bool {
    isDigit(scalar) || ("a"..."f").contains(scalar) || ("A"..."F").contains(scalar)
  }
}
