import Testing

@testable import SessionView

/// What keys do, without a terminal.
@Suite struct ViewerTests {
  /// A viewer with its model, and what the keys asked for.
  private struct Session {
    var model = NumberModel(count: 100, found: [(30, 20), (60, 59)])
    var viewer = Viewer<NumberModel>(Screen.Size(width: 60, height: 20))
    var effects: [Viewer<NumberModel>.Effect] = []

    /// Types keys, each character one of them.
    mutating func type(_ text: String, _ keys: Key...) {
      for key in text.map({ Key.character($0) }) + keys {
        viewer.refresh(model)
        effects += viewer.take(key, model)
        _ = viewer.draw(model)
      }
    }

    mutating func screen() -> [String] {
      viewer.refresh(model)
      return viewer.draw(model).text
    }

    var selected: Int? { viewer.selected(model) }
  }

  @Test func showsTitleListAndHints() {
    var session = Session()
    let rows = session.screen()
    #expect(rows.count == 20)
    #expect(rows[0] == " numbers  1/100  frame 0  2 findings")
    #expect(rows[1...3] == ["> thing 0", "  thing 1", "  thing 2"])
    #expect(rows[19].hasPrefix(" q quit"))
  }

  @Test(arguments: [
    ("j", 1), ("jjk", 1), ("k", 0), (" ", 18), ("  b", 18), ("d", 9), ("du", 0), ("G", 99),
    ("Gg", 0), ("Gk", 98), (":250\r", 25), (":9999\r", 99), (":0\r", 0), ("/Number 4\r", 4),
    ("/number 4\rn", 40), ("/number 4\rnN", 4), ("G?number 4\r", 49), ("/NUMBER\r", 0),
    ("]", 30), ("]]", 60), ("]]]", 60), ("]][", 30), ("]c", 20), ("jc", 0), ("jjc", 2),
    ("]'", 0), ("&7\rj", 7), ("&7\rG", 98), ("&7\r]", 0), ("&0\r", 0), ("j&7\r", 7),
  ])
  func selects(_ keys: String, _ thing: Int) {
    var session = Session()
    for character in keys {
      session.type("", character == "\r" ? .enter : .character(character))
    }
    #expect(session.selected == thing)
  }

  @Test func countsFindingsThatWereNotKept() {
    var session = Session()
    session.model.untoldFindings = 7
    #expect(session.screen()[0] == " numbers  1/100  frame 0  2 of 9 findings")
  }

  /// A terminal of 80 columns has a line for each; of a narrower one, nothing of the text is lost.
  @Test(arguments: [80, 40, 24])
  func helpFitsTheScreen(_ width: Int) {
    var session = Session()
    session.viewer = Viewer(Screen.Size(width: width, height: 80))
    session.type("h")
    let seen = session.screen().dropFirst().dropLast().filter { $0 != "~" }
    func words(_ lines: [String]) -> String { lines.joined().filter { !$0.isWhitespace } }
    #expect(words(seen) == words(ViewerHelp.lines))
    #expect((seen.count == ViewerHelp.lines.count) == (width == 80))
  }

  @Test func tellsWhatItCanNotDo() {
    var session = Session()
    session.type("&7", .enter)
    session.type("]")
    #expect(session.screen()[19] == "frame 300 is not among what is chosen; & and Enter shows all")
    session.type("j")
    #expect(session.screen()[19].hasPrefix(" q quit"))
    // An expression that is none stays to be mended.
    session.type("&x", .enter)
    #expect(Array(session.screen()[18...]) == ["no number (column 1)", "&7x"])
    session.type("", .backspace, .backspace, .enter)
    #expect(session.screen()[0].contains(" 8/100"))
  }

  @Test func opensAndClosesDetails() {
    var session = Session()
    session.type("j", .enter)
    var rows = session.screen()
    #expect(rows[1...3] == ["  thing 0", "> thing 1", "  thing 2"])
    #expect(rows[8].hasPrefix("── details ─"))
    #expect(rows[9] == "detail 0 of 1")
    // Letters scroll the details, arrows select above them.
    session.type("jj")
    rows = session.screen()
    #expect(rows[9] == "detail 2 of 1")
    session.type("", .down)
    #expect(session.screen()[9] == "detail 0 of 2")
    session.type("G")
    #expect(session.screen()[18] == "detail 49 of 2")
    session.type("q")
    #expect(session.screen()[8] == "  thing 7" && session.effects == [])
    session.type("q")
    #expect(session.effects == [.quit])
  }

  @Test func listsFindings() {
    var session = Session()
    session.type("F")
    #expect(session.screen()[1...2] == ["> finding 0", "  finding 1"])
    session.type("j", .enter)
    #expect(session.selected == 60)
    #expect(session.screen()[9] == "detail 0 of 60")
    session.type("Fc")
    #expect(session.selected == 59)
    session.model.found = []
    session.type("F")
    #expect(session.screen()[19] == "there are no findings")
  }

  @Test func completes() {
    var session = Session()
    session.type("&1", .tab)
    #expect(Array(session.screen()[18...]) == ["100 107", "&10"])
    session.type("7", .tab)
    #expect(session.screen()[19] == "&107 ")
    session.type("", .control("u"))
    session.type("x", .tab)
    #expect(session.screen()[18] == "nothing that begins so can stand here")
  }

  @Test func copiesTheCommand() {
    var session = Session()
    session.type("jjy")
    #expect(session.effects == [.copy("show 2")])
    #expect(session.screen()[19] == "copied: show 2")
  }

  /// At its end the list stays there when it grows, and only there.
  @Test func followsWhatComes() {
    var session = Session()
    session.type("G")
    session.model.count = 150
    #expect(session.screen()[0].contains("150/150"))
    session.type("k")
    session.model.count = 200
    #expect(session.screen()[0].contains("149/200"))
    session.type("&50", .enter)
    session.model.count = 260
    #expect(session.screen()[0].contains("4/6"))
  }

  /// No size and no key is too much, and no row is longer than the screen.
  @Test func fitsAnySize() {
    let keys: [Key] =
      "jkGgb du/?&:nN][c'FhqHQyJK ".map { .character($0) } + [
        .up, .down, .left, .right, .pageUp, .pageDown, .home, .end, .enter, .tab, .backspace,
        .delete, .escape, .control("l"), .control("u"),
      ]
    var generator = SystemRandomNumberGenerator()
    for count in [0, 1, 100] {
      var session = Session()
      session.model = NumberModel(count: count, found: count > 50 ? [(30, 20)] : [])
      for _ in 0..<3_000 {
        let size = Screen.Size(
          width: .random(in: 0...90, using: &generator),
          height: .random(in: 0...30, using: &generator))
        session.viewer.resize(size)
        if let key = keys.randomElement(using: &generator) { session.type("", key) }
        let rows = session.screen()
        #expect(rows.count == size.height)
        #expect(rows.allSatisfy { TextWidth.columns(of: $0) <= size.width })
      }
    }
  }
}
