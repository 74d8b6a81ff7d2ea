import Foundation
import Testing

/// No pitfall is left without a test that bears its number.
@Suite struct PitfallIndexTests {
  /// The numbers at the start of the display names in this folder: `@Test("17, 21: …")`.
  private static func numbers() throws -> Set<Int> {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    var result: Set<Int> = []
    for file in files where file.pathExtension == "swift" && file.path != #filePath {
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        let text = line.drop { $0 == " " || $0 == "@" }
        guard let quote = text.firstIndex(of: "\""), let colon = text.firstIndex(of: ":"),
          quote < colon, text[..<quote].allSatisfy({ "Test(".contains($0) })
        else { continue }
        let list = text[text.index(after: quote)..<colon].split(separator: ",")
        result.formUnion(list.compactMap { Int($0.filter(\.isNumber)) })
      }
    }
    return result
  }

  /// Those of files, links and IP have their tests beside the readers of these layers.
  @Test func everyPitfallOfTCPAndWhatItCarriesHasATest() throws {
    #expect(try Self.numbers().isSuperset(of: 12...38))
  }
}
