import RepriseCore

// What a value of JSON says, whatever the order of its keys and the way that its numbers are written.
extension JSONValue {
  /// Returns the value as it is compared: of equal keys the last, JSON in strings read, and the mark of what is hidden
  /// of one length.
  /// - Parameters:
  ///   - ignored: Names of members that are left out, in lower case.
  ///   - depth: How many strings of JSON it lies in.
  /// - Returns: The value to compare.
  func meaning(without ignored: Set<String>, depth: Int = 0) -> JSONValue {
    switch self {
    case .null, .bool, .number: self
    case .string(let text): Self.meaning(of: text, without: ignored, depth: depth)
    case .array(let values): .array(values.map { $0.meaning(without: ignored, depth: depth) })
    case .object(let members):
      .object(
        Self.counting(members).compactMap { member in
          guard ignored.isEmpty || !ignored.contains(member.key.lowercased()) else { return nil }
          return JSONMember(member.key, member.value.meaning(without: ignored, depth: depth))
        })
    }
  }

  private static func meaning(
    of text: String, without ignored: Set<String>, depth: Int
  ) -> JSONValue {
    // Each level of JSON in JSON is written by someone; hostile ones would go on.
    if depth < 4, text.utf8.first == UInt8(ascii: "{") || text.utf8.first == UInt8(ascii: "[") {
      let bytes = Array(text.utf8)
      if let value = JSONValue(parsing: bytes) ?? JSONValue(parsing: HiddenText.quotingMarks(bytes))
      {
        return value.meaning(without: ignored, depth: depth + 1)
      }
    }
    return text.contains("***") ? .string(RedactionRules.shorteningMarks(in: text)) : .string(text)
  }

  /// The members that count, in the order of their keys: of equal keys the last.
  private static func counting(_ members: [JSONMember]) -> [JSONMember] {
    var seen: Set<String> = []
    return members.reversed().filter { seen.insert($0.key).inserted }.sorted { $0.key < $1.key }
  }

  /// A number that values of the same meaning have in common.
  var fingerprint: UInt64 {
    var hash = Fingerprint()
    add(to: &hash)
    return hash.value
  }

  private func add(to hash: inout Fingerprint) {
    switch self {
    case .null: hash.add(1)
    case .bool(let value): hash.add(value ? 2 : 3)
    case .number(let digits):
      hash.add(4)
      if let value = Self.comparable(digits) {
        hash.add(value.bitPattern)
      } else {
        hash.add(digits)
      }
    case .string(let text):
      hash.add(5)
      hash.add(text)
    case .array(let values):
      hash.add(6)
      hash.add(UInt64(values.count))
      for value in values { value.add(to: &hash) }
    case .object(let members):
      hash.add(7)
      hash.add(UInt64(members.count))
      for member in members {
        hash.add(member.key)
        member.value.add(to: &hash)
      }
    }
  }

  /// The value of a number that a `Double` has exactly: 1, 1.0 and 1e0 are one; nil for longer ones.
  private static func comparable(_ digits: String) -> Double? {
    guard digits.utf8.count < 16, let value = Double(digits) else { return nil }
    return value == 0 ? 0 : value
  }

  /// Whether two values say the same; what is hidden is equal to everything.
  func means(_ other: JSONValue) -> Bool {
    switch (self, other) {
    case (.object(let members), .object(let others)):
      return members.count == others.count
        && zip(members, others).allSatisfy { $0.key == $1.key && $0.value.means($1.value) }
    case (.array(let values), .array(let others)):
      return values.count == others.count && zip(values, others).allSatisfy { $0.means($1) }
    case (.number(let digits), .number(let others)):
      guard digits != others else { return true }
      guard let value = Self.comparable(digits) else { return false }
      return value == Self.comparable(others)
    case (.string(let text), .string(let other)): return HiddenText.mayBeEqual(text, other)
    case (.string(let text), let value), (let value, .string(let text)):
      // Bytes that are no text may be so few that they are hidden by fewer stars than the mark has.
      return HiddenText.isAll(text) || (value["base64"] != nil && HiddenText.isStars(text))
    default: return self == other
    }
  }
}

/// Mixes numbers and texts into one number, the same one on every machine.
struct Fingerprint {
  // FNV-1a, 64 bits; the last step spreads its bits.
  private var state: UInt64 = 0xCBF2_9CE4_8422_2325

  var value: UInt64 {
    let mixed = (state ^ (state >> 32)) &* 0xD6E8_FEB8_6659_FD93
    return mixed ^ (mixed >> 32)
  }

  mutating func add(_ text: String) {
    for byte in text.utf8 { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
    state = (state ^ 0xFF) &* 0x100_0000_01B3
  }

  mutating func add(_ number: UInt64) {
    state = (state ^ number) &* 0x100_0000_01B3
    state ^= state >> 29
  }
}
