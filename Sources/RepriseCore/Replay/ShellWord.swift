/// Words of a command line.
package enum ShellWord {
  /// Returns a word as a shell takes it for one, in quotes where it needs them.
  /// - Parameter word: The word.
  /// - Returns: What to type.
  package static func quoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "_-./=:,@%+".utf8.contains(byte)
      }
    }
    guard !isPlain || word.isEmpty else { return word }
    var result = "'"
    for character in word {
      if character == "'" { result += "'\\''" } else { result.append(character) }
    }
    return result + "'"
  }
}
