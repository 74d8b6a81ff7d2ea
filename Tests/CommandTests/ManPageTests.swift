import Testing

@testable import reprise

/// Pages for man say what the help says, and groff understands them.
@Suite struct ManPageTests {
  private static let topics = [""] + Commands.all.map { $0.spec.name }

  /// A page as groff shows it, without hyphens of its own.
  private func shown(_ page: String) throws -> String {
    let groff = "groff -man -Tutf8 -ww -rHY=0 -rLL=400n -P-c -P-b -P-u -P-o"
    let result = try RepriseProcess.shell("\(groff) <<'END OF PAGE'\n\(page)\nEND OF PAGE")
    #expect(result.status == 0)
    #expect(result.errors == "")
    return result.output
  }

  /// The words of a text; titles are in capitals and without a colon on a page.
  private func words(_ text: String) -> [Substring] {
    text.lowercased().split { $0.isWhitespace }.map { $0.last == ":" ? $0.dropLast() : $0 }
  }

  /// Whether words stand in a text one behind the other, whatever is between them.
  private func stand(_ words: [Substring], in text: [Substring]) -> Bool {
    var rest = text[...]
    for word in words {
      guard let place = rest.firstIndex(of: word) else {
        Issue.record("\(word) is missing")
        return false
      }
      rest = rest[(place + 1)...]
    }
    return true
  }

  @Test(arguments: topics)
  func saysWhatTheHelpSays(topic: String) throws {
    let typed = topic.split(separator: " ").map(String.init)
    let result = try RepriseProcess.run(["help", "--man"] + typed)
    #expect(result.status == 0)
    let page = words(try shown(result.output))
    let spec = Commands.all.first { $0.spec.name == topic }?.spec ?? Reprise.spec
    let names = spec.allOptions.map { "--\($0.name)" }
    #expect(names.allSatisfy { page.contains($0[...]) })
    for option in spec.allOptions { #expect(stand(words(option.help), in: page)) }
    #expect(stand(words(spec.details), in: page))
    let name = (["reprise"] + typed).joined(separator: "-")
    #expect(page.first.map(String.init) == "\(name)(1)")
  }

  /// Not only groff shows pages: others want a date, and no paragraph that is empty.
  @Test func hasWhatOtherProgramsWant() throws {
    for page in Commands.all.map({ ManPage.text(of: $0.spec) }) + [ManPage.overview] {
      let lines = page.split(separator: "\n")
      #expect(lines.first?.contains(#/ 1 "20\d\d-\d\d-\d\d" "reprise \d/#) == true, "\(lines[0])")
      let next = zip(lines, lines.dropFirst()).filter { $0.0 == ".PP" }.map(\.1)
      #expect(!next.contains { $0.hasPrefix(".SH") || $0 == ".PP" }, "\(lines[0])")
      #expect(lines.last != ".PP")
    }
  }

  /// The page of the whole names those of all commands.
  @Test func namesAllPages() throws {
    let page = words(try shown(ManPage.overview))
    for command in Commands.all {
      #expect(page.contains { $0.hasPrefix("\(ManPage.name(of: command.spec))(1)") })
    }
  }

  /// Text means nothing to groff, wherever it stands.
  @Test func showsEveryCharacter() throws {
    let help = #"é→ 'a' \fBb\fR `c` "d" --e ~f ^g \n .h \"i"#
    let spec = CommandSpec(
      name: "try it", summary: ".SH is no title.", operands: "'FILE'",
      options: [OptionSpec(name: "odd", help: help)],
      details: """
        .TP is what a line may begin with.
        'br as well.

        Examples:
          .so /etc/passwd
          'a' \\e  "b"
        """)
    let page = words(try shown(ManPage.text(of: spec)))
    #expect(stand(words(".SH is no title"), in: page))
    #expect(stand(words("reprise try it 'FILE'"), in: page))
    #expect(stand(words(help), in: page))
    #expect(stand(words(".TP is what a line may begin with. 'br as well."), in: page))
    #expect(stand(words(#"EXAMPLES .so /etc/passwd 'a' \e "b""#), in: page))
  }

  @Test func hasNoPageOfATopic() throws {
    let result = try RepriseProcess.run(["help", "--man", "filter"])
    #expect(result.status == 2)
    #expect(
      result.errors
        == "reprise: the topic 'filter' has no page for man; type reprise help filter\n")
  }
}
