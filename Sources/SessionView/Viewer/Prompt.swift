/// The line in which a user types what to search, to choose, or where to go.
package struct Prompt: Sendable {
  /// What it is for.
  enum Kind: String, Sendable {
    case search = "/"
    case searchBack = "?"
    case choose = "&"
    case frame = ":"
  }

  /// What a key made of the line.
  enum Outcome {
    /// It is still being typed.
    case open
    /// It is complete.
    case done
    /// It is given up.
    case given
    /// What is typed is to be completed.
    case complete
  }

  let kind: Kind
  private(set) var text: [Character]
  private(set) var cursor: Int
  private static let longest = 4_096

  init(_ kind: Kind, _ text: String = "") {
    self.kind = kind
    self.text = Array(text)
    cursor = self.text.count
  }

  /// What was typed.
  var value: String { String(text) }
  /// What stands before the cursor.
  var before: String { String(text[..<cursor]) }

  /// Takes a key.
  mutating func take(_ key: Key) -> Outcome {
    switch key {
    case .enter: return .done
    case .escape, .control("g"), .control("c"): return .given
    case .tab: return .complete
    case .backspace:
      // As in less, it leaves a line that is empty.
      guard !text.isEmpty else { return .given }
      if cursor > 0 {
        cursor -= 1
        text.remove(at: cursor)
      }
    case .delete, .control("d"): if cursor < text.count { text.remove(at: cursor) }
    case .left, .control("b"): cursor = max(0, cursor - 1)
    case .right, .control("f"): cursor = min(text.count, cursor + 1)
    case .home, .control("a"): cursor = 0
    case .end, .control("e"): cursor = text.count
    case .control("k"): text.removeSubrange(cursor...)
    case .control("u"):
      text.removeSubrange(..<cursor)
      cursor = 0
    case .control("w"): removeWord()
    case .character(let character): insert([character])
    case .up, .down, .pageUp, .pageDown, .control: break
    }
    return .open
  }

  private mutating func removeWord() {
    let start = text[..<cursor].reversed().drop { $0 == " " }.drop { $0 != " " }.count
    text.removeSubrange(start..<cursor)
    cursor = start
  }

  private mutating func insert(_ characters: [Character]) {
    guard text.count + characters.count <= Self.longest else { return }
    text.insert(contentsOf: characters, at: cursor)
    cursor += characters.count
  }

  /// Puts a word in the place of the characters before the cursor.
  mutating func replace(_ count: Int, by word: String) {
    let start = max(0, cursor - count)
    text.removeSubrange(start..<cursor)
    cursor = start
    insert(Array(word))
  }
}
