import Foundation
import Testing

/// The pages of the documentation say what is so: their commands print what they show, and their code is compiled and run.
@Suite struct ArticleTests {
  private static let withCommands = Article.all.filter { $0.text.contains("```console") }

  /// What a search for pages that finds none would hide.
  @Test func thereArePagesOfAllKinds() throws {
    let names = Set(Article.all.map(\.name))
    #expect(names.isSuperset(of: ["Reprise", "TenMinutes", "WriteAClient", "DeviceSDK", "Wire"]))
    #expect(Self.withCommands.count > 6)
    let commands = try Self.withCommands.flatMap { try $0.blocks() }.reduce(0) { count, block in
      if case .console(let commands) = block { count + commands.count } else { count }
    }
    #expect(commands > 60)
  }

  @Test(.timeLimit(.minutes(25)), arguments: withCommands)
  func printsWhatItShows(article: Article) async throws {
    let outcomes = try await ArticleRun(article).outcomes()
    let isLive = article.text.contains("$ mosquitto -d")
    for (number, outcome) in outcomes.enumerated() {
      let typed = outcome.command.typed
      #expect(
        outcome.command.shows(outcome.output, isLive: isLive),
        """
        \(article.name): $ \(typed)
        is shown to print
        \(outcome.command.printed.joined(separator: "\n"))
        and printed
        \(outcome.output)
        """)
      // A reader who is not told otherwise expects that a command succeeds.
      let next = number + 1 < outcomes.count ? outcomes[number + 1].command.typed : ""
      #expect(
        outcome.status == 0 || next == "echo $?",
        "\(article.name): $ \(typed) ended with \(outcome.status), which no 'echo $?' shows")
    }
  }

  /// A file that is shown is one that a command behind it reads.
  @Test(arguments: Article.all) func writesNoFileForNothing(article: Article) throws {
    let blocks = try article.blocks()
    let lastFile = blocks.lastIndex { if case .file = $0 { true } else { false } }
    let lastCommand = blocks.lastIndex { if case .console = $0 { true } else { false } }
    if let lastFile { #expect(lastFile < lastCommand ?? 0) }
  }

  @Test(arguments: Article.all) func showsCodeThatIsRun(article: Article) throws {
    for block in try article.blocks() {
      guard case .snippet(let lines) = block else { continue }
      #expect(
        Snippets.files.contains { Snippets.have(lines, in: $0) },
        "\(article.name): no file in Tests/DocumentationTests/Snippets has\n\(lines.joined(separator: "\n"))"
      )
    }
  }
}
