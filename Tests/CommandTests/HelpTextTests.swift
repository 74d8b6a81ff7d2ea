import Foundation
import Testing

@testable import reprise

@Suite struct HelpTextTests {
  private static var golden: URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Golden")
  }

  private static var topics: [String] { [""] + Commands.all.map { $0.spec.name } + ["filter"] }

  /// A changed help is put in place by `reprise help TOPIC > Tests/CommandTests/Golden/help-TOPIC.txt`.
  @Test(arguments: topics)
  func isTheGoldenOne(topic: String) throws {
    let words = topic.split(separator: " ").map(String.init)
    let result = try RepriseProcess.run(["help"] + words)
    let name = (["help"] + words).joined(separator: "-") + ".txt"
    let file = Self.golden.appendingPathComponent(name)
    #expect(result.output == String(decoding: try Data(contentsOf: file), as: UTF8.self))
  }

  @Test(arguments: topics)
  func fitsATerminal(topic: String) throws {
    let words = topic.split(separator: " ").map(String.init)
    for line in try RepriseProcess.run(["help"] + words).output.split(separator: "\n") {
      #expect(line.count <= 90, "\(line)")
      #expect(line.last != " ")
    }
  }

  @Test func hasNoGoldenTextOfNothing() throws {
    let names = Set(
      Self.topics.map { topic in
        (["help"] + topic.split(separator: " ").map(String.init)).joined(separator: "-") + ".txt"
      })
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.golden.path)
    #expect(Set(files) == names)
  }

  @Test(arguments: Commands.all.map { $0.spec.name })
  func namesEveryOptionOnce(command: String) throws {
    let spec = try #require(Commands.all.first { $0.spec.name == command }).spec
    let names = spec.allOptions.map(\.name)
    let letters = spec.allOptions.compactMap(\.letter)
    #expect(Set(names).count == names.count)
    #expect(Set(letters).count == letters.count)
  }
}
