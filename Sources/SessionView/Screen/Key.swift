/// A key, as a terminal tells it.
package enum Key: Sendable, Hashable {
  /// A character that is typed.
  case character(Character)
  /// A letter together with Ctrl, in lower case.
  case control(Character)
  case up, down, left, right
  case pageUp, pageDown, home, end
  case enter, tab, backspace, delete, escape
}

/// Makes keys of the bytes that a terminal sends for them (ECMA-48, and what xterm made usual).
package struct KeyDecoder: Sendable {
  private var rest: [UInt8] = []
  /// No sequence of a key is longer: what is, is no key.
  private static let longest = 32

  /// Creates a decoder.
  package init() {}

  /// Whether bytes wait for more: Escape may be a key, or the first byte of others.
  package var isWaiting: Bool { !rest.isEmpty }

  /// Takes bytes.
  /// - Parameter bytes: The bytes, of which a sequence may be in two parts.
  /// - Returns: The keys that are complete.
  package mutating func take(_ bytes: some Sequence<UInt8>) -> [Key] {
    rest += bytes
    return takeKeys(isOver: false)
  }

  /// Takes the news that nothing came for a moment, so that Escape is a key.
  /// - Returns: The keys.
  package mutating func flush() -> [Key] { takeKeys(isOver: true) }

  private mutating func takeKeys(isOver: Bool) -> [Key] {
    var keys: [Key] = []
    while let (key, count) = Self.next(rest, isOver: isOver) {
      rest.removeFirst(min(count, rest.count))
      if let key { keys.append(key) }
    }
    return keys
  }

  /// The first key of some bytes, nil for what is none, and how many bytes it has; nil where more are needed.
  private static func next(_ bytes: [UInt8], isOver: Bool) -> (key: Key?, count: Int)? {
    guard let first = bytes.first else { return nil }
    switch first {
    case 0x1B: return sequence(bytes, isOver: isOver)
    case 0x0D, 0x0A: return (.enter, 1)
    case 0x09: return (.tab, 1)
    case 0x08, 0x7F: return (.backspace, 1)
    case 0: return (nil, 1)
    case 0x01..<0x1B:
      return (.control(Character(UnicodeScalar(first + 0x60))), 1)
    case 0x1C..<0x20: return (nil, 1)
    case 0x20..<0x7F: return (.character(Character(UnicodeScalar(first))), 1)
    default: return character(bytes, isOver: isOver)
    }
  }

  /// A character of several bytes of UTF-8.
  private static func character(_ bytes: [UInt8], isOver: Bool) -> (key: Key?, count: Int)? {
    let size =
      switch bytes[0] {
      case 0xC2..<0xE0: 2
      case 0xE0..<0xF0: 3
      case 0xF0..<0xF5: 4
      default: 1
      }
    guard bytes.count >= size else { return isOver ? (nil, bytes.count) : nil }
    guard let text = String(validating: bytes.prefix(size), as: UTF8.self),
      let character = text.first, text.count == 1
    else { return (nil, 1) }
    return (.character(character), size)
  }

  /// What begins with Escape.
  private static func sequence(_ bytes: [UInt8], isOver: Bool) -> (key: Key?, count: Int)? {
    guard bytes.count > 1 else { return isOver ? (.escape, 1) : nil }
    switch bytes[1] {
    case UInt8(ascii: "["):
      // Parameters, and one byte that ends them.
      guard let end = bytes.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
        return isOver || bytes.count > longest ? (nil, bytes.count) : nil
      }
      let parameters = bytes[2..<end].split(separator: UInt8(ascii: ";")).first ?? []
      let number = Int(String(decoding: parameters, as: UTF8.self))
      return (key(ending: bytes[end], number), end + 1)
    case UInt8(ascii: "O"):
      guard bytes.count > 2 else { return isOver ? (nil, 2) : nil }
      return (key(ending: bytes[2], nil), 3)
    case 0x1B: return (.escape, 1)
    // A key together with Alt: it means what it means alone behind Escape, and that is nothing.
    default: return (nil, 2)
    }
  }

  private static func key(ending: UInt8, _ number: Int?) -> Key? {
    switch (UnicodeScalar(ending), number) {
    case ("A", _): .up
    case ("B", _): .down
    case ("C", _): .right
    case ("D", _): .left
    case ("H", _), ("~", 1), ("~", 7): .home
    case ("F", _), ("~", 4), ("~", 8): .end
    case ("~", 5): .pageUp
    case ("~", 6): .pageDown
    case ("~", 3): .delete
    case ("M", _): .enter
    default: nil
    }
  }
}
