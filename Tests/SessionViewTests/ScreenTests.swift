import Foundation
import Testing

@testable import SessionView

#if canImport(Glibc)
  import Glibc
#endif

/// What a terminal is told to show.
@Suite struct ScreenTests {
  #if canImport(Glibc)
    /// Terminals and the C library have the same tables of Unicode, of another edition here and there.
    @Test func knowsWidthsAsTheLibraryDoes() throws {
      typealias Width = @convention(c) (Int32) -> Int32
      let symbol = try #require(dlsym(nil, "wcwidth"))
      let wcwidth = unsafeBitCast(symbol, to: Width.self)
      try #require(setlocale(LC_CTYPE, "C.UTF-8") != nil)
      var others: [UInt32] = []
      for value in UInt32(0)...0x2FFFF {
        guard let scalar = UnicodeScalar(value), let own = TextWidth.columns(of: scalar) else {
          continue
        }
        let width = wcwidth(Int32(bitPattern: value))
        if width >= 0, width != own { others.append(value) }
      }
      let text = others.prefix(40).map { String($0, radix: 16) }.joined(separator: " ")
      #expect(others.count < 200, "\(others.count): \(text)")
      #expect(TextWidth.columns(of: "a中é\u{301}😀") == 6)
    }
  #endif

  private static func painted(_ text: String, width: Int) -> String {
    var screen = Screen(Screen.Size(width: width, height: 1))
    screen.rows = [StyledText(text)]
    return screen.text.first ?? ""
  }

  /// A wide character that does not fit is left out whole, and marks go with the character that they stand on.
  @Test(arguments: [
    ("abc", 2, "ab"), ("a中b", 2, "a"), ("a中b", 3, "a中"), ("e\u{301}x", 1, "e\u{301}"),
    ("\u{301}x", 2, "x"), ("e\u{301}\u{301}\u{301}\u{301}x", 2, "e\u{301}\u{301}x"),
    ("a\u{7}b", 3, "a\u{FFFD}b"), ("a\u{1B}[31m", 9, "a\u{FFFD}[31m"),
  ])
  func cutsByColumns(_ text: String, _ width: Int, _ shown: String) {
    #expect(Array(Self.painted(text, width: width).unicodeScalars) == Array(shown.unicodeScalars))
  }

  @Test func paintsOnlyRowsThatChanged() {
    var painter = ScreenPainter(usesColor: true)
    var screen = Screen(Screen.Size(width: 10, height: 3))
    screen.rows = [StyledText("one"), StyledText("two", .fault), StyledText("three")]
    let first = String(decoding: painter.paint(screen), as: UTF8.self)
    #expect(first.contains("\u{1B}[2J") && first.contains("one") && first.contains("three"))
    #expect(first.contains("\u{1B}[0;31mtwo"))
    #expect(String(decoding: painter.paint(screen), as: UTF8.self) == "\u{1B}[?25l")
    screen.rows[1] = StyledText("2")
    let second = String(decoding: painter.paint(screen), as: UTF8.self)
    #expect(second == "\u{1B}[?25l\u{1B}[2;1H\u{1B}[0m\u{1B}[K\u{1B}[0m2\u{1B}[0m")
    painter.forget()
    #expect(String(decoding: painter.paint(screen), as: UTF8.self).contains("one"))
  }

  /// Where the last column is written, the cursor stays in it: nothing behind that may erase.
  @Test(arguments: ["abcd", "abc", "ab中", "abc中", "abcde"])
  func erasesNothingThatIsWritten(_ text: String) {
    var painter = ScreenPainter(usesColor: true)
    var screen = Screen(Screen.Size(width: 4, height: 1))
    screen.rows = [StyledText(text)]
    let cut = screen.text.first ?? ""
    #expect(
      String(decoding: painter.paint(screen), as: UTF8.self)
        == "\u{1B}[?25l\u{1B}[0m\u{1B}[2J\u{1B}[1;1H\u{1B}[0m\u{1B}[K\u{1B}[0m\(cut)\u{1B}[0m")
  }

  @Test func usesNoColorsWhereNoneAreWanted() {
    var painter = ScreenPainter(usesColor: false)
    var screen = Screen(Screen.Size(width: 10, height: 1))
    screen.rows = [StyledText("x", StyledText.Style(.red, isReversed: true))]
    let bytes = String(decoding: painter.paint(screen), as: UTF8.self)
    #expect(bytes.contains("\u{1B}[0;7mx") && !bytes.contains("31"))
  }

  @Test func readsTheColorsOfLines() {
    let text = StyledText(colored: Array("a \u{1B}[31m! b\u{1B}[0m c\u{1B}[2md".utf8))
    #expect(text.spans.map(\.text) == ["a ", "! b", " c", "d"])
    #expect(text.spans.map(\.style) == [.plain, .fault, .plain, .quiet])
  }

  @Test(arguments: [
    ("abcdef", 4, ["abcd", " ef"]), ("abcd", 4, ["abcd"]), ("", 4, [""]),
    ("中中中", 5, ["中中", " 中"]),
  ])
  func wraps(_ text: String, _ width: Int, _ lines: [String]) {
    #expect(TextWidth.wrap(text, to: width, indent: 1) == lines)
  }
}
