import Testing

/// What holds articles to their word must itself see a word that is broken.
@Suite struct ReaderTests {
  private func command(_ printed: String...) -> Command { Command(typed: "x", printed: printed) }

  @Test func seesAnotherLineMissingLinesAndMoreLines() {
    #expect(command("a", "b").shows("a\nb\n"))
    #expect(!command("a", "b").shows("a\nc\n"))
    #expect(!command("a", "b").shows("a\n"))
    #expect(!command("a").shows("a\nb\n"))
    #expect(!command().shows("a\n"))
    #expect(command().shows(""))
  }

  @Test func letsDotsStandForLinesAndForText() {
    #expect(command("a", "...", "d").shows("a\nb\nc\nd\n"))
    #expect(command("a", "...", "d").shows("a\nd\n"))
    #expect(!command("a", "...", "d").shows("a\nb\n"))
    #expect(command("at ... of 3...").shows("at 17 of 33\n"))
    #expect(!command("at ... of 3").shows("at 17 of 4\n"))
    #expect(!command("ab...bc").shows("abc\n"))
  }

  @Test func knowsWhatDiffersFromRunToRun() {
    let shown = command("08:55:00.813449  took 136 µs, 127.0.0.1:50032")
    let other = "10:00:01.1  took 4.5 ms, 127.0.0.1:40000"
    #expect(shown.shows(other, isLive: true) && !shown.shows(other))
    #expect(!command("port 1883, 4 of 5").shows("port 1884, 4 of 5", isLive: true))
    #expect(!command("frame 10").shows("frame 11", isLive: true))
    #expect(command("08:55:00.8    9  #1   a").shows("08:55:00.8   10  #1   a", isLive: true))
    #expect(!command("08:55:00.8   9  #1   a").shows("08:55:00.8   9  #2   a", isLive: true))
  }

  @Test func findsSnippetsWholeAndInOrder() {
    let file = ["func a() {", "  b()", "", "    c()", "}"]
    #expect(Snippets.have(["b()", "", "  c()"], in: file))
    #expect(!Snippets.have(["b()", "c()"], in: file))
    #expect(!Snippets.have(["b()", "", "c()"], in: file))
    #expect(!Snippets.have(["() {"], in: file))
  }
}
