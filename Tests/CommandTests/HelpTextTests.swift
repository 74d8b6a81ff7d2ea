import Foundation
import RepriseCore
import Testing
import Wire

@testable import reprise

@Suite struct HelpTextTests {
  private static var golden: URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Golden")
  }

  private static var topics: [String] {
    [""] + Commands.all.map { $0.spec.name } + HelpCommand.topics.keys.sorted()
  }

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

  /// Keys of a recording are found in its help, also those that no recording of ours has yet.
  @Test func describesEveryKeyOfRecordings() throws {
    let words = Set(RecordingHelp.text.split { !$0.isLetter && !$0.isNumber }.map(String.init))
    let properties = Set(MQTTPropertyID.allCases.map { "\($0.name)" })
    // The key of the lines of inspect is no key of a recording.
    var keys = RecordingReader.knownKeys
    for file in try Self.recordings() {
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        keys.formUnion(try Self.keys(of: JSONSerialization.jsonObject(with: Data(line.utf8))))
      }
    }
    #expect(keys.count > 30)
    #expect(keys.subtracting(words).subtracting(properties).sorted() == [])
  }

  private static func recordings() throws -> [URL] {
    let folder = golden.deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Recordings")
    let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String }
    let files = (names ?? []).filter { $0.hasSuffix(".jsonl") }.map { folder.appending(path: $0) }
    try #require(files.count > 200)
    return files
  }

  /// The keys of an object and of those in it, but for the application's own in payloads.
  private static func keys(of value: Any) -> Set<String> {
    if let list = value as? [Any] { return Set(list.flatMap(keys)) }
    guard let object = value as? [String: Any] else { return [] }
    return object.reduce(into: Set(object.keys)) { $0.formUnion(keys(of: $1.value)) }
  }

  @Test func hasNoGoldenTextOfNothing() throws {
    let names = Set(
      Self.topics.map { topic in
        (["help"] + topic.split(separator: " ").map(String.init)).joined(separator: "-") + ".txt"
      })
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.golden.path)
    #expect(Set(files) == names.union(["recordings"]))
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
